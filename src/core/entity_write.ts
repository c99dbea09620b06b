import type { StoredRow } from './item.ts';
import type { Utf8Bytes } from './location/record.ts';
import type { PackedRows } from './row_bytes.ts';

/**
 * Kind of a stored record other than a last-known row. A setting is one value of the hub itself, such as its locating
 * rules.
 */
export type StoredKind = 'zone' | 'fence' | 'trackable' | 'provider' | 'anchor' | 'setting';

/** An entity to store, as JSON; without `text`, to delete. */
export interface EntityWrite {
  readonly kind: StoredKind;
  readonly id: string;
  readonly text: string | undefined;
}

/** Memory to which events are appended as bytes (events/event_bytes.ts). */
export interface EventSpace {
  /** Replaced when the memory grows. */
  readonly bytes: Utf8Bytes;
  /** Begins an event of at most `bytesMax` bytes. Returns its offset. */
  begin(bytesMax: number): number;
  /** Finishes an event, which ends before `at`. */
  end(at: number): void;
}

/** Appends events to be logged, once, to the memory of the commit that stores them. */
export type WriteEvents = (to: EventSpace) => void;

/** Encoded events in memory that is reused after their commit. */
export interface EncodedEvents {
  readonly count: number;
  readonly bytes: Uint8Array;
}

/** Events of the event log at consecutive positions, stored by one commit. */
export interface EventBlock {
  /** Position of the first event. */
  readonly first: number;
  readonly count: number;
  /** Time of the commit in milliseconds since 1970. Never before that of an earlier block. */
  readonly timeMs: number;
  readonly bytes: EncodedEvents['bytes'];
  /** Set if events before this block were lost: the log then begins after this position. */
  readonly lostTo?: number | undefined;
}

export interface StoreBatch {
  readonly entities: readonly EntityWrite[];
  /** If an object has several rows, the last one counts. Packed rows are valid until the batch is stored. */
  readonly rows: Iterable<StoredRow>;
  /** Events that these writes cause. Storing a block replaces all events at and after its first position. */
  readonly events?: EventBlock | undefined;
  /** Entries of the audit log about these writes. They are positioned like events. */
  readonly audit?: EventBlock | undefined;
}

/** A part of the stored state. */
export interface StoredPart {
  /** In the order of first creation. */
  readonly entities: readonly EntityWrite[];
  readonly rows: PackedRows;
}

/** Stored state besides entities and last locations. */
export interface StoredFacts {
  readonly hubId: string;
  /** Settings of the hub. */
  readonly settings: readonly EntityWrite[];
  /** Times of receipt of the last locations of providers. */
  readonly lastReceived: readonly (readonly [providerId: string, receivedMs: number])[];
}

/** The complete stored state. */
export interface StoredState {
  /** In the order of first creation. */
  readonly entities: readonly EntityWrite[];
  readonly rows: readonly StoredRow[];
  /** UUID that the store generated when it was created. */
  readonly hubId: string;
}
