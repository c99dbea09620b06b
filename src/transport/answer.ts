import { STATUS_CODES } from 'node:http';
import type { CountUnsent, HttpReply, UnsentData } from '../exchange.ts';
import { LongAnswer, type Sending } from './long_answer.ts';
import type { NativeResponse } from './native.ts';

const STATUS_LINES = new Map(
  Object.entries(STATUS_CODES).map(([status, phrase]) => [Number(status), `${status} ${phrase}`]),
);

/** Characters that would end a header early. Header values may come from a client, such as an id in Location. */
const LINE_BREAKS = /[\r\n\0]/g;
/**
 * Maximum size of a body that is passed to the native server as a whole. The native server buffers what the network
 * does not accept.
 */
const SHORT_BYTES = 1024;

/**
 * Whether a Connection header makes the native server close the connection. The native server only checks the length of
 * the value.
 */
export function saysClose(connection: string | undefined): boolean {
  return connection?.length === 'close'.length;
}

/**
 * Writes the response to a request; call it corked. A long body is not copied but sent as the client reads it, since
 * the native server would hold a copy for each unread response. It closes a connection that sends a request before the
 * last response is complete, so each connection has at most one long response. Returns a promise if the body is
 * produced asynchronously (see LongAnswer.send).
 */
export function answerWith(
  {
    response,
    method,
    asksToClose,
  }: { readonly response: NativeResponse; readonly method: string; readonly asksToClose: boolean },
  { status, headers, body = '' }: HttpReply,
  sending: Sending,
): Promise<void> | undefined {
  response.writeStatus(STATUS_LINES.get(status) ?? `${status} Unknown`);
  for (const name in headers) response.writeHeader(name, (headers[name] ?? '').replace(LINE_BREAKS, ''));
  // The native server closes the connection even without this header, and clients that reuse connections would send
  // into the closed one.
  if (asksToClose) response.writeHeader('Connection', 'close');
  const isLong = typeof body === 'object' && 'parts' in body;
  const isLast = sending.isLast();
  if (method === 'HEAD') {
    // The length of a long body is not known in advance.
    if (!isLong && body.length > 0) response.writeHeader('Content-Length', String(Buffer.byteLength(body)));
    response.endWithoutBody();
  } else if (isLong) return new LongAnswer(response, sending).send(body);
  else if (status === 204 || status === 304) response.endWithoutBody();
  else if (isLast || body.length <= SHORT_BYTES) response.end(body, isLast);
  else sendAsRead(response, typeof body === 'string' ? Buffer.from(body) : body, sending.unsent);
  return undefined;
}

function sendAsRead(response: NativeResponse, body: Uint8Array, unsent: CountUnsent): void {
  const [, hasEnded] = response.tryEnd(body, body.length);
  if (hasEnded) return;
  const waiting = new UnreadAnswer(response, unsent);
  response.onAborted(() => waiting.now(0));
  response.onWritable((takenBytes) => {
    const [hasTakenAll, ended] = response.tryEnd(body.subarray(takenBytes), body.length);
    waiting.now(ended ? 0 : body.length - response.getWriteOffset());
    return hasTakenAll;
  });
  // Comes last, since it may close the connection.
  waiting.now(body.length - response.getWriteOffset());
}

class UnreadAnswer implements UnsentData {
  bytes = 0;
  readonly #response: NativeResponse;
  readonly #unsent: CountUnsent;

  constructor(response: NativeResponse, unsent: CountUnsent) {
    this.#response = response;
    this.#unsent = unsent;
  }

  /** Sets the number of waiting bytes. */
  now(bytes: number): void {
    const by = bytes - this.bytes;
    this.bytes = bytes;
    this.#unsent.changed(by, this);
  }

  drop(): void {
    this.#response.close();
    this.now(0);
  }
}
