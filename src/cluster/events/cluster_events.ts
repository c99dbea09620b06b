import type { EncodedEvents } from '../../core/entity_write.ts';
import { encoded, slicedEvents, textEvent } from '../../events/event_bytes.ts';
import { EventLog } from '../../events/event_log.ts';
import { look } from '../../model/borrowed.ts';
import type { EventBatch } from '../../model/event_batch.ts';
import type { FilterFields } from '../../model/topics.ts';
import type { FailedFenceEvent } from '../../wire/fence_events.ts';
import { type ClusterContext, pause } from '../context.ts';
import { BusError, type Subscription } from '../nats/bus.ts';
import {
  COLLISIONS,
  CONFIG,
  EventAppender,
  type EventAppenderOptions,
  isAfter,
  MESSAGE_EVENTS,
  type PendingEvents,
} from './event_appender.ts';
import type { LoggedSoFar } from './log_message.ts';
import { EventStreamReader, MESSAGE_POSITIONS, type StreamExtent } from './log_reader.ts';

export interface ClusterEventsOptions
  extends ClusterContext,
    Pick<EventAppenderOptions, 'journaledFrom'>,
    Pick<ChangeEventsOptions, 'isFirst'> {}

/** A start or end of a collision, or a message about an ongoing one, which has no id that another stage would repeat. */
export interface CollisionToLog {
  readonly fields: FilterFields;
  readonly json: string;
  readonly id: string | undefined;
}

/** Time that the stream may take to elect a leader when the hub starts. */
const READY_MS = 60_000;
const AGAIN_MS = 250;
/** Interval at which the extent of the log is measured. */
const EXTENT_MS = 10_000;
/** Shard in the positions of fence events of third parties. */
const THIRD_PARTIES = -1;
/** Approximate size of events that are appended together. */
const ITEM_BYTES = 256 << 10;

/**
 * Event log of the cluster: one stream, which each member appends to and reads (THEORY.md, rule 11).
 *
 *   events                     | appended by             | after
 *   ---------------------------+-------------------------+----------------------------------------------------------------
 *   fence events of a member   | the member, then the    | their step is journaled; for a successor before it owns the
 *                              | successors of its       | objects
 *                              | objects                 |
 *   fence events that a third  | the hub that received   | they were sent to subscribers
 *   party has posted           | them                    |
 *   collisions                 | the owner of the stage  | they are stored
 *   changes of entities and    | the first member        | the record is applied
 *   alerts                     |                         |
 */
export class ClusterEvents {
  readonly appender: EventAppender;
  readonly #options: ClusterEventsOptions;
  readonly #reader: EventStreamReader;
  readonly #changes: ChangeEvents;
  #following: Subscription | undefined;
  #cancelMeasuring: (() => void) | undefined;
  #thirdParties = 0;
  #isClosed = false;

  constructor(options: ClusterEventsOptions) {
    this.#options = options;
    this.appender = new EventAppender(options);
    this.#reader = new EventStreamReader(options);
    this.#changes = new ChangeEvents({ isFirst: options.isFirst, append: (item) => this.appender.add(item) });
  }

  /** Opens the log for readers of this hub. `id`: of the cluster. Rejects if the stream cannot be read. */
  async open(id: string): Promise<EventLog> {
    const { now, schedule } = this.#options;
    const measured = await this.#opened();
    const [newestMs, oldestMs] = [undefined, await this.#reader.oldestMs(measured)];
    const stride = MESSAGE_POSITIONS;
    const deps = { store: this.#reader, now, stride, isShared: true };
    const log = new EventLog({ hubId: id, ...measured, oldestMs, newestMs }, deps);
    this.#following = this.#reader.follow(measured.newest, {
      take: (block, message) => {
        if (message.writer === CONFIG) this.#changes.logged(message);
        log.committed(block);
      },
    });
    const measure = async (): Promise<void> => {
      const extent = await this.#reader.extent().catch(() => undefined);
      if (extent !== undefined && !this.#isClosed) {
        const time = extent.trimmed === log.extent.trimmed ? log.extent.oldestMs : undefined;
        const found = time ?? (await this.#reader.oldestMs(extent).catch(() => undefined));
        log.trimmed({ hubId: id, ...extent, oldestMs: found, newestMs });
      }
      if (!this.#isClosed) this.#cancelMeasuring = schedule(EXTENT_MS, () => void measure());
    };
    this.#cancelMeasuring = schedule(EXTENT_MS, () => void measure());
    return log;
  }

  async #opened(): Promise<StreamExtent> {
    const { elapsed } = this.#options;
    for (const untilMs = elapsed() + READY_MS; elapsed() < untilMs; ) {
      const extent = await this.#reader.extent();
      if (extent !== undefined) return extent;
      await pause(this.#options, AGAIN_MS);
    }
    throw new BusError('Cannot open the event log: its stream has no leader');
  }

  /** Appends the fence events of a journaled step, of which the batch has all. hot */
  fenceEvents({ bytes, ends, fields, positions }: EventBatch): void {
    if (fields === undefined || positions === undefined) return;
    const { shard, step, indices } = positions;
    const all = look(bytes);
    for (let from = 0; from < ends.length; ) {
      const start = startOf(ends, from);
      let to = from + 1;
      while (to < ends.length && to - from < MESSAGE_EVENTS && (ends[to] as number) - start <= ITEM_BYTES) to++;
      const slices = { bytes: all.subarray(start, ends[to - 1]), ends: ends.slice(from, to).map((end) => end - start) };
      this.appender.add({
        of: this.#options.incarnation,
        events: encoded(slicedEvents('fence_events', { ...slices, fields: fields.slice(from, to) })),
        position: { shard, step, index: indices[to - 1] as number },
      });
      from = to;
    }
  }

  /** Appends a fence event that a third party has posted to this hub. */
  thirdParty(fields: FilterFields, json: string): void {
    this.#add(encoded(textEvent('fence_events', fields, json)));
  }

  /** Appends events that only this hub has. Resolves when the log has them; rejects if this hub cannot append. */
  own(events: EncodedEvents): Promise<void> {
    this.#add(events);
    return this.appender.settled();
  }

  /** Appends fence events of removed members that their journals have, unless the log has them. */
  recovered(events: readonly FailedFenceEvent[]): void {
    for (const { of, event, shard, step, index } of events) {
      this.appender.add({ of, events: encoded(textEvent('fence_events', ...event)), position: { shard, step, index } });
    }
  }

  /** Appends the stored starts and ends of a step. Resolves when the log has them; rejects if this hub cannot append. */
  collisions(step: number, events: readonly CollisionToLog[]): Promise<void> {
    for (const [index, { fields, json, id }] of events.entries()) {
      const one = encoded(textEvent('collision_events', fields, json));
      const identity = id === undefined ? {} : { key: id, position: { shard: 0, step, index } };
      this.appender.add({ of: COLLISIONS, events: one, ...identity });
    }
    return this.appender.settled();
  }

  /** The collisions up to a step are stored as published: no stage publishes them again. */
  collisionsPublished(step: number): void {
    this.appender.forget(COLLISIONS, step);
  }

  /** Adds an event of the record of the configuration log with that sequence. */
  change(sequence: number, events: EncodedEvents): void {
    this.#changes.add(sequence, events);
  }

  /** The changes of a record are applied. */
  applied(): void {
    this.#changes.applied();
  }

  close(error?: Error): void {
    this.#isClosed = true;
    this.#cancelMeasuring?.();
    this.#following?.end();
    this.appender.close(error);
  }

  /** Appends events that come from no step. */
  #add(events: EncodedEvents): void {
    const position = { shard: THIRD_PARTIES, step: this.#thirdParties++, index: 0 };
    this.appender.add({ of: this.#options.incarnation, events, position });
  }
}

function startOf(ends: Uint32Array, index: number): number {
  return index === 0 ? 0 : (ends[index - 1] as number) + 1;
}

interface ChangeEventsOptions {
  /** Whether this hub is the first member, which appends the events of all records. */
  isFirst(): boolean;
  append(item: PendingEvents): void;
}

/** Most bytes of events that another member has yet to append. */
const CHANGES_MAX = 16 << 20;

/**
 * Events of changes in the configuration log: every member has them, and the first member appends them. The others hold them
 * until they are in the event log, since they may become the first member.
 */
class ChangeEvents {
  readonly #options: ChangeEventsOptions;
  #held: PendingEvents[] = [];
  #heldBytes = 0;
  #last = { step: 0, index: -1 };

  constructor(options: ChangeEventsOptions) {
    this.#options = options;
  }

  /** Adds an event of the record of that sequence, in order. */
  add(sequence: number, events: EncodedEvents): void {
    const index = this.#last.step === sequence ? this.#last.index + 1 : 0;
    this.#last = { step: sequence, index };
    this.#held.push({ of: CONFIG, events, position: { shard: 0, ...this.#last } });
    this.#heldBytes += events.bytes.length;
    // The first member appends all of them at once.
    while (!this.#options.isFirst() && this.#heldBytes > CHANGES_MAX)
      this.#heldBytes -= this.#held.shift()?.events.bytes.length ?? Infinity;
  }

  /** Appends the events of a record, or of earlier ones if this hub has become the first member. */
  applied(): void {
    if (this.#held.length === 0 || !this.#options.isFirst()) return;
    for (const item of this.#held.splice(0)) this.#options.append(item);
    this.#heldBytes = 0;
  }

  /** Drops the events that are in the log. */
  logged({ watermarks }: Pick<LoggedSoFar, 'watermarks'>): void {
    const open = this.#held.findIndex(({ position }) => position && isAfter(position, watermarks.get(0)));
    const dropped = this.#held.splice(0, open < 0 ? this.#held.length : open);
    for (const { events } of dropped) this.#heldBytes -= events.bytes.length;
  }
}
