import type { Bus } from '../nats/bus.ts';
import { MessageError } from '../messages/codec.ts';
import { AGAIN, type Numbered, SENT_AGAIN } from '../messages/messages.ts';
import { type Gap, ReorderBuffer } from './reorder_buffer.ts';

export interface RepairOptions<Message> {
  readonly bus: Pick<Bus, 'request'>;
  /** Name of the cluster, with which all subjects begin. */
  readonly name: string;
  /** Member id of this hub. */
  readonly self: string;
  /** Member id of the sender. */
  readonly from: string;
  readonly of: Numbered;
  /** Number of its first message; undefined: any. */
  readonly first: number | undefined;
  /** Takes a message that was early, in sequence. */
  take(message: Message): void;
  /** Missing messages are unavailable. Called before later messages are taken. */
  lost(): void;
  /** Reports a malformed answer. */
  malformed(error: unknown): void;
  /** Calls `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

const ANSWER_MS = 200;
/** Pause before a missing message is requested again. */
const AGAIN_MS = 50;
/** Time that later messages wait for a missing one. */
const HELD_MS = 1000;
/** Most gaps that are requested at the same time. */
const GAPS_MAX = 64;

/**
 * Retransmission: requests missing messages from the sender of a numbered sequence. Requests are sent at once and repeated for
 * a second. Messages that the sender has dropped, or that do not arrive in that time, are lost, and later ones are accepted. The
 * last request is awaited: after a stop of this process its answer may be there unread.
 *
 * All gaps are requested together, since the sender retains messages for two seconds: sequential requests for many gaps could
 * take longer.
 */
export class Repair<Message> {
  readonly numbers: ReorderBuffer<Message>;
  readonly #options: RepairOptions<Message>;
  /** First missing number, a function that stops waiting for it, and whether its time is over. */
  #waits: { readonly first: number; readonly cancel: () => void; isLate: boolean } | undefined;
  #isAsking = false;
  #isOver = false;
  #repaired = 0;

  constructor(options: RepairOptions<Message>) {
    this.#options = options;
    this.numbers = new ReorderBuffer<Message>(options.first);
  }

  /** Number of gaps that were closed. */
  get repaired(): number {
    return this.#repaired;
  }

  /** Call it when numbers have arrived: takes early messages, and requests missing ones. */
  check(): void {
    this.#drain();
    const missing = this.numbers.missing;
    if (this.#waits?.first === missing?.first) return;
    this.#waits?.cancel();
    if (this.#waits !== undefined && missing === undefined) this.#repaired++;
    this.#waits = undefined;
    if (missing === undefined || this.#isOver) return;
    const cancel = this.#options.schedule(HELD_MS, () => {
      waits.isLate = true;
    });
    const waits = { first: missing.first, cancel, isLate: false };
    this.#waits = waits;
    void this.#ask();
  }

  /** Gives up missing numbers up to this one; left out: all of them. */
  giveUp(upTo = Infinity): void {
    let isReported = false;
    for (let missing = this.numbers.missing; missing !== undefined; missing = this.numbers.missing) {
      if (missing.first > upTo) break;
      if (!isReported) this.#options.lost();
      isReported = true;
      this.numbers.skip(Math.min(missing.last, upTo));
      this.#drain();
    }
    if (isReported) this.#stopWaiting();
    this.check();
  }

  /** Closes it. Returns the early messages. */
  end(): readonly Message[] {
    this.#isOver = true;
    this.#stopWaiting();
    return this.numbers.drop();
  }

  #stopWaiting(): void {
    this.#waits?.cancel();
    this.#waits = undefined;
  }

  #drain(): void {
    for (let next = this.numbers.takeNext(); next !== undefined; next = this.numbers.takeNext()) {
      this.#options.take(next);
    }
  }

  /** Requests each gap once, and after a moment what is still missing, or at once if some of it has arrived. Never rejects. */
  async #ask(): Promise<void> {
    const { missing } = this.numbers;
    if (this.#isAsking || this.#isOver || missing === undefined) return;
    this.#isAsking = true;
    const isLast = this.#waits?.isLate === true;
    await Promise.all(this.numbers.gaps(GAPS_MAX).map((gap) => this.#askFor(gap)));
    const isStill = this.numbers.missing?.first === missing.first;
    if (isStill && isLast && !this.#isOver) this.giveUp();
    const goOn = (): void => {
      this.#isAsking = false;
      void this.#ask();
    };
    if (isStill && !isLast) this.#options.schedule(AGAIN_MS, goOn);
    else goOn();
  }

  /** Never rejects. */
  async #askFor(gap: Gap): Promise<void> {
    const { bus, name, self, from, of, malformed } = this.#options;
    try {
      await bus.request(`${name}.again.${from}`, AGAIN.pack({ from: self, of, ...gap }), {
        timeoutMs: ANSWER_MS,
        // At the moment of arrival: the messages that were sent again have arrived before.
        read: (bytes) => this.#answered(gap, SENT_AGAIN.read(bytes).lost),
      });
    } catch (error) {
      // Any other error is a temporary failure of the bus.
      if (error instanceof MessageError) malformed(error);
    }
  }

  /** Numbers before the gap were requested too, and may still arrive. */
  #answered({ first }: Gap, lost: number): void {
    const { missing } = this.numbers;
    if (!this.#isOver && lost > 0 && missing !== undefined && missing.first >= first) this.giveUp(lost);
  }
}
