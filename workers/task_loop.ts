import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { type Borrowed, lend } from '../src/model/borrowed.ts';
import {
  answerArea,
  LARGE,
  type LargeTask,
  LENGTH,
  type Mailbox,
  NUMBER,
  NUMBER_AT_START,
  numberAfter,
  type WorkerAnswer,
} from '../src/wire/shared_memory.ts';

/** Time without a task after which a worker frees the memory of its start. */
const REST_AFTER_MS = 15_000;

/** Functions of a worker. */
export interface TaskHandlers {
  /**
   * Runs a task, which is valid until the call returns. Returns the answer: its length, if it is in `area`; otherwise
   * bytes of its own, which are transferred.
   */
  run(bytes: Borrowed, area: Uint8Array): Uint8Array | number;
  /** Frees memory: the worker is idle. */
  rest?(): void;
  /** Time without a task after which it rests once. Later rests are signals. */
  readonly restAfterMs?: number;
}

/**
 * Returns the one Piscina task of a worker, which never ends. It blocks the thread until the next task is in shared
 * memory. So a task costs neither a message nor a wake-up of the event loop on this side.
 */
export function taskLoop(handlers: TaskHandlers): (mailbox: Mailbox<MessagePort>) => never {
  return (mailbox) => {
    const { control, port } = mailbox;
    let restAfterMs = handlers.restAfterMs ?? REST_AFTER_MS;
    for (let before = NUMBER_AT_START; ; ) {
      // The number changes once, after the answer. A wait may end early.
      while (Atomics.load(control, NUMBER) === before) {
        if (Atomics.wait(control, NUMBER, before, restAfterMs) !== 'timed-out') continue;
        restAfterMs = Number.POSITIVE_INFINITY;
        handlers.rest?.();
      }
      const number = numberAfter(before);
      const answer = answered(handlers, mailbox, number);
      port.postMessage(answer, answer instanceof Uint8Array ? [answer.buffer as ArrayBuffer] : []);
      before = number;
    }
  };
}

function answered({ run, rest }: TaskHandlers, mailbox: Mailbox<MessagePort>, number: number): WorkerAnswer {
  const { control, task, port } = mailbox;
  try {
    const length = Atomics.load(control, LENGTH);
    // It was posted before the number was written.
    const large = length === LARGE && (receiveMessageOnPort(port) as { message: LargeTask }).message;
    if (large === 'rest') rest?.();
    if (large === 'rest' || large === 'ready') return 0;
    return run(lend(large === false ? task.subarray(0, length) : large), answerArea(mailbox, number));
  } catch (error) {
    return { error };
  }
}
