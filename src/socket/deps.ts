import type { Access } from '../auth/authorizer.ts';
import type { Visibility, EntityIndex } from '../auth/visibility.ts';
import type { CountUnsent, Peer } from '../exchange.ts';
import type { Fanout } from '../fanout/fanout.ts';
import type { SendQueue } from '../fanout/send_queue.ts';
import type { Borrowed } from '../model/borrowed.ts';
import type { View } from '../model/topics.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import type { AskedView } from './params.ts';
import type { WaitingFrames } from './waiting_frames.ts';

/** What became of published items: one problem for each that was not taken, named like `locations[3].source: ...`. */
export type PublishResult = Taken | Promise<Taken>;
export interface Taken {
  readonly problems: readonly string[];
  /** Rejects when those that were taken cannot be kept. */
  readonly kept?: Promise<void> | undefined;
}

/** Takes published items. Throws, or rejects with, a HubError when none could be taken. */
type Ingest = (values: readonly unknown[], versionPath: string) => PublishResult;

/** What can be permitted to do with a topic. */
export type Use = 'subscribe' | 'publish';

/** What a client asks to be permitted. */
export interface Asked {
  readonly use: Use;
  /** That of the connection, which carries the API version. */
  readonly path: string;
  /** A name that there is. */
  readonly topic: string;
  readonly token: string | undefined;
}

export interface SocketDeps {
  readonly fanout: Fanout;
  /**
   * Resolves when all hubs know what this one's subscriptions want, by which they are answered; undefined where that is
   * so. Rejects with HUB_UNAVAILABLE. Left out: the hub is alone.
   */
  readonly interestTold?: () => Promise<void> | undefined;
  readonly ingestLocations: Ingest;
  /**
   * Takes the locations of a whole message from its bytes; `unusual` where nothing was taken, and the message is to be
   * read. Throws HUB_UNAVAILABLE. Left out: all messages are read.
   */
  readonly ingestMessage?: (message: Borrowed) => Promise<void> | undefined | 'unusual';
  readonly ingestProximities: Ingest;
  /** Whether messages carry their subscription's id; `auto`: but for the one client that cannot bear it. */
  readonly subscriptionIdMode: 'auto' | 'always' | 'never';
  /**
   * Completes a view with its defaults. Throws HUB_BAD_REQUEST for an unsupported CRS or an unknown zone, and
   * HUB_NOT_AUTHORIZED for a zone whose place the token may not know.
   */
  readonly checkView: (asked: AskedView, sight: Visibility | undefined) => View;
  /** What there is, for the rights of tokens. Without it tokens with limited access see what is their own alone. */
  readonly site?: EntityIndex;
  /**
   * Asked before a topic is used; left out: everybody may do everything. Throws, or rejects with, HUB_NOT_AUTHENTICATED,
   * HUB_NOT_AUTHORIZED and HUB_UNAVAILABLE.
   */
  readonly authorize?: (asked: Asked) => Access | Promise<Access>;
  /** The clock and the timers by which subscriptions end with their tokens. */
  readonly now?: () => number;
  readonly schedule?: (delayMs: number, callback: () => void) => () => void;
  /** Told when a connection is closed because it does not read what it subscribed to. */
  readonly tooSlow?: (peer: Peer, waitingBytes: number) => void;
  /** Told of what went wrong inside the hub, for the log. */
  readonly report?: (error: unknown) => void;
  readonly subscriptionsMax?: number;
  /** Characters of the params of a connection's subscriptions; 1,048,576 when left out. */
  readonly paramsMax?: number;
  /** Holds the frames that wait for their tokens, for whoever wants to wait for them. */
  readonly waiting: WaitingFrames;
  /** Levels that JSON may be nested; 200 when left out. */
  readonly depthMax?: number;
  /** For long frames. */
  readonly turns: TaskScheduler;
  /** Holds the send queues of the open connections, for whoever wants to count them. */
  readonly open?: Set<SendQueue>;
  /** Counts what subscribers have not read yet. */
  readonly unsent?: CountUnsent;
  /** See SendQueueOptions; 64 MiB and 256 KiB when left out. */
  readonly queueMaxBytes?: number;
  readonly networkMaxBytes?: number;
}
