/** The part of the hub's log that adapters use. */
export interface SourceLog {
  debug(message: string, facts?: object): void;
  info(message: string, facts?: object): void;
  warn(message: string, facts?: object): void;
}

const MINUTE_MS = 60_000;

/** Forwards one warning per minute. The next one contains the number of suppressed warnings. */
export class ThrottledWarning {
  readonly #log: SourceLog;
  #quietUntilMs = Number.NEGATIVE_INFINITY;
  #keptBack = 0;

  constructor(log: SourceLog) {
    this.#log = log;
  }

  warn(nowMs: number, message: string, facts: object): void {
    if (nowMs < this.#quietUntilMs) {
      this.#keptBack++;
      return;
    }
    const since = this.#keptBack === 0 ? {} : { keptBack: this.#keptBack };
    this.#keptBack = 0;
    this.#quietUntilMs = nowMs + MINUTE_MS;
    this.#log.warn(message, { ...facts, ...since });
  }
}
