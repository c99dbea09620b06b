import type { NumberedRequest } from '../../wire/journal_record.ts';

interface TakenRequest {
  readonly number: number;
  /** Number of the first message of the journal that may contain its locations. */
  readonly from: number;
  isJournaled: boolean;
}

/**
 * The last request with locations that this hub has taken from each ingress hub. An ingress hub sends its next request to an
 * owner once it knows the outcome of the previous one, so it repeats at most this one to the next owner.
 *
 * The next owner recognizes a repeated request without regard to time. While the journal has its locations, these are found
 * there. It is trimmed up to the first message of a request only once all locations of that request are journaled; then the
 * record that says what is trimmed names the request.
 */
export class TakenRequests {
  readonly #last = new Map<string, TakenRequest>();
  readonly #nextMessage: () => number;

  /** `nextMessage`: number of the first message of the journal that may contain the next record. */
  constructor(nextMessage: () => number) {
    this.#nextMessage = nextMessage;
  }

  /** Notes a request before its locations go to the shards. */
  begin({ ingress, number }: NumberedRequest): void {
    const last = this.#last.get(ingress);
    // Part of a repeated request may be in the journal already.
    const isRepeated = last?.number === number;
    this.#last.set(ingress, { number, from: isRepeated ? last.from : this.#nextMessage(), isJournaled: false });
  }

  /** Notes that all locations of a request are journaled. */
  journaled({ ingress, number }: NumberedRequest): void {
    const last = this.#last.get(ingress);
    if (last?.number === number) last.isJournaled = true;
  }

  /** Drops the request of an ingress hub that repeats it no more. */
  forget(ingress: string): void {
    this.#last.delete(ingress);
  }

  /** Number of the first message that may contain part of a request whose locations are not all journaled; Infinity for none. */
  get neededFrom(): number {
    return Math.min(...this.#last.values().map(({ from, isJournaled }) => (isJournaled ? Infinity : from)));
  }

  /** The journaled requests. */
  get numbers(): readonly NumberedRequest[] {
    return [...this.#last].flatMap(([ingress, { number, isJournaled }]) => (isJournaled ? [{ ingress, number }] : []));
  }
}
