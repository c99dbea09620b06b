import { Command } from 'commander';
import type { Sink, SinkReplay, SinkStatus, SinkTest } from '../model/sink.ts';
import { CliError } from './command_error.ts';
import { hubClient, parsedReply } from './hub_client.ts';
import { hubOption, interruption } from './options.ts';

/** `sinks list`, `sinks test <id>` and `sinks replay <id>`: the delivery of events to other systems. */
export function sinksCommand(): Command {
  const list = new Command('list')
    .description('print the sinks with their states, numbers of events and errors, one sink per line')
    .addOption(hubOption())
    .action(listSinks);
  const test = new Command('test')
    .description('send a test event to a sink')
    .argument('<id>', 'id of the sink')
    .addOption(hubOption())
    .action(testSink);
  const replay = new Command('replay')
    .description('deliver events again, from a cursor or a time')
    .argument('<id>', 'id of the sink')
    .option('--after <cursor>', 'cursor of the event after which the delivery continues')
    .option('--from <time>', 'RFC 3339 time from which events are delivered')
    .addOption(hubOption())
    .action(replaySink);
  return new Command('sinks')
    .description('list, test and replay the delivery of events to other systems')
    .addCommand(list)
    .addCommand(test)
    .addCommand(replay);
}

async function listSinks({ hub }: { hub: string }): Promise<void> {
  const client = hubClient(hub, { signal: interruption() });
  const sinks = parsedReply(await client.send('GET', '/sinks')) as readonly Sink[];
  const statuses = parsedReply(await client.send('GET', '/sinks/status')) as readonly SinkStatus[];
  for (const { id, name, type } of sinks) {
    const { state, delivered = 0, waiting = 0, lag = 0, error = '' } = statuses.find((each) => each.id === id) ?? {};
    const numbers = `${delivered} delivered, ${waiting} waiting, ${Math.round(lag / 1000)} s behind`;
    process.stdout.write(`${[id, type, name, state, numbers, error].join('\t').trimEnd()}\n`);
  }
}

async function testSink(id: string, { hub }: { hub: string }): Promise<void> {
  const client = hubClient(hub, { signal: interruption() });
  const { delivered, duration, error } = parsedReply(await client.send('POST', `${pathOf(id)}/test`)) as SinkTest;
  if (!delivered) throw new CliError(`The target has not accepted the test event: ${error}`);
  process.stdout.write(`The target has accepted the test event in ${duration} ms\n`);
}

async function replaySink(id: string, { hub, after, from }: SinkReplay & { readonly hub: string }): Promise<void> {
  const client = hubClient(hub, { signal: interruption() });
  const position = { ...(after != null && { after }), ...(from != null && { from }) };
  const { state } = parsedReply(await client.send('POST', `${pathOf(id)}/replay`, position)) as SinkStatus;
  process.stdout.write(`The sink delivers from there; it is ${state}\n`);
}

function pathOf(id: string): string {
  return `/sinks/${encodeURIComponent(id)}`;
}
