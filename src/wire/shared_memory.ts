import type { RecordBuffer } from '../core/location/record.ts';

/**
 * Signals to a worker: `rest` allows an idle worker to free memory; `ready` is answered once the worker has started.
 */
export type WorkerSignal = 'rest' | 'ready';
/** A task that does not fit into the shared memory, or a signal. */
export type LargeTask = Uint8Array | WorkerSignal;
/** Answer of a worker: bytes, the length of bytes in shared memory, or the error of the task. */
export type WorkerAnswer = Uint8Array | number | { readonly error: unknown };

/**
 * Memory and port that a thread shares with its worker. Tasks are numbered, one at a time:
 *
 *   thread    writes the task and its length, then its number, and wakes the worker
 *   worker    waits for the number, writes the answer, and posts its length, which wakes the thread
 *
 * A task is in `task`, and an answer in one of two areas: one may still be read while the next one is written. Larger ones, and
 * signals, are posted instead; then the length of the task is LARGE.
 */
export interface Mailbox<Port> {
  readonly control: Int32Array<SharedArrayBuffer>;
  readonly task: Uint8Array;
  readonly answers: readonly [Uint8Array, Uint8Array];
  readonly port: Port;
}

export type MailboxMemory = Omit<Mailbox<unknown>, 'port'>;

/** Indices into `control`. */
export const NUMBER = 0;
export const LENGTH = 1;
/** Length of a task that is posted. */
export const LARGE = -1;
/** Number before the first task: two before the largest, so that each thread soon continues with the smallest. */
export const NUMBER_AT_START = 2 ** 31 - 3;

/**
 * Allocates memory for tasks and answers of `bytes` bytes each. The system provides pages only when they are written.
 */
export function newMailboxMemory(bytes: number): MailboxMemory {
  const newArea = () => new Uint8Array(new SharedArrayBuffer(bytes));
  const control = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  control[NUMBER] = NUMBER_AT_START;
  return { control, task: newArea(), answers: [newArea(), newArea()] };
}

/** Number of the task after another one. */
export function numberAfter(number: number): number {
  return (number + 1) | 0;
}

/** Area for the answer to a task. */
export function answerArea({ answers }: Pick<MailboxMemory, 'answers'>, number: number): Uint8Array {
  return answers[number & 1] as Uint8Array;
}

/** Allocates memory for records and rows that other threads can read. */
export function newSharedBuffer(length: number): RecordBuffer {
  const memory = new SharedArrayBuffer(length);
  return { bytes: Buffer.from(memory), view: new DataView(memory) };
}
