import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseLossless } from '../../model/lossless_numbers.ts';
import { CliError } from '../command_error.ts';
import { isObject } from '../../model/json_tree.ts';
import { messageOf } from '../../errors.ts';

/** A location of a recording. The hub checks its content; a replay needs only its time. */
export interface RecordedFrame {
  /** Line of the file, from 1. */
  readonly line: number;
  /** Due time: its timestamp_generated, but never before the previous location. Milliseconds since 1970. */
  readonly atMs: number;
  readonly location: Readonly<Record<string, unknown>>;
}

/** Reads a file with one JSON location per line, in order. Throws a CliError that names the file and the line. */
export async function* readRecording(path: string): AsyncGenerator<RecordedFrame> {
  let line = 0;
  let latestMs = 0;
  for await (const read of createInterface({ input: await open(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    // A byte order mark before the first line is white space, too.
    const text = read.trim();
    if (text === '') continue;
    const location = parse(text, `${path}:${line}`);
    latestMs = Math.max(latestMs, generatedMs(location) ?? 0);
    yield { line, atMs: latestMs, location };
  }
}

/** Number of locations of a recording, and the earliest of their times: Infinity if none has one. */
export interface RecordingExtent {
  readonly count: number;
  readonly earliestMs: number;
}

/** Scans a whole recording for its extent. Throws for a malformed file, so that nothing of it is sent. */
export async function readExtent(path: string): Promise<RecordingExtent> {
  let [count, earliestMs] = [0, Number.POSITIVE_INFINITY];
  for await (const { location } of readRecording(path)) {
    count += 1;
    earliestMs = Math.min(earliestMs, generatedMs(location) ?? earliestMs);
  }
  return { count, earliestMs };
}

/** timestamp_generated of a location in milliseconds since 1970, undefined without one. */
export function generatedMs(location: RecordedFrame['location']): number | undefined {
  const ms = Date.parse(String(location['timestamp_generated']));
  return Number.isNaN(ms) ? undefined : ms;
}

async function open(path: string): Promise<NodeJS.ReadableStream> {
  const stream = createReadStream(path, 'utf8');
  await new Promise<void>((resolve, reject) => {
    stream.once('ready', resolve);
    stream.once('error', (error) => reject(new CliError(`Cannot read ${path}: ${error.message}`)));
  });
  return stream;
}

function parse(text: string, place: string): RecordedFrame['location'] {
  let value: unknown;
  try {
    value = parseLossless(text);
  } catch (error) {
    throw new CliError(`${place}: is not JSON: ${messageOf(error)}`);
  }
  if (isObject(value)) return value as RecordedFrame['location'];
  throw new CliError(`${place}: must be one JSON object, found ${text.slice(0, 40)}`);
}
