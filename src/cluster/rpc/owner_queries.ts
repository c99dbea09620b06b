import type { ParamValue } from '../../reasons.ts';
import { queriedObject } from '../../core/item.ts';
import type { QueryResult, Query } from '../../core/item.ts';
import { hubError } from '../../errors.ts';
import { ASK } from '../messages/messages.ts';
import { type OwnerQuery, unpackAnswer } from './owner_protocol.ts';
import type { OwnerCalls, OwnerCallsOptions } from './owner_calls.ts';

/**
 * Queries to the owners of objects, while ownership may change:
 *
 *     receivers                        it waits while                it starts over when
 *     -------------------------------  ----------------------------  ------------------------------------------------
 *     the hub that serves an object    no hub serves it              that hub does not, or is no member any more
 *     all hubs that serve something    something is unserved         one of them has another ownership version, or is
 *                                                                    no member any more
 *
 * So no object is in an answer twice, or missing, because it was migrating between hubs.
 */
export interface OwnerQueriesOptions extends OwnerCallsOptions {
  readonly calls: OwnerCalls;
  /** Time that a request waits for a hub that can take it. */
  readonly holdMs: number;
  /** Number of the next request of this hub. */
  nextNumber(): number;
}

/** Most queries and other requests that may wait. */
const ASKS_MAX = 10_000;
/** Time that an owner may take for an answer. */
const ASK_MS = 60_000;
/** Most providers whose locations one request deletes. */
const FORGET_MAX = 5000;

/** A query, with its deadlines. */
interface Question {
  readonly asked: OwnerQuery;
  /** The failed operation, for error messages. */
  readonly operation: ParamValue<'operation'>;
  readonly lastMs: number;
  /** Deadline without an answer. Each answer extends it. */
  untilMs: number;
  isInDoubt: boolean;
}

export class OwnerQueries {
  readonly #options: OwnerQueriesOptions;
  #asks = 0;
  #isClosed = false;

  constructor(options: OwnerQueriesOptions) {
    this.#options = options;
  }

  /** See OwnerClient.ask. */
  async ask(query: Query): Promise<readonly QueryResult[]> {
    const { ownership } = this.#options;
    const object = queriedObject(query);
    const question = this.#question({ kind: 'read', argument: query }, 'read');
    const found = await this.#counted(question, async () => {
      if (object === undefined) return this.#everywhere(question);
      return [await this.#somewhere(question, () => ownership.serverOf(object.kind, object.id))];
    });
    return found.flatMap((answers) => {
      if (!Array.isArray(answers))
        throw hubError('hub_protocol', {}, { detail: `The owner has no answers to ${query.ask}` });
      return answers as readonly QueryResult[];
    });
  }

  /** See OwnerClient.forget. */
  async forget(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += FORGET_MAX) {
      const some = ids.slice(at, at + FORGET_MAX);
      const question = this.#question({ kind: 'forget', argument: some }, 'delete_locations');
      await this.#counted(question, () => this.#forget(question, some));
    }
  }

  /**
   * Requests the range of a member's journal with the objects that it has released because of a record (release.ts). Rejects as
   * `ask` does, and if it is no member any more.
   */
  async released(from: string, sequence: number): Promise<unknown> {
    const question = this.#question({ kind: 'released', argument: sequence }, 'take_released');
    return this.#counted(question, async () => {
      for (;;) {
        const answer = await this.#answerOf(from, question);
        if (answer !== undefined) return answer.value;
        if (this.#options.isMember(from)) continue;
        throw hubError('member_left', { operation: question.operation, member: from });
      }
    });
  }

  /** Resolves with the last configuration record that follows from all earlier input. Rejects as `ask` does. */
  async settled(): Promise<number> {
    const question = this.#question({ kind: 'settle', argument: null }, 'wait_for_locations');
    const sequences = await this.#counted(question, () => this.#everywhere(question));
    return sequences.reduce((last: number, sequence) => Math.max(last, typeof sequence === 'number' ? sequence : 0), 0);
  }

  /** Closes it: no further queries are sent. */
  close(): void {
    this.#isClosed = true;
  }

  #question(asked: OwnerQuery, operation: ParamValue<'operation'>): Question {
    const nowMs = this.#options.elapsed();
    return { asked, operation, lastMs: nowMs + ASK_MS, untilMs: nowMs + this.#options.holdMs, isInDoubt: false };
  }

  async #counted<Value>({ operation }: Question, ask: () => Promise<Value>): Promise<Value> {
    if (this.#isClosed) throw hubError('closing', { operation });
    if (this.#asks >= ASKS_MAX) throw hubError('too_many_waiting', { operation, count: ASKS_MAX });
    this.#asks++;
    try {
      return await ask();
    } finally {
      this.#asks--;
    }
  }

  /** Answer of the hub that serves an object. */
  async #somewhere(question: Question, serverOf: () => string | undefined): Promise<unknown> {
    for (;;) {
      const server = serverOf();
      if (server === undefined) await this.#wait(question);
      else {
        const answer = await this.#answerOf(server, question);
        if (answer !== undefined) return answer.value;
      }
    }
  }

  /** Answers of all hubs that serve something, by one ownership version. */
  async #everywhere(question: Question): Promise<readonly unknown[]> {
    const { ownership } = this.#options;
    for (;;) {
      if (!ownership.isWhole) {
        await this.#wait(question);
        continue;
      }
      const answers = await Promise.all(ownership.servers.map((server) => this.#answerOf(server, question)));
      const found = answers.filter((answer) => answer !== undefined);
      if (found.length === answers.length) return found.map(({ value }) => value);
    }
  }

  /** Has the owners of providers delete their locations. Failed deletions are routed again. */
  async #forget(question: Question, ids: readonly string[]): Promise<void> {
    const { ownership } = this.#options;
    for (let left = ids; left.length > 0; ) {
      const byServer = Map.groupBy(left, (id) => ownership.serverOf('provider', id));
      const failed = await Promise.all(
        [...byServer].map(async ([server, some]) => {
          if (server === undefined) return some;
          const answer = await this.#answerOf(server, question, { kind: 'forget', argument: some });
          return answer === undefined ? some : [];
        }),
      );
      left = failed.flat();
      if (byServer.size === 1 && byServer.has(undefined)) await this.#wait(question);
    }
  }

  /** Waits for a change of ownership. Rejects if that takes too long. */
  async #wait({ operation, untilMs, lastMs, isInDoubt }: Question): Promise<void> {
    const { calls, elapsed } = this.#options;
    const leftMs = this.#isClosed ? 0 : Math.min(untilMs, lastMs) - elapsed();
    if (leftMs <= 0) throw calls.late(operation, { isInDoubt });
    await calls.change(leftMs);
  }

  /** The whole answer of a hub; undefined if the query must be routed again. */
  async #answerOf(
    server: string,
    question: Question,
    asked = question.asked,
  ): Promise<{ readonly value: unknown } | undefined> {
    const { incarnation: ingress, applied, elapsed, holdMs, calls, ownership, nextNumber } = this.#options;
    const { operation, lastMs } = question;
    const { version } = ownership;
    let number = nextNumber();
    let parts: Uint8Array[] = [];
    for (;;) {
      const message = (): Uint8Array => {
        return ASK.pack({ applied: applied(), ingress, number, part: parts.length, version, ...asked });
      };
      const untilMs = Math.min(question.untilMs, lastMs);
      const { isInDoubt } = question;
      const called = await calls.call(server, { subject: 'ask', operation, untilMs, isInDoubt, message });
      if (called.at === 'moved' || called.at === 'lost') {
        question.isInDoubt ||= called.isInDoubt;
        await calls.follow(called, { version, untilMs });
        return undefined;
      }
      // A hub that answers is alive.
      question.untilMs = elapsed() + holdMs;
      if (called.at === 'gone') {
        // The rest of the answer was dropped.
        number = nextNumber();
        parts = [];
      } else if (called.at === 'part') {
        parts.push(called.bytes);
        if (parts.length === called.parts) return { value: unpackAnswer(parts) };
      }
    }
  }
}
