/** Output of a status line: standard error, or a test. */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const TERMINAL_MS = 100;
const PLAIN_MS = 5000;

/**
 * A line that shows progress. On a terminal it is rewritten in place ten times a second; elsewhere, such as in a log,
 * it is a new line every five seconds.
 */
export class StatusLine {
  readonly #out: Terminal;
  #shownMs = Number.NEGATIVE_INFINITY;
  #standing = false;

  constructor(out: Terminal) {
    this.#out = out;
  }

  /** Shows the result of `text`, rate-limited. */
  show(nowMs: number, text: () => string): void {
    if (nowMs - this.#shownMs < (this.#out.isTTY ? TERMINAL_MS : PLAIN_MS)) return;
    this.#shownMs = nowMs;
    if (!this.#out.isTTY) {
      this.#out.write(`${text()}\n`);
      return;
    }
    this.#out.write(`\r\x1b[2K${text().slice(0, (this.#out.columns ?? 80) - 1)}`);
    this.#standing = true;
  }

  /** Removes the line, if possible. */
  clear(): void {
    if (this.#standing) this.#out.write('\r\x1b[2K');
    this.#standing = false;
  }

  /** Writes permanent lines. */
  print(text: string): void {
    this.#out.write(`${this.#standing ? '\r\x1b[2K' : ''}${text}\n`);
    this.#standing = false;
  }
}

/** `[#####---------------]  25 %` */
export function bar(part: number): string {
  const share = Math.min(1, Math.max(0, part));
  const filled = Math.floor(share * 20);
  return `[${'#'.repeat(filled)}${'-'.repeat(20 - filled)}] ${String(Math.floor(share * 100)).padStart(3)} %`;
}
