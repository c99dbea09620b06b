import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import type { StoredRow } from '../core/item.ts';
import type { EntityWrite, StoredPart, StoreBatch } from '../core/entity_write.ts';
import { PackedRows, RowWriter } from '../core/row_bytes.ts';
import { look } from '../model/borrowed.ts';
import { newRecordBuffer } from './location_record.ts';

/**
 * Messages between the main thread and the store worker. Each request has one reply, in order; an initial reply follows
 * the opening of the store. While the store is opened, stages report the progress, and notices are logged. Stored state
 * arrives in parts before the reply. Rows are not transferred: they stay in memory shared by both threads until the
 * reply.
 */

/** Start parameters of the store worker. */
export interface StoreSettings {
  readonly path: string;
  /** Start time of the hub, for the names of backups, in milliseconds since 1970. */
  readonly startedMs?: number;
  /** Whether to accept a loss of data. */
  readonly acceptLoss?: boolean;
}

export type StoreRequest = { readonly ask: 'load' } | Commit | { readonly ask: 'close' };

/** A batch to commit. `entities` is a packed EntityWrite[], absent if empty. */
export interface Commit {
  readonly ask: 'commit';
  readonly entities: Uint8Array | undefined;
  /** Memory of the rows. */
  readonly memory: ArrayBufferLike;
  readonly start: number;
  readonly size: number;
  readonly count: number;
}

/** Progress of preparing a database. */
export interface Stage {
  /** Current activity: "Migrating to version 2: …". */
  readonly text: string;
  /** Completed fraction, from 0 to 1. */
  readonly part: number;
}

/** Reply to a request. `failures` are the failed write attempts during the request, by reason. */
export type StoreReply = { readonly failures?: readonly (readonly [reason: string, count: number])[] } & StoreAnswer;

type StoreAnswer =
  | { readonly say: 'ready' | 'done' }
  | { readonly say: 'part'; readonly part: PackedPart }
  | { readonly say: 'loaded'; readonly hubId: string }
  | { readonly say: 'stage'; readonly stage: Stage }
  | { readonly say: 'notice'; readonly text: string }
  | { readonly say: 'failed'; readonly startup: boolean; readonly message: string; readonly code?: string };

/** A part of the stored state: a packed EntityWrite[], and rows in memory of their own. */
export interface PackedPart {
  readonly entities: Uint8Array;
  readonly rows: Uint8Array;
  readonly count: number;
}

const packr = new Packr();

/** Copies rows into their own memory. */
export function copiedRows({ bytes, size, count }: PackedRows): PackedRows {
  const own = Buffer.from(look(bytes));
  return new PackedRows({ bytes: own, view: new DataView(own.buffer, own.byteOffset, size) }, { size, count });
}

/** Returns rows as bytes; packed rows as they are. */
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

export function packPart({ entities, rows }: StoredPart): PackedPart {
  return { entities: own(entities), rows: new Uint8Array(look(rows.bytes)), count: rows.count };
}

export function unpackPart({ entities, rows: { buffer, length: size }, count }: PackedPart): StoredPart {
  const rows = new PackedRows({ bytes: Buffer.from(buffer), view: new DataView(buffer) }, { size, count });
  return { entities: packr.unpack(entities) as EntityWrite[], rows };
}

/** Packs a value into its own bytes, which can be transferred without a copy. */
function own(value: readonly EntityWrite[]): Uint8Array {
  return new Uint8Array(packr.pack(value, RESET_BUFFER_MODE));
}
