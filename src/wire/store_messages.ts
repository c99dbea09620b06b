import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import type { StoredRow } from '../core/item.ts';
import type { EntityWrite, StoredPart, StoreBatch } from '../core/entity_write.ts';
import { PackedRows, RowWriter } from '../core/row_bytes.ts';
import { look } from '../model/borrowed.ts';
import { newRecordBuffer } from './location_record.ts';

/**
 * What the front thread and the store worker say to each other: one reply to each request, in their order, and before
 * all others one that says whether the store is open. While it is being opened, stages tell how far that is, and notices
 * what somebody should know. What is kept comes in parts before the reply. Rows do not cross: they lie in memory that both
 * threads can read, and stay there until the reply.
 */

/** What the store worker is started with. */
export interface StoreSettings {
  readonly path: string;
  /** When the hub was started, for the names of backups. Milliseconds since 1970. */
  readonly startedMs?: number;
  /** Whether to go on without what is lost. */
  readonly acceptLoss?: boolean;
}

export type StoreRequest = { readonly ask: 'load' } | Commit | { readonly ask: 'close' };

/** A batch to be kept. `entities` is a packed EntityWrite[], left out where there are none. */
export interface Commit {
  readonly ask: 'commit';
  readonly entities: Uint8Array | undefined;
  /** Where the rows lie. */
  readonly memory: ArrayBufferLike;
  readonly start: number;
  readonly size: number;
  readonly count: number;
}

/** How far the preparation of a database has come. */
export interface Stage {
  /** What is being done: "Migrating to version 2: …". */
  readonly text: string;
  /** How much of it is done, from 0 to 1. */
  readonly part: number;
}

/** `failures`: attempts to write that have failed over the request, by their reason. */
export type StoreReply = { readonly failures?: readonly (readonly [reason: string, count: number])[] } & StoreAnswer;

type StoreAnswer =
  | { readonly say: 'ready' | 'done' }
  | { readonly say: 'part'; readonly bytes: Uint8Array }
  | { readonly say: 'loaded'; readonly hubId: string }
  | { readonly say: 'stage'; readonly stage: Stage }
  | { readonly say: 'notice'; readonly text: string }
  | { readonly say: 'failed'; readonly startup: boolean; readonly message: string; readonly code?: string };

const packr = new Packr();

/** The same rows in memory of their own. */
export function copiedRows({ bytes, size, count }: PackedRows): PackedRows {
  const own = Buffer.from(look(bytes));
  return new PackedRows({ bytes: own, view: new DataView(own.buffer, own.byteOffset, size) }, { size, count });
}

/** Rows as bytes; as they are, where they are that. */
export function packedRows(rows: Iterable<StoredRow>): PackedRows {
  if (rows instanceof PackedRows) return rows;
  const writer = new RowWriter(newRecordBuffer, 0);
  for (const row of rows) writer.row(row);
  return writer.take();
}

export function commitOf({ entities, rows }: StoreBatch): Commit {
  const { bytes, count, size } = packedRows(rows);
  const { buffer: memory, byteOffset: start } = look(bytes);
  return { ask: 'commit', entities: entities.length === 0 ? undefined : own(entities), memory, start, size, count };
}

export function batchOf({ entities, memory, start, size, count }: Commit): StoreBatch {
  const buffer = { bytes: Buffer.from(memory), view: new DataView(memory) };
  return {
    entities: entities === undefined ? [] : (packr.unpack(entities) as EntityWrite[]),
    rows: new PackedRows(buffer, { start, size, count }),
  };
}

export function packPart(part: StoredPart): Uint8Array {
  return own(part);
}

export function unpackPart(bytes: Uint8Array): StoredPart {
  return packr.unpack(bytes) as StoredPart;
}

/** Packs into bytes of their own, which can be handed over without a copy. */
function own(value: StoredPart | readonly EntityWrite[]): Uint8Array {
  return new Uint8Array(packr.pack(value, RESET_BUFFER_MODE));
}
