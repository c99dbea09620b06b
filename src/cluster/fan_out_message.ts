import { Packr } from 'msgpackr';
import { type Borrowed, look } from '../model/borrowed.ts';
import { isRenderedByShards, TOPICS, type Topic, type Variant } from '../model/topics.ts';
import { FrameFormatError } from './event_frame.ts';

/**
 * What hubs say to each other about events, beside the frames that carry them: msgpack of `[version, …]`.
 *
 *   interest   from, number, variants  what subscriptions of a hub want, in the place of what it has said before; a variant
 *                                      is [its number there, topic, crs, zone or null, GeoJSON, whether anybody filters,
 *                                      keys that are wanted: null for all, and nothing else is read yet]
 *   answer     frames, announced       it was heard, behind so many frames to this hub, and messages of announced events to
 *                                      all; nothing behind the version: not heard, since the asker is no member yet
 *   announced  from, number, events    events that come from no shard, as [kind, JSON text]
 */
const VERSION = 1;
const VARIANTS_MAX = 100_000;

/** Events that come from no shard: of proximities, and fence events of third parties. */
export type AnnouncedKind = 'proximity' | 'fenceEvent';
export type AnnouncedEvent = readonly [kind: AnnouncedKind, text: string];

const ANNOUNCED_KINDS: readonly unknown[] = ['proximity', 'fenceEvent'] satisfies AnnouncedKind[];

export interface InterestMessage {
  readonly from: string;
  /** Rises with what is said. */
  readonly number: number;
  readonly variants: readonly Variant[];
}

/** How much a hub has sent to another one so far. */
export interface SentSoFar {
  readonly frames: number;
  readonly announced: number;
}

export interface AnnouncedMessage {
  readonly from: string;
  /** From 1, of the messages of this sender. */
  readonly number: number;
  readonly events: readonly AnnouncedEvent[];
}

const packr = new Packr({ useRecords: false, useToJSON: false });

export function packInterest({ from, number, variants }: InterestMessage): Uint8Array {
  const rows = variants.map(({ id, topic, crs, zoneId = null, geojson = false, unfiltered = false }) => {
    return [id, topic, crs, zoneId, geojson, !unfiltered, null];
  });
  return packr.pack([VERSION, from, number, rows]);
}

/** Throws a FrameFormatError. */
export function readInterest(bytes: Borrowed): InterestMessage {
  const [from, number, rows] = unpacked('interest', bytes);
  if (typeof from !== 'string') throw misfit('interest', 'from', from);
  if (!isCount(number)) throw misfit('interest', 'number', number);
  if (!Array.isArray(rows) || rows.length > VARIANTS_MAX) throw misfit('interest', 'variants', rows);
  return { from, number, variants: rows.map(readVariant) };
}

function readVariant(row: unknown): Variant {
  const [id, topic, crs, zoneId, geojson, filters] = Array.isArray(row) ? row : [];
  const isFit =
    isCount(id) &&
    id < 2 ** 32 &&
    isTopic(topic) &&
    typeof crs === 'string' &&
    (zoneId === null || typeof zoneId === 'string') &&
    typeof geojson === 'boolean' &&
    typeof filters === 'boolean';
  if (!isFit) throw misfit('interest', 'a variant', row);
  return { id, topic, crs, zoneId: zoneId ?? undefined, geojson, unfiltered: !filters };
}

export function packAnswer(sent: SentSoFar | undefined): Uint8Array {
  return packr.pack(sent === undefined ? [VERSION] : [VERSION, sent.frames, sent.announced]);
}

/** Undefined where the asker is no member there. Throws a FrameFormatError. */
export function readAnswer(bytes: Borrowed): SentSoFar | undefined {
  const [frames, announced] = unpacked('answer', bytes);
  if (frames === undefined) return undefined;
  if (!isCount(frames)) throw misfit('answer', 'frames', frames);
  if (!isCount(announced)) throw misfit('answer', 'announced', announced);
  return { frames, announced };
}

export function packAnnounced({ from, number, events }: AnnouncedMessage): Uint8Array {
  return packr.pack([VERSION, from, number, events]);
}

/** Throws a FrameFormatError. */
export function readAnnounced(bytes: Borrowed): AnnouncedMessage {
  const [from, number, events] = unpacked('announced', bytes);
  if (typeof from !== 'string') throw misfit('announced', 'from', from);
  if (!isCount(number)) throw misfit('announced', 'number', number);
  if (!Array.isArray(events) || !events.every(isAnnounced)) throw misfit('announced', 'events', events);
  return { from, number, events };
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
    throw new FrameFormatError(`Cannot read a message (${what}): it is no msgpack`, { cause });
  }
  const [version, ...rest] = Array.isArray(values) ? values : [values];
  if (version !== VERSION) throw misfit(what, 'version', version);
  return rest;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

const SHOWN_MAX = 100;

function misfit(what: string, field: string, value: unknown): FrameFormatError {
  const text = (typeof value === 'bigint' ? `${value}` : JSON.stringify(value)) ?? 'missing';
  const shown = text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
  return new FrameFormatError(`Cannot read a message (${what}): ${field} does not fit, found ${shown}`);
}
