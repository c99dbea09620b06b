import { show } from '../../model/error_value_text.ts';
import type { SourceLog } from '../log_throttle.ts';
import { isZebraLegacy } from './message.ts';

const RUN_MAX = 50;
const KINDS_MAX = 50;
const EXCERPT_MAX = 200;

/** Detects unusable lines of a connection, and logs once if all lines are unusable. */
export class Noise {
  readonly #log: SourceLog;
  readonly #address: string;
  /** First fields already logged. Bounded, since a peer may send anything. */
  readonly #kinds = new Set<string>();
  #run = 0;
  #isSettled = false;

  constructor(log: SourceLog, address: string) {
    this.#log = log;
    this.#address = address;
  }

  /** Records a usable line, which shows that the peer speaks the protocol. */
  useful(): void {
    this.#isSettled = true;
  }

  /** Records an unusable line. */
  useless(line: string): void {
    if (this.#isSettled) return;
    this.#run++;
    if (this.#run !== RUN_MAX) return;
    this.#isSettled = true;
    const hint = isZebraLegacy(line)
      ? { hint: "this is Zebra's older stream; the standard one is on another port" }
      : {};
    const facts = { address: this.#address, excerpt: line.slice(0, EXCERPT_MAX), ...hint };
    this.#log.warn('A peer does not look like ISO/IEC 24730-1: none of its first lines could be used', facts);
  }

  /** Records a line that is not a message. */
  unknown(first: string): void {
    const kind = show(first);
    if (this.#kinds.size >= KINDS_MAX || this.#kinds.has(kind)) return;
    this.#kinds.add(kind);
    this.#log.debug('An ISO/IEC 24730-1 server sends lines that are no messages', { address: this.#address, kind });
  }
}
