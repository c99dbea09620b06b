import type { Borrowed } from './borrowed.ts';
import type { FilterFields } from './topics.ts';

/**
 * Events of one variant on their way to subscribers. Their JSON texts are UTF-8 bytes, joined by commas as in the payload
 * of a frame: whoever sends them copies bytes and decodes nothing.
 */
export interface EventBatch {
  readonly variant: number;
  /** Good until who has made the events makes more: the next step, or the next answer of its thread. */
  readonly bytes: Borrowed;
  /** Where each text ends in `bytes`; the next one starts behind the comma. */
  readonly ends: Uint32Array;
  /** Of each event; undefined where nobody filters. */
  readonly fields: readonly FilterFields[] | undefined;
}

/** What an event of a variant that nobody filters has for fields. */
export const NO_FIELDS: FilterFields = [];

/** Texts as the bytes of a payload. They are a Buffer, which msgpackr neither names nor copies, as it does other bytes. */
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
