/** Where a status line is written: standard error, or a test. */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const TERMINAL_MS = 100;
const PLAIN_MS = 5000;

/**
 * A line that tells how things stand. On a terminal it is rewritten in place ten times a second; elsewhere, in a log,
 * it is a line of its own every five seconds.
 */
export class StatusLine {
  readonly #out: Terminal;
  #shownMs = Number.NEGATIVE_INFINITY;
  #standing = false;

  constructor(out: Terminal) {
    this.#out = out;
  }

  /** Shows what `text` returns, when it is time to. */
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

  /** Takes the line away, where it can be. */
  clear(): void {
    if (this.#standing) this.#out.write('\r\x1b[2K');
    this.#standing = false;
  }

  /** Writes lines that stay. */
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
