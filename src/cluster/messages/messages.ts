import type { Query } from '../../core/item.ts';
import { isSentError, receivedError, type SentError, sentError, type HubError } from '../../errors.ts';
import type { ClockStep } from '../../model/clock_steps.ts';
import { isRenderedByShards, type KeyValue, TOPICS, type Topic, type Variant } from '../../model/topics.ts';
import { PARTITIONS_MAX } from '../../shards/affinity.ts';
import { KINDS, type SentSoFar } from '../channel/channel_message.ts';
import {
  BYTES,
  type Codec,
  COUNT,
  COUNT_FROM_1,
  checked,
  type Field,
  FLAG,
  ID,
  isCount,
  LENT_BYTES,
  listOf,
  messageOf,
  messagesOf,
  NUMBER,
  optional,
  orNone,
  partOf,
  recordOf,
  rowOf,
  TEXT,
} from './codec.ts';

/**
 * The messages between hubs, as tables. Two that carry most of the data have layouts of their own: messages of the
 * channel (channel/channel_message.ts) with blocks of events (fanout/event_block.ts), and the records of locations in a request (rpc/owner_protocol.ts).
 *
 * `from` and `ingress` are the member id of the sender. A message gets the next version when its fields change.
 */

/** Content of a message. */
export type MessageOf<Of> = Of extends Codec<infer Value> ? Value : never;

// Members. These messages only decide when a member is suspected.

const AMOUNT: Field<number> = checked('a number from 0', isAmount);

/** Locations per second in partitions. Leaves out invalid values: a heartbeat must arrive whatever a hub measures. */
const LOADS: Field<ReadonlyMap<number, number>> = {
  what: 'a list of partitions, each with its load',
  fits: (value) => Array.isArray(value) && value.every((pair) => Array.isArray(pair) && isLoad(pair)),
  write: (loads) => [...loads].filter(isLoad),
  read: (pairs) => new Map(pairs as [number, number][]),
};

function isLoad([partition, load]: readonly unknown[]): boolean {
  return isCount(partition) && partition < PARTITIONS_MAX && isAmount(load);
}

function isAmount(value: unknown): boolean {
  return Number.isFinite(value) && (value as number) >= 0;
}

/** Another member in a heartbeat: its id, the last record that it has applied, and the milliseconds since its last message. */
const SEEN = rowOf<readonly [incarnation: string, applied: number, silentMs: number]>(ID, COUNT, AMOUNT);

export const HEARTBEAT = messageOf(
  { what: 'a heartbeat', version: 3 },
  {
    incarnation: ID,
    /** Last configuration record that the member has applied. It never decreases. */
    applied: COUNT,
    /** Its wall-clock time when it sent this. */
    clockMs: NUMBER,
    /** Number of locations that it can accept. */
    room: { ...AMOUNT, write: (room: number) => (isAmount(room) ? room : 0) },
    /** Locations per second in each partition that it owns. */
    loads: LOADS,
    /** Members from which it has received messages and the receiver has not. */
    seen: listOf(SEEN),
  },
);
export type Heartbeat = MessageOf<typeof HEARTBEAT>;

/** Configuration sequence that a member has applied, sent between its heartbeats. */
export const APPLIED = messageOf({ what: 'an applied sequence', version: 1 }, { incarnation: ID, sequence: COUNT });

// Events.

const TOPIC: Field<Topic> = checked(
  'a topic of shards',
  (value) => typeof value === 'string' && Object.hasOwn(TOPICS, value) && isRenderedByShards(value as Topic),
);
const VARIANT_ID: Field<number> = checked('a number of a variant', (value) => isCount(value) && value < 2 ** 32);
const KEY_VALUE: Field<KeyValue> = checked('a string, a number or a flag', (value) =>
  ['string', 'number', 'boolean'].includes(typeof value),
);
const SELECTOR = recordOf({
  keys: listOf(recordOf({ at: COUNT, values: listOf(KEY_VALUE) })),
  limits: listOf(recordOf({ at: COUNT, most: NUMBER })),
  boxes: optional(listOf(recordOf({ at: COUNT, west: NUMBER, south: NUMBER, east: NUMBER, north: NUMBER }))),
});
const VARIANT = recordOf({
  id: VARIANT_ID,
  topic: TOPIC,
  crs: TEXT,
  zoneId: optional(TEXT),
  geojson: optional(FLAG),
  propertiesMax: optional(COUNT),
  unfiltered: optional(FLAG),
  wanted: optional(SELECTOR),
}) as Field<Variant>;

const SENT_SO_FAR: Field<SentSoFar> = recordOf({ number: COUNT, lastOf: listOf(COUNT, KINDS.length) });

/** The variants that the subscriptions of a hub need, each by its number there. Replaces the previous message. */
export const INTEREST = messageOf(
  { what: 'the interest of another hub', version: 2 },
  { from: ID, /** Rises with each change. */ number: COUNT, variants: listOf(VARIANT) },
);

/**
 * Acknowledges interest once it applies to all later steps: with how much was sent before, and the first step of each shard whose
 * events were not. Without `sent` it is not received: the sender is no member yet.
 */
export const INTEREST_ANSWER = messageOf(
  { what: 'an answer to the interest of this hub', version: 3 },
  { sent: orNone(SENT_SO_FAR), unpublished: listOf(COUNT) },
);

/** Requests missing messages with these numbers. */
export const AGAIN = messageOf(
  { what: 'a request for missing messages', version: 2 },
  { from: ID, first: COUNT, last: COUNT },
);

/** All requested messages were sent again but those up to that number; 0: all of them. */
export const SENT_AGAIN = messageOf(
  { what: 'an answer to a request for missing messages', version: 1 },
  { lost: COUNT },
);

/** Asks a member which messages of this hub it has delivered. `number`: that of the last one. */
export const DELIVERED = messageOf(
  { what: 'a request for delivered messages', version: 1 },
  { from: ID, number: COUNT },
);

/** Messages up to that number are delivered, or reported as lost. */
export const DELIVERED_ANSWER = messageOf(
  { what: 'an answer to a request for delivered messages', version: 1 },
  { number: COUNT },
);

// Motions.

const CLOCK_STEP: Field<ClockStep> = recordOf({ toMs: NUMBER, byMs: NUMBER });

/**
 * Motions of a hub, for the owner of the collision stage. Times are wall-clock times, except in motions and clock steps.
 */
export const MOTIONS = messageOf(
  { what: 'motions of another hub', version: 2 },
  {
    /** Number of the earliest item that may still have motions. */
    watermark: COUNT,
    /** Lower bound of the times of receipt of later motions. */
    passedMs: NUMBER,
    /** Time of sending. */
    sentMs: NUMBER,
    /** Clock steps that convert the sender's monotonic time to wall-clock time. */
    clockSteps: listOf(CLOCK_STEP),
    /** Number of the last request for positions that is answered up to this message; 0 if there was none. */
    stood: COUNT,
    motions: listOf(recordOf({ lastSeq: COUNT, packed: LENT_BYTES })),
  },
);

/** Requests the positions of all trackables of a hub. A repeated request has the same number. */
export const STAND_REQUEST = messageOf({ what: 'a request for positions', version: 1 }, { from: ID, number: COUNT });

export type MotionsMessage = MessageOf<typeof MOTIONS>;

/** The owner of the stage has published the events of all these motions. */
export const PUBLISHED_MOTIONS = messageOf(
  { what: 'a report of published motions', version: 2 },
  {
    from: ID,
    /** For each other hub, the number of the first item that is not included. */
    others: listOf(rowOf<readonly [hub: string, item: number]>(TEXT, COUNT)),
  },
);

export type PublishedMotions = MessageOf<typeof PUBLISHED_MOTIONS>;

// Requests to owners.

/** Head of every request to an owner. */
const REQUEST_HEAD = {
  /** Configuration that the sender has applied; the receiver must have applied it too. */
  applied: COUNT,
  ingress: ID,
  /** Number of the request at its ingress hub; a repeated one has the same. */
  number: COUNT,
  /** Ownership version by which the request was routed: see ownership.ts; undefined for a request to a certain hub. */
  version: orNone(COUNT),
};

/** The part of a request with locations that follows their records. */
export const FORWARD_TAIL = partOf({
  ...REQUEST_HEAD,
  /** Earlier requests with the same locations, to members that are removed now, and may have recorded some of them. */
  sentBefore: listOf(recordOf({ owner: TEXT, number: COUNT })),
  runs: listOf(recordOf({ names: listOf(TEXT), bytes: COUNT, count: COUNT })),
});

/** Members of each query, besides `ask`. */
const QUERIES: Readonly<Record<Query['ask'], readonly (keyof typeof QUERY_MEMBERS)[]>> = {
  provider_location: ['id', 'view'],
  provider_locations: ['view'],
  trackable_location: ['id', 'view'],
  trackable_locations: ['id', 'view'],
  trackable_motion: ['id', 'view'],
  trackable_motions: ['view'],
  fence_locations: ['id', 'spatial', 'view'],
  fence_motions: ['id', 'spatial', 'view'],
  fence_providers: ['id', 'spatial'],
  fence_trackables: ['id', 'spatial'],
  provider_fences: ['id', 'spatial'],
  trackable_fences: ['id', 'spatial'],
  stays: [],
  crossings: ['id'],
  lastSeen: [],
  sample: ['only', 'above'],
  search: ['view', 'kind', 'most'],
  forecast: ['id', 'horizonMs'],
  moving: ['most'],
};
const QUERY_MEMBERS = {
  id: TEXT.fits,
  spatial: FLAG.fits,
  only: listOf(TEXT).fits,
  kind: (value: unknown) => value === 'provider' || value === 'trackable',
  most: COUNT.fits,
  horizonMs: COUNT.fits,
  above: (value: unknown) => value === undefined || typeof value === 'number',
  view: (value: unknown) => isObject(value) && typeof value['crs'] === 'string',
} as const;
const LISTS = ['only', 'fences'] as const;
const QUERY: Field<Query> = checked('a query', (value) => {
  if (!isObject(value) || typeof value['ask'] !== 'string' || !Object.hasOwn(QUERIES, value['ask'])) return false;
  const areLists = LISTS.every((list) => value[list] === undefined || listOf(TEXT).fits(value[list]));
  return areLists && QUERIES[value['ask'] as Query['ask']].every((member) => QUERY_MEMBERS[member](value[member]));
});

const ASK_HEAD = { ...REQUEST_HEAD, /** Of the answer, from 0. */ part: COUNT };

/** Other requests to an owner. */
export const ASK = messagesOf(
  { what: 'a request of another hub', version: 3, tag: 'kind' },
  {
    read: { ...ASK_HEAD, argument: QUERY },
    /** Deletes locations of providers. */
    forget: { ...ASK_HEAD, argument: listOf(TEXT) },
    /** Requests the position, in the journal, of what was released because of a record of the configuration log. */
    released: { ...ASK_HEAD, argument: COUNT },
    /** Waits until the shards are idle. */
    settle: { ...ASK_HEAD, argument: checked<null>('null', (value) => value === null) },
  },
);

const ERROR: Field<HubError> = {
  what: 'an error with code, message, reason and params',
  fits: isSentError,
  write: sentError,
  read: (value) => receivedError(value as SentError),
};

/** Outcome of a request. */
export const REPLY = messagesOf(
  { what: 'the answer of another hub', version: 3, tag: 'at' },
  {
    /** The locations are processed and journaled. */
    done: {},
    /** Nothing was taken, and a retry may succeed. */
    busy: {},
    /** The outcome is not known yet, and the request must be repeated. */
    working: {},
    /** This answer has been dropped. */
    gone: {},
    /** One part of an answer. */
    part: { parts: COUNT_FROM_1, bytes: BYTES },
    /** The receiver does not serve all objects of the request; `isUntouched`: nor has it processed part of it before. */
    moved: { applied: COUNT, isUntouched: FLAG },
    /** It cannot be done. */
    failed: { error: ERROR },
  },
);

/** A query to a member, or for a further part of its answer, which is a REPLY. */
export const QUESTION = messageOf(
  { what: 'a query of another hub', version: 2 },
  { ingress: ID, number: COUNT, part: COUNT, question: recordOf({ ask: TEXT, about: TEXT }) },
);

// Remote procedure calls.

const HANDLERS = listOf(recordOf({ method: TEXT, id: TEXT, zoneId: optional(TEXT) }));

export const RPC = messagesOf(
  { what: 'a message about remote procedure calls', version: 2, tag: 'say' },
  {
    /** Requests the handlers of all others. */
    who: { from: TEXT },
    /** Handlers of a hub. */
    here: { from: TEXT, handlers: HANDLERS },
    /** Removed handlers. */
    gone: { from: TEXT, handlers: HANDLERS },
    /** A request to a handler, as JSON. */
    request: { from: TEXT, handlerId: TEXT, text: TEXT },
    /** Its response, as JSON. */
    answer: { text: TEXT },
  },
);

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
