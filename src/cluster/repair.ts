import type { Bus } from './bus.ts';
import { FrameFormatError } from './event_frame.ts';
import { type Numbered, packAgain, readSentAgain } from './fan_out_message.ts';
import { type Gap, InOrder } from './in_order.ts';

export interface RepairOptions<Message> {
  readonly bus: Pick<Bus, 'request'>;
  /** Of the cluster: what subjects begin with. */
  readonly name: string;
  /** The incarnation of this hub. */
  readonly self: string;
  /** That of the sender. */
  readonly from: string;
  readonly of: Numbered;
  /** The number of its first message; undefined: any. */
  readonly first: number | undefined;
  /** Gets a message that was early, in its turn. */
  take(message: Message): void;
  /** Something is missing, and cannot be had any more. Told before messages are taken that come behind it. */
  lost(): void;
  /** An answer does not fit. */
  misfit(error: unknown): void;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
}

const ANSWER_MS = 200;
/** Until it is asked for again. */
const AGAIN_MS = 50;
/** For how long the messages behind it wait. */
const HELD_MS = 1000;
/** How many gaps are asked for at the same time. */
const GAPS_MAX = 64;

/**
 * Has the sender of numbered messages send again what is missing. It is asked at once and, as long as that has not come,
 * again and again for a second. What the sender has no more, and what has not come by then, is lost: the messages behind it
 * are taken. The last question is waited for: after a standstill of this process its answer may lie there unread.
 *
 * All gaps are asked for together, since the sender keeps messages for two seconds: one after the other, many of them
 * would take longer than that where answers take their time.
 */
export class Repair<Message> {
  readonly numbers: InOrder<Message>;
  readonly #options: RepairOptions<Message>;
  /** The first number that is missing, how to go on waiting for it no more, and whether it has been waited for long enough. */
  #waits: { readonly first: number; readonly cancel: () => void; isLate: boolean } | undefined;
  #isAsking = false;
  #isOver = false;
  #repaired = 0;

  constructor(options: RepairOptions<Message>) {
    this.#options = options;
    this.numbers = new InOrder<Message>(options.first);
  }

  /** How often something was missing that has come then. */
  get repaired(): number {
    return this.#repaired;
  }

  /** To be called when numbers have come: takes what was early, and has what is missing sent again. */
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

  /** What is missing up to a number is lost; left out: everything that is missing. */
  giveUp(upTo = Infinity): void {
    let isTold = false;
    for (let missing = this.numbers.missing; missing !== undefined; missing = this.numbers.missing) {
      if (missing.first > upTo) break;
      if (!isTold) this.#options.lost();
      isTold = true;
      this.numbers.skip(Math.min(missing.last, upTo));
      this.#drain();
    }
    if (isTold) this.#stopWaiting();
    this.check();
  }

  /** Nothing more comes. Returns what was early. */
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

  /** Asks once for each gap, and for what is missing then a moment later, or at once if some of it has come. Never rejects. */
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
    const { bus, name, self, from, of, misfit } = this.#options;
    try {
      await bus.request(`${name}.again.${from}`, packAgain({ from: self, of, ...gap }), {
        timeoutMs: ANSWER_MS,
        // In the moment in which it comes: what was sent again has come before.
        read: (bytes) => this.#answered(gap, readSentAgain(bytes)),
      });
    } catch (error) {
      // Whatever else it is, the bus cannot do it now.
      if (error instanceof FrameFormatError) misfit(error);
    }
  }

  /** What is missing before the gap was asked for, too, and may still come. */
  #answered({ first }: Gap, lost: number): void {
    const { missing } = this.numbers;
    if (!this.#isOver && lost > 0 && missing !== undefined && missing.first >= first) this.giveUp(lost);
  }
}
