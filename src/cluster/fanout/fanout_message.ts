import { Packr } from 'msgpackr';
import { type Borrowed, look } from '../../model/borrowed.ts';
import {
  isRenderedByShards,
  type KeyValue,
  TOPICS,
  type Topic,
  type Variant,
  type EventSelector,
} from '../../model/topics.ts';
import { type FailedFenceEvent, readRows, rowOf } from '../../wire/fence_events.ts';
import { FrameFormatError } from './event_frame.ts';

/**
 * Messages about events between hubs, besides the frames that carry them: msgpack of `[version, …]`.
 *
 *   interest   from, number, variants  what subscriptions of a hub want, replacing its previous message; a variant is [its
 *                                      number there, topic, crs, zone or null, GeoJSON, whether any subscriber filters,
 *                                      filter], where the filter is null for all, or [[index of a field, values] for each,
 *                                      [index of a field, greatest number] for each]
 *   answer     frames, announced       received, after that many frames to this hub, and messages of announced events to
 *                                      all; nothing after the version: not received, since the sender is no member yet
 *   announced  from, number, events,   events that come from no shard, as [kind, JSON]; and the sequence of the
 *              after                   configuration after which they come, 0 where it is left out
 *   again      from, of, first, last   requests missing messages with these numbers: frames to this hub, or announced events
 *   sentAgain  lost                    all requested messages were sent again but those up to that number; 0: all of them
 */
const VERSION = 1;
const VARIANTS_MAX = 100_000;

/**
 * Events that come from no shard: of proximities, and fence events of third parties. Or the fence events of a failed owner,
 * which it may not have published.
 */
export type AnnouncedKind = 'proximity' | 'fenceEvent' | 'fenceEventsAgain';
export type AnnouncedEvent = readonly [kind: AnnouncedKind, text: string];

const ANNOUNCED_KINDS: readonly unknown[] = ['proximity', 'fenceEvent', 'fenceEventsAgain'] satisfies AnnouncedKind[];

export interface InterestMessage {
  readonly from: string;
  /** Rises with each change. */
  readonly number: number;
  readonly variants: readonly Variant[];
}

/** Numbers of the last messages that a hub has sent to another one. */
export interface SentSoFar {
  readonly frames: number;
  readonly announced: number;
}

export interface AnnouncedMessage {
  readonly from: string;
  /** Number of the message at this sender, from 1. */
  readonly number: number;
  readonly events: readonly AnnouncedEvent[];
  /** Configuration sequence after which they come. */
  readonly after: number;
}

/** Numbered sequences: frames of rendered events, per receiver; messages of announced events, the same for all. */
export type Numbered = 'rendered' | 'announced';

const NUMBERED: readonly unknown[] = ['rendered', 'announced'] satisfies Numbered[];

export interface AgainMessage {
  readonly from: string;
  readonly of: Numbered;
  readonly first: number;
  readonly last: number;
}

const packr = new Packr({ useRecords: false, useToJSON: false });

export function packInterest({ from, number, variants }: InterestMessage): Uint8Array {
  const rows = variants.map(({ id, topic, crs, zoneId = null, geojson = false, unfiltered = false, wanted }) => {
    return [id, topic, crs, zoneId, geojson, !unfiltered, wanted === undefined ? null : wantedRow(wanted)];
  });
  return packr.pack([VERSION, from, number, rows]);
}

/** Throws a FrameFormatError. */
export function readInterest(bytes: Borrowed): InterestMessage {
  const [from, number, rows] = unpacked('interest', bytes);
  if (typeof from !== 'string') throw malformed('interest', 'from', from);
  if (!isCount(number)) throw malformed('interest', 'number', number);
  if (!Array.isArray(rows) || rows.length > VARIANTS_MAX) throw malformed('interest', 'variants', rows);
  return { from, number, variants: rows.map(readVariant) };
}

function wantedRow({ keys, limits }: EventSelector): readonly unknown[] {
  return [keys.map(({ at, values }) => [at, values]), limits.map(({ at, most }) => [at, most])];
}

function readVariant(row: unknown): Variant {
  const [id, topic, crs, zoneId, geojson, filters, wanted] = Array.isArray(row) ? row : [];
  const isFit =
    isCount(id) &&
    id < 2 ** 32 &&
    isTopic(topic) &&
    typeof crs === 'string' &&
    (zoneId === null || typeof zoneId === 'string') &&
    typeof geojson === 'boolean' &&
    typeof filters === 'boolean';
  if (!isFit) throw malformed('interest', 'a variant', row);
  const variant = { id, topic, crs, zoneId: zoneId ?? undefined, geojson, unfiltered: !filters };
  return wanted == null ? variant : { ...variant, wanted: readWanted(wanted) };
}

function readWanted(row: unknown): EventSelector {
  const [keys, limits] = Array.isArray(row) ? row : [];
  const isFit = areRows(keys, isValues) && areRows(limits, (most) => typeof most === 'number');
  if (!isFit) throw malformed('interest', 'what is wanted', row);
  return {
    keys: (keys as [number, KeyValue[]][]).map(([at, values]) => ({ at, values })),
    limits: (limits as [number, number][]).map(([at, most]) => ({ at, most })),
  };
}

function areRows(rows: unknown, isFit: (value: unknown) => boolean): boolean {
  return Array.isArray(rows) && rows.every((row) => Array.isArray(row) && isCount(row[0]) && isFit(row[1]));
}

function isValues(values: unknown): boolean {
  return Array.isArray(values) && values.every((value) => ['string', 'number', 'boolean'].includes(typeof value));
}

export function packAnswer(sent: SentSoFar | undefined): Uint8Array {
  return packr.pack(sent === undefined ? [VERSION] : [VERSION, sent.frames, sent.announced]);
}

/** Undefined if the sender is no member there. Throws a FrameFormatError. */
export function readAnswer(bytes: Borrowed): SentSoFar | undefined {
  const [frames, announced] = unpacked('answer', bytes);
  if (frames === undefined) return undefined;
  if (!isCount(frames)) throw malformed('answer', 'frames', frames);
  if (!isCount(announced)) throw malformed('answer', 'announced', announced);
  return { frames, announced };
}

export function packAnnounced({ from, number, events, after }: AnnouncedMessage): Uint8Array {
  return packr.pack([VERSION, from, number, events, after]);
}

/** Throws a FrameFormatError. */
export function readAnnounced(bytes: Borrowed): AnnouncedMessage {
  const [from, number, events, after = 0] = unpacked('announced', bytes);
  if (typeof from !== 'string') throw malformed('announced', 'from', from);
  if (!isCount(number)) throw malformed('announced', 'number', number);
  if (!Array.isArray(events) || !events.every(isAnnounced)) throw malformed('announced', 'events', events);
  if (!isCount(after)) throw malformed('announced', 'after', after);
  return { from, number, events, after };
}

/** Packs the content of an announced event of the kind fenceEventsAgain: journaled fence events of other hubs. */
export function packFenceEvents(events: readonly FailedFenceEvent[]): string {
  return JSON.stringify(events.map(rowOf));
}

/** Reads this content. Throws a FrameFormatError. */
export function readFenceEvents(packed: string): readonly FailedFenceEvent[] {
  const events = readRows(parsed(packed));
  if (events === undefined) throw malformed('announced', 'fence events', packed);
  return events;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function packAgain({ from, of, first, last }: AgainMessage): Uint8Array {
  return packr.pack([VERSION, from, of, first, last]);
}

/** Throws a FrameFormatError. */
export function readAgain(bytes: Borrowed): AgainMessage {
  const [from, of, first, last] = unpacked('again', bytes);
  if (typeof from !== 'string') throw malformed('again', 'from', from);
  if (!NUMBERED.includes(of)) throw malformed('again', 'of', of);
  if (!isCount(first)) throw malformed('again', 'first', first);
  if (!isCount(last)) throw malformed('again', 'last', last);
  return { from, of: of as Numbered, first, last };
}

export function packSentAgain(lost: number): Uint8Array {
  return packr.pack([VERSION, lost]);
}

/** Throws a FrameFormatError. */
export function readSentAgain(bytes: Borrowed): number {
  const [lost] = unpacked('sentAgain', bytes);
  if (!isCount(lost)) throw malformed('sentAgain', 'lost', lost);
  return lost;
}

function isAnnounced(value: unknown): value is AnnouncedEvent {
  return Array.isArray(value) && ANNOUNCED_KINDS.includes(value[0]) && typeof value[1] === 'string';
}

function isTopic(value: unknown): value is Topic {
  return typeof value === 'string' && Object.hasOwn(TOPICS, value) && isRenderedByShards(value as Topic);
}

function unpacked(what: string, bytes: Borrowed): unknown[] {
  let values: unknown;
  try {
    values = packr.unpack(look(bytes));
  } catch (cause) {
    throw new FrameFormatError(`Cannot read a message (${what}): it is not msgpack`, { cause });
  }
  const [version, ...rest] = Array.isArray(values) ? values : [values];
  if (version !== VERSION) throw malformed(what, 'version', version);
  return rest;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

const SHOWN_MAX = 100;

function malformed(what: string, field: string, value: unknown): FrameFormatError {
  const text = (typeof value === 'bigint' ? `${value}` : JSON.stringify(value)) ?? 'missing';
  const shown = text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
  return new FrameFormatError(`Cannot read a message (${what}): ${field} does not fit, found ${shown}`);
}
