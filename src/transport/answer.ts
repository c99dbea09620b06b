import { STATUS_CODES } from 'node:http';
import type { CountUnsent, HttpReply, UnsentData } from '../exchange.ts';
import { LongAnswer, type Sending } from './long_answer.ts';
import type { NativeResponse } from './native.ts';

const STATUS_LINES = new Map(
  Object.entries(STATUS_CODES).map(([status, phrase]) => [Number(status), `${status} ${phrase}`]),
);

/** Characters that would end a header early. Values may come from a client (an id in Location). */
const LINE_BREAKS = /[\r\n\0]/g;
/** What is no longer than that is handed to the native server whole, which keeps what the network does not take. */
const SHORT_BYTES = 1024;

/** Whether a Connection header makes the native server close the connection: it looks at the length of the value alone. */
export function saysClose(connection: string | undefined): boolean {
  return connection?.length === 'close'.length;
}

/**
 * Writes the answer to a request; call it corked. A long body stays where it is, and goes out as the client reads it: the
 * native server would keep a copy for each answer that nobody reads. It ends a connection on which a request comes before
 * the last answer is out, so there is one such answer per connection. Returns a promise where the body is made meanwhile,
 * see LongAnswer.send.
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
  // The native server closes the connection without this header, and clients that reuse connections would send into it.
  if (asksToClose) response.writeHeader('Connection', 'close');
  const isLong = typeof body === 'object' && 'parts' in body;
  const isLast = sending.isLast();
  if (method === 'HEAD') {
    // How long it would be is known when it is made.
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
  // Last, since it may close the connection.
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

  /** So many bytes wait now. */
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
