import type { Opening } from '../../store/opening.ts';
import { bar, StatusLine } from '../status_line.ts';

/** Shows how far something is: a bar on a terminal, elsewhere a line from time to time. */
export class Steps {
  readonly #status = new StatusLine(process.stderr);
  readonly #startMs = performance.now();

  /** Shows a stage, when it is time to. */
  readonly show: NonNullable<Opening['stage']> = ({ text, part }) => {
    this.#status.show(performance.now(), () => `${bar(part)}  ${text}`);
  };

  /** Seconds since the start: "0.4 s". */
  get seconds(): string {
    return `${((performance.now() - this.#startMs) / 1000).toFixed(1)} s`;
  }

  /** Says what has come of it, on standard output. */
  done(text: string): void {
    this.#status.clear();
    process.stdout.write(`${text}\n`);
  }
}

/** Bytes in words: "12.3 MB". */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
