import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import type { StoredRow } from '../core/item.ts';
import type { EntityWrite, EventBlock, StoredPart, StoreBatch } from '../core/entity_write.ts';
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

export type StoreRequest = { readonly ask: 'load' } | Commit | EventRequest | { readonly ask: 'close' };

/** Logs of a store: events, and entries of the audit log. */
export type LogName = 'events' | 'audit';

/** Request to a log. */
export type EventRequest = { readonly log: LogName } & (
  | { readonly ask: 'event range' }
  | { readonly ask: 'events'; readonly after: number; readonly bytesMax: number }
  | { readonly ask: 'event position'; readonly timeMs: number }
  | { readonly ask: 'trim events'; readonly to: EventTrim }
);

/** Extent of the stored events. */
export interface EventRange {
  /** UUID of the store. */
  readonly hubId: string;
  /** Position of the newest event ever stored; 0 before the first. */
  readonly newest: number;
  /** Position of the newest event that was removed; 0 before the first. All events after it are stored. */
  readonly trimmed: number;
  /** Time of the oldest stored block; undefined without events. */
  readonly oldestMs: number | undefined;
  /** Time of the newest one. */
  readonly newestMs: number | undefined;
  /** Size of the stored events. */
  readonly bytes: number;
}

/** Which events to remove. */
export type EventTrim =
  /** Events stored before a time, and the oldest events beyond a size. */
  | { readonly beforeMs: number; readonly bytesMax: number }
  /** All events; the log continues after a position. */
  | { readonly all: number };

/** Stored events after a position. */
export interface StoredEvents {
  readonly blocks: readonly EventBlock[];
  /** Position of the newest event that was removed, or cannot be read because it is damaged. */
  readonly trimmed: number;
}

/** A batch to commit. `entities` is a packed EntityWrite[], absent if empty. */
export interface Commit {
  readonly ask: 'commit';
  readonly entities: Uint8Array | undefined;
  readonly events?: EventBlock;
  readonly audit?: EventBlock;
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
  | { readonly say: 'event range'; readonly range: EventRange }
  | { readonly say: 'events'; readonly stored: StoredEvents }
  | { readonly say: 'event position'; readonly position: number }
  | { readonly say: 'trimmed'; readonly range: EventRange; readonly hasMore: boolean }
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

export function commitOf({ entities, rows, events, audit }: StoreBatch): Commit {
  const { bytes, count, size } = packedRows(rows);
  const { buffer: memory, byteOffset: start } = look(bytes);
  const packed = entities.length === 0 ? undefined : own(entities);
  return { ask: 'commit', entities: packed, memory, start, size, count, ...logged({ events, audit }) };
}

export function batchOf({ entities, memory, start, size, count, events, audit }: Commit): StoreBatch {
  const buffer = { bytes: Buffer.from(memory), view: new DataView(memory) };
  return {
    entities: entities === undefined ? [] : (packr.unpack(entities) as EntityWrite[]),
    rows: new PackedRows(buffer, { start, size, count }),
    ...logged({ events, audit }),
  };
}

function logged({ events, audit }: Pick<StoreBatch, LogName>): Pick<Commit, LogName> {
  return { ...(events && { events }), ...(audit && { audit }) };
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
