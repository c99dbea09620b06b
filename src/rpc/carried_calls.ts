import { problemOf } from '../problem.ts';
import type { RpcErrorName } from '../model/rpc.ts';
import { show } from '../model/error_value_text.ts';
import type { RpcBounds } from './bounds.ts';
import { type RpcCall, readCall } from './call.ts';
import type { Calls, CallTaker, OpenCall } from './calls.ts';
import type { CarriedCall } from './carrier.ts';
import type { Handler, Handlers } from './handlers.ts';
import {
  type RpcAnswer,
  checkSize,
  type RequestId,
  RpcRejection,
  readLongMessage,
  responseText,
  limitReached,
} from './message.ts';
import { isObject } from '../model/json_tree.ts';

export interface CarriedCallsOptions {
  readonly hubId: string;
  /** Whether a handler id belongs, or belonged, to this hub. */
  isOwn(handlerId: string): boolean;
  readonly handlers: Handlers;
  readonly calls: Calls;
  readonly bounds: Pick<RpcBounds, 'openCallsOfCarrier'>;
  /** Counts a rejection. */
  refused(reason: RpcErrorName): void;
}

/**
 * Calls that arrive over a carrier. The caller may have called other hubs as well, so each handler of this hub answers
 * separately. Calls for handlers elsewhere are ignored.
 */
export class CarriedCalls {
  readonly #options: CarriedCallsOptions;
  readonly #open = new Set<OpenCall>();

  constructor(options: CarriedCallsOptions) {
    this.#options = options;
  }

  /** Starts a call. Returns the reason if it is rejected. */
  take({ text, method, handlerId, respond }: CarriedCall): string | undefined {
    let value: unknown;
    try {
      value = withoutAggregation(readLongMessage(text));
      const { callerId, ...call } = readCall(value);
      checkSize(text, call.id);
      if (callerId === this.#options.hubId) return undefined;
      if (method !== undefined && call.method !== method) {
        const where = { path: 'method', expected: method, found: show(call.method) };
        throw new RpcRejection('invalidRequest', problemOf('not_addressed_method', where), call.id);
      }
      const asked: RpcCall = {
        ...call,
        ...{ callerId, isAnswered: callerId !== undefined, collecting: 'stream' },
        handlerId: handlerId ?? call.handlerId,
      };
      this.#begin(asked, (answer) => {
        if (callerId !== undefined) respond(callerId, responseText(call.id, answer));
      });
      return undefined;
    } catch (error) {
      if (!(error instanceof RpcRejection)) throw error;
      this.#options.refused(error.reason);
      const callerId = this.#callerWaiting(value, { method, handlerId });
      if (callerId !== undefined) respond(callerId, responseText(error.id, { error: error.error }));
      return error.message;
    }
  }

  /** Cancels all calls without an answer. */
  close(): void {
    for (const open of [...this.#open]) open.cancel();
  }

  /** Calls the matching handlers of this hub, if any. Throws an RpcRejection. */
  #begin(call: RpcCall, respond: (answer: RpcAnswer) => void): void {
    const { calls } = this.#options;
    const handlers = this.#meant(call);
    if (handlers.length === 0) return;
    // The hub's own methods answer synchronously.
    if (handlers.some(({ link }) => link.kind !== 'hub')) this.#checkOpenCalls(call.id);
    let open: OpenCall | undefined;
    let isOver = !call.isAnswered;
    const taker: CallTaker = {
      respond,
      over: () => {
        isOver = true;
        if (open !== undefined) this.#open.delete(open);
      },
    };
    open = calls.begin(call, handlers, { taker, client: undefined });
    if (!isOver) this.#open.add(open);
  }

  #meant({ method, handlerId, zoneId, id }: RpcCall): readonly Handler[] {
    const { handlers, isOwn } = this.#options;
    const meant = handlers.find({ method, handlerId, zoneId }).filter(({ link }) => link.isLocal);
    if (meant.length > 0 || handlerId === undefined || !isOwn(handlerId)) return meant;
    throw new RpcRejection('unknownHandler', problemOf('no_handler_of_id', { method, handler_id: handlerId }), id);
  }

  #checkOpenCalls(id: RequestId): void {
    const { openCallsOfCarrier: max } = this.#options.bounds;
    const { size } = this.#open;
    if (size < max) return;
    throw limitReached('open_calls_of_carrier', max, size, id);
  }

  /**
   * Returns the caller to which this hub answers an invalid request; undefined if no caller waits or another hub answers.
   */
  #callerWaiting(value: unknown, addressed: Addressed): string | undefined {
    const { handlers, isOwn, hubId } = this.#options;
    if (!isObject(value) || !isObject(value['params'])) return undefined;
    const { _caller_id: callerId, _handler_id: named } = value['params'];
    if (typeof callerId !== 'string' || callerId === hubId) return undefined;
    const handlerId = addressed.handlerId ?? named;
    if (typeof handlerId === 'string') return isOwn(handlerId) ? callerId : undefined;
    // The method in the address selects the handlers.
    const method = addressed.method ?? value['method'];
    if (typeof method !== 'string') return undefined;
    const all = handlers.find({ method, handlerId: undefined, zoneId: undefined });
    return all.some(({ link }) => link.isLocal) ? callerId : undefined;
  }
}

/** Method and handler in the address of a call. */
interface Addressed {
  readonly method: string | undefined;
  readonly handlerId: string | undefined;
}

/** Removes the aggregation param, since a caller on a carrier aggregates the answers itself. */
function withoutAggregation(value: unknown): unknown {
  if (!isObject(value) || !isObject(value['params'])) return value;
  const { _aggregation, ...params } = value['params'];
  return { ...value, params };
}
