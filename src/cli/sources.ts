import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { Command } from 'commander';
import { messageOf } from '../errors.ts';
import { decodeUnicode } from '../model/decode_unicode.ts';
import type { Source, SourcePreview, SourceStatus } from '../model/source.ts';
import { CliError } from './command_error.ts';
import { hubClient, parsedReply } from './hub_client.ts';
import { hubOption, interruption } from './options.ts';

/** `sources list`, `sources test <source> <payload>` and `sources token <id>`: systems that send locations to the hub. */
export function sourcesCommand(): Command {
  const list = new Command('list')
    .description('print the data sources with their states, numbers of payloads and errors, one per line')
    .addOption(hubOption())
    .action(listSources);
  const test = new Command('test')
    .description('print what a data source would make of a payload, without storing anything')
    .argument('<source>', 'id of a source, or a JSON file with one')
    .argument('<payload>', 'file with a payload, or - for the standard input')
    .option('--topic <topic>', 'topic of the MQTT message')
    .option('--sender <address>', 'address of the sender')
    .addOption(hubOption())
    .action(testSource);
  const token = new Command('token')
    .description('replace the token of an http source, and print the new one')
    .argument('<id>', 'id of the source')
    .addOption(hubOption())
    .action(rotateToken);
  return new Command('sources')
    .description('list and test data sources, and replace their tokens')
    .addCommand(list)
    .addCommand(test)
    .addCommand(token);
}

async function listSources({ hub }: { hub: string }): Promise<void> {
  const client = hubClient(hub, { signal: interruption() });
  const sources = parsedReply(await client.send('GET', '/sources')) as readonly Source[];
  const statuses = parsedReply(await client.send('GET', '/sources/status')) as readonly SourceStatus[];
  for (const { id, name, kind } of sources) {
    const status = statuses.find((each) => each.id === id);
    const { state, received = 0, mapped = 0, refused = 0, throttled = 0, error, last_refused: last } = status ?? {};
    const numbers = `${received} received, ${mapped} mapped, ${refused} refused, ${throttled} throttled`;
    const line = [id, kind, name, state, numbers, error ?? last?.message ?? ''].join('\t');
    process.stdout.write(`${line.trimEnd()}\n`);
  }
}

interface TestOptions {
  readonly hub: string;
  readonly topic?: string;
  readonly sender?: string;
}

async function testSource(of: string, from: string, { hub, topic, sender }: TestOptions): Promise<void> {
  const client = hubClient(hub, { signal: interruption() });
  const isFile = of.endsWith('.json') || existsSync(of);
  const source = isFile ? await sourceIn(of) : parsedReply(await client.send('GET', pathOf(of)));
  const payload = from === '-' ? await textOf(process.stdin) : decodeUnicode(await read(from));
  const sample = { source, payload, ...(topic !== undefined && { topic }), ...(sender !== undefined && { sender }) };
  const preview = parsedReply(await client.send('POST', '/sources/preview', sample)) as SourcePreview;
  let [valid, invalid] = [0, preview.problems.length];
  for (const { at, location, proximity, position, problem, warnings } of preview.items) {
    if (problem === undefined) valid++;
    else invalid++;
    process.stdout.write(`${JSON.stringify({ at, ...(location ? { location } : { proximity }), position })}\n`);
    for (const { message } of warnings) process.stdout.write(`  warning: ${message}\n`);
    if (problem !== undefined) process.stdout.write(`  problem: ${problem.message}\n`);
  }
  for (const { message } of preview.problems) process.stdout.write(`problem: ${message}\n`);
  process.stdout.write(`${preview.count} mapped, ${preview.skipped} skipped, ${invalid} refused\n`);
  if (valid === 0 && invalid > 0) throw new CliError('The source would refuse the payload');
}

async function rotateToken(id: string, { hub }: { hub: string }): Promise<void> {
  const client = hubClient(hub, { signal: interruption() });
  const { token } = parsedReply(await client.send('POST', `${pathOf(id)}/token`)) as { readonly token: string };
  process.stdout.write(`${token}\n`);
}

async function sourceIn(file: string): Promise<unknown> {
  const text = decodeUnicode(await read(file));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CliError(`${file}: is not JSON: ${messageOf(error)}`);
  }
}

async function read(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new CliError(`Cannot read ${file}: ${messageOf(error)}`);
  }
}

function pathOf(id: string): string {
  return `/sources/${encodeURIComponent(id)}`;
}
