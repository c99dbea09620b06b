import { hubError } from '../../errors.ts';
import type { Borrowed } from '../../model/borrowed.ts';
import type { ClusterContext } from '../context.ts';
import type { Message, Subscription } from '../nats/bus.ts';
import { QUESTION, REPLY } from '../messages/messages.ts';
import { unpackAnswer } from './owner_protocol.ts';
import { PendingAnswers } from './pending_answers.ts';

/**
 * Queries to all members about their own state, which only each of them knows.
 *
 * A query is a request to each member, on `<name>.gather.<incarnation>`: msgpack of [version, sender, number, part, kind,
 * subject]. Each part of an answer that is larger than a message is requested separately (pending_answers.ts). All of that has
 * ANSWER_MS, unless the caller allows more: then a member that is still working replies so at least every ANSWER_MS. A member
 * that does not answer in time is left out, and logged once until it answers again. A member that has left is no longer waited
 * for.
 *
 * The same query runs once at a time. Callers that repeat it meanwhile share the next round, so no caller gets an answer made
 * before its call.
 */
export interface MemberQueriesOptions
  extends Pick<ClusterContext, 'bus' | 'name' | 'hubName' | 'incarnation' | 'notice' | 'elapsed' | 'schedule'> {
  /** All members, in the order of their joins. */
  members(): readonly QueriedMember[];
}

interface QueriedMember {
  readonly incarnation: string;
  readonly name: string;
}

export interface MemberQuestion {
  readonly ask: string;
  /** Subject of the query; empty if it needs none. */
  readonly about: string;
}

/** Answer of a hub: lists, objects and plain values. */
export interface MemberAnswer {
  /** Name of the hub. */
  readonly hub: string;
  readonly value: unknown;
}

/** Answers of all hubs. */
export interface MemberAnswers {
  /** In the order of the joins. */
  readonly answered: readonly MemberAnswer[];
  /** Names of the members that have not answered. */
  readonly missing: readonly string[];
}

/** Answers of this hub, and checks of those of others. */
export interface QueryHandler {
  /** The answer, or a promise of it. Throws, or rejects with, an Error for an unknown query. */
  answer(question: MemberQuestion): unknown;
  /** Reason why the answer of another hub cannot be used; undefined if it can. */
  problem(question: MemberQuestion, value: unknown): string | undefined;
}

const ANSWER_MS = 500;
/** Time for one request of a query that may take longer. A member at work replies after half of that. */
const REQUEST_MS = 1000;
/** Parts have a mebibyte each. */
const PARTS_MAX = 64;
/** Most different queries in progress. */
const ROUNDS_MAX = 1000;

/** A query, and the time for its answers. */
interface Asking {
  readonly question: MemberQuestion;
  readonly answerMs: number;
  /** Whether this hub is left out. */
  readonly ofOthers: boolean;
}

/** A query in progress, and the callers that share the round after it. */
interface Round {
  readonly gathered: Promise<MemberAnswers>;
  next: Promise<MemberAnswers> | undefined;
}

/** A member whose answer is pending. */
interface Waiting {
  readonly incarnation: string;
  giveUp(): void;
}

export class MemberQueries {
  readonly #options: MemberQueriesOptions;
  readonly #held: PendingAnswers;
  readonly #rounds = new Map<string, Round>();
  readonly #waiting = new Set<Waiting>();
  /** Members whose silence was logged. */
  readonly #silent = new Set<string>();
  #answers: QueryHandler | undefined;
  /** Answers to certain kinds of queries, by `ask`. */
  readonly #answersTo = new Map<string, QueryHandler>();
  #listening: Subscription | undefined;
  #number = 0;
  #isClosed = false;

  constructor(options: MemberQueriesOptions) {
    this.#options = options;
    this.#held = new PendingAnswers({ schedule: options.schedule });
  }

  /** Starts to answer other hubs. */
  open(answers: QueryHandler): void {
    const { bus, name, incarnation } = this.#options;
    this.#answers = answers;
    this.#listening = bus.subscribe(`${name}.gather.${incarnation}`, (message) => this.#hear(message));
  }

  /** Registers answers to one kind of query. */
  serve(ask: string, answers: QueryHandler): void {
    this.#answersTo.set(ask, answers);
  }

  /** Resolves when queries of others arrive. */
  get ready(): Promise<void> {
    return this.#listening?.ready ?? Promise.resolve();
  }

  /**
   * Answers of all hubs, this one included, in the order of the joins. Rejects with HUB_UNAVAILABLE if too many queries are in
   * progress.
   */
  async ask(question: MemberQuestion): Promise<readonly MemberAnswer[]> {
    return (await this.#askOnce({ question, answerMs: ANSWER_MS, ofOthers: false })).answered;
  }

  /** Queries the other hubs with a longer timeout. */
  askOthers(question: MemberQuestion, answerMs: number): Promise<MemberAnswers> {
    return this.#askOnce({ question, answerMs, ofOthers: true });
  }

  #askOnce(asking: Asking): Promise<MemberAnswers> {
    const { ask, about } = asking.question;
    const key = `${ask} ${about}`;
    const round = this.#rounds.get(key);
    const begin = (): Promise<MemberAnswers> => this.#begin(key, asking);
    if (round === undefined) return begin();
    round.next ??= round.gathered.then(begin, begin);
    return round.next;
  }

  /** Removes a member: its answers are no longer waited for, and parts held for it are dropped. */
  gone(incarnation: string): void {
    this.#silent.delete(incarnation);
    this.#held.forgetIngress(incarnation);
    for (const waiting of [...this.#waiting]) if (waiting.incarnation === incarnation) waiting.giveUp();
  }

  /** Closes it: callers get the answers received so far. */
  close(): void {
    this.#isClosed = true;
    this.#listening?.end();
    this.#held.close();
    for (const waiting of [...this.#waiting]) waiting.giveUp();
  }

  #begin(key: string, asking: Asking): Promise<MemberAnswers> {
    if (this.#rounds.size >= ROUNDS_MAX) {
      return Promise.reject(hubError('too_many_waiting', { operation: 'ask_all_hubs', count: ROUNDS_MAX }));
    }
    const round: Round = { gathered: this.#all(asking), next: undefined };
    this.#rounds.set(key, round);
    const end = (): void => {
      if (this.#rounds.get(key) === round) this.#rounds.delete(key);
    };
    round.gathered.then(end, end);
    return round.gathered;
  }

  async #all(asking: Asking): Promise<MemberAnswers> {
    const { incarnation: self, hubName: name, members } = this.#options;
    const all = members();
    const { question, ofOthers } = asking;
    const others = all.filter(({ incarnation }) => incarnation !== self);
    const isMember = others.length < all.length;
    const asked = ofOthers ? others : isMember ? all : [...all, { incarnation: self, name }];
    const ownAnswer = async () => ({ hub: name, value: await this.#answersFor(question)?.answer(question) });
    const each = await Promise.all(
      asked.map((member) => (member.incarnation === self ? ownAnswer() : this.#of(member, asking))),
    );
    return {
      answered: each.filter((one) => one !== undefined),
      missing: asked.filter((_, i) => each[i] === undefined).map((member) => member.name),
    };
  }

  #answersFor({ ask }: MemberQuestion): QueryHandler | undefined {
    return this.#answersTo.get(ask) ?? this.#answers;
  }

  /** Answer of a member; undefined if it does not answer. Never rejects. */
  async #of(member: QueriedMember, asking: Asking): Promise<MemberAnswer | undefined> {
    const { schedule } = this.#options;
    if (this.#isClosed) return undefined;
    const { promise: over, resolve } = Promise.withResolvers<undefined>();
    const waiting: Waiting = { incarnation: member.incarnation, giveUp: () => resolve(undefined) };
    this.#waiting.add(waiting);
    let isLate = false;
    const { answerMs } = asking;
    const cancel = schedule(answerMs, () => {
      isLate = true;
      resolve(undefined);
    });
    const asked = this.#answer(member, asking, () => !this.#waiting.has(waiting)).catch((error: Error) => error);
    const answer = await Promise.race([asked, over]);
    cancel();
    this.#waiting.delete(waiting);
    if (isLate) return this.#leftOut(member, `has not answered within ${answerMs} ms`);
    if (answer instanceof Error) return this.#leftOut(member, answer.message);
    if (answer !== undefined) this.#silent.delete(member.incarnation);
    return answer;
  }

  #leftOut({ incarnation, name }: QueriedMember, why: string): undefined {
    if (this.#silent.has(incarnation)) return;
    this.#silent.add(incarnation);
    this.#options.notice(`Cluster totals exclude hub "${name}" (${incarnation}): it ${why}`);
  }

  /** The whole answer of a member. Rejects with the rest of a sentence about it. */
  async #answer(
    member: QueriedMember,
    { question, answerMs }: Asking,
    isOver: () => boolean,
  ): Promise<MemberAnswer | undefined> {
    const { bus, name, incarnation, elapsed } = this.#options;
    const untilMs = elapsed() + answerMs;
    const number = ++this.#number;
    const parts: Uint8Array[] = [];
    for (let count = 1; parts.length < count; ) {
      const bytes = QUESTION.pack({ ingress: incarnation, number, part: parts.length, question });
      const timeoutMs = Math.max(1, Math.min(REQUEST_MS, untilMs - elapsed()));
      const subject = `${name}.gather.${member.incarnation}`;
      const answer = await bus.request(subject, bytes, { timeoutMs, read: REPLY.read });
      if (isOver()) return undefined;
      if (answer.at !== 'answered') throw new Error('does not answer');
      const reply = answer.value;
      // The member is still working: the request is repeated at once, until there is an answer or time is up.
      if (reply.at === 'working') continue;
      if (reply.at === 'failed') throw new Error(`cannot answer: ${reply.error.message}`);
      if (reply.at !== 'part') throw new Error(`has answered "${reply.at}"`);
      if (reply.parts > PARTS_MAX)
        throw new Error(`has answered ${reply.parts} MiB, and at most ${PARTS_MAX} are read`);
      parts.push(reply.bytes);
      count = reply.parts;
    }
    const value = unpackAnswer(parts);
    const problem = this.#answersFor(question)?.problem(question, value);
    if (problem !== undefined) throw new Error(`has answered what this version cannot read: ${problem}`);
    return { hub: member.name, value };
  }

  #hear({ bytes, reply }: Message): void {
    if (reply === '') return;
    // The message is lent until the first wait.
    void this.#reply(bytes).then((answer) => {
      if (!this.#isClosed) this.#options.bus.publish(reply, answer);
    });
  }

  /** Reply to a query. Never rejects. */
  async #reply(bytes: Borrowed): Promise<Uint8Array> {
    try {
      const { question, ...head } = QUESTION.read(bytes);
      const make = async (): Promise<unknown> => this.#answersFor(question)?.answer(question);
      return REPLY.pack(await this.#held.reply(head, make));
    } catch (error) {
      return REPLY.pack({ at: 'failed', error: hubError('hub_protocol', {}, { detail: (error as Error).message }) });
    }
  }
}
