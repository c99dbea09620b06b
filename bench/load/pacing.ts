/**
 * Decides when which connection sends.
 *
 *   closed loop: a connection sends its next message after the answer to the last one, and after a pause if it was rejected.
 *   open loop: message k is due k/rate seconds after the start, on connection k mod n. If that connection still waits for
 *     an answer, the message is queued, and its latency counts from its due time. So the latencies include messages that were
 *     due during a pause of the hub (no coordinated omission).
 *
 * Timers wake the process a fraction of a millisecond late, so open-loop latencies are that much too long.
 */

/** An interval in which no message is due, in an open loop. All later messages are due that much later. */
export interface Pause {
  readonly fromUs: number;
  readonly us: number;
}

/** Pause of a closed-loop connection after a rejection. */
const REFUSED_PAUSE_US = 100_000;

export interface Wanted {
  readonly connections: number;
  /** Messages per second; undefined for a closed loop. */
  readonly perSecond: number | undefined;
  readonly startUs: number;
  /** No message is due from then on. */
  readonly endUs: number;
  /** Whether messages that are queued at the end are dropped. */
  readonly abandon?: boolean;
  /** Interval of bursts of an open loop: the messages of each interval are due together, at its start. */
  readonly burstUs?: number;
  readonly pause?: Pause | undefined;
}

/** Determines which sender is due, by the given clock. */
export class Pacing {
  readonly #wanted: Wanted;
  readonly #stepUs: number;
  /** Number of messages that were due so far. */
  #due = 0;
  /** Due times of queued messages by connection. Slots before #heads are done. */
  readonly #lines: number[][];
  readonly #heads: number[];
  readonly #busy: boolean[];
  readonly #pausedUntilUs: number[];

  constructor(wanted: Wanted) {
    const { connections, perSecond } = wanted;
    this.#wanted = wanted;
    this.#stepUs = perSecond === undefined ? 0 : 1e6 / perSecond;
    this.#lines = Array.from({ length: connections }, () => []);
    this.#heads = new Array<number>(connections).fill(0);
    this.#busy = new Array<boolean>(connections).fill(false);
    this.#pausedUntilUs = new Array<number>(connections).fill(0);
  }

  /** Number of messages due so far. Only for an open loop. */
  get due(): number {
    return this.#due;
  }

  /** Calls back for each message to be sent now, with its connection and the time from which its latency counts. */
  take(nowUs: number, send: (connection: number, dueUs: number) => void): void {
    if (this.#wanted.perSecond !== undefined) this.#enqueue(nowUs);
    for (let connection = 0; connection < this.#lines.length; connection++) this.#next(connection, nowUs, send);
  }

  /** Reports a response on the connection, and sends its next message if one is due. */
  answered(
    connection: number,
    refused: boolean,
    nowUs: number,
    send: (connection: number, dueUs: number) => void,
  ): void {
    this.#busy[connection] = false;
    if (refused && this.#wanted.perSecond === undefined) this.#pausedUntilUs[connection] = nowUs + REFUSED_PAUSE_US;
    this.#next(connection, nowUs, send);
  }

  /** Whether every due message is answered, and no more will be due. */
  isOver(nowUs: number): boolean {
    // Items that became due between two checks count as well.
    if (this.#wanted.perSecond !== undefined) this.#enqueue(nowUs);
    if (nowUs < this.#wanted.endUs || this.#busy.includes(true)) return false;
    if (this.#wanted.abandon === true) return true;
    return this.#lines.every((line, connection) => line.length === this.#heads[connection]);
  }

  #enqueue(nowUs: number): void {
    const { endUs, connections } = this.#wanted;
    for (;;) {
      const dueUs = this.#dueUs(this.#due);
      if (dueUs > nowUs || dueUs >= endUs) return;
      this.#lines[this.#due % connections]?.push(dueUs);
      this.#due++;
    }
  }

  /** Time at which a message is due. */
  #dueUs(message: number): number {
    const { startUs, burstUs, pause } = this.#wanted;
    const passedUs = message * this.#stepUs;
    const dueUs = startUs + (burstUs === undefined ? passedUs : passedUs - (passedUs % burstUs));
    return pause === undefined || dueUs < pause.fromUs ? dueUs : dueUs + pause.us;
  }

  #next(connection: number, nowUs: number, send: (connection: number, dueUs: number) => void): void {
    if (this.#busy[connection] === true) return;
    const { perSecond, startUs, endUs } = this.#wanted;
    if (perSecond === undefined) {
      if (nowUs < startUs || nowUs >= endUs || nowUs < (this.#pausedUntilUs[connection] ?? 0)) return;
      this.#busy[connection] = true;
      send(connection, nowUs);
      return;
    }
    const line = this.#lines[connection] as number[];
    const head = this.#heads[connection] as number;
    const dueUs = line[head];
    if (dueUs === undefined || (this.#wanted.abandon === true && nowUs >= endUs)) return;
    this.#heads[connection] = head + 1;
    if (head > 1000) {
      line.splice(0, head + 1);
      this.#heads[connection] = 0;
    }
    this.#busy[connection] = true;
    send(connection, dueUs);
  }
}
