/** Target: standard output, or a test. */
interface Out {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Between two rewritings. */
const PAUSE_MS = 250;

/**
 * Permanent lines, and below them on a terminal a few status lines, rewritten in place after changes. Elsewhere the status is a
 * line of its own after every change.
 */
export class Screen {
  readonly #out: Out;
  readonly #lines: () => readonly string[];
  readonly #line: () => string;
  readonly #timer: NodeJS.Timeout | undefined;
  #shown: readonly string[] = [];
  #isClosed = false;

  /** `lines`: the status on a terminal; `line`: the same in short, for logs. Both may be empty. */
  constructor(out: Out, { lines, line }: { lines(): readonly string[]; line(): string }) {
    this.#out = out;
    this.#lines = lines;
    this.#line = line;
    if (out.isTTY) this.#timer = setInterval(() => this.#rewrite(), PAUSE_MS);
  }

  /** Writes a permanent line. */
  print(text: string): void {
    if (!this.#out.isTTY) this.#out.write(`${text}\n`);
    else this.#write(`${text}\n`, this.#shown);
  }

  /** The status may have changed. A terminal refreshes by itself. */
  changed(): void {
    if (this.#out.isTTY || this.#isClosed) return;
    const line = this.#line();
    if (line === '' || line === this.#shown[0]) return;
    this.#shown = [line];
    this.#out.write(`${line}\n`);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#isClosed = true;
  }

  #rewrite(): void {
    const width = (this.#out.columns ?? 80) - 1;
    const lines = this.#lines().map((line) => line.slice(0, width));
    if (lines.join('\n') !== this.#shown.join('\n')) this.#write('', lines);
  }

  /** Replaces the visible status. */
  #write(text: string, lines: readonly string[]): void {
    const up = this.#shown.length === 0 ? '' : `\x1b[${this.#shown.length}F\x1b[0J`;
    this.#out.write(`${up}${text}${lines.map((line) => `${line}\n`).join('')}`);
    this.#shown = lines;
  }
}
