import { hubError, HubError } from '../errors.ts';
import type { HandleHttp, HttpReply, HttpRequest } from '../exchange.ts';
import { serveMapFile } from './map_file.ts';
import { type MapTiles, tileOrigins } from './map_tiles.ts';
import { etagOf, type SiteFile, type SiteFiles } from './site_files.ts';

/** Path of the web UI. */
const PLACE = '/hub-ui';
/** Path of the map file that lies next to the configuration. */
export const MAP_FILE_URL = `${PLACE}/map.pmtiles`;
/** Paths of the web UI in older releases. */
const OLD_PLACES = ['/v1/web', '/hub/v1/web', '/deephub-ui'];

/** Settings that the page needs before its first API request. */
export interface SiteSettings {
  readonly hub_version: string;
  /** Source of the background map; null for the world and a plain grid. */
  readonly map_tiles: MapTiles | null;
  /** The identity server and the client for signing in, or `by` key without a server; null without authorization. */
  readonly sign_in: { readonly config_url: string; readonly client_id: string } | { readonly by: 'key' } | null;
  /** Whether the hub records history. */
  readonly history: boolean;
  /** Maximum bytes of JSON of the properties of an entity. */
  readonly entity_properties_bytes: number;
}

export interface SiteOptions {
  /** Current files of the web UI; none while it is being built. */
  readonly files: () => SiteFiles;
  readonly settings: SiteSettings;
  /** Returns the permissions of the token of an Authorization header, as JSON; absent if everything is permitted. */
  readonly permitted?: (header: string | undefined) => Promise<string>;
  /** The PMTiles file served as map.pmtiles. */
  readonly mapFile?: string | undefined;
  /** Creates the reply to a failed request for a path. */
  readonly refuse: (error: HubError, path: string) => HttpReply;
}

/**
 * Serves the web UI from memory, and passes all other requests to `next`. A path that is not a file is a view of the
 * page. Until the page is built, the reply says so, and a browser asks again.
 */
export function withSite(next: HandleHttp, options: SiteOptions): HandleHttp {
  const headers = headersOf(options);
  return (request) => {
    const { path, prefix = '' } = request;
    if (OLD_PLACES.some((old) => isBelow(path, old)) || path === '/') return movedTo(`${prefix}${PLACE}/`);
    if (!isBelow(path, PLACE)) return next(request);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const what = { request: `${request.method} ${path}`, allowed: ['GET', 'HEAD'] };
      const reply = options.refuse(hubError('method_not_allowed', what), path);
      return { ...reply, headers: { ...reply.headers, Allow: 'GET, HEAD' } };
    }
    if (path === PLACE) return movedTo(`${prefix}${PLACE}/`);
    const name = path.slice(PLACE.length + 1);
    if (name === 'settings.json') return settingsReply(options.settings, prefix, headers);
    if (name === 'permitted.json' && options.permitted !== undefined) {
      return permittedReply(options.permitted(request.header('authorization')), { ...options, path }, headers);
    }
    if (path === MAP_FILE_URL && options.mapFile !== undefined) {
      return mapFileReply({ ...options, mapFile: options.mapFile }, request, headers);
    }
    const files = options.files();
    const file = files.get(name);
    if (file !== undefined) return send(file, request, headers);
    if (name.startsWith('assets/')) {
      return options.refuse(hubError('no_file', { file: path }), path);
    }
    const page = files.get('index.html');
    return page === undefined ? notBuilt(headers) : send(below(prefix, page), request, headers);
  };
}

type Headers = Readonly<Record<string, string>>;

function settingsReply(settings: SiteSettings, prefix: string, common: Headers): HttpReply {
  const { map_tiles: tiles } = settings;
  const isOwnFile = tiles?.url === MAP_FILE_URL;
  const seen = { ...settings, ...(isOwnFile && { map_tiles: { ...tiles, url: prefix + tiles.url } }) };
  return {
    status: 200,
    headers: { ...common, 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
    body: JSON.stringify(seen),
  };
}

/** Returns the page with links below a prefix. All other files use relative links. */
function below(prefix: string, page: SiteFile): SiteFile {
  if (prefix === '') return page;
  const plain = Buffer.from(Buffer.from(page.plain).toString().replaceAll(`="${PLACE}/`, `="${prefix}${PLACE}/`));
  return { ...page, plain, etag: etagOf(plain), br: undefined, gzip: undefined };
}

function permittedReply(
  text: Promise<string>,
  { refuse, path }: Pick<SiteOptions, 'refuse'> & { readonly path: string },
  common: Headers,
): Promise<HttpReply> {
  const headers = { ...common, 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return text.then(
    (body) => ({ status: 200, headers, body }),
    (error: unknown) => {
      if (error instanceof HubError) return refuse(error, path);
      throw error;
    },
  );
}

/** Serves the map file. Requires a valid token, since a map may be confidential. */
async function mapFileReply(
  { mapFile, permitted, refuse }: SiteOptions & { readonly mapFile: string },
  request: HttpRequest,
  common: Headers,
): Promise<HttpReply> {
  try {
    await permitted?.(request.header('authorization'));
    const reply = await serveMapFile(mapFile, request);
    return { ...reply, headers: { ...common, ...reply.headers } };
  } catch (error) {
    if (error instanceof HubError) return refuse(error, request.path);
    throw error;
  }
}

function send(file: SiteFile, request: HttpRequest, common: Headers): HttpReply {
  const { mediaType, etag, isLasting, plain } = file;
  const headers: Headers = {
    ...common,
    'Content-Type': mediaType,
    ETag: etag,
    Vary: 'Accept-Encoding',
    'Cache-Control': isLasting ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
  const known = request.header('if-none-match');
  if (known?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)) return { status: 304, headers };
  for (const encoding of ['br', 'gzip'] as const) {
    const body = file[encoding];
    if (body === undefined || !accepts(request, encoding)) continue;
    return { status: 200, headers: { ...headers, 'Content-Encoding': encoding }, body };
  }
  return { status: 200, headers, body: plain };
}

function accepts(request: HttpRequest, encoding: string): boolean {
  const offers = (request.header('accept-encoding') ?? '').split(',').map((offer) => offer.replaceAll(' ', ''));
  return offers.some(
    (offer) => offer === encoding || (offer.startsWith(`${encoding};`) && !/;q=0(\.0*)?$/.test(offer)),
  );
}

/**
 * Returns the headers of the page. The content security policy permits only the page's own files, and connections only
 * to this hub and the origins in its settings.
 */
function headersOf({ settings }: SiteOptions): Headers {
  const { sign_in: signIn } = settings;
  const connectTo = signIn === null || 'by' in signIn ? [] : [new URL(signIn.config_url).origin];
  const tiles = settings.map_tiles === null ? [] : tileOrigins(settings.map_tiles);
  // Images are displayed by the browser; all other tiles are fetched by the page.
  const areImages = settings.map_tiles?.kind === 'images';
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    ["img-src 'self' data: blob:", ...(areImages ? tiles : [])].join(' '),
    ["connect-src 'self'", ...connectTo, ...(areImages ? [] : tiles)].join(' '),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ];
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
}

function notBuilt(common: Headers): HttpReply {
  return {
    status: 503,
    headers: { ...common, 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store', Refresh: '3' },
    body: 'The web UI is not built yet. After its first npm start, a hub builds it within a minute; otherwise run npm run build:ui.\n',
  };
}

function movedTo(place: string): HttpReply {
  return { status: 302, headers: { Location: place } };
}

function isBelow(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}
