import type { HandleHttp, HttpReply, ReplyBody } from '../exchange.ts';
import { lend } from '../model/borrowed.ts';

/** An answer of the API other than 2xx, as the hub writes it. */
export class RestError extends Error {
  readonly status: number;
  /** The error as JSON: code, message, reason and params. */
  readonly text: string;

  constructor(status: number, text: string) {
    super(`status ${status}`);
    this.status = status;
    this.text = text;
  }
}

export interface RestAnswer {
  /** Parsed JSON; undefined without a body. */
  readonly body: unknown;
  /** Cursor of the next page of a list; undefined after the last. */
  readonly next: string | undefined;
}

/** Requests to the API of this hub on behalf of a client: with its token, and therefore with its permissions. */
export interface Rest {
  /** `path` is below the version, with encoded parts. Rejects with a RestError. */
  ask(
    method: string,
    path: string,
    more?: { readonly query?: QueryValues; readonly body?: object },
  ): Promise<RestAnswer>;
}

export type QueryValues = Readonly<Record<string, string | number | boolean | undefined>>;

/** Maximum length of an answer that is read into memory. */
const ANSWER_MAX_BYTES = 32 << 20;

export function restOf(handle: HandleHttp, authorization: string | undefined): Rest {
  return {
    async ask(method, path, { query = {}, body } = {}) {
      const bytes = body === undefined ? new Uint8Array(0) : new TextEncoder().encode(JSON.stringify(body));
      const reply = await handle({
        method,
        path: `/v2${path}`,
        query: queryText(query),
        body: lend(bytes),
        header: (name) => (name === 'authorization' ? authorization : undefined),
        via: 'mcp',
      });
      const text = await textOf(reply.body);
      if (reply.status >= 300) throw new RestError(reply.status, text);
      return { body: text === '' ? undefined : JSON.parse(text), next: nextCursor(reply) };
    },
  };
}

/** The parts of a path, encoded. */
export function pathOf(...parts: readonly string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

function queryText(query: QueryValues): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return new URLSearchParams(given).toString();
}

async function textOf(body: ReplyBody | undefined): Promise<string> {
  if (body === undefined || typeof body === 'string') return body ?? '';
  if (body instanceof Uint8Array) return new TextDecoder().decode(body);
  const decoder = new TextDecoder();
  let text = '';
  for await (const part of body.parts) {
    text += typeof part === 'string' ? part : decoder.decode(part, { stream: true });
    if (text.length > ANSWER_MAX_BYTES) throw new RestError(413, 'The answer is too long: narrow the question');
  }
  return text + decoder.decode();
}

function nextCursor({ headers = {} }: HttpReply): string | undefined {
  const [, url] = /<([^<>]*)>; *rel="next"/.exec(headers['Link'] ?? '') ?? [];
  return url === undefined ? undefined : (new URL(url, 'http://hub').searchParams.get('cursor') ?? undefined);
}
