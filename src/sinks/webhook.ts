import { Webhook } from 'standardwebhooks';
import type { Sink } from '../model/sink.ts';
import type { Outcome, QueuedEvent } from './delivery_queue.ts';
import { messageLimits, messageOf, type OpenedSender, type SenderDeps, type SinkMessage } from './sender.ts';

const TIMEOUT_MS = 15_000;
/** Bytes of a response that are read. Longer responses are cut off. */
const BODY_BYTES_MAX = 65_536;
/** Statuses with which a target asks for fewer requests. */
const THROTTLED = new Set([429, 502, 503, 504]);

/** Opens a webhook: HTTP requests with the headers of Standard Webhooks 1.0.0, signed if the sink has a key. */
export function openWebhook(sink: Sink, deps: SenderDeps): OpenedSender {
  const { format } = sink;
  const limits = messageLimits(sink);
  const signer = sink.secret == null ? undefined : new Webhook(sink.secret);
  const send = async (events: readonly QueuedEvent[]): Promise<Outcome> => {
    const message = messageOf(events, format ?? 'cloudevents', deps.source);
    const headers = {
      ...sink.headers,
      ...(format === 'plain' && { 'x-hub-topic': events[0]?.topic ?? '' }),
      'content-type': message.contentType,
      'user-agent': 'omlox-location-hub',
      ...signedHeaders(message, { signer, nowMs: deps.now() }),
    };
    return request(sink, { body: message.body, headers }, deps);
  };
  return { limits, sender: { send, close: async () => undefined } };
}

/** Headers of Standard Webhooks. `webhook-id` is the same in all attempts. */
function signedHeaders(
  { id, body }: SinkMessage,
  { signer, nowMs }: { readonly signer: Webhook | undefined; readonly nowMs: number },
): Readonly<Record<string, string>> {
  const seconds = Math.floor(nowMs / 1000);
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(seconds) };
  if (signer === undefined) return headers;
  return { ...headers, 'webhook-signature': signer.sign(id, new Date(seconds * 1000), body) };
}

/**
 * Sends a POST request. The whole response must arrive before the timeout; a redirect is a failure, since its target
 * was not checked.
 */
async function request(
  { url, timeout }: Pick<Sink, 'url' | 'timeout'>,
  { body, headers }: { readonly body: string; readonly headers: Readonly<Record<string, string>> },
  { fetch, schedule, whyNotHost, now }: SenderDeps,
): Promise<Outcome> {
  const why = whyNotHost(new URL(url).hostname);
  if (why !== undefined) return { what: 'failed', why };
  const timeoutMs = timeout ?? TIMEOUT_MS;
  const aborter = new AbortController();
  const cancel = schedule(timeoutMs, () => aborter.abort());
  try {
    const response = await fetch(url, { method: 'POST', body, headers, signal: aborter.signal, redirect: 'manual' });
    if (isSuccess(response.status)) await drained(response.body);
    else await response.body?.cancel();
    return outcomeOf(response.status, response.headers.get('retry-after'), now());
  } catch (error) {
    if (aborter.signal.aborted) return { what: 'failed', why: `no complete response within ${timeoutMs} ms` };
    return { what: 'failed', why: causeOf(error) };
  } finally {
    cancel();
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Reads a body to its end, or up to a bound, and discards it. */
async function drained(body: AsyncIterable<Uint8Array> | null): Promise<void> {
  if (body === null) return;
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > BODY_BYTES_MAX) return;
  }
}

/** Returns the meaning of a status for the delivery. */
export function outcomeOf(status: number, retryAfter: string | null, nowMs: number): Outcome {
  if (isSuccess(status)) return { what: 'delivered' };
  if (status === 410) return { what: 'gone', why: 'the target answered 410 Gone' };
  if (status === 413) return { what: 'rejected', why: 'the target answered 413 Payload Too Large' };
  if (status >= 300 && status < 400) return { what: 'failed', why: `the target answered the redirect ${status}` };
  const why = `the target answered ${status}`;
  const retryAfterMs = THROTTLED.has(status) ? delayOf(retryAfter, nowMs) : undefined;
  return { what: 'failed', why, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** Returns the delay of a Retry-After header, in seconds or as an HTTP date. */
function delayOf(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

/** Returns the message of the innermost cause of an error: fetch wraps that of the connection. */
function causeOf(error: unknown): string {
  const cause = (error as { readonly cause?: unknown } | null)?.cause;
  if (cause !== undefined && cause !== null) return causeOf(cause);
  const { message = String(error), code } = (error ?? {}) as { readonly message?: string; readonly code?: string };
  return message !== '' ? message : (code ?? 'the connection failed');
}
