import type { RecordBuffer } from '../core/location/record.ts';
import { type Borrowed, lend } from '../model/borrowed.ts';

/**
 * What a worker that works on bytes may be told besides: `rest` when it has had nothing to do for a while and may tidy up,
 * `ready` to be answered as soon as it has started.
 */
export type Signal = 'rest' | 'ready';
/** What crosses to such a worker: bytes, the number of those that lie in shared memory, or a signal. */
export type Task = Uint8Array | number | Signal;
/** What comes back: bytes, or the number of those that lie in shared memory; what a signal is answered says nothing. */
export type Answer = Uint8Array | number;

/** Memory that a thread shares with its worker: what lies there need not cross, and is no garbage afterwards. */
export interface SharedMemory {
  /** What the worker is asked. */
  readonly task: Uint8Array;
  /** What it answers, in turn: the last answer is still read while the next one is written. */
  readonly answers: readonly [Uint8Array, Uint8Array];
}

/** Makes memory for tasks and answers of so many bytes each. Where it is never touched it costs nothing. */
export function shareMemory(bytes: number): SharedMemory {
  const newArea = () => new Uint8Array(new SharedArrayBuffer(bytes));
  return { task: newArea(), answers: [newArea(), newArea()] };
}

/** Memory for records and rows that other threads can read as well. */
export function newSharedBuffer(length: number): RecordBuffer {
  const memory = new SharedArrayBuffer(length);
  return { bytes: Buffer.from(memory), view: new DataView(memory) };
}

/** Where the answer to a worker's task of that number lies, from 0; signals are not counted. */
export function answerArea({ answers }: SharedMemory, number: number): Uint8Array {
  return answers[number & 1] as Uint8Array;
}

/** Bytes as they are, or those in the place of tasks, by their number: lent until the worker has answered. */
export function bytesOf(task: Uint8Array | number, shared: SharedMemory): Borrowed {
  return lend(typeof task === 'number' ? shared.task.subarray(0, task) : task);
}
