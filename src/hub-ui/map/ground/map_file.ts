import { EtagMismatch, type Header, PMTiles, type RangeResponse, type Source, TileType } from 'pmtiles';
import { accessToken, renewAccess } from '../../hub/access.ts';
import { t } from '../../languages/language.ts';

/** A PMTiles file, read by range requests on demand. */
export interface MapFile {
  readonly header: Header;
  readonly areImages: boolean;
  /** Attribution of the file. */
  readonly attribution: string;
  /** The decompressed bytes of a tile, or undefined. Rejects if it cannot be read. */
  tile(z: number, x: number, y: number): Promise<ArrayBuffer | undefined>;
}

/** The server of the map file cannot be reached. */
export class UnreachableError extends Error {}

const IMAGES: readonly TileType[] = [TileType.Png, TileType.Jpeg, TileType.Webp, TileType.Avif];

/** Opens a PMTiles file. Rejects with an Error that states the problem. */
export async function openMapFile(url: string): Promise<MapFile> {
  const file = new PMTiles(new Ranges(url));
  const header = await file.getHeader();
  const areImages = IMAGES.includes(header.tileType);
  if (!areImages && header.tileType !== TileType.Mvt)
    throw new Error(t('its tiles are neither images nor vector tiles'));
  const metadata = await file.getMetadata().catch(() => undefined);
  return {
    header,
    areImages,
    attribution: plainText((metadata as { readonly attribution?: unknown } | undefined)?.attribution),
    tile: async (z, x, y) => (await file.getZxy(z, x, y))?.data,
  };
}

/** Strips the markup of an attribution, which usually is HTML. */
function plainText(html: unknown): string {
  if (typeof html !== 'string') return '';
  return new DOMParser().parseFromString(html, 'text/html').body.textContent.trim();
}

/** Source that reads byte ranges of a file at a URL. Requests to the hub itself carry the access token. */
class Ranges implements Source {
  readonly #url: URL;

  constructor(url: string) {
    this.#url = new URL(url, location.origin);
  }

  getKey(): string {
    return this.#url.href;
  }

  async getBytes(offset: number, length: number, signal?: AbortSignal, etag?: string): Promise<RangeResponse> {
    const fetchRange = (): Promise<Response> => this.#fetch(`bytes=${offset}-${offset + length - 1}`, signal);
    let response = await fetchRange();
    if (response.status === 401 && this.#isOwn && (await renewAccess())) response = await fetchRange();
    if (!response.ok) throw new Error(await problemOf(response));
    if (response.status === 200 && offset > 0) throw new Error(t('its server does not answer requests for ranges'));
    const found = response.headers.get('ETag') ?? undefined;
    if (etag !== undefined && found !== undefined && etag !== found) throw new EtagMismatch(t('the file has changed'));
    return { data: await response.arrayBuffer(), ...(found !== undefined && { etag: found }) };
  }

  get #isOwn(): boolean {
    return this.#url.origin === location.origin;
  }

  async #fetch(range: string, signal: AbortSignal | undefined): Promise<Response> {
    const token = accessToken.peek();
    const headers = { Range: range, ...(this.#isOwn && token !== undefined && { Authorization: `Bearer ${token}` }) };
    try {
      return await fetch(this.#url, { headers, signal: signal ?? null });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new UnreachableError(t('{host} cannot be reached', { host: this.#url.host }), { cause });
    }
  }
}

async function problemOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // The response is not from a hub.
  }
  return t('its server answered {status}', { status: response.status });
}
