import type { EventLog, SelectedEvent } from '../events/event_log.ts';
import type { Selection } from '../events/selection.ts';
import { PAYLOAD_MAX_BYTES } from '../fanout/batch.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';

export interface EventTailDeps {
  readonly log: EventLog;
  readonly selection: Selection;
  /** Position after which the subscription begins. */
  readonly after: number;
  /** Members of each message before its payload, as JSON: `"event":"message",…`. */
  readonly head: string;
  /** Sends a frame. */
  send(frame: string): void;
  /** Whether the connection has sent most of what it was given. */
  hasRoom(): boolean;
  /** Called when events after the position have been removed from the log, or it cannot be read. */
  failed(error: unknown): void;
  readonly turns: TaskScheduler;
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Maximum events of a page. Between pages other connections continue. */
const PAGE_EVENTS = 200;
/** Bytes of a message besides its payload and head. */
const REST_BYTES = 64;
/** Time after which a message without events reports the cursor, if the filters have excluded all events since. */
const PROGRESS_MS = 10_000;

/**
 * A subscription that begins after a cursor. It reads the log from there, as fast as its client reads, and then each
 * event when it is committed. So it has neither gaps nor duplicates, and needs no memory for events that wait.
 */
export class EventTail {
  readonly #deps: EventTailDeps;
  #at: number;
  #isRunning = false;
  #isStale = false;
  #isEnded = false;
  #endListening: () => void = () => undefined;
  #cancelProgress: (() => void) | undefined;

  constructor(deps: EventTailDeps) {
    this.#deps = deps;
    this.#at = deps.after;
  }

  /** Sends the cursor from which the subscription begins, and then events. */
  start(): void {
    // Listens first, since sending may close the connection, which ends the subscription.
    this.#endListening = this.#deps.log.onAppended(() => this.wake());
    this.#report();
    this.wake();
  }

  /** Continues after events were appended, or when the connection has room again. */
  wake(): void {
    this.#isStale = true;
    if (!this.#isRunning && !this.#isEnded) void this.#run();
  }

  end(): void {
    this.#isEnded = true;
    this.#endListening();
    this.#cancelProgress?.();
  }

  async #run(): Promise<void> {
    const { log, selection, hasRoom, turns, failed } = this.#deps;
    this.#isRunning = true;
    try {
      while (this.#isStale && !this.#isEnded && hasRoom()) {
        this.#isStale = false;
        const { events, to, hasMore } = await log.select(this.#at, selection, PAGE_EVENTS);
        if (this.#isEnded) return;
        const before = this.#at;
        this.#at = to;
        this.#send(events);
        if (to > (events.at(-1)?.position ?? before)) this.#reportLater();
        if (!hasMore) continue;
        this.#isStale = true;
        await turns.next();
      }
    } catch (error) {
      this.end();
      failed(error);
    } finally {
      this.#isRunning = false;
    }
  }

  /** Sends events in frames of limited size. */
  #send(events: readonly SelectedEvent[]): void {
    const { head } = this.#deps;
    let payload = '';
    let bytes = 0;
    let position = 0;
    for (const { json, position: at } of events) {
      const length = Buffer.byteLength(json) + 1;
      if (payload !== '' && bytes + length > PAYLOAD_MAX_BYTES - head.length - REST_BYTES) {
        this.#frame(payload, position);
        payload = '';
        bytes = 0;
      }
      payload += payload === '' ? json : `,${json}`;
      bytes += length;
      position = at;
    }
    if (payload !== '') this.#frame(payload, position);
  }

  #frame(payload: string, position: number): void {
    const { head, log, send } = this.#deps;
    this.#cancelProgress?.();
    this.#cancelProgress = undefined;
    send(`{${head},"payload":[${payload}],"cursor":"${log.cursors.at(position)}"}`);
  }

  #report(): void {
    this.#frame('', this.#at);
  }

  /** A client whose filters exclude all events still needs a cursor that the log has. */
  #reportLater(): void {
    this.#cancelProgress ??= this.#deps.schedule(PROGRESS_MS, () => {
      if (!this.#isEnded) this.#report();
    });
  }
}
