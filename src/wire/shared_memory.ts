import type { RecordBuffer } from '../core/location/record.ts';
import { type Borrowed, lend } from '../model/borrowed.ts';

/**
 * Signals to a worker besides its tasks: `rest` when it is idle and may free memory, `ready` to be answered after
 * startup.
 */
export type WorkerSignal = 'rest' | 'ready';
/** Task of a worker: bytes, the length of bytes in shared memory, or a signal. */
export type WorkerTask = Uint8Array | number | WorkerSignal;
/** Answer of a worker: bytes, or the length of bytes in shared memory; the answer to a signal is meaningless. */
export type WorkerAnswer = Uint8Array | number;

/** Memory shared with a worker: its content need not be transferred and creates no garbage. */
export interface SharedMemory {
  /** Task of the worker. */
  readonly task: Uint8Array;
  /** Its answers, alternately: one is still read while the next one is written. */
  readonly answers: readonly [Uint8Array, Uint8Array];
}

/** Allocates memory for tasks and answers of `bytes` each. Untouched memory costs nothing. */
export function shareMemory(bytes: number): SharedMemory {
  const newArea = () => new Uint8Array(new SharedArrayBuffer(bytes));
  return { task: newArea(), answers: [newArea(), newArea()] };
}

/** Allocates memory for records and rows that other threads can read. */
export function newSharedBuffer(length: number): RecordBuffer {
  const memory = new SharedArrayBuffer(length);
  return { bytes: Buffer.from(memory), view: new DataView(memory) };
}

/** Returns the memory of the answer to task `number`, from 0; signals are not counted. */
export function answerArea({ answers }: SharedMemory, number: number): Uint8Array {
  return answers[number & 1] as Uint8Array;
}

/**
 * Returns the bytes of a task, given directly or by their length in shared memory: borrowed until the worker has
 * answered.
 */
export function bytesOf(task: Uint8Array | number, shared: SharedMemory): Borrowed {
  return lend(typeof task === 'number' ? shared.task.subarray(0, task) : task);
}
