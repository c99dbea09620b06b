import type { ClusterContext } from '../context.ts';
import { HEARTBEAT, type Heartbeat } from '../messages/messages.ts';
import type { ProtocolErrors } from '../messages/protocol_errors.ts';
import type { Message, Subscription } from '../nats/bus.ts';
import { pingSubject } from './admission.ts';
import { isSuperseded, type Members, type Signal } from './members.ts';
import { beatSubject, beatSubjects, report, reporterSubject } from './reporters.ts';

export interface HeartbeatsOptions extends Pick<ClusterContext, 'bus' | 'name' | 'incarnation' | 'elapsed' | 'now'> {
  /** Number of locations that this hub can accept. */
  room(): number;
  /** Locations per second in each of its partitions. */
  loads(): ReadonlyMap<number, number>;
}

/** Inputs of the heartbeats, and handlers of the results. */
interface Beating {
  members(): Members;
  readonly malformed: ProtocolErrors;
  tell(...signals: readonly Signal[]): void;
  failed(text: string): void;
}

/** Silence after which a member is pinged. */
const PING_AFTER_MS = 750;
const PING_MS = 1000;
/** Least interval at which the clock of a member is compared, in heartbeats. */
const CLOCK_BEATS = 8;

/**
 * Heartbeats of this hub and of the other members, and pings. A member answers a ping with a heartbeat, whose wall-clock time is
 * compared with this hub's.
 */
export class Heartbeats {
  readonly #options: HeartbeatsOptions;
  readonly #on: Beating;
  /** Members with a pending ping. */
  readonly #asked = new Set<string>();
  #pings = 0;

  constructor(options: HeartbeatsOptions, on: Beating) {
    this.#options = options;
    this.#on = on;
  }

  /** Receives heartbeats, and answers pings, until the subscriptions are closed. */
  listen(): Subscription[] {
    const { bus, name, incarnation, elapsed } = this.#options;
    const take = ({ bytes }: Message): void => {
      const beat = this.#on.malformed.reading(() => HEARTBEAT.read(bytes));
      if (beat !== undefined) this.#on.tell({ is: 'beat', atMs: elapsed(), beat });
    };
    return [
      bus.subscribe(beatSubject(name), take),
      bus.subscribe(reporterSubject(name, incarnation), take),
      bus.subscribe(pingSubject(name, incarnation), ({ reply }) => {
        if (reply !== '') bus.publish(reply, HEARTBEAT.pack({ ...this.#own(), seen: [] }));
      }),
    ];
  }

  /** Sends a heartbeat, and returns it. */
  send(): Heartbeat {
    const { bus, name } = this.#options;
    const beat = this.#own();
    const bytes = HEARTBEAT.pack(beat);
    for (const subject of beatSubjects(this.#on.members(), name)) bus.publish(subject, bytes);
    return beat;
  }

  /**
   * Pings members that are silent or have not answered, and one other member in turn, to compare clocks, and to see whether it
   * answers: each one at most every CLOCK_BEATS heartbeats. Members whose name a later one has are pinged each time. Call it
   * with each heartbeat.
   */
  ping(): void {
    const members = this.#on.members();
    const { self, all, connection } = members;
    if (connection.at === 'down') return;
    const untilMs = this.#options.elapsed() - PING_AFTER_MS;
    const others = [...all.values()].filter(({ incarnation }) => incarnation !== self);
    const turn = this.#pings++ % Math.max(CLOCK_BEATS, others.length);
    for (const [index, member] of others.entries()) {
      const { incarnation, lastSeenMs, ping } = member;
      const isSilent = Math.max(lastSeenMs, connection.sinceMs) < untilMs;
      const isDue = index === turn || isSilent || ping !== 'answered' || isSuperseded(members, member);
      if (isDue && !this.#asked.has(incarnation)) void this.#ask(incarnation);
    }
  }

  #own(): Heartbeat {
    const { incarnation, now, elapsed, room, loads } = this.#options;
    const members = this.#on.members();
    const seen = report(members, elapsed());
    return { incarnation, applied: members.applied, clockMs: now(), room: room(), loads: loads(), seen };
  }

  async #ask(incarnation: string): Promise<void> {
    const { bus, name, elapsed, now } = this.#options;
    const [atMs, askedMs] = [elapsed(), now()];
    this.#asked.add(incarnation);
    try {
      const asking = { timeoutMs: PING_MS, read: HEARTBEAT.read };
      const answer = await bus.request(pingSubject(name, incarnation), new Uint8Array(), asking);
      if (answer.at === 'answered') {
        const { value: beat } = answer;
        this.#on.tell({ is: 'clock', incarnation, askedMs, answeredMs: now(), clockMs: beat.clockMs });
        this.#on.tell({ is: 'beat', atMs: elapsed(), beat });
      } else this.#on.tell({ is: answer.at, atMs, incarnation });
    } catch (error) {
      this.#on.failed(`Cannot ask ${incarnation}: ${(error as Error).message}`);
    } finally {
      this.#asked.delete(incarnation);
    }
  }
}
