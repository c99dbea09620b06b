import type { MessagePort } from 'node:worker_threads';
import type { SharedRing } from './frame_ring.ts';

/** What the front thread and the thread of the connection say to each other, see frame_ring.ts. */

/** Commands of the front thread, in the order in which it gave them. */
export const COMMAND = {
  /** `subject`, `reply`, `body` */
  publish: 1,
  /** `id`, `subject`, `body`; `first`: time-out in ms. Answered by `answered`. */
  request: 2,
  /**
   * `id`, `subject`, `reply`: the stream; the bytes in `body`, or `length` bytes from `third` in the area. `first`:
   * time-out in ms; `second`: the sequence expected; flags say of what. Answered by `appended`.
   */
  append: 3,
  /** As `append`: one message of several that are kept together. */
  batched: 4,
  /** `id`, `subject`. Answered by `ready`. */
  subscribe: 5,
  /** `id`, `subject`: subjects with blanks in between; `reply`: the stream; `first`: from which sequence. Answered by `ready`. */
  follow: 6,
  /** As `follow`, not answered. */
  read: 7,
  /** `id` of a reader; `first`: time-out in ms. Answered by `batchEnd` or `failed`. */
  readOn: 8,
  /** `id` of a subscription, follower or reader */
  end: 9,
} as const;

/** Flags of `append` and `batched`. */
export const APPEND = { expectsOfSubject: 1, expectsOfStream: 2, isLast: 4 } as const;

/** What the connection's thread tells. */
export const EVENT = {
  /** flags: 1 for up; `body`: why it is down */
  status: 1,
  /** `body`: what somebody should know */
  notice: 2,
  /** `id`; flags: an index of ANSWERS; `body` */
  answered: 3,
  /** `id`; flags: an index of APPENDED; `first`: the sequence; `body`: what was wrong */
  appended: 4,
  /** `id`, `subject`, `reply`, `body`; `first`: the sequence */
  message: 5,
  /** `id` */
  ready: 6,
  /** `id`; flags: 1 for the last */
  batchEnd: 7,
  /** `id`; `body`: what has failed */
  failed: 8,
} as const;

export const ANSWERS = ['answered', 'noResponders', 'unanswered'] as const;
export const APPENDED = ['kept', 'refused', 'full', 'unknown', 'wrong'] as const;

/** Memory that appends refer to by number, or that is forgotten. */
export interface AreaMessage {
  readonly area: number;
  readonly memory?: SharedArrayBuffer;
}

/** How servers are reached, and what for. */
export interface BusSettings {
  /** `nats://host:port` or `tls://host:port` */
  readonly servers: readonly string[];
  /** What all subjects of the cluster begin with. */
  readonly name: string;
  /** What servers call this connection in their lists. */
  readonly memberName: string;
  readonly credentialsPath?: string;
  readonly nkeyPath?: string;
  readonly username?: string;
  readonly password?: string;
  readonly tls?: { readonly caPath?: string; readonly certificatePath?: string; readonly keyPath?: string };
}

/** What the thread is started with. */
export interface BusThreadData {
  readonly settings: BusSettings;
  readonly commands: SharedRing;
  readonly events: SharedRing;
  readonly areas: MessagePort;
}
