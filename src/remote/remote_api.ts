import { HubError } from '../errors.ts';
import { isObject } from '../model/json_tree.ts';
import { parseJson } from '../model/json.ts';
import type { Link } from '../model/link.ts';
import { problemOf } from '../problem.ts';

/** Another hub. */
export interface Peer {
  /** Its id, or the host of its URL if it reports none. */
  readonly hubId: string;
  readonly hubName?: string;
  /** Whether it reports an id, as our hubs do. */
  readonly hasId?: boolean;
}

/** A response of another server. */
export interface OutgoingResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

export interface OutgoingRequest {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export type Request = (url: string, request: OutgoingRequest) => Promise<OutgoingResponse>;

interface RemoteApiDeps {
  readonly request: Request;
  now(): number;
}

const SMALL_BYTES = 1 << 20;
/** An access token is renewed before this part of its time is left, for requests in flight. */
const TOKEN_MARGIN_MS = 10_000;
/** Answers by which a hub does not report its identity, which omlox does not require. */
const WITHOUT_IDENTITY: readonly number[] = [401, 403, 404, 405, 501];

/** The API of another hub, and access to it. All methods reject with an Error that names the URL and the reason. */
export class RemoteApi {
  /** URL of the API, with its version. */
  readonly url: string;
  readonly #access: Pick<Link, 'token' | 'oidc'>;
  readonly #deps: RemoteApiDeps;
  #token: { readonly value: string; readonly untilMs: number } | undefined;

  constructor(url: string, access: Pick<Link, 'token' | 'oidc'>, deps: RemoteApiDeps) {
    this.url = apiOf(url);
    this.#access = access;
    this.#deps = deps;
  }

  /** An access token; undefined for a link without one. */
  async token(signal: AbortSignal): Promise<string | undefined> {
    const { token, oidc } = this.#access;
    if (oidc == null) return token ?? undefined;
    if (this.#token !== undefined && this.#deps.now() < this.#token.untilMs) return this.#token.value;
    const { token_url: url, client_id, client_secret, scope } = oidc;
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id });
    if (client_secret != null) form.set('client_secret', client_secret);
    if (scope != null) form.set('scope', scope);
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' };
    const answer = await this.#json(url, { method: 'POST', headers, body: form.toString(), signal });
    const value = isObject(answer) ? answer['access_token'] : undefined;
    if (typeof value !== 'string') throw new Error(`Cannot get ${url}: found no access_token in the response`);
    const seconds = isObject(answer) ? Number(answer['expires_in'] ?? 0) : 0;
    this.#token = { value, untilMs: this.#deps.now() + seconds * 1000 - TOKEN_MARGIN_MS };
    return value;
  }

  /** Drops the access token, which the other hub may have rejected. */
  forgetToken(): void {
    this.#token = undefined;
  }

  async identify(signal: AbortSignal): Promise<Peer> {
    const url = `${this.url}/version`;
    const byHost: Peer = { hubId: new URL(this.url).host };
    const response = await this.request(url, signal);
    if (WITHOUT_IDENTITY.includes(response.status)) {
      await discard(response);
      return byHost;
    }
    const answer = parse(await this.#text(url, response, SMALL_BYTES));
    const { hub_id: hubId, hub_name: hubName } = isObject(answer) ? answer : {};
    if (typeof hubId !== 'string' || hubId === '') return byHost;
    return { hubId, hasId: true, ...(typeof hubName === 'string' && { hubName }) };
  }

  /** Sends a request with the access token, and `headers` besides those of the API. */
  async request(
    url: string,
    signal: AbortSignal,
    { method, body, headers: more }: Partial<Pick<OutgoingRequest, 'method' | 'body' | 'headers'>> = {},
  ): Promise<OutgoingResponse> {
    const token = await this.token(signal);
    const headers = {
      ...more,
      Accept: 'application/json',
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    };
    return this.#send(url, {
      ...{ headers, signal },
      ...(method !== undefined && { method }),
      ...(body !== undefined && { body }),
    });
  }

  async #json(url: string, request: OutgoingRequest): Promise<unknown> {
    return parse(await this.#text(url, await this.#send(url, request), SMALL_BYTES));
  }

  async #send(url: string, request: OutgoingRequest): Promise<OutgoingResponse> {
    try {
      return await this.#deps.request(url, request);
    } catch (cause) {
      throw new Error(`Cannot reach ${url}: ${reasonOf(cause)}`, { cause });
    }
  }

  async #text(url: string, response: OutgoingResponse, bytesMax: number): Promise<string> {
    return (await this.bytes(url, response, bytesMax)).toString();
  }

  /** Returns the body of a successful response. */
  async bytes(url: string, response: OutgoingResponse, bytesMax: number): Promise<Buffer> {
    if (!response.ok) {
      await discard(response);
      const { status } = response;
      throw new HubError(problemOf('target_answered', { status }), {
        message: `Cannot get ${url}: the server answered ${status}`,
      });
    }
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const chunk of response.body ?? []) {
        bytes += chunk.byteLength;
        if (bytes > bytesMax) throw new Error(`the response has more than ${bytesMax} bytes`);
        chunks.push(chunk);
      }
    } catch (cause) {
      throw new Error(`Cannot get ${url}: ${reasonOf(cause)}`, { cause });
    }
    return Buffer.concat(chunks);
  }
}

/** The URL of the API with its version, without a slash at the end. The URL of the WebSocket is accepted, too. */
function apiOf(url: string): string {
  let base = url;
  while (base.endsWith('/')) base = base.slice(0, -1);
  base = base.replace(/\/ws\/socket$/, '');
  return /\/v\d+$/.test(base) ? base : `${base}/v2`;
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Discards the body of a response. */
export async function discard({ body }: OutgoingResponse): Promise<void> {
  try {
    for await (const _chunk of body ?? []) return;
  } catch {
    // Nothing of it is needed.
  }
}

/** Returns the reason of a failure. fetch reports all failures as "fetch failed", with the reason in the cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message || error.name;
}
