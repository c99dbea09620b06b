import { isObject } from '../model/json_tree.ts';
import { parseJson } from '../model/json.ts';
import type { Link } from '../model/link.ts';
import { LongJson } from '../model/long_json.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import type { Peer } from './link_machine.ts';
import { MIRRORED, type MirroredKind, type MirrorSnapshot } from './mirror.ts';

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

type TakePage = (page: readonly unknown[]) => Promise<void>;

interface RemoteHubDeps {
  readonly request: Request;
  readonly turns: TaskScheduler;
  now(): number;
}

/** Locations per page of a hub that supports pages. Others return all locations in one response. */
const PAGE = 1000;
const SMALL_BYTES = 1 << 20;
const LIST_BYTES_MAX = 64 << 20;
/** An access token is renewed before this part of its time is left, for requests in flight. */
const TOKEN_MARGIN_MS = 10_000;
/** Answers by which a hub does not report its identity, which omlox does not require. */
const WITHOUT_IDENTITY: readonly number[] = [401, 403, 404, 405, 501];

/** The REST API of another hub. All methods reject with an Error that names the URL and the reason. */
export class RemoteHub {
  readonly socketUrl: string;
  readonly #link: Link;
  readonly #deps: RemoteHubDeps;
  /** URL of the API, with its version. */
  readonly #api: string;
  #token: { readonly value: string; readonly untilMs: number } | undefined;

  constructor(link: Link, deps: RemoteHubDeps) {
    this.#link = link;
    this.#deps = deps;
    this.#api = apiOf(link.url);
    this.socketUrl = `${this.#api.replace(/^http/, 'ws')}/ws/socket`;
  }

  /** An access token; undefined for a link without one. */
  async token(signal: AbortSignal): Promise<string | undefined> {
    const { token, oidc } = this.#link;
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
    const url = `${this.#api}/version`;
    const byHost: Peer = { hubId: new URL(this.#api).host };
    const response = await this.#send(url, { headers: await this.#headers(signal), signal });
    if (WITHOUT_IDENTITY.includes(response.status)) {
      await discard(response);
      return byHost;
    }
    const answer = parse(await this.#text(url, response, SMALL_BYTES));
    const { hub_id: hubId, hub_name: hubName } = isObject(answer) ? answer : {};
    if (typeof hubId !== 'string' || hubId === '') return byHost;
    return { hubId, ...(typeof hubName === 'string' && { hubName }) };
  }

  /** Passes the last locations of all objects to `take`, page by page, each after `take` has resolved. */
  readLocations(take: TakePage, signal: AbortSignal): Promise<void> {
    const first = new URL(`${this.#api}/providers/locations`);
    for (const name of ['crs', 'zone_id']) {
      const value = this.#link.params?.[name];
      if (typeof value === 'string') first.searchParams.set(name, value);
    }
    return this.#readPages(first, take, signal);
  }

  /** All entities. */
  async readEntities(signal: AbortSignal): Promise<MirrorSnapshot> {
    const snapshot: Record<MirroredKind, unknown[]> = { zone: [], trackable: [], fence: [] };
    for (const [kind, path] of MIRRORED) {
      const take = async (entities: readonly unknown[]): Promise<void> => {
        for (const entity of entities) snapshot[kind].push(entity);
      };
      await this.#readPages(new URL(this.#api + path), take, signal);
    }
    return snapshot;
  }

  async #readPages(first: URL, take: TakePage, signal: AbortSignal): Promise<void> {
    first.searchParams.set('limit', String(PAGE));
    let url: string | undefined = first.href;
    while (url !== undefined) {
      const response = await this.#send(url, { headers: await this.#headers(signal), signal });
      const list = await this.#longList(await this.#bytes(url, response, LIST_BYTES_MAX), url);
      await take(list);
      url = nextPage(response.headers.get('Link'), url);
    }
  }

  async #longList(bytes: Buffer, url: string): Promise<readonly unknown[]> {
    const reading = new LongJson(bytes, {});
    do await this.#deps.turns.next();
    while (!reading.readPart());
    if (Array.isArray(reading.value)) return reading.value;
    throw new Error(`Cannot get ${url}: found no list in the response`);
  }

  async #headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const token = await this.token(signal);
    return { Accept: 'application/json', ...(token !== undefined && { Authorization: `Bearer ${token}` }) };
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
    return (await this.#bytes(url, response, bytesMax)).toString();
  }

  async #bytes(url: string, response: OutgoingResponse, bytesMax: number): Promise<Buffer> {
    if (!response.ok) {
      await discard(response);
      throw new Error(`Cannot get ${url}: the server answered ${response.status}`);
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

/** The next page of a Link header. A page of another server is not followed, because it would receive the token. */
function nextPage(header: string | null, url: string): string | undefined {
  const target = /<([^<>]*)>\s*;\s*rel="?next"?/.exec(header ?? '')?.[1];
  const next = target === undefined ? null : URL.parse(target, url);
  return next !== null && next.origin === new URL(url).origin && next.href !== url ? next.href : undefined;
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

async function discard({ body }: OutgoingResponse): Promise<void> {
  try {
    for await (const _chunk of body ?? []) return;
  } catch {
    // Nothing of it is needed.
  }
}

/** Returns the reason of a failure. fetch reports all failures as "fetch failed", with the reason in the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message || error.name;
}
