import type { Link } from '../model/link.ts';
import { LongJson } from '../model/long_json.ts';
import { RemoteApi, type Request } from '../remote/remote_api.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import { MIRRORED, type MirroredKind, type MirrorSnapshot } from './mirror.ts';

type TakePage = (page: readonly unknown[]) => Promise<void>;

interface RemoteHubDeps {
  readonly request: Request;
  readonly turns: TaskScheduler;
  now(): number;
}

/** Locations per page of a hub that supports pages. Others return all locations in one response. */
const PAGE = 1000;
const LIST_BYTES_MAX = 64 << 20;

/** The lists of another hub. All methods reject with an Error that names the URL and the reason. */
export class RemoteHub {
  readonly api: RemoteApi;
  readonly socketUrl: string;
  readonly #link: Link;
  readonly #turns: TaskScheduler;

  constructor(link: Link, { request, turns, now }: RemoteHubDeps) {
    this.#link = link;
    this.#turns = turns;
    this.api = new RemoteApi(link.url, link, { request, now });
    this.socketUrl = `${this.api.url.replace(/^http/, 'ws')}/ws/socket`;
  }

  /** Passes the last locations of all objects to `take`, page by page, each after `take` has resolved. */
  readLocations(take: TakePage, signal: AbortSignal): Promise<void> {
    const first = new URL(`${this.api.url}/providers/locations`);
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
      await this.#readPages(new URL(this.api.url + path), take, signal);
    }
    return snapshot;
  }

  async #readPages(first: URL, take: TakePage, signal: AbortSignal): Promise<void> {
    first.searchParams.set('limit', String(PAGE));
    let url: string | undefined = first.href;
    while (url !== undefined) {
      const response = await this.api.request(url, signal);
      const list = await this.#longList(await this.api.bytes(url, response, LIST_BYTES_MAX), url);
      await take(list);
      url = nextPage(response.headers.get('Link'), url);
    }
  }

  async #longList(bytes: Buffer, url: string): Promise<readonly unknown[]> {
    const reading = new LongJson(bytes, {});
    do await this.#turns.next();
    while (!reading.readPart());
    if (Array.isArray(reading.value)) return reading.value;
    throw new Error(`Cannot get ${url}: found no list in the response`);
  }
}

/** The next page of a Link header. A page of another server is not followed, because it would receive the token. */
function nextPage(header: string | null, url: string): string | undefined {
  const target = /<([^<>]*)>\s*;\s*rel="?next"?/.exec(header ?? '')?.[1];
  const next = target === undefined ? null : URL.parse(target, url);
  return next !== null && next.origin === new URL(url).origin && next.href !== url ? next.href : undefined;
}
