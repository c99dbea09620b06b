import type { Borrowed } from './borrowed.ts';
import type { FilterFields } from './topics.ts';

/**
 * Events of one variant in transit to subscribers, as UTF-8 JSON joined by commas. This is the form of a frame's
 * payload, so senders only copy bytes.
 */
export interface EventBatch {
  readonly variant: number;
  /** Valid until the producer's next step, or the next reply of its thread. */
  readonly bytes: Borrowed;
  /** End offsets of the events in `bytes`; the next event starts after the comma. */
  readonly ends: Uint32Array;
  /** Filter fields of each event; undefined if no subscriber filters. */
  readonly fields: readonly FilterFields[] | undefined;
  /** Positions of fence events that are journaled. */
  readonly positions?: EventPositions | undefined;
}

/** Position of a step in the journal of its hub. The main thread numbers the steps of each shard in order. */
export interface StepPosition {
  readonly shard: number;
  readonly step: number;
}

/** Positions of the fence events of a batch. */
export interface EventPositions extends StepPosition {
  /** Index of each event among the fence events of the step, ascending. */
  readonly indices: Uint32Array;
}

/** Filter fields of events of an unfiltered variant. */
export const NO_FIELDS: FilterFields = [];

/**
 * Joins events to the bytes of a payload. Returns a Buffer, which msgpackr, unlike other byte arrays, packs without a
 * type name and without a copy.
 */
// hot
export function joined(texts: readonly string[]): { readonly bytes: Uint8Array; readonly ends: Uint32Array } {
  const text = texts.join(',');
  const bytes = Buffer.from(text);
  const ends = new Uint32Array(texts.length);
  const isAscii = bytes.length === text.length;
  let at = -1;
  for (let i = 0; i < texts.length; i++) {
    at += 1 + (isAscii ? (texts[i] as string).length : Buffer.byteLength(texts[i] as string));
    ends[i] = at;
  }
  return { bytes, ends };
}
