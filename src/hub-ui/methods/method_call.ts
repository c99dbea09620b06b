import type { ErrorReason } from '../../reasons.ts';
import { isHubProblem, loadMessages, sentenceOf } from '../problems/sentences.ts';
import type { RpcAvailable, RpcResponse } from '../../model/rpc.ts';
import { request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';

/** Input of the call form. */
export interface CallDraft {
  readonly method: string;
  /** Id of the handler; empty for all handlers. */
  readonly handlerId: string;
  readonly way: Way;
  readonly timeoutMs: number | undefined;
  /** Params as JSON; empty for none. */
  readonly params: string;
}

/** Aggregation of the answers if several handlers are called. */
export const WAYS = [
  { value: 'each', label: t('The answer of each handler') },
  { value: '_return_first_success', label: t('The first success') },
  { value: '_return_first_error', label: t('The first error') },
] as const;
type Way = (typeof WAYS)[number]['value'];

/** Answer of a handler, with its duration since the call. */
export interface CallAnswer {
  /** Undefined if any handler could answer; the first answer counts. */
  readonly handlerId: string | undefined;
  readonly tookMs: number;
  readonly isError: boolean;
  readonly value: unknown;
}

/** Parses the params of a draft to an object, or returns the problem. */
export function readParams(text: string): { readonly params?: object; readonly problem?: string } {
  if (text.trim() === '') return {};
  try {
    const params: unknown = JSON.parse(text);
    if (typeof params === 'object' && params !== null && !Array.isArray(params)) return { params };
    return { problem: t('This must be an object, such as {example}.', { example: '{"times": 3}' }) };
  } catch (error) {
    return {
      problem: t('This must be JSON: {error}', { error: error instanceof Error ? error.message : String(error) }),
    };
  }
}

/**
 * Calls a method. For the answers of all handlers, each handler is called separately, which measures its duration. `onAnswer`
 * is called with each answer as it arrives. Never rejects.
 */
export async function call(
  draft: CallDraft,
  available: RpcAvailable,
  onAnswer: (answer: CallAnswer) => void,
): Promise<void> {
  const { method, handlerId, way, timeoutMs } = draft;
  const { params } = readParams(draft.params);
  const timeout = timeoutMs === undefined ? {} : { _timeout: timeoutMs };
  const send = async (handler: string | undefined, more: object): Promise<void> => {
    const beganMs = performance.now();
    const answer = (isError: boolean, value: unknown): void =>
      onAnswer({ handlerId: handler, tookMs: performance.now() - beganMs, isError, value });
    try {
      const body = { jsonrpc: '2.0', id: 1, method, params: { ...params, ...timeout, ...more } };
      const { result, error } = await request<RpcResponse>('PUT', '/rpc', { body });
      if (error !== undefined) await loadMessages();
      if (error === undefined) answer(false, result);
      else answer(true, isHubError(error.data) ? { ...error, message: sentenceOf(error.data) } : error);
    } catch (error) {
      answer(true, { message: error instanceof Error ? error.message : String(error) });
    }
  };
  if (handlerId === '' && way !== 'each') return send(undefined, { _aggregation: way });
  const handlers = handlerId === '' ? (available[method]?.handler_id ?? []) : [handlerId];
  await Promise.all(handlers.map((handler) => send(handler, { _handler_id: handler })));
}

/** Whether the data of an error are from the hub, and not from a handler. */
function isHubError(data: unknown): data is ErrorReason {
  return typeof data === 'object' && data !== null && isHubProblem(data);
}
