import { messageOf } from '../errors.ts';
import { type Source, SOURCE_PAYLOAD_BYTES_MAX } from '../model/source.ts';
import { authorizationOf, type Connector, type ConnectorDeps, type ConnectorEvents } from './connector.ts';

const INTERVAL_MS = 1000;
const TIMEOUT_MS = 15_000;

/**
 * Requests a URL repeatedly; each body is a payload. The next request begins an interval after the last one has begun, but
 * not before it has ended. A request fails with another status than 2xx, or if its body is too long.
 */
export function openPoll(source: Source, events: ConnectorEvents, deps: ConnectorDeps): Connector {
  const url = source.url ?? '';
  const intervalMs = source.interval ?? INTERVAL_MS;
  const closing = new AbortController();
  let cancelNext = (): void => undefined;
  let isOpened = false;
  const close = (): void => {
    closing.abort();
    cancelNext();
  };
  const request = async (): Promise<Uint8Array> => {
    const why = deps.whyNotHost(new URL(url).hostname);
    if (why !== undefined) throw new Error(why);
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    // A redirect could lead the password to another server.
    const response = await deps.fetch(url, { headers: authorizationOf(source), signal, redirect: 'error' });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`the server has answered ${response.status}`);
    }
    return await bodyOf(response.body);
  };
  const poll = async (): Promise<void> => {
    const waited = Promise.withResolvers<void>();
    cancelNext = deps.schedule(intervalMs, waited.resolve);
    const content = await request();
    if (closing.signal.aborted) return;
    if (!isOpened) events.opened();
    isOpened = true;
    events.received({ content });
    await waited.promise;
    if (!closing.signal.aborted) repeat();
  };
  const repeat = (): void => {
    poll().catch((error: unknown) => {
      if (closing.signal.aborted) return;
      close();
      events.failed(causeOf(error));
    });
  };
  repeat();
  return { close };
}

async function bodyOf(body: AsyncIterable<Uint8Array> | null): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > SOURCE_PAYLOAD_BYTES_MAX) throw new Error(`the body has more than ${SOURCE_PAYLOAD_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** fetch reports the cause of a failure as that of its error. */
function causeOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
}
