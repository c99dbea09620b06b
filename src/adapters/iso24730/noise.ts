import { show } from '../../model/error_value_text.ts';
import type { SourceLog } from '../seldom.ts';
import { isZebraLegacy } from './message.ts';

const RUN_MAX = 50;
const KINDS_MAX = 50;
const EXCERPT_MAX = 200;

/** Looks at the lines of a connection that are of no use, and says so once when there is nothing else. */
export class Noise {
  readonly #log: SourceLog;
  readonly #address: string;
  /** First fields that were logged. Bounded, as a peer may send anything. */
  readonly #kinds = new Set<string>();
  #run = 0;
  #isSettled = false;

  constructor(log: SourceLog, address: string) {
    this.#log = log;
    this.#address = address;
  }

  /** A line was of use: the peer speaks the protocol. */
  useful(): void {
    this.#isSettled = true;
  }

  /** A line was of no use. */
  useless(line: string): void {
    if (this.#isSettled) return;
    this.#run++;
    if (this.#run !== RUN_MAX) return;
    this.#isSettled = true;
    const hint = isZebraLegacy(line)
      ? { hint: "this is Zebra's older stream; the standard one has a port beside" }
      : {};
    const facts = { address: this.#address, excerpt: line.slice(0, EXCERPT_MAX), ...hint };
    this.#log.warn('A peer does not look like ISO/IEC 24730-1: none of its first lines could be used', facts);
  }

  /** A line was no message. */
  unknown(first: string): void {
    const kind = show(first);
    if (this.#kinds.size >= KINDS_MAX || this.#kinds.has(kind)) return;
    this.#kinds.add(kind);
    this.#log.debug('An ISO/IEC 24730-1 server sends lines that are no messages', { address: this.#address, kind });
  }
}
