import { Command, InvalidArgumentError, Option } from 'commander';
import { parseExactJson } from '../model/json.ts';
import { AGGREGATIONS, type Aggregation, type RpcAvailable, type RpcResponse, TIMEOUT_MAX_MS } from '../model/rpc.ts';
import { CliError } from './command_error.ts';
import { hubClient, type HubReply } from './hub_client.ts';
import { hubOption, interruption, number } from './options.ts';
import { isObject } from '../model/json_tree.ts';

interface CallOptions {
  readonly hub: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly handler?: string;
  readonly timeout?: number;
  readonly aggregation?: Aggregation;
}

/** `rpc list` and `rpc call <method>`: remote procedure calls of devices and applications connected to the hub. */
export function rpcCommand(): Command {
  const list = new Command('list')
    .description('print callable methods and their handlers, one method per line')
    .addOption(hubOption())
    .action(listMethods);
  const call = new Command('call')
    .description('call a method and print its result as JSON (npm run --silent suppresses other output)')
    .argument('<method>', 'name of the method, such as com.omlox.ping')
    .option('--params <json>', 'parameters of the method, as a JSON object', jsonObject)
    .addOption(new Option('--handler <id>', 'id of a single handler to call').conflicts('aggregation'))
    .option(
      '--timeout <ms>',
      'time to wait for answers, in milliseconds',
      number({ min: 1, max: TIMEOUT_MAX_MS, whole: true }),
    )
    .addOption(
      new Option('--aggregation <way>', 'aggregation of the answers of several handlers').choices(AGGREGATIONS),
    )
    .addOption(hubOption())
    .action(callMethod);
  return new Command('rpc')
    .description('list and call methods of clients and devices connected to the hub')
    .addCommand(list)
    .addCommand(call);
}

function jsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = parseExactJson(text);
    if (isObject(value)) return { ...value };
  } catch {
    // Reported below.
  }
  throw new InvalidArgumentError('It must be a JSON object, such as \'{"times":3}\'.');
}

async function listMethods({ hub }: { hub: string }): Promise<void> {
  const reply = await hubClient(hub, { signal: interruption() }).send('GET', '/rpc/available');
  const available = JSON.parse(textOf(reply)) as RpcAvailable;
  for (const [method, { handler_id: ids }] of Object.entries(available)) {
    process.stdout.write(`${method}\t${ids.join(' ')}\n`);
  }
}

async function callMethod(method: string, options: CallOptions): Promise<void> {
  const { hub, params, handler, timeout, aggregation } = options;
  const reserved = {
    ...(handler !== undefined && { _handler_id: handler }),
    ...(timeout !== undefined && { _timeout: timeout }),
    ...(aggregation !== undefined && { _aggregation: aggregation }),
  };
  const request = { jsonrpc: '2.0', id: 1, method, params: { ...params, ...reserved } };
  const reply = await hubClient(hub, { signal: interruption() }).send('PUT', '/rpc', request);
  const { error, result } = parseExactJson(textOf(reply)) as RpcResponse;
  if (error !== undefined) throw new CliError(`Cannot call ${method}: ${error.message} (${error.code})`);
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

/** The body of a reply. Throws a CliError if the hub rejected the request. */
function textOf({ ok, status, message, text }: HubReply): string {
  if (ok) return text;
  throw new CliError(`The hub rejects the request: ${message} (${status})`);
}
