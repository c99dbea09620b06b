import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseLossless } from '../../model/lossless_numbers.ts';
import { CommandError } from '../command_error.ts';

/** A location of a recording. What it holds is for the hub to check; a replay needs its time alone. */
export interface Recorded {
  /** Line of the file, from 1. */
  readonly line: number;
  /** When it is due: its timestamp_generated, but never before the location ahead of it. Milliseconds since 1970. */
  readonly atMs: number;
  readonly location: Readonly<Record<string, unknown>>;
}

/** Reads a file of one JSON location a line, in order. Throws a CommandError that names the file and the line. */
export async function* readRecording(path: string): AsyncGenerator<Recorded> {
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

/** How many locations a recording has, and the earliest of their times: Infinity where none has one. */
export interface Extent {
  readonly count: number;
  readonly earliestMs: number;
}

/** Reads a whole recording for its extent. Throws as reading it would, so that nothing is sent of a broken file. */
export async function readExtent(path: string): Promise<Extent> {
  let [count, earliestMs] = [0, Number.POSITIVE_INFINITY];
  for await (const { location } of readRecording(path)) {
    count += 1;
    earliestMs = Math.min(earliestMs, generatedMs(location) ?? earliestMs);
  }
  return { count, earliestMs };
}

/** timestamp_generated of a location in milliseconds since 1970, undefined without one. */
export function generatedMs(location: Recorded['location']): number | undefined {
  const ms = Date.parse(String(location['timestamp_generated']));
  return Number.isNaN(ms) ? undefined : ms;
}

async function open(path: string): Promise<NodeJS.ReadableStream> {
  const stream = createReadStream(path, 'utf8');
  await new Promise<void>((resolve, reject) => {
    stream.once('ready', resolve);
    stream.once('error', (error) => reject(new CommandError(`Cannot read ${path}: ${error.message}`)));
  });
  return stream;
}

function parse(text: string, place: string): Recorded['location'] {
  let value: unknown;
  try {
    value = parseLossless(text);
  } catch (error) {
    throw new CommandError(`${place}: is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Recorded['location'];
  throw new CommandError(`${place}: must be one JSON object, found ${text.slice(0, 40)}`);
}
