import type { Problem } from '../problem.ts';
import type { Access } from '../auth/authorizer.ts';
import type { Visibility, EntityIndex } from '../auth/visibility.ts';
import type { ZoneLookup } from '../core/zone/zone_table.ts';
import type { EventLog } from '../events/event_log.ts';
import type { CountUnsent, Peer } from '../exchange.ts';
import type { Fanout } from '../fanout/fanout.ts';
import type { SendQueue } from '../fanout/send_queue.ts';
import type { Borrowed } from '../model/borrowed.ts';
import type { View } from '../model/topics.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import type { OwnerHint } from './owner_messages.ts';
import type { RequestedView } from './params.ts';
import type { WaitingFrames } from './waiting_frames.ts';

/** Result of a publish, with one problem for each rejected item, such as `locations[3].source: ...`. */
export type PublishResult = IngestResult | Promise<IngestResult>;
export interface IngestResult {
  readonly problems: readonly Problem[];
  /** Resolves when the accepted items are stored; rejects if they cannot be stored. */
  readonly committed?: Promise<void> | undefined;
}

/** Ingests published items. Throws, or rejects with, a HubError if no item was accepted. */
type Ingest = (values: readonly unknown[], versionPath: string) => PublishResult;

/** Use of a topic that needs a permission. */
export type Use = 'subscribe' | 'publish';

/** A use of a topic to be authorized. */
export interface TopicRequest {
  readonly use: Use;
  /** Path of the connection, which contains the API version. */
  readonly path: string;
  /** Name of an existing topic. */
  readonly topic: string;
  readonly token: string | undefined;
}

/** Access to the event log. */
export interface LoggedEvents {
  /** Throws HUB_NOT_FOUND if the hub has none. */
  log(): EventLog;
  /** Zones for coordinates in `local`. */
  readonly zones: ZoneLookup;
}

export interface PubSubDeps {
  readonly fanout: Fanout;
  /**
   * Resolves when all hubs have received the interest of this hub's subscriptions; undefined if they already have.
   * Subscriptions are acknowledged after that. Rejects with HUB_UNAVAILABLE. Absent without a cluster.
   */
  readonly interestAnnounced?: () => Promise<void> | undefined;
  /** The event log, for subscriptions after a cursor; absent in tests without one. */
  readonly events?: LoggedEvents;
  readonly ingestLocations: Ingest;
  /**
   * Ingests the locations of a message from its bytes. Returns `unusual` if nothing was ingested and the message must
   * be parsed. Throws HUB_UNAVAILABLE. If absent, all messages are parsed.
   */
  readonly ingestMessage?: (message: Borrowed) => Promise<void> | undefined | 'unusual';
  readonly ingestProximities: Ingest;
  /** The other hub that owns most locations of the message ingested last, once. Absent without a cluster. */
  readonly takeOwnerHint?: (() => OwnerHint | undefined) | undefined;
  /**
   * Whether messages contain the id of their subscription. `auto` omits it for Go clients, which drop such messages.
   */
  readonly subscriptionIdMode: 'auto' | 'always' | 'never';
  /**
   * Completes a view with its defaults. Throws HUB_BAD_REQUEST for an unsupported CRS or an unknown zone, and
   * HUB_NOT_AUTHORIZED for a zone whose position the token may not read.
   */
  readonly checkView: (asked: RequestedView, visibility: Visibility | undefined) => View;
  /** Entities of the site, for access checks. If absent, tokens with limited access can read only what they own. */
  readonly site?: EntityIndex;
  /**
   * Authorizes a use of a topic; if absent, every use is allowed. Throws, or rejects with, HUB_NOT_AUTHENTICATED,
   * HUB_NOT_AUTHORIZED and HUB_UNAVAILABLE.
   */
  readonly authorize?: (asked: TopicRequest) => Access | Promise<Access>;
  /** Clock and timers for the expiry of tokens. */
  readonly now?: () => number;
  readonly schedule?: (delayMs: number, callback: () => void) => () => void;
  /** Called when a connection is closed because it reads too slowly. */
  readonly tooSlow?: (peer: Peer, waitingBytes: number) => void;
  /** Logs an internal error. */
  readonly report?: (error: unknown) => void;
  readonly subscriptionsMax?: number;
  /** Maximum total size of the params of a connection's subscriptions, in characters; 1,048,576 by default. */
  readonly paramsMax?: number;
  /** Frames of all connections that wait for a token to be verified. */
  readonly waiting: WaitingFrames;
  /** Maximum nesting of JSON; 200 by default. */
  readonly depthMax?: number;
  /** Schedules long frames. */
  readonly turns: TaskScheduler;
  /** Set to which the send queues of open connections are added. */
  readonly open?: Set<SendQueue>;
  /** Counts the unsent bytes of all connections. */
  readonly unsent?: CountUnsent;
  /** See SendQueueOptions; 64 MiB and 256 KiB by default. */
  readonly queueMaxBytes?: number;
  readonly networkMaxBytes?: number;
}
