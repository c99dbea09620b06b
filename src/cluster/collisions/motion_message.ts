import { Packr } from 'msgpackr';
import { type Borrowed, copied, lend, look } from '../../model/borrowed.ts';
import type { ClockStep } from '../../model/clock_steps.ts';
import { type PackedMotions, pack, unpackMotions } from '../../wire/messages.ts';

/**
 * Messages of hubs to the owner of the collision stage, on `<name>.m.<its id>`: msgpack of [version, from, number, watermark,
 * passed, sent, clock steps, stood, [[last item, motions] …]].
 *
 * Its requests for the positions of all their trackables, on `<name>.ms.<id>`: msgpack of [version, from, number].
 *
 * Its reports to all of them, on `<name>.mp`, of the motions whose events are published: msgpack of [version, from, before,
 * [[member id, item] …]].
 */
const VERSION = 1;

/** Times are wall-clock times, except in motions and clock steps. */
export interface MotionsMessage {
  /** Member id of the sender. */
  readonly from: string;
  /** Number of the message from this sender to this owner of the stage, from 1. */
  readonly number: number;
  /** Number of the earliest item that may still have motions. */
  readonly watermark: number;
  /** Lower bound of the times of receipt of later motions. */
  readonly passedMs: number;
  /** Time of sending. */
  readonly sentMs: number;
  /** Clock steps that convert the sender's monotonic time to wall-clock time. */
  readonly setBacks: readonly ClockStep[];
  /** Number of the last request for positions that is answered up to this message; 0 if there was none. */
  readonly stood: number;
  readonly motions: readonly PackedMotions[];
}

/** A message about motions is malformed. */
export class MotionMessageError extends Error {
  override name = 'MotionMessageError';
}

const packr = new Packr({ useRecords: false, useToJSON: false });

export function packMotionsMessage(message: MotionsMessage): Uint8Array {
  const { from, number, watermark, passedMs, sentMs, setBacks, stood, motions } = message;
  const backs = setBacks.map(({ toMs, byMs }) => [toMs, byMs]);
  const packs = motions.map(({ lastSeq, packed }) => [lastSeq, look(packed)]);
  return packr.pack([VERSION, from, number, watermark, passedMs, sentMs, backs, stood, packs]);
}

/** Motions in it are lent as long as the bytes are. Throws a MotionMessageError. */
export function readMotionsMessage(bytes: Borrowed): MotionsMessage {
  const [from, number, watermark, passedMs, sentMs, backs, stood, packs] = unpacked(bytes);
  if (typeof from !== 'string' || from === '') throw malformed('from', from);
  if (!isCount(number)) throw malformed('number', number);
  if (!isCount(watermark)) throw malformed('watermark', watermark);
  if (!Number.isFinite(passedMs)) throw malformed('passed', passedMs);
  if (!Number.isFinite(sentMs)) throw malformed('sent', sentMs);
  if (!Array.isArray(backs) || !backs.every(isBack)) throw malformed('set backs', backs);
  if (!isCount(stood)) throw malformed('stood', stood);
  if (!Array.isArray(packs) || !packs.every(isPack)) throw malformed('motions', 'no list of motions');
  return {
    ...{ from, number, watermark, stood },
    passedMs: passedMs as number,
    sentMs: sentMs as number,
    setBacks: backs.map(([toMs, byMs]) => ({ toMs, byMs })),
    motions: packs.map(([lastSeq, packed]) => ({ lastSeq, packed: lend(packed) })),
  };
}

/** A request for the positions of all trackables of a hub. */
export interface StandRequest {
  /** Member id of the sender. */
  readonly from: string;
  /** From 1; a repeated request has the same. */
  readonly number: number;
}

export function packStandRequest({ from, number }: StandRequest): Uint8Array {
  return packr.pack([VERSION, from, number]);
}

/** Throws a MotionMessageError. */
export function readStandRequest(bytes: Borrowed): StandRequest {
  const [from, number] = unpacked(bytes);
  if (typeof from !== 'string' || from === '') throw malformed('from', from);
  if (!isCount(number)) throw malformed('number', number);
  return { from, number };
}

/** The owner of the stage has published the events of all these motions. */
export interface PublishedMotions {
  /** Member id of that owner. */
  readonly from: string;
  /** Monotonic time of this owner before which they were received, as in the rows of its pairs. */
  readonly beforeMs: number;
  /** For each other hub, the number of the first item that is not included. */
  readonly others: readonly (readonly [hub: string, item: number])[];
}

export function packPublishedMotions({ from, beforeMs, others }: PublishedMotions): Uint8Array {
  return packr.pack([VERSION, from, beforeMs, others]);
}

/** Throws a MotionMessageError. */
export function readPublishedMotions(bytes: Borrowed): PublishedMotions {
  const [from, beforeMs, others] = unpacked(bytes);
  if (typeof from !== 'string' || from === '') throw malformed('from', from);
  if (!Number.isFinite(beforeMs)) throw malformed('before', beforeMs);
  if (!Array.isArray(others) || !others.every(isItemOfHub)) throw malformed('others', others);
  return { from, beforeMs: beforeMs as number, others };
}

/** Copies motions into their own memory, in parts of about that many bytes. */
export function copiedInParts({ packed, lastSeq }: PackedMotions, bytesMax: number): readonly PackedMotions[] {
  const own = copied(packed);
  if (own.length <= bytesMax) return [{ packed: lend(own), lastSeq }];
  const motions = unpackMotions(own);
  const count = Math.max(1, Math.floor((motions.length * bytesMax) / own.length));
  const parts: PackedMotions[] = [];
  for (let at = 0; at < motions.length; at += count) {
    const part = motions.slice(at, at + count);
    parts.push({ packed: lend(pack(part)), lastSeq: part.at(-1)?.seq ?? lastSeq });
  }
  return parts;
}

function isBack(value: unknown): value is readonly [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isFinite);
}

function isPack(value: unknown): value is readonly [number, Uint8Array] {
  return Array.isArray(value) && isCount(value[0]) && value[1] instanceof Uint8Array;
}

function isItemOfHub(value: unknown): value is readonly [string, number] {
  return Array.isArray(value) && typeof value[0] === 'string' && isCount(value[1]);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function unpacked(bytes: Borrowed): unknown[] {
  let values: unknown;
  try {
    values = packr.unpack(look(bytes));
  } catch (cause) {
    throw new MotionMessageError('Cannot read motions of another hub: they are not msgpack', { cause });
  }
  const [version, ...rest] = Array.isArray(values) ? values : [values];
  if (version !== VERSION) throw malformed('version', version);
  return rest;
}

const SHOWN_MAX = 100;

function malformed(field: string, value: unknown): MotionMessageError {
  const text = (typeof value === 'bigint' ? `${value}` : JSON.stringify(value)) ?? 'missing';
  const shown = text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
  return new MotionMessageError(`Cannot read motions of another hub: ${field} does not fit, found ${shown}`);
}
