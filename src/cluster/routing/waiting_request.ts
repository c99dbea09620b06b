import { OUTCOMES } from '../../problem.ts';
import { HubError } from '../../errors.ts';
import type { SentRequest } from '../rpc/owner_protocol.ts';
import type { RequestBatch } from '../rpc/request_buffer.ts';

/** Which locations may share a request. */
export interface RequestTerms {
  /** Deadline in monotonic time. */
  readonly untilMs: number;
  /** Earlier requests with the same locations, to members that are removed now, and may have recorded some of them. */
  readonly sentBefore: readonly SentRequest[];
}

/** A location gives up at most this much of its time to share a request. */
const TOGETHER_MS = 500;

/** A request in a queue, with the outcome of its locations. */
export class WaitingRequest implements RequestTerms {
  readonly parcel: RequestBatch;
  readonly untilMs: number;
  readonly sentBefore: readonly SentRequest[];
  /** Resolves when its locations are processed. Each caller handles the rejection itself. */
  readonly done: Promise<void>;
  readonly #outcome = Promise.withResolvers<void>();
  readonly #stopExpiry: () => void;

  /** `expire` schedules its expiry, and returns a function that cancels that. */
  constructor(
    parcel: RequestBatch,
    { untilMs, sentBefore }: RequestTerms,
    expire: (waiting: WaitingRequest) => () => void,
  ) {
    this.parcel = parcel;
    this.untilMs = untilMs;
    this.sentBefore = sentBefore;
    this.done = this.#outcome.promise;
    this.done.catch(() => undefined);
    this.#stopExpiry = expire(this);
  }

  /** Whether locations on these terms may be added. */
  takes({ untilMs, sentBefore }: RequestTerms): boolean {
    const soonerMs = untilMs - this.untilMs;
    const isAlike = this.sentBefore === sentBefore && soonerMs >= 0 && soonerMs <= TOGETHER_MS;
    return isAlike && !this.parcel.isFull;
  }

  /** Ends it with an error, or successfully without one. */
  end(error?: unknown): void {
    this.#release();
    if (error === undefined) this.#outcome.resolve();
    else this.#outcome.reject(error);
  }

  /** Ends it with the outcome of the requests that carry its locations now. */
  endWith(parts: Iterable<WaitingRequest>): void {
    this.#release();
    allDone(Array.from(parts, ({ done }) => done)).then(this.#outcome.resolve, this.#outcome.reject);
  }

  #release(): void {
    this.#stopExpiry();
    this.parcel.end();
  }
}

/** Resolves when all have. If only some fail, the error says that the others are processed. */
export async function allDone(all: readonly Promise<void>[]): Promise<void> {
  const ends = await Promise.allSettled(all);
  const failed = ends.find(({ status }) => status === 'rejected');
  if (failed?.status !== 'rejected') return;
  const { reason } = failed;
  const isPlain = !(reason instanceof HubError) || reason.params['outcome'] !== undefined;
  if (isPlain || ends.every(({ status }) => status === 'rejected')) throw reason;
  throw new HubError(
    { reason: reason.reason, params: { ...reason.params, outcome: 'partial' } },
    { message: reason.message + OUTCOMES.partial, code: reason.code, cause: reason },
  );
}
