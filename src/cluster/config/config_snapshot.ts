import { copied, lend } from '../../model/borrowed.ts';
import { type Appended, type Bus, BusError } from '../nats/bus.ts';
import { packSnapshotEnd, unpackSnapshotEnd } from './config_record.ts';

/**
 * Newest snapshot of the configuration, in its own stream: the messages of the state, and a last one with their number and the
 * log sequence that they include. A snapshot replaces the previous one atomically.
 */
export interface SnapshotStream {
  readonly bus: Bus;
  readonly stream: string;
  readonly subject: string;
}

export interface ConfigSnapshot {
  /** Last record of the log that it includes. */
  readonly sequence: number;
  readonly parts: readonly Uint8Array[];
}

const TRIES_MAX = 5;
const WRITE_MS = 5000;

/** Loads the newest snapshot, or undefined before the first. Rejects with a BusError or a MessageError. */
export async function loadSnapshot(place: SnapshotStream): Promise<ConfigSnapshot | undefined> {
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
    // If some are missing, a newer snapshot has replaced them in the meantime.
    if (parts.length === newest.parts) return { sequence: newest.sequence, parts };
  }
  throw new BusError(
    `Cannot read the snapshot in stream "${stream}": it was replaced ${TRIES_MAX} times while it was read`,
  );
}

/**
 * Replaces the previous snapshot, and returns the sequence that this included, or 0 if there was none. Returns undefined, and
 * writes nothing, if the existing one is at least as new. Rejects with a BusError if it cannot be written in time, in which
 * case it may still be stored.
 */
export async function writeSnapshot(
  place: SnapshotStream,
  { sequence, parts }: ConfigSnapshot,
): Promise<number | undefined> {
  const { bus, stream, subject } = place;
  const messages = [...parts, packSnapshotEnd({ sequence, parts: parts.length })];
  let before: number | undefined;
  let appended: Appended = { at: 'refused' };
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const newest = await newestEnd(place);
    // After an attempt with a lost answer, the existing snapshot may be this very one.
    if (newest !== undefined && newest.sequence >= sequence) return newest.sequence === sequence ? before : undefined;
    before = newest?.sequence ?? 0;
    const expects = { lastOfSubject: newest?.at ?? 0 };
    appended = await bus.replace({ stream, subject, messages, expects, timeoutMs: WRITE_MS });
    if (appended.at === 'committed') return before;
    if (appended.at === 'full') break;
  }
  throw new BusError(`Cannot write a snapshot to stream "${stream}": the last answer was "${appended.at}"`);
}

/** Last message of the newest snapshot, and its sequence in the stream. */
async function newestEnd({ bus, stream, subject }: SnapshotStream) {
  const last = await bus.last(stream, subject);
  if (last === undefined) return undefined;
  return { ...unpackSnapshotEnd(lend(last.bytes), last.sequence), at: last.sequence };
}
