import type { Opening } from '../../store/opening.ts';
import { bar, StatusLine } from '../status_line.ts';

/** Shows progress: a bar on a terminal, otherwise a line from time to time. */
export class Steps {
  readonly #status = new StatusLine(process.stderr);
  readonly #startMs = performance.now();

  /** Shows the current stage. Rate-limited. */
  readonly show: NonNullable<Opening['stage']> = ({ text, part }) => {
    this.#status.show(performance.now(), () => `${bar(part)}  ${text}`);
  };

  /** Seconds since the start: "0.4 s". */
  get seconds(): string {
    return `${((performance.now() - this.#startMs) / 1000).toFixed(1)} s`;
  }

  /** Prints the result on standard output. */
  done(text: string): void {
    this.#status.clear();
    process.stdout.write(`${text}\n`);
  }
}

/** Formats bytes: "12.3 MB". */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
