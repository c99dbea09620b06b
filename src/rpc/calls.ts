import { grouped } from '../model/bounds.ts';
import { ordinary } from '../model/lossless_numbers.ts';
import { IDENTIFY, PING, RPC_ERRORS, RPC_MESSAGE_MAX_BYTES } from '../model/rpc.ts';
import type { RpcBounds } from './bounds.ts';
import type { Call } from './call.ts';
import type { Responding } from './carrier.ts';
import { type Collected, outcomeOf } from './collected.ts';
import type { Handler, Link } from './handlers.ts';
import { type Answer, failure, isObject, type RequestId, RpcRefusal, readAnswer } from './message.ts';

/**
 * The calls that are open, and who of the handlers has not answered yet:
 *
 *   begin() --> every handler: Link.send, with an id of its own
 *                   |
 *   CallTaker <-- outcomeOf() <-- answered(), gone(), or the time that is up
 *
 * A call is open until it has its outcome, its time is up, or its caller is gone. What comes later for one of its ids is of no
 * use to anybody, and only counted.
 */
export interface CallsOptions {
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  readonly bounds: RpcBounds;
  /** A bound has ended a call. */
  exceeded(): void;
  /** The id of the first request to a handler; 10,000 when left out. */
  readonly firstId?: number;
  /** The id of a request that others than its handler may answer. Left out: ids count on. */
  randomId?(): number;
}

/** Who is told what becomes of a call. */
export interface CallTaker {
  /** The answer; of a stream each. Not called where nobody waits for an answer. */
  respond(answer: Answer): void;
  /** The call is over: nothing more is told. */
  over?(): void;
}

export interface OpenCall {
  /** The caller is gone: nobody waits any more. */
  cancel(): void;
}

/** What becomes of a call that was begun. */
export const CALL_ENDS = ['success', 'error', 'timeout', 'cancelled', 'notification'] as const;
export type CallEnd = (typeof CALL_ENDS)[number];

/** Ids of requests to handlers begin here, or later. */
export const FIRST_ID = 10_000;

interface Open {
  readonly call: Call;
  readonly taker: CallTaker;
  readonly asked: number;
  readonly client: string | undefined;
  readonly ids: Set<number>;
  readonly answers: Collected[];
  bytes: number;
  stopTimer(): void;
}

/** A handler that has been asked and has not answered. */
interface Pending {
  readonly handler: Handler;
  readonly open: Open;
}

export class Calls {
  /** Calls that are over, by what became of them. */
  readonly ended: Record<CallEnd, number> = { success: 0, error: 0, timeout: 0, cancelled: 0, notification: 0 };
  /** Requests that went to handlers, and their answers. */
  forwarded = 0;
  responses = 0;
  /** Answers that nobody waited for, or no more. */
  late = 0;
  readonly #options: CallsOptions;
  readonly #open = new Set<Open>();
  readonly #pending = new Map<number, Pending>();
  /** How many calls each client has open. */
  readonly #openOfClient = new Map<string, number>();
  #nextId: number;
  #heldBytes = 0;

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#nextId = options.firstId ?? FIRST_ID;
  }

  get open(): number {
    return this.#open.size;
  }

  /** Asks handlers, one at least. What is told of it may be told before this returns. Throws an RpcRefusal. */
  begin(call: Call, handlers: readonly Handler[], { taker, client }: Caller): OpenCall {
    const { method, params, timeoutMs, isAnswered } = call;
    const request = { method, params, paramsText: params && JSON.stringify(params), timeoutMs };
    if (!isAnswered) {
      this.ended.notification++;
      this.forwarded += handlers.length;
      for (const { link, id: handlerId } of handlers) link.send({ ...request, id: undefined, handlerId });
      return { cancel: () => undefined };
    }
    const open = this.#opened(call, handlers.length, { taker, client });
    this.forwarded += handlers.length;
    const asked = handlers.map((handler) => ({ handler, id: this.#newId(handler) }));
    for (const { handler, id } of asked) {
      open.ids.add(id);
      this.#pending.set(id, { handler, open });
    }
    // All are asked, also where the first has answered at once and that is enough.
    for (const { handler, id } of asked) {
      if (!handler.link.send({ ...request, id, handlerId: handler.id })) this.#lost(id, 'cannot be reached');
    }
    return { cancel: () => this.#end(open, 'cancelled') };
  }

  /** The response that has come over a link. Returns whether the handler that has sent it was to answer. */
  answered(link: Link, response: unknown, { bytes, method, handlerId }: Response): boolean {
    const id = isObject(response) ? ordinary(response['id']) : undefined;
    const handler = typeof id === 'number' ? this.#pending.get(id)?.handler : undefined;
    const isFrom =
      handler?.link === link &&
      (method === undefined || handler.method === method) &&
      (handlerId === undefined || handler.id === handlerId);
    if (typeof id !== 'number' || handler === undefined || !isFrom) {
      this.late++;
      return false;
    }
    return this.take(link, id, { answer: checked(handler, response, bytes), bytes });
  }

  /** The answer of a link to a request. Returns whether it was waited for. */
  take(link: Link, id: number, { answer, bytes }: { readonly answer: Answer; readonly bytes: number }): boolean {
    const pending = this.#pending.get(id);
    if (pending?.handler.link !== link) return false;
    const { open, handler } = pending;
    this.responses++;
    this.#pending.delete(id);
    open.ids.delete(id);
    if (open.call.collecting === 'stream') open.taker.respond(answer);
    else if (!this.#hold(open, bytes)) return true;
    open.answers.push({ handlerId: handler.id, answer });
    this.#look(open, false);
    return true;
  }

  /** Handlers of a link are gone: what they have not answered is answered with −32000. Left out: all methods, all ids. */
  gone(link: Link, { method, id }: { readonly method?: string; readonly id?: string } = {}): void {
    for (const [number, { handler }] of [...this.#pending]) {
      if (handler.link !== link || (method !== undefined && handler.method !== method)) continue;
      if (id === undefined || handler.id === id) this.#lost(number, 'has gone before it answered');
    }
  }

  /** Ends all calls with an answer. */
  close(answer: Answer): void {
    for (const open of [...this.#open]) this.#end(open, 'error', answer);
  }

  #opened(call: Call, asked: number, { taker, client }: Caller): Open {
    const { schedule } = this.#options;
    this.#checkOpenCalls(call, client);
    if (client !== undefined) this.#openOfClient.set(client, (this.#openOfClient.get(client) ?? 0) + 1);
    const open: Open = {
      ...{ call, taker, asked, client },
      ids: new Set(),
      answers: [],
      bytes: 0,
      stopTimer: schedule(call.timeoutMs, () => this.#look(open, true)),
    };
    this.#open.add(open);
    return open;
  }

  /** Throws an RpcRefusal where the hub, or the client, has too many calls open. */
  #checkOpenCalls({ method, id }: Call, client: string | undefined): void {
    const { openCalls, openCallsReserved, openCallsOfClient } = this.#options.bounds;
    const ofClient = client === undefined ? 0 : (this.#openOfClient.get(client) ?? 0);
    if (ofClient >= openCallsOfClient) throw tooManyOpen('open calls of a client', openCallsOfClient, ofClient, id);
    const isReserved = method === PING || method === IDENTIFY;
    const max = isReserved ? openCalls + openCallsReserved : openCalls;
    if (this.#open.size >= max) throw tooManyOpen('open calls', max, this.#open.size, id);
  }

  #newId({ link }: Handler): number {
    const { randomId } = this.#options;
    if (link.isLocal || randomId === undefined) return this.#nextId++;
    let id = randomId();
    while (this.#pending.has(id)) id = randomId();
    return id;
  }

  #lost(id: number, why: string): void {
    const handler = this.#pending.get(id)?.handler;
    if (handler === undefined) return;
    const answer = failure('unknownHandler', `${named(handler)} ${why}`);
    this.take(handler.link, id, { answer, bytes: 0 });
  }

  /** Counts the bytes of an answer that is kept; ends the call, and returns false, where they are too many. */
  #hold(open: Open, bytes: number): boolean {
    const { bounds, exceeded } = this.#options;
    open.bytes += bytes;
    this.#heldBytes += bytes;
    const isOwn = open.bytes > bounds.responseBytes;
    if (!isOwn && this.#heldBytes <= bounds.heldBytes) return true;
    const what = isOwn ? 'responses of a call' : 'responses of all open calls';
    const max = isOwn ? bounds.responseBytes : bounds.heldBytes;
    const found = isOwn ? open.bytes : this.#heldBytes;
    exceeded();
    const problem = `${what}: must have at most ${grouped(max)} bytes, found ${grouped(found)}`;
    this.#end(open, 'error', failure('tooMuch', problem));
    return false;
  }

  /** Ends a call that is over. */
  #look(open: Open, isTimeUp: boolean): void {
    if (!this.#open.has(open)) return;
    const { call, answers, asked } = open;
    const outcome = outcomeOf({ ...call, answers, asked, isTimeUp });
    if (outcome === undefined) return;
    if (outcome === 'told') this.#end(open, 'success');
    else this.#end(open, endOf(outcome), outcome);
  }

  #forgetOpen(client: string | undefined): void {
    if (client === undefined) return;
    const left = (this.#openOfClient.get(client) ?? 0) - 1;
    if (left > 0) this.#openOfClient.set(client, left);
    else this.#openOfClient.delete(client);
  }

  #end(open: Open, end: CallEnd, answer?: Answer): void {
    if (!this.#open.delete(open)) return;
    this.ended[end]++;
    this.#heldBytes -= open.bytes;
    this.#forgetOpen(open.client);
    open.stopTimer();
    for (const id of open.ids) this.#pending.delete(id);
    if (answer !== undefined) open.taker.respond(answer);
    open.taker.over?.();
  }
}

interface Caller {
  readonly taker: CallTaker;
  /** Tells clients apart; undefined: unknown. */
  readonly client: string | undefined;
}

/** A response, and what the way that it came on says of its handler. */
interface Response extends Responding {
  readonly bytes: number;
}

/** What a handler has answered, or an error where that is too long or no response. */
function checked(handler: Handler, response: unknown, bytes: number): Answer {
  if (bytes > RPC_MESSAGE_MAX_BYTES) {
    const wanted = `must have at most ${grouped(RPC_MESSAGE_MAX_BYTES)} bytes, found ${grouped(bytes)}`;
    return failure('tooMuch', `response of ${named(handler)}: ${wanted}`);
  }
  const answer = readAnswer(response);
  return answer ?? failure('internal', `${named(handler)} has answered what is no response of JSON-RPC 2.0`);
}

function tooManyOpen(what: string, max: number, found: number, id: RequestId): RpcRefusal {
  const problem = `${what}: must be at most ${grouped(max)}, found ${grouped(found)} before this one`;
  return new RpcRefusal('tooMuch', problem, id);
}

function named({ id, method }: Handler): string {
  return `handler "${id}" of "${method}"`;
}

function endOf(answer: Answer): CallEnd {
  if (!('error' in answer)) return 'success';
  return answer.error.code === RPC_ERRORS.timeout ? 'timeout' : 'error';
}
