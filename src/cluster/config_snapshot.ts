import { copied, lend } from '../model/borrowed.ts';
import { type Appended, type Bus, BusError } from './bus.ts';
import { packSnapshotEnd, unpackSnapshotEnd } from './config_record.ts';

/**
 * The newest snapshot of the configuration, in a stream of its own: the messages that its writer has made of the state,
 * and behind them one that says which sequence of the log it stands for and how many they are. All of them take the place
 * of the snapshot before, or nothing happens.
 */
export interface SnapshotPlace {
  readonly bus: Bus;
  readonly stream: string;
  readonly subject: string;
}

export interface ConfigSnapshot {
  /** The last record of the log that is in it. */
  readonly sequence: number;
  readonly parts: readonly Uint8Array[];
}

const TRIES_MAX = 5;
const WRITE_MS = 5000;

/** The newest snapshot; undefined where there is none yet. */
export async function loadSnapshot(place: SnapshotPlace): Promise<ConfigSnapshot | undefined> {
  const { bus, stream, subject } = place;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const newest = await newestEnd(place);
    if (newest === undefined) return undefined;
    const parts: Uint8Array[] = [];
    const reader = bus.read(stream, { subjects: [subject], fromSequence: newest.at - newest.parts });
    while (
      await reader.next(({ sequence, bytes }) => {
        if (sequence < newest.at) parts.push(copied(bytes));
      })
    );
    // Where some are missing, a newer one has taken their place meanwhile.
    if (parts.length === newest.parts) return { sequence: newest.sequence, parts };
  }
  throw new BusError(`Cannot read the snapshot in stream "${stream}": it was replaced ${TRIES_MAX} times meanwhile`);
}

/**
 * Puts a snapshot in the place of the one before. Returns the sequence that the one before stood for, 0 for none, or
 * undefined where there is one already that is as new. Rejects when it cannot be had in time; it may be kept then.
 */
export async function writeSnapshot(
  place: SnapshotPlace,
  { sequence, parts }: ConfigSnapshot,
): Promise<number | undefined> {
  const { bus, stream, subject } = place;
  const messages = [...parts, packSnapshotEnd({ sequence, parts: parts.length })];
  let before: number | undefined;
  let appended: Appended = { at: 'refused' };
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const newest = await newestEnd(place);
    // After a try whose answer was lost, the one that is there is this one.
    if (newest !== undefined && newest.sequence >= sequence) return newest.sequence === sequence ? before : undefined;
    before = newest?.sequence ?? 0;
    const expects = { lastOfSubject: newest?.at ?? 0 };
    appended = await bus.replace({ stream, subject, messages, expects, timeoutMs: WRITE_MS });
    if (appended.at === 'kept') return before;
    if (appended.at === 'full') break;
  }
  throw new BusError(`Cannot write a snapshot to stream "${stream}": the last answer was "${appended.at}"`);
}

/** What ends the newest snapshot, and its own place in the stream. */
async function newestEnd({ bus, stream, subject }: SnapshotPlace) {
  const last = await bus.last(stream, subject);
  if (last === undefined) return undefined;
  return { ...unpackSnapshotEnd(lend(last.bytes), last.sequence), at: last.sequence };
}
