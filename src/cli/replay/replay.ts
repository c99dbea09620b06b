import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { decodeUnicode } from '../../model/decode_unicode.ts';
import { parseLossless } from '../../model/lossless_numbers.ts';
import { formatTime } from '../../model/time.ts';
import { CliError } from '../command_error.ts';
import { describePlaced, type Entity, type PlacedKind, placeEntities } from '../entities.ts';
import { countEvents, EventCounts } from '../event_counts.ts';
import type { EventStream } from '../event_stream.ts';
import { historyOf, NOT_RECORDED } from '../history_of.ts';
import { hubClient } from '../hub_client.ts';
import { hubOption, interruption, number } from '../options.ts';
import { bar, StatusLine } from '../status_line.ts';
import { deliver, type DeliveryTally } from './deliver.ts';
import { resample } from './interpolate.ts';
import { paced } from './pace.ts';
import { type RecordingExtent, generatedMs, type RecordedFrame, readExtent, readRecording } from './recording.ts';

/** `replay --locations F …`: sends recorded locations to a hub. */
export function replayCommand(): Command {
  return new Command('replay')
    .description('send recorded locations to a running hub')
    .requiredOption('--locations <file>', 'locations, one JSON object a line')
    .option('--zones <file>', 'JSON array of zones to create or update first')
    .option('--fences <file>', 'JSON array of fences to create or update first')
    .option('--trackables <file>', 'JSON array of trackables to create or update first')
    .option('--speed <factor>', 'times the recorded speed; 0 or max is as fast as possible', speed, 1)
    .option(
      '--interpolate <hz>',
      'move on straight lines, this many locations a second',
      number({ above: 0, max: 1000 }),
    )
    .option('--restamp', 'send the current time as timestamp_generated, so that a second replay is not outdated')
    .option('--batch <count>', 'locations in a request at most', number({ min: 1, max: 10_000, whole: true }), 256)
    .addOption(hubOption())
    .action(replay);
}

function speed(text: string): number {
  if (text === 'max') return Number.POSITIVE_INFINITY;
  const factor = number({ min: 0 })(text);
  return factor === 0 ? Number.POSITIVE_INFINITY : factor;
}

interface Options {
  readonly hub: string;
  readonly locations: string;
  readonly zones?: string;
  readonly fences?: string;
  readonly trackables?: string;
  readonly speed: number;
  readonly interpolate?: number;
  readonly restamp?: boolean;
  readonly batch: number;
}

/** Events follow the reply to a location; counting stops after this time without one. */
const QUIET_MS = 500;
const QUIET_MAX_MS = 10_000;

/** Sends a recording, shows the progress, and reports the outcome. An interrupt stops it early, with a report. */
async function replay(options: Options): Promise<void> {
  const { hub, batch, speed } = options;
  // All files are read before anything is sent: an error in one leaves the hub unchanged.
  const entities = await readEntities(options);
  const { count, earliestMs, recorded } = await readLocations(options);
  if (count === 0) throw new CliError(`Cannot replay ${options.locations}: it holds no locations`);
  const signal = interruption();
  const client = hubClient(hub, { signal });
  const status = new StatusLine(process.stderr);
  const tally: DeliveryTally = { sent: 0, accepted: 0, rejected: 0 };
  const events = new EventCounts();
  let startMs = performance.now();
  let endMs = startMs;
  let stream: EventStream | undefined;
  try {
    const { recordedSinceMs } = await historyOf(client);
    if (options.restamp !== true && earliestMs < recordedSinceMs) {
      status.print(
        `Warning: locations before ${formatTime(recordedSinceMs)} ${NOT_RECORDED}. --restamp sends them as of now`,
      );
    }
    for (const [kind, list] of entities) status.print(describePlaced(await placeEntities(client, kind, list)));
    stream = await countEvents(events, { hub, status, signal });
    startMs = performance.now();
    const wait = (ms: number) => delay(ms, undefined, { signal });
    for await (const due of paced(recorded(), { speed, batch, nowMs: () => performance.now(), wait })) {
      const stamped = options.restamp ? due.map(stamp) : due;
      await deliver(client, { batch: stamped, tally, onRejection: (text) => status.print(`Rejected: ${text}`) });
      endMs = performance.now();
      status.show(endMs, () => progress({ tally, count, seconds: (endMs - startMs) / 1000 }));
    }
    await quiet(events, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    status.print('Interrupted');
  } finally {
    stream?.close();
  }
  const seconds = (endMs - startMs) / 1000;
  status.print(progress({ tally, count, seconds }));
  console.log(`Sent ${tally.sent} locations in ${seconds.toFixed(1)} s, ${perSecond(tally.sent, seconds)}/s`);
  console.log(`Accepted ${tally.accepted}, rejected ${tally.rejected}`);
  console.log(`Events: ${events}`);
}

async function readLocations({
  locations,
  interpolate,
}: Options): Promise<RecordingExtent & { recorded: () => AsyncIterable<RecordedFrame> | Iterable<RecordedFrame> }> {
  if (interpolate === undefined) {
    return { ...(await readExtent(locations)), recorded: () => readRecording(locations) };
  }
  const all: RecordedFrame[] = [];
  let earliestMs = Number.POSITIVE_INFINITY;
  for await (const each of readRecording(locations)) {
    all.push(each);
    earliestMs = Math.min(earliestMs, generatedMs(each.location) ?? earliestMs);
  }
  const resampled = resample(all, { hz: interpolate, path: locations });
  return { count: resampled.count, earliestMs, recorded: () => resampled.locations() };
}

/** Zones come first, since fences may be in their coordinates. */
async function readEntities(options: Options): Promise<[PlacedKind, readonly Entity[]][]> {
  const read: [PlacedKind, readonly Entity[]][] = [];
  for (const kind of ['zones', 'fences', 'trackables'] as const) {
    const path = options[kind];
    if (path !== undefined) read.push([kind, await readArray(path)]);
  }
  return read;
}

async function readArray(path: string): Promise<readonly Entity[]> {
  try {
    const value = parseLossless(decodeUnicode(await readFile(path)));
    if (Array.isArray(value)) return value;
  } catch (error) {
    throw new CliError(`Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new CliError(`Cannot read ${path}: it must be a JSON array`);
}

function stamp(recorded: RecordedFrame): RecordedFrame {
  return { ...recorded, location: { ...recorded.location, timestamp_generated: new Date().toISOString() } };
}

async function quiet(events: EventCounts, signal: AbortSignal): Promise<void> {
  for (let waitedMs = 0, before = -1; before !== events.total && waitedMs < QUIET_MAX_MS; waitedMs += QUIET_MS) {
    before = events.total;
    await delay(QUIET_MS, undefined, { signal });
  }
}

function progress({ tally, count, seconds }: { tally: DeliveryTally; count: number; seconds: number }): string {
  const rate = perSecond(tally.sent, seconds);
  return `${bar(tally.sent / count)}  ${tally.sent}/${count}  ${rate}/s  rejected ${tally.rejected}`;
}

function perSecond(count: number, seconds: number): string {
  return seconds > 0 ? (count / seconds).toFixed(0) : '0';
}
