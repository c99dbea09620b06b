import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import type { KeptPart, StoreBatch } from '../core/kept.ts';

/**
 * What the front thread and the store worker say to each other: one reply to each request, in their order, and before
 * all others one that says whether the store is open. While it is being opened, stages tell how far that is, and notices
 * what somebody should know. What is kept comes in parts before the reply.
 */

/** What the store worker is started with. */
export interface StoreSettings {
  readonly path: string;
  /** When the hub was started, for the names of backups. Milliseconds since 1970. */
  readonly startedMs?: number;
  /** Whether to go on without what is lost. */
  readonly acceptLoss?: boolean;
}

export type StoreRequest =
  | { readonly ask: 'load' }
  | { readonly ask: 'commit'; readonly bytes: Uint8Array }
  | { readonly ask: 'close' };

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

/** Packs into bytes of their own, which can be handed over without a copy. */
export function packBatch(batch: StoreBatch): Uint8Array {
  return new Uint8Array(packr.pack(batch, RESET_BUFFER_MODE));
}

export function unpackBatch(bytes: Uint8Array): StoreBatch {
  return packr.unpack(bytes) as StoreBatch;
}

export function packPart(part: KeptPart): Uint8Array {
  return new Uint8Array(packr.pack(part, RESET_BUFFER_MODE));
}

export function unpackPart(bytes: Uint8Array): KeptPart {
  return packr.unpack(bytes) as KeptPart;
}
