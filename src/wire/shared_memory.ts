import type { RecordBuffer } from '../core/location/record.ts';
import { type Borrowed, lend } from '../model/borrowed.ts';

/**
 * Signals to a worker: `rest` allows an idle worker to free memory; `ready` is answered once the worker has started.
 */
export type WorkerSignal = 'rest' | 'ready';
/** Task of a worker: bytes, the length of bytes in shared memory, or a signal. */
export type WorkerTask = Uint8Array | number | WorkerSignal;
/** Answer of a worker: bytes, or the length of bytes in shared memory. The answer to a signal has no meaning. */
export type WorkerAnswer = Uint8Array | number;

/** Memory shared with a worker, so that content is not transferred and creates no garbage. */
export interface SharedMemory {
  /** Task of the worker. */
  readonly task: Uint8Array;
  /** Areas for answers, used alternately: one may still be read while the next one is written. */
  readonly answers: readonly [Uint8Array, Uint8Array];
}

/**
 * Allocates memory for tasks and answers of `bytes` bytes each. The system provides pages only when they are written.
 */
export function shareMemory(bytes: number): SharedMemory {
  const newArea = () => new Uint8Array(new SharedArrayBuffer(bytes));
  return { task: newArea(), answers: [newArea(), newArea()] };
}

/** Allocates memory for records and rows that other threads can read. */
export function newSharedBuffer(length: number): RecordBuffer {
  const memory = new SharedArrayBuffer(length);
  return { bytes: Buffer.from(memory), view: new DataView(memory) };
}

/** Returns the memory for the answer to task `number`. Tasks are numbered from 0, without signals. */
export function answerArea({ answers }: SharedMemory, number: number): Uint8Array {
  return answers[number & 1] as Uint8Array;
}

/**
 * Returns the bytes of a task, given as such or by their length in shared memory. They are borrowed until the worker
 * has answered.
 */
export function bytesOf(task: Uint8Array | number, shared: SharedMemory): Borrowed {
  return lend(typeof task === 'number' ? shared.task.subarray(0, task) : task);
}
