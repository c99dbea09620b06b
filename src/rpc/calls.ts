import { problemOf } from '../problem.ts';
import { ordinary } from '../model/lossless_numbers.ts';
import { IDENTIFY, PING, RPC_ERRORS, RPC_MESSAGE_MAX_BYTES } from '../model/rpc.ts';
import type { RpcBounds } from './bounds.ts';
import type { RpcCall } from './call.ts';
import type { Responding } from './carrier.ts';
import { type HandlerAnswer, outcomeOf } from './collected.ts';
import type { Handler, HandlerLink } from './handlers.ts';
import { type RpcAnswer, failure, readAnswer, limitReached } from './message.ts';
import { isObject } from '../model/json_tree.ts';

/**
 * Options of the registry of open calls and of the handlers that have not answered yet:
 *
 *   begin() --> every handler: Link.send, with an id of its own
 *                   |
 *   CallTaker <-- outcomeOf() <-- answered(), gone(), or timeout
 *
 * A call is open until its outcome is known, it times out, or its caller disconnects. Later responses to its ids are
 * only counted.
 */
export interface CallsOptions {
  /** Schedules `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
  readonly bounds: RpcBounds;
  /** Called when a call is closed because it exceeds a bound. */
  exceeded(): void;
  /** Id of the first request to a handler; 10,000 by default. */
  readonly firstId?: number;
  /** Returns an id for a request that not only its handler could answer. If absent, ids are consecutive. */
  randomId?(): number;
}

/** Receives the outcome of a call. */
export interface CallTaker {
  /** Called with the answer; for a stream, with each answer. Not called if the caller expects none. */
  respond(answer: RpcAnswer): void;
  /** Called when the call is closed. No further calls follow. */
  over?(): void;
}

export interface OpenCall {
  /** Cancels the call, because the caller has disconnected. */
  cancel(): void;
}

/** Outcomes of a call. */
export const CALL_ENDS = ['success', 'error', 'timeout', 'cancelled', 'notification'] as const;
export type CallEnd = (typeof CALL_ENDS)[number];

/** Lowest id of requests to handlers. */
export const FIRST_ID = 10_000;

interface Open {
  readonly call: RpcCall;
  readonly taker: CallTaker;
  readonly asked: number;
  readonly client: string | undefined;
  readonly ids: Set<number>;
  readonly answers: HandlerAnswer[];
  bytes: number;
  stopTimer(): void;
}

/** A called handler that has not answered yet. */
interface Pending {
  readonly handler: Handler;
  readonly open: Open;
}

export class Calls {
  /** Number of closed calls, by outcome. */
  readonly ended: Record<CallEnd, number> = { success: 0, error: 0, timeout: 0, cancelled: 0, notification: 0 };
  /** Number of requests sent to handlers, and of their answers. */
  forwarded = 0;
  responses = 0;
  /** Number of answers to requests that are unknown or closed. */
  late = 0;
  readonly #options: CallsOptions;
  readonly #open = new Set<Open>();
  readonly #pending = new Map<number, Pending>();
  /** Number of open calls of each client. */
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

  /** Calls at least one handler. `taker` may be called before this returns. Throws an RpcRejection. */
  begin(call: RpcCall, handlers: readonly Handler[], { taker, client }: Caller): OpenCall {
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
    // All handlers are called, even if the first one has answered immediately and completed the call.
    for (const { handler, id } of asked) {
      if (!handler.link.send({ ...request, id, handlerId: handler.id })) this.#lost(id, 'handler_unreachable');
    }
    return { cancel: () => this.#end(open, 'cancelled') };
  }

  /** Handles a response from a link. Returns whether it was expected from that handler. */
  answered(link: HandlerLink, response: unknown, { bytes, method, handlerId }: Response): boolean {
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

  /** Handles the answer of a link to a request. Returns whether it was expected. */
  take(
    link: HandlerLink,
    id: number,
    { answer, bytes }: { readonly answer: RpcAnswer; readonly bytes: number },
  ): boolean {
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

  /**
   * Handles the departure of a link's handlers, all of them without `method` and `id`. Their open requests fail with
   * −32000.
   */
  gone(link: HandlerLink, { method, id }: { readonly method?: string; readonly id?: string } = {}): void {
    for (const [number, { handler }] of [...this.#pending]) {
      if (handler.link !== link || (method !== undefined && handler.method !== method)) continue;
      if (id === undefined || handler.id === id) this.#lost(number, 'handler_left');
    }
  }

  /** Closes all calls with the same answer. */
  close(answer: RpcAnswer): void {
    for (const open of [...this.#open]) this.#end(open, 'error', answer);
  }

  #opened(call: RpcCall, asked: number, { taker, client }: Caller): Open {
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

  /** Throws an RpcRejection if the hub or the client has too many open calls. */
  #checkOpenCalls({ method, id }: RpcCall, client: string | undefined): void {
    const { openCalls, openCallsReserved, openCallsOfClient } = this.#options.bounds;
    const ofClient = client === undefined ? 0 : (this.#openOfClient.get(client) ?? 0);
    if (ofClient >= openCallsOfClient) throw limitReached('open_calls_of_client', openCallsOfClient, ofClient, id);
    const isReserved = method === PING || method === IDENTIFY;
    const max = isReserved ? openCalls + openCallsReserved : openCalls;
    if (this.#open.size >= max) throw limitReached('open_calls', max, this.#open.size, id);
  }

  #newId({ link }: Handler): number {
    const { randomId } = this.#options;
    if (link.isLocal || randomId === undefined) return this.#nextId++;
    let id = randomId();
    while (this.#pending.has(id)) id = randomId();
    return id;
  }

  #lost(id: number, reason: 'handler_left' | 'handler_unreachable'): void {
    const handler = this.#pending.get(id)?.handler;
    if (handler === undefined) return;
    const answer = failure('unknownHandler', problemOf(reason, named(handler)));
    this.take(handler.link, id, { answer, bytes: 0 });
  }

  /** Counts the bytes of a collected answer. If they exceed a bound, closes the call and returns false. */
  #hold(open: Open, bytes: number): boolean {
    const { bounds, exceeded } = this.#options;
    open.bytes += bytes;
    this.#heldBytes += bytes;
    const isOwn = open.bytes > bounds.responseBytes;
    if (!isOwn && this.#heldBytes <= bounds.heldBytes) return true;
    const path = isOwn ? 'responses_of_call' : 'responses_of_open_calls';
    const max = isOwn ? bounds.responseBytes : bounds.heldBytes;
    const found = isOwn ? open.bytes : this.#heldBytes;
    exceeded();
    const problem = problemOf('body_too_large', { path, limit: max, found });
    this.#end(open, 'error', failure('tooMuch', problem));
    return false;
  }

  /** Closes a call if its outcome is known. */
  #look(open: Open, isTimeUp: boolean): void {
    if (!this.#open.has(open)) return;
    const { call, answers, asked } = open;
    const outcome = outcomeOf({ ...call, answers, asked, isTimeUp });
    if (outcome === undefined) return;
    if (outcome === 'streamed') this.#end(open, 'success');
    else this.#end(open, endOf(outcome), outcome);
  }

  #forgetOpen(client: string | undefined): void {
    if (client === undefined) return;
    const left = (this.#openOfClient.get(client) ?? 0) - 1;
    if (left > 0) this.#openOfClient.set(client, left);
    else this.#openOfClient.delete(client);
  }

  #end(open: Open, end: CallEnd, answer?: RpcAnswer): void {
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
  /** Key of the client; undefined if unknown. */
  readonly client: string | undefined;
}

/** A response, with the properties of its handler that the transport knows. */
interface Response extends Responding {
  readonly bytes: number;
}

/** Validates a handler's response. Returns its answer, or an error if it is too long or not a response. */
function checked(handler: Handler, response: unknown, bytes: number): RpcAnswer {
  if (bytes > RPC_MESSAGE_MAX_BYTES) {
    const limit = RPC_MESSAGE_MAX_BYTES;
    return failure('tooMuch', problemOf('response_too_large', { ...named(handler), limit, found: bytes }));
  }
  const answer = readAnswer(response);
  return answer ?? failure('internal', problemOf('response_invalid', named(handler)));
}

function named({ id, method }: Handler): { readonly handler_id: string; readonly method: string } {
  return { handler_id: id, method };
}

function endOf(answer: RpcAnswer): CallEnd {
  if (!('error' in answer)) return 'success';
  return answer.error.code === RPC_ERRORS.timeout ? 'timeout' : 'error';
}
