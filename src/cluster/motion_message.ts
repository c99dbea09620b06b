import { Packr } from 'msgpackr';
import { type Borrowed, copied, lend, look } from '../model/borrowed.ts';
import type { ClockStep } from '../model/clock_steps.ts';
import { type PackedMotions, pack, unpackMotions } from '../wire/messages.ts';

/**
 * What hubs tell the owner of the collision stage, on `<name>.m.<its incarnation>`: msgpack of
 * [version, from, number, watermark, passed, sent, set backs, stood, [[last item, motions] …]].
 *
 * And what that asks of them, on `<name>.ms.<incarnation>`: where all their trackables stand; msgpack of
 * [version, from, number].
 *
 * And what it reports to all of them, on `<name>.mp`: for which motions the events are published; msgpack of
 * [version, from, before, [[incarnation, item] …]].
 */
const VERSION = 1;

/** Times of day, but for motions and set backs. */
export interface MotionsMessage {
  /** The incarnation of the sender. */
  readonly from: string;
  /** From 1, of the messages of this sender to this owner of the stage. */
  readonly number: number;
  /** Number of the earliest item of which motions may still come. */
  readonly watermark: number;
  /** What comes from now on was received then or later. */
  readonly passedMs: number;
  /** When it was sent. */
  readonly sentMs: number;
  /** By which the sender's running time becomes the time of day. */
  readonly setBacks: readonly ClockStep[];
  /** Up to this one, it has told where all its trackables stand, as it was asked by that number; 0 where it was not asked. */
  readonly stood: number;
  readonly motions: readonly PackedMotions[];
}

/** A message about motions does not fit. */
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

/** Motions in it are lent for as long as the bytes are. Throws a MotionMessageError. */
export function readMotionsMessage(bytes: Borrowed): MotionsMessage {
  const [from, number, watermark, passedMs, sentMs, backs, stood, packs] = unpacked(bytes);
  if (typeof from !== 'string' || from === '') throw misfit('from', from);
  if (!isCount(number)) throw misfit('number', number);
  if (!isCount(watermark)) throw misfit('watermark', watermark);
  if (!Number.isFinite(passedMs)) throw misfit('passed', passedMs);
  if (!Number.isFinite(sentMs)) throw misfit('sent', sentMs);
  if (!Array.isArray(backs) || !backs.every(isBack)) throw misfit('set backs', backs);
  if (!isCount(stood)) throw misfit('stood', stood);
  if (!Array.isArray(packs) || !packs.every(isPack)) throw misfit('motions', 'no list of motions');
  return {
    ...{ from, number, watermark, stood },
    passedMs: passedMs as number,
    sentMs: sentMs as number,
    setBacks: backs.map(([toMs, byMs]) => ({ toMs, byMs })),
    motions: packs.map(([lastSeq, packed]) => ({ lastSeq, packed: lend(packed) })),
  };
}

/** A hub is asked where all its trackables stand. */
export interface StandRequest {
  /** The incarnation of who asks. */
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
  if (typeof from !== 'string' || from === '') throw misfit('from', from);
  if (!isCount(number)) throw misfit('number', number);
  return { from, number };
}

/** The owner of the stage has published the events of all these motions. */
export interface PublishedMotions {
  /** The incarnation of that owner. */
  readonly from: string;
  /** Those received before that running time of this owner, which the rows of its pairs have as well. */
  readonly beforeMs: number;
  /** Of each other hub, those of items before a number. */
  readonly others: readonly (readonly [hub: string, item: number])[];
}

export function packPublishedMotions({ from, beforeMs, others }: PublishedMotions): Uint8Array {
  return packr.pack([VERSION, from, beforeMs, others]);
}

/** Throws a MotionMessageError. */
export function readPublishedMotions(bytes: Borrowed): PublishedMotions {
  const [from, beforeMs, others] = unpacked(bytes);
  if (typeof from !== 'string' || from === '') throw misfit('from', from);
  if (!Number.isFinite(beforeMs)) throw misfit('before', beforeMs);
  if (!Array.isArray(others) || !others.every(isItemOfHub)) throw misfit('others', others);
  return { from, beforeMs: beforeMs as number, others };
}

/** Motions in bytes of their own, in parts of about so many bytes. */
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
    throw new MotionMessageError('Cannot read motions of another hub: they are no msgpack', { cause });
  }
  const [version, ...rest] = Array.isArray(values) ? values : [values];
  if (version !== VERSION) throw misfit('version', version);
  return rest;
}

const SHOWN_MAX = 100;

function misfit(field: string, value: unknown): MotionMessageError {
  const text = (typeof value === 'bigint' ? `${value}` : JSON.stringify(value)) ?? 'missing';
  const shown = text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
  return new MotionMessageError(`Cannot read motions of another hub: ${field} does not fit, found ${shown}`);
}
