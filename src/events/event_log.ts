import type { EncodedEvents, EventBlock } from '../core/entity_write.ts';
import { hubError } from '../errors.ts';
import { show } from '../model/error_value_text.ts';
import type { EventLogReader, EventPage, EventTopic, LoggedEvent, ReadEvents } from '../model/logged_event.ts';
import { type FilterFields, TOPICS } from '../model/topics.ts';
import { eventsIn, type StoredEvent } from './event_bytes.ts';
import { RecentBlocks } from './recent_blocks.ts';
import { type Selection, selectionOf } from './selection.ts';

/**
 * The event log of a hub: fence events, collision events, and changes of entities and alerts, at increasing positions. The audit
 * log of a hub is another one, whose events are its entries.
 *
 *   events ──▶ StoreWriter: in the commit of the change that caused them ──▶ recent blocks ──▶ read, listeners
 *                                          └──▶ store ──────────────────────▶ older blocks ──▶ read
 *
 * The writer asks for the position of each commit, and reports it when it is committed. So every event that a reader
 * receives is stored. Each start of the hub continues at the next multiple of 2^20: after a power failure the hub may
 * have lost its last commits, and their positions are not used again.
 */

/** Positions between the starts of a hub. More events than that never wait to be synced to disk. */
const STRIDE = 2 ** 20;
/** Bytes read from the store at once, and examined for one page. */
const READ_BYTES = 256 << 10;
const EXAMINED_BYTES = 2 << 20;

/** The store of the log, see store.ts. */
export interface EventLogStore {
  read(after: number, bytesMax: number): Promise<{ readonly blocks: readonly EventBlock[]; readonly trimmed: number }>;
  positionAt(timeMs: number): Promise<number>;
}

/** Extent of the stored log. */
export interface LogExtent {
  readonly hubId: string;
  readonly newest: number;
  readonly trimmed: number;
  readonly oldestMs: number | undefined;
  readonly newestMs: number | undefined;
  readonly bytes: number;
}

export interface EventLogDeps {
  readonly store: EventLogStore;
  /** Wall-clock time. */
  now(): number;
  /** The log continues at the next multiple of it; STRIDE if left out. */
  readonly stride?: number;
  /** Whether other hubs append to the log, too, so that a cursor may be newer than the events that this hub has received. */
  readonly isShared?: boolean;
}

/** A page of events by position, for one reader. */
export interface SelectedEvents {
  readonly events: readonly SelectedEvent[];
  /** Position of the last event examined. */
  readonly to: number;
  readonly hasMore: boolean;
}

export interface SelectedEvent extends Pick<StoredEvent, 'position' | 'topic'> {
  readonly fields: FilterFields;
  /** As the reader may see it. */
  readonly json: string;
}

export class EventLog implements EventLogReader {
  readonly cursors: Cursors;
  readonly #deps: EventLogDeps;
  /** Position of the next event. */
  #next: number;
  #trimmed: number;
  #lastMs: number;
  /** Newest committed blocks. */
  readonly #recent: RecentBlocks;
  readonly #listeners = new Set<() => void>();
  #isNotifying = false;
  #appended = 0;
  #isClosed = false;
  #extent: LogExtent;

  constructor(extent: LogExtent, deps: EventLogDeps) {
    this.#deps = deps;
    this.#extent = extent;
    this.#trimmed = extent.trimmed;
    this.#lastMs = extent.newestMs ?? 0;
    const { stride = STRIDE } = deps;
    this.#next = (Math.floor(Math.max(extent.newest, extent.trimmed) / stride) + 1) * stride;
    this.#recent = new RecentBlocks(this.#next - 1);
    this.cursors = new Cursors(extent.hubId);
  }

  /** Returns the events of a commit as a block. `hasLost`: events before them were dropped. */
  block({ count, bytes }: EncodedEvents, { hasLost }: { readonly hasLost: boolean }): EventBlock {
    const timeMs = Math.max(this.#lastMs, this.#deps.now());
    // Without the skipped position, readers of all events before the loss would not notice it.
    return hasLost
      ? { first: this.#next + 1, count, timeMs, bytes, lostTo: this.#next }
      : { first: this.#next, count, timeMs, bytes };
  }

  /** Publishes a committed block to readers. Copies its bytes. */
  committed(block: EventBlock): void {
    const { first, count, timeMs, lostTo } = block;
    if (lostTo !== undefined) this.#lose(lostTo);
    this.#next = first + count;
    this.#lastMs = timeMs;
    this.#appended += count;
    this.#recent.add(block);
    if (this.#listeners.size === 0 || this.#isNotifying) return;
    this.#isNotifying = true;
    queueMicrotask(() => {
      this.#isNotifying = false;
      for (const listener of [...this.#listeners]) listener();
    });
  }

  /** Whether the hub is shutting down: no reader waits for more events. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Ends all readers that wait for events. */
  close(): void {
    this.#isClosed = true;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Handles the removal of old events. */
  trimmed(extent: LogExtent): void {
    this.#extent = extent;
    this.#trimmed = Math.max(this.#trimmed, extent.trimmed);
  }

  /** Extent of the stored log, as of the last removal of old events, and the number of events since the start. */
  get extent(): LogExtent & { readonly appended: number } {
    return { ...this.#extent, oldestMs: this.#extent.oldestMs ?? this.#recent.oldestMs, appended: this.#appended };
  }

  /** Position of the newest event; that of the oldest one is greater than `oldestPosition`. */
  get newestPosition(): number {
    return this.#next - 1;
  }

  get newest(): string {
    return this.cursors.at(this.newestPosition);
  }

  /** Cursor before the oldest event. */
  get oldest(): string {
    return this.cursors.at(this.#trimmed);
  }

  /**
   * Returns the position of a cursor; of the oldest or the newest one for these words, and of the oldest one if it is
   * absent. Throws HUB_BAD_REQUEST for an invalid cursor, and HUB_GONE if events after it have been removed. `path` names
   * the parameter.
   */
  positionOf(cursor: string | undefined, path: string): number {
    if (cursor === undefined || cursor === 'oldest') return this.#trimmed;
    if (cursor === 'newest') return this.newestPosition;
    const position = this.cursors.positionOf(cursor, path);
    // For example of a time before a backup was restored.
    if (position > this.newestPosition && this.#deps.isShared !== true)
      throw hubError('cursor_unknown', { path, found: `"${cursor}"` });
    this.#checkAge(position, this.#trimmed);
    return position;
  }

  async read(after: string | undefined, { limit, ...what }: ReadEvents): Promise<EventPage> {
    const { events, to, hasMore } = await this.select(this.positionOf(after, 'after'), selectionOf(what), limit);
    return { events: events.map((event) => this.logged(event)), next: this.cursors.at(to), hasMore };
  }

  async cursorAt(timeMs: number): Promise<string> {
    return this.cursors.at(await this.positionAt(timeMs));
  }

  /** Returns the position before the oldest event that was stored at or after a time. */
  positionAt(timeMs: number): Promise<number> {
    return this.#deps.store.positionAt(timeMs);
  }

  onAppended(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Returns selected events after a position, at most `limit`. Examines a limited part of the log, so that a page may
   * be empty although there are more events. Rejects with HUB_GONE if events after the position have been removed.
   */
  async select(after: number, selection: Selection, limit: number): Promise<SelectedEvents> {
    const events: SelectedEvent[] = [];
    let to = after;
    for (let examined = 0; examined < EXAMINED_BYTES; ) {
      const newest = this.newestPosition;
      // Recent blocks are read at once, since their memory is reused.
      const blocks = to >= newest ? [] : (this.#recent.after(to) ?? (await this.#olderBlocks(to, after)));
      if (blocks === undefined) return { events, to, hasMore: true };
      if (blocks.length === 0) {
        // No event has a position from here to the newest one.
        to = Math.max(to, newest);
        break;
      }
      for (const block of blocks) {
        examined += block.bytes.length;
        for (const event of eventsIn(block, to)) {
          to = event.position;
          const selected = selectedEvent(event, selection);
          if (selected === undefined) continue;
          events.push(selected);
          if (events.length >= limit) return { events, to, hasMore: to < this.newestPosition };
        }
      }
    }
    return { events, to, hasMore: to < this.newestPosition };
  }

  /** Returns an event as readers receive it. */
  logged({ position, topic: logged, fields, json }: SelectedEvent): LoggedEvent {
    const cursor = this.cursors.at(position);
    // Only the audit log has entries of the other topic.
    const topic = logged as EventTopic;
    return { cursor, id: cursor, topic, key: keyOf(topic, fields), timeMs: timeOf(topic, json), json };
  }

  /**
   * Returns the next stored blocks after a position. Rejects with HUB_GONE if events after it are missing; undefined if a
   * page has begun before, at `begun`, so that only its next page fails.
   */
  async #olderBlocks(position: number, begun: number): Promise<readonly EventBlock[] | undefined> {
    const newest = this.newestPosition;
    const { blocks, trimmed } = await this.#deps.store.read(position, READ_BYTES);
    if (position > begun && position < trimmed) return undefined;
    this.#checkAge(position, Math.max(trimmed, this.#trimmed));
    // A commit whose outcome is still unknown may be stored.
    return blocks.filter(({ first, count }) => first + count - 1 <= newest);
  }

  #checkAge(position: number, trimmed: number): void {
    if (position < trimmed) throw hubError('cursor_too_old', { oldest: this.cursors.at(trimmed) });
  }

  #lose(to: number): void {
    this.#trimmed = to;
    this.#recent.clear(to);
  }
}

function selectedEvent(event: StoredEvent, selection: Selection): SelectedEvent | undefined {
  const { position, topic } = event;
  const selected = selection.get(topic);
  if (selected === undefined) return undefined;
  const fields = event.fields();
  if (selected.filter?.(fields) === false) return undefined;
  const json = selected.rewrite === undefined ? event.json() : selected.rewrite(event.json());
  return json === undefined ? undefined : { position, topic, fields, json };
}

/** Returns the id of the object of an event; of both objects of a collision, in any order. */
function keyOf(topic: EventTopic, fields: FilterFields): string {
  const names: readonly string[] = TOPICS[topic];
  const field = (name: string) => fields[names.indexOf(name)];
  if (topic === 'fence_events') return String(field('trackable_id') ?? field('provider_id') ?? '');
  if (topic === 'collision_events') return [String(field('id_1')), String(field('id_2'))].sort().join(' ');
  return String(field('id'));
}

/** Members of an event with its time. The first one that it has counts. */
const TIME_MEMBERS: Partial<Record<EventTopic, readonly string[]>> = {
  fence_events: ['exit_time', 'entry_time'],
  collision_events: ['end_time', 'collision_time', 'start_time'],
};

function timeOf(topic: EventTopic, json: string): number {
  const event = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const members = TIME_MEMBERS[topic] ?? ['timestamp'];
  const time = members.map((name) => event[name]).find((value) => typeof value === 'string');
  return Date.parse(String(time));
}

/**
 * Cursors of the event log. A cursor is the position of an event as text: `ev`, eight hexadecimal digits of the hub's
 * id, the position in base 36, and four characters that detect typing errors, separated by hyphens.
 *
 * A client must not compute cursors: the hub skips positions when it starts, and after events were lost. Without the id, a
 * cursor of another hub would silently be read as a position of this one.
 */
const FORM = /^ev-([0-9a-f]{8})-([0-9a-z]{1,11})-([0-9a-z]{4})$/;
const SUM_RANGE = 36 ** 4;

/** Writes and reads the cursors of one hub. */
export class Cursors {
  readonly #hub: string;

  constructor(hubId: string) {
    this.#hub = hashOf(hubId).toString(16).padStart(8, '0');
  }

  /** Returns the cursor of a position. Reading after it continues with the next position. */
  at(position: number): string {
    const text = `ev-${this.#hub}-${position.toString(36)}`;
    return `${text}-${sumOf(text)}`;
  }

  /** Returns the position of a cursor of this hub. Throws HUB_BAD_REQUEST, for the parameter `path`, for any other text. */
  positionOf(cursor: string, path: string): number {
    const [, hub, position = '', sum] = FORM.exec(cursor) ?? [];
    const isSound = hub !== undefined && sum === sumOf(cursor.slice(0, -5));
    if (!isSound) throw hubError('cursor_unknown', { path, found: show(cursor) });
    if (hub !== this.#hub) throw hubError('cursor_of_other_hub', { path, found: show(cursor) });
    return Number.parseInt(position, 36);
  }
}

function sumOf(text: string): string {
  return (hashOf(text) % SUM_RANGE).toString(36).padStart(4, '0');
}

/** FNV-1a, with the bits mixed once more. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
