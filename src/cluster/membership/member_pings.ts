import type { ClusterContext } from '../context.ts';
import { HEARTBEAT } from '../messages/messages.ts';
import { pingSubject } from './admission.ts';
import type { Members, Signal } from './members.ts';

export type MemberPingsOptions = Pick<ClusterContext, 'bus' | 'name' | 'elapsed' | 'now'>;

/** Handlers of the results. */
interface Pinged {
  tell(...signals: readonly Signal[]): void;
  failed(text: string): void;
}

/** Silence after which a member is pinged. */
const PING_AFTER_MS = 500;
const PING_MS = 1000;
/** Least interval at which the clock of a member is compared, in heartbeats. */
const CLOCK_BEATS = 8;

/** Pings of other members. A member answers with a heartbeat, whose wall-clock time is compared with this hub's. */
export class MemberPings {
  readonly #options: MemberPingsOptions;
  readonly #on: Pinged;
  /** Members with a pending ping. */
  readonly #asked = new Set<string>();
  #beats = 0;

  constructor(options: MemberPingsOptions, on: Pinged) {
    this.#options = options;
    this.#on = on;
  }

  /**
   * Pings silent members, and one other member in turn to compare clocks: each one at most every CLOCK_BEATS heartbeats. Call
   * it with each heartbeat.
   */
  beat({ self, all, connection }: Members): void {
    if (connection.at === 'down') return;
    const untilMs = this.#options.elapsed() - PING_AFTER_MS;
    const others = [...all.values()].filter(({ incarnation }) => incarnation !== self);
    const turn = this.#beats++ % Math.max(CLOCK_BEATS, others.length);
    for (const [index, { incarnation, lastSeenMs }] of others.entries()) {
      const isDue = index === turn || Math.max(lastSeenMs, connection.sinceMs) < untilMs;
      if (isDue && !this.#asked.has(incarnation)) void this.#ask(incarnation);
    }
  }

  async #ask(incarnation: string): Promise<void> {
    const { bus, name, elapsed, now } = this.#options;
    const [atMs, askedMs] = [elapsed(), now()];
    this.#asked.add(incarnation);
    try {
      const asking = { timeoutMs: PING_MS, read: HEARTBEAT.read };
      const answer = await bus.request(pingSubject(name, incarnation), new Uint8Array(), asking);
      if (answer.at === 'noResponders') this.#on.tell({ is: 'noResponders', atMs, incarnation });
      if (answer.at === 'answered') {
        const { value: beat } = answer;
        this.#on.tell({ is: 'clock', incarnation, askedMs, answeredMs: now(), clockMs: beat.clockMs });
        this.#on.tell({ is: 'beat', atMs: elapsed(), beat });
      }
    } catch (error) {
      this.#on.failed(`Cannot ask ${incarnation}: ${(error as Error).message}`);
    } finally {
      this.#asked.delete(incarnation);
    }
  }
}
