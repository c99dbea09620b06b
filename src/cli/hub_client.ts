import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from './command_error.ts';

/** The hub's answer to a request. */
export interface Reply {
  readonly status: number;
  readonly ok: boolean;
  /** Message of an error body, else the text of the body. */
  readonly message: string;
  /** The body as it came. */
  readonly text: string;
}

/** Speaks to the REST API, version 2. */
export interface HubClient {
  /**
   * Sends a request. A busy hub (503) is asked again after the time it names, and so is a proxy whose hub has gone away
   * over the request (502), unless that would create something twice (POST). Throws a CommandError when the hub cannot be
   * reached, and the signal's reason once that is aborted.
   */
  send(method: string, path: string, body?: unknown): Promise<Reply>;
}

/** A client of the hub at the address, for as long as the signal is not aborted. */
export function hubClient(hub: string, { signal }: { signal: AbortSignal }): HubClient {
  async function ask(method: string, path: string, body: unknown): Promise<{ response: Response; text: string }> {
    signal.throwIfAborted();
    // fetch leaves its listener at a signal until the request is collected: thousands of requests have one each.
    const request = new AbortController();
    const abort = (): void => request.abort(signal.reason);
    signal.addEventListener('abort', abort);
    try {
      const init = { method, signal: request.signal, headers: { 'content-type': 'application/json' } };
      const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) };
      const response = await fetch(`${hub}/hub/v2${path}`, sent);
      return { response, text: await response.text() };
    } catch (error) {
      signal.throwIfAborted();
      throw unreachable(hub, error);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }
  return {
    async send(method, path, body) {
      for (;;) {
        const { response, text } = await ask(method, path, body);
        const { status, ok } = response;
        const isGone = status === 502 && method !== 'POST';
        if (status !== 503 && !isGone) return { status, ok, text, message: messageOf(text) };
        await delay(retryAfterMs(response.headers.get('retry-after')), undefined, { signal });
      }
    },
  };
}

/** Says that there is no hub at an address, or how the connection to it was lost. */
export function unreachable(hub: string, error: unknown): CommandError {
  const code = codeOf(error);
  if (code === undefined || isRefused(error)) {
    return new CommandError(`Cannot reach the hub at ${hub}: is it running? Start it with npm start`, { cause: error });
  }
  return new CommandError(`Cannot reach the hub at ${hub}: ${code}`, { cause: error });
}

/** Whether nobody listens at an address, or not any more. */
export function isRefused(error: unknown): boolean {
  return REFUSED.has(codeOf(error) ?? '');
}

const REFUSED = new Set(['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET']);

/** fetch tells what happened in its cause, and for a name of several addresses in the causes of that. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof AggregateError ? codeOf(error.errors[0]) : codeOf(error.cause);
}

/** Retry-After in milliseconds: a number of seconds, 1 when it is anything else, and never above 30. */
function retryAfterMs(header: string | null): number {
  const seconds = Number(header ?? 1);
  return Math.min(30, Number.isFinite(seconds) && seconds >= 0 ? seconds : 1) * 1000;
}

function messageOf(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && 'message' in body) return String(body.message);
  } catch {
    // A body that is no JSON is shown as it is.
  }
  return text;
}
