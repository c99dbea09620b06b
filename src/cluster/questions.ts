import { askedObject } from '../core/asked_object.ts';
import type { Answer, Query } from '../core/item.ts';
import { HubError } from '../errors.ts';
import { type Asked, packAsk, unpackAnswer } from './door_message.ts';
import type { OwnerCalls, OwnerCallsOptions } from './owner_calls.ts';

/**
 * What is asked of those who serve objects. Who serves what may change meanwhile:
 *
 *     asked of                         waits while                   begins anew when
 *     -------------------------------  ----------------------------  ------------------------------------------------
 *     whoever serves an object         nobody serves it              that hub does not, or is no member any more
 *     all who serve something          there is something that       one of them knows another version of who serves
 *                                      nobody serves                 what, or is no member any more
 *
 * So nothing is in an answer twice, or missing, because it was on its way from one hub to another.
 */
export interface QuestionsOptions extends OwnerCallsOptions {
  readonly calls: OwnerCalls;
  /** How long somebody who can answer is waited for. */
  readonly holdMs: number;
  /** Counts the requests of this hub. */
  nextNumber(): number;
}

/** Questions, and other requests, that may wait. */
const ASKS_MAX = 10_000;
/** How long an owner may work at an answer. */
const ASK_MS = 60_000;
/** Providers whose locations are deleted by one request. */
const FORGET_MAX = 5000;

/** What is asked, and for how long. */
interface Question {
  readonly asked: Asked;
  /** What cannot be done, in the message of an error. */
  readonly what: string;
  readonly lastMs: number;
  /** It is given up then. Whoever answers lives, and is waited for longer. */
  untilMs: number;
  isInDoubt: boolean;
}

export class Questions {
  readonly #options: QuestionsOptions;
  #asks = 0;
  #isClosed = false;

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** See Router.ask. */
  async ask(query: Query): Promise<readonly Answer[]> {
    const { ownership } = this.#options;
    const object = askedObject(query);
    const what = `Cannot answer ${query.ask}`;
    const question = this.#question({ kind: 'read', argument: query }, what);
    const found = await this.#counted(question, async () => {
      if (object === undefined) return this.#everywhere(question);
      return [await this.#somewhere(question, () => ownership.serverOf(object.kind, object.id))];
    });
    return found.flatMap((answers) => {
      if (!Array.isArray(answers)) throw new HubError('HUB_INTERNAL', `${what}: found no answers`);
      return answers as readonly Answer[];
    });
  }

  /** See Router.forget. */
  async forget(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += FORGET_MAX) {
      const some = ids.slice(at, at + FORGET_MAX);
      const question = this.#question({ kind: 'forget', argument: some }, 'Cannot delete locations');
      await this.#counted(question, () => this.#forget(question, some));
    }
  }

  /** What a member has released because of a record (releases.ts). Rejects as ask does, and when it is a member no more. */
  async released(from: string, sequence: number): Promise<unknown> {
    const question = this.#question({ kind: 'released', argument: sequence }, 'Cannot take what another hub releases');
    return this.#counted(question, async () => {
      for (;;) {
        const answer = await this.#answerOf(from, question);
        if (answer !== undefined) return answer.value;
        if (this.#options.isMember(from)) continue;
        throw new HubError('HUB_UNAVAILABLE', `${question.what}: ${from} is no member any more`);
      }
    });
  }

  /** Resolves with the last configuration record that has come of what all were told so far. Rejects as ask does. */
  async settled(): Promise<number> {
    const question = this.#question({ kind: 'settle', argument: null }, 'Cannot wait for locations');
    const sequences = await this.#counted(question, () => this.#everywhere(question));
    return sequences.reduce((last: number, sequence) => Math.max(last, typeof sequence === 'number' ? sequence : 0), 0);
  }

  /** Ends it: nothing is asked any more. */
  close(): void {
    this.#isClosed = true;
  }

  #question(asked: Asked, what: string): Question {
    const nowMs = this.#options.elapsed();
    return { asked, what, lastMs: nowMs + ASK_MS, untilMs: nowMs + this.#options.holdMs, isInDoubt: false };
  }

  async #counted<Value>({ what }: Question, ask: () => Promise<Value>): Promise<Value> {
    if (this.#isClosed) throw new HubError('HUB_UNAVAILABLE', `${what}: this hub is closing`);
    if (this.#asks >= ASKS_MAX) throw new HubError('HUB_UNAVAILABLE', `${what}: ${ASKS_MAX} requests wait already`);
    this.#asks++;
    try {
      return await ask();
    } finally {
      this.#asks--;
    }
  }

  /** The answer of whoever serves an object. */
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

  /** The answers of all who serve something, by one version of who serves what. */
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

  /** Tells whoever serves providers that their locations are deleted. What could not be told goes to others. */
  async #forget(question: Question, ids: readonly string[]): Promise<void> {
    const { ownership } = this.#options;
    for (let left = ids; left.length > 0; ) {
      const byServer = Map.groupBy(left, (id) => ownership.serverOf('provider', id));
      const untold = await Promise.all(
        [...byServer].map(async ([server, some]) => {
          if (server === undefined) return some;
          const answer = await this.#answerOf(server, question, { kind: 'forget', argument: some });
          return answer === undefined ? some : [];
        }),
      );
      left = untold.flat();
      if (byServer.size === 1 && byServer.has(undefined)) await this.#wait(question);
    }
  }

  /** Waits until somebody else serves something. Rejects when that takes too long. */
  async #wait({ what, untilMs, lastMs, isInDoubt }: Question): Promise<void> {
    const { calls, elapsed } = this.#options;
    const leftMs = this.#isClosed ? 0 : Math.min(untilMs, lastMs) - elapsed();
    if (leftMs <= 0) throw calls.late(what, { isInDoubt });
    await calls.change(leftMs);
  }

  /** The whole answer of a hub; undefined when somebody else is to be asked, or the same anew. */
  async #answerOf(
    server: string,
    question: Question,
    asked = question.asked,
  ): Promise<{ readonly value: unknown } | undefined> {
    const { incarnation: door, applied, elapsed, holdMs, calls, ownership, nextNumber } = this.#options;
    const { what, lastMs } = question;
    const { version } = ownership;
    let number = nextNumber();
    let parts: Uint8Array[] = [];
    for (;;) {
      const message = (): Uint8Array => {
        return packAsk({ applied: applied(), door, number, part: parts.length, version, ...asked });
      };
      const untilMs = Math.min(question.untilMs, lastMs);
      const { isInDoubt } = question;
      const called = await calls.call(server, { subject: 'ask', what, untilMs, isInDoubt, message });
      if (called.at === 'moved' || called.at === 'lost') {
        question.isInDoubt ||= called.isInDoubt;
        await calls.follow(called, { version, untilMs });
        return undefined;
      }
      // Whoever answers lives.
      question.untilMs = elapsed() + holdMs;
      if (called.at === 'gone') {
        // Nobody knows the rest of it any more.
        number = nextNumber();
        parts = [];
      } else if (called.at === 'part') {
        parts.push(called.bytes);
        if (parts.length === called.parts) return { value: unpackAnswer(parts) };
      }
    }
  }
}
