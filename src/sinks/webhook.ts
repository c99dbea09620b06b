import { Webhook } from 'standardwebhooks';
import type { Sink } from '../model/sink.ts';
import { reasonOfFailure } from '../model/target_failure.ts';
import { problemOf } from '../problem.ts';
import type { Outcome, QueuedEvent } from './delivery_queue.ts';
import { isSuccess, outcomeOf } from './http_outcome.ts';
import { messageLimits, messageOf, type OpenedSender, type SenderDeps, type SinkMessage, tooSlow } from './sender.ts';

const TIMEOUT_MS = 15_000;
/** Bytes of a response that are read. Longer responses are cut off. */
const BODY_BYTES_MAX = 65_536;

/** Opens a webhook: HTTP requests with the headers of Standard Webhooks 1.0.0, signed if the sink has a key. */
export function openWebhook(sink: Sink, deps: SenderDeps): OpenedSender {
  const { format } = sink;
  const limits = messageLimits(sink);
  const signer = sink.secret == null ? undefined : new Webhook(sink.secret);
  const send = async (events: readonly QueuedEvent[], traceparent?: string): Promise<Outcome> => {
    const message = messageOf(events, format ?? 'cloudevents', deps.source);
    const headers = {
      ...sink.headers,
      ...(format === 'plain' && { 'x-hub-topic': events[0]?.topic ?? '' }),
      'content-type': message.contentType,
      'user-agent': 'omlox-location-hub',
      ...(traceparent !== undefined && { traceparent }),
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
  if (why !== undefined) return { what: 'failed', why, problem: problemOf('target_not_allowed', {}, why) };
  const timeoutMs = timeout ?? TIMEOUT_MS;
  const aborter = new AbortController();
  const cancel = schedule(timeoutMs, () => aborter.abort());
  try {
    const response = await fetch(url, { method: 'POST', body, headers, signal: aborter.signal, redirect: 'manual' });
    if (isSuccess(response.status)) await drained(response.body);
    else await response.body?.cancel();
    return outcomeOf(response.status, response.headers.get('retry-after'), now());
  } catch (error) {
    if (aborter.signal.aborted) return { what: 'failed', ...tooSlow(timeoutMs) };
    return { what: 'failed', why: causeOf(error), problem: reasonOfFailure(error) };
  } finally {
    cancel();
  }
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

/** Returns the message of the innermost cause of an error: fetch wraps that of the connection. */
function causeOf(error: unknown): string {
  const cause = (error as { readonly cause?: unknown } | null)?.cause;
  if (cause !== undefined && cause !== null) return causeOf(cause);
  const { message = String(error), code } = (error ?? {}) as { readonly message?: string; readonly code?: string };
  return message !== '' ? message : (code ?? 'the connection failed');
}
