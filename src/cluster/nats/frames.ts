import type { MessagePort } from 'node:worker_threads';
import type { SharedRing } from './frame_ring.ts';

/** Frames that the front thread and the connection's thread exchange, see frame_ring.ts. */

/** Commands from the front thread, and the fields that each uses. They are executed in order. */
export const COMMAND = {
  /** `subject`, `reply`, `body` */
  publish: 1,
  /** `id`, `subject`, `body`; `first`: timeout in ms; `second`: interval of repetitions in ms, 0 for none. Answered by `answered`. */
  request: 2,
  /**
   * `id`, `subject`, `reply`: the stream; the bytes in `body`, or `length` bytes from `third` in the area. `first`: timeout in
   * ms; `second`: the sequence expected; flags say of what. Answered by `appended`.
   */
  append: 3,
  /** As `append`, for one of several messages that are stored together. Only the last is answered. */
  batched: 4,
  /** `id`, `subject`. Answered by `ready`. */
  subscribe: 5,
  /** `id`; `subject`: subjects with spaces in between; `reply`: the stream; `first`: a sequence. Answered by `ready`. */
  follow: 6,
  /** As `follow`, not answered. */
  read: 7,
  /** `id` of a reader; `first`: timeout in ms. Answered by `batchEnd` or `failed`. */
  readOn: 8,
  /** `id` of a subscription, follower or reader */
  end: 9,
} as const;

/** Flags of `append` and `batched`. */
export const APPEND = { expectsOfSubject: 1, expectsOfStream: 2, isLast: 4 } as const;

/** Events from the connection's thread, and the fields that each uses. */
export const EVENT = {
  /** flags: 1 for up; `body`: why it is down */
  status: 1,
  /** `body`: a line for the log */
  notice: 2,
  /** `id`; flags: an index of ANSWERS; `body` */
  answered: 3,
  /** `id`; flags: an index of APPENDED; `first`: the sequence; `body`: what was wrong */
  appended: 4,
  /** `id`, `subject`, `reply`, `body`; `first`: the sequence */
  message: 5,
  /** `id` */
  ready: 6,
  /** `id`; flags: 1 if it was the last */
  batchEnd: 7,
  /** `id`; `body`: what has failed */
  failed: 8,
} as const;

export const ANSWERS = ['answered', 'noResponders', 'unanswered'] as const;
export const APPENDED = ['committed', 'refused', 'full', 'unknown', 'wrong'] as const;

/** Passes memory that appends refer to by the number `area`; without `memory`, that area is released. */
export interface AreaMessage {
  readonly area: number;
  readonly memory?: SharedArrayBuffer;
}

/** Addresses and credentials of the servers. */
export interface BusSettings {
  /** `nats://host:port` or `tls://host:port` */
  readonly servers: readonly string[];
  /** Name of the cluster, with which all of its subjects begin. */
  readonly name: string;
  /** Name of this connection in the lists of the servers. */
  readonly memberName: string;
  readonly credentialsPath?: string;
  readonly nkeyPath?: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: { readonly caPath?: string; readonly certificatePath?: string; readonly keyPath?: string };
}

/** Data of the worker. */
export interface BusThreadData {
  readonly settings: BusSettings;
  readonly commands: SharedRing;
  readonly events: SharedRing;
  readonly areas: MessagePort;
}
