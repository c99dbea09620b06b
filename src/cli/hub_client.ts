import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from './command_error.ts';

/** The hub's reply to a request. */
export interface HubReply {
  readonly status: number;
  readonly ok: boolean;
  /** Message of an error body, or else the whole body. */
  readonly message: string;
  /** The body as received. */
  readonly text: string;
}

/** Client of the REST API, version 2. */
export interface HubClient {
  /**
   * Sends a request. Retries when the hub is busy (503), after the time it names, and when a proxy lost its hub during
   * the request (502), unless that could create something twice (POST). Throws a CliError if the hub cannot be reached,
   * and the signal's reason once it is aborted.
   */
  send(method: string, path: string, body?: unknown): Promise<HubReply>;
}

/** Environment variable with the access token or API key of commands. */
const TOKEN_VARIABLE = 'HUB_TOKEN';

/** The access token or API key of commands; undefined without one. */
export function tokenHere(): string | undefined {
  return process.env[TOKEN_VARIABLE]?.trim() || undefined;
}

/** A client of the hub at the address, until the signal is aborted. It sends the token of the environment. */
export function hubClient(hub: string, { signal }: { signal: AbortSignal }): HubClient {
  const token = tokenHere();
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  async function ask(method: string, path: string, body: unknown): Promise<{ response: Response; text: string }> {
    signal.throwIfAborted();
    // fetch leaves its listener on a signal until the request is garbage collected, so each of the thousands of
    // requests has its own signal.
    const request = new AbortController();
    const abort = (): void => request.abort(signal.reason);
    signal.addEventListener('abort', abort);
    try {
      const init = {
        method,
        signal: request.signal,
        headers: { 'content-type': 'application/json', ...authorization },
      };
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

/** The body of a reply. Throws a CliError if the hub rejected the request. */
export function parsedReply({ ok, status, message, text }: HubReply): unknown {
  if (ok) return JSON.parse(text);
  throw new CliError(`The hub rejects the request: ${message} (${status})`);
}

/** Error for an unreachable hub, or a lost connection. */
export function unreachable(hub: string, error: unknown): CliError {
  const code = codeOf(error);
  if (code === undefined || isRefused(error)) {
    return new CliError(`Cannot reach the hub at ${hub}: is it running? Start it with npm start`, { cause: error });
  }
  return new CliError(`Cannot reach the hub at ${hub}: ${code}`, { cause: error });
}

/** Whether no process listens at the address, or the process has closed the connection. */
export function isRefused(error: unknown): boolean {
  return REFUSED.has(codeOf(error) ?? '');
}

const REFUSED = new Set(['ECONNREFUSED', 'ECONNRESET', 'UND_ERR_SOCKET']);

/** Reason of a failed fetch: in its cause, or for a name with several addresses in the causes of that cause. */
function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof AggregateError ? codeOf(error.errors[0]) : codeOf(error.cause);
}

/** Retry-After in milliseconds: a number of seconds, 1 if it is anything else, and at most 30. */
function retryAfterMs(header: string | null): number {
  const seconds = Number(header ?? 1);
  return Math.min(30, Number.isFinite(seconds) && seconds >= 0 ? seconds : 1) * 1000;
}

function messageOf(text: string): string {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && 'message' in body) return String(body.message);
  } catch {
    // A body that is not JSON is shown unchanged.
  }
  return text;
}
