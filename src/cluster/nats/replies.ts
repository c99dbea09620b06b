import { schedule } from '../../time/clock.ts';
import type { ServerConnection, Received } from './connection.ts';

const SWEEP_MS = 20;
/** While a stream has no leader, servers report no responders at once. */
const RETRY_MS = 50;

export interface BusRequest {
  readonly timeoutMs: number;
  /** Whether to retry until the timeout if there are no responders. */
  readonly retries?: boolean;
  /** Interval at which it is sent again until it is answered; sent once when left out. */
  readonly repeatMs?: number;
  /** Sends the request, with the subject for the answer. May be called several times. */
  send(reply: string): void;
  /** Whether a message is the final answer; any is if this is left out. */
  isAnswer?(message: Received): boolean;
  /** Called once, with the answer or the reason why no answer arrived: an error if the request could not be sent. */
  done(answer: BusReply): void;
}

export type BusReply = Received | Error | 'noResponders' | 'unanswered';

interface SentRequest {
  readonly question: BusRequest;
  readonly untilMs: number;
  /** Time of the next attempt; undefined while it only waits for an answer. */
  sendAtMs: number | undefined;
}

/**
 * Pending requests, whose answers all arrive on one subscription. Requests made without a connection wait for one, in order;
 * those in flight when it is lost end as unanswered, unless they are repeated.
 */
export class Replies {
  readonly #connection: ServerConnection;
  readonly #elapsed: () => number;
  readonly #inbox: string;
  readonly #asked = new Map<string, SentRequest>();
  #tokens = 0;
  #isSweeping = false;

  /** `inbox`: the prefix of the subjects of answers, without a trailing dot. */
  constructor(
    connection: ServerConnection,
    { inbox, elapsed }: { readonly inbox: string; readonly elapsed: () => number },
  ) {
    this.#connection = connection;
    this.#elapsed = elapsed;
    this.#inbox = `${inbox}.`;
    connection.subscribe(`${inbox}.*`, (message) => this.#take(message));
  }

  ask(question: BusRequest): void {
    const nowMs = this.#elapsed();
    const asked: SentRequest = { question, untilMs: nowMs + question.timeoutMs, sendAtMs: nowMs };
    const token = (++this.#tokens).toString(36);
    this.#asked.set(token, asked);
    if (this.#connection.isUp) this.#send(token, asked);
    this.#sweepLater();
  }

  up(): void {
    for (const [token, asked] of this.#asked) if (asked.sendAtMs !== undefined) this.#send(token, asked);
  }

  down(): void {
    for (const [token, asked] of this.#asked) if (asked.sendAtMs === undefined) this.#end(token, asked, 'unanswered');
  }

  #send(token: string, asked: SentRequest): void {
    const { repeatMs } = asked.question;
    asked.sendAtMs = repeatMs === undefined ? undefined : this.#elapsed() + repeatMs;
    try {
      asked.question.send(this.#inbox + token);
    } catch (error) {
      this.#end(token, asked, error as Error);
    }
  }

  #take(message: Received): void {
    const token = message.subject.slice(this.#inbox.length);
    const asked = this.#asked.get(token);
    // The request has timed out, or this answers the first message of a batch that has ended.
    if (asked === undefined) return;
    const { question } = asked;
    if (message.code !== 503 || message.bytes.length > 0) {
      if (question.isAnswer?.(message) ?? true) this.#end(token, asked, message);
    } else if (question.retries) asked.sendAtMs = this.#elapsed() + RETRY_MS;
    else this.#end(token, asked, 'noResponders');
  }

  #end(token: string, { question }: SentRequest, answer: BusReply): void {
    this.#asked.delete(token);
    question.done(answer);
  }

  #sweepLater(): void {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    schedule(SWEEP_MS, () => {
      this.#isSweeping = false;
      this.#sweep();
      if (this.#asked.size > 0) this.#sweepLater();
    });
  }

  #sweep(): void {
    const nowMs = this.#elapsed();
    for (const [token, asked] of this.#asked) {
      if (asked.untilMs <= nowMs) this.#end(token, asked, 'unanswered');
      else if ((asked.sendAtMs ?? Infinity) <= nowMs && this.#connection.isUp) this.#send(token, asked);
    }
  }
}
