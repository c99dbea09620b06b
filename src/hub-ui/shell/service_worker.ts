/**
 * Service worker that caches the shell of the page, so that it opens without a hub: the page itself, its code, styles,
 * fonts and the coarse world map. It caches nothing else, and ignores requests to the API.
 *
 * Each build has one shell. The list of its files is part of this script, so that each build has its own service worker,
 * which caches the whole shell or fails: it compares the hash of the page with that of the build, and any missing file
 * aborts the installation until the next attempt. File names contain content hashes, so a page requests files of its own
 * build only. The page itself comes from the hub whenever one responds. The previous shell stays cached for pages that are
 * still open.
 *
 * | event | what happens |
 * |---|---|
 * | install | fetches the shell of this build, and takes over at once |
 * | activate | deletes all shells but the newest two |
 * | fetch of a page | from the hub, or from the newest shell if no hub responds |
 * | fetch of an asset | from any shell that has it, otherwise from the hub |
 */

/** Build constants, inserted by the plugin in vite.config.ts. */
declare const SHELL: {
  readonly version: string;
  /** Paths below the folder of the page. */
  readonly files: readonly string[];
  /** SHA-256 of the page, in hexadecimal digits. */
  readonly page: string;
};

interface Extendable extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface Fetching extends Event {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

/** Globals of a service worker, which the DOM types lack. */
interface Scope {
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: Extendable) => void): void;
  addEventListener(type: 'fetch', listener: (event: Fetching) => void): void;
}

const scope = globalThis as unknown as Scope;

/** The folder of the page, such as /hub-ui/. */
const FOLDER = new URL('./', location.href).pathname;
/** Prefix of the cache names, different for each hub on an origin. */
const PREFIX = `hub-shell ${FOLDER} `;
const CACHE = `${PREFIX}${SHELL.version}`;

/** Time after which a hub without a response counts as unreachable. */
const PATIENCE_MS = 4_000;

scope.addEventListener('install', (event) => event.waitUntil(keepShell()));
scope.addEventListener('activate', (event) => event.waitUntil(takeOver()));
scope.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate') event.respondWith(page(request));
  else if (pathname.startsWith(`${FOLDER}assets/`)) event.respondWith(asset(request));
});

async function keepShell(): Promise<void> {
  try {
    const cache = await caches.open(CACHE);
    await cache.addAll(SHELL.files.map((name) => FOLDER + name));
    const found = await fetch(FOLDER, { cache: 'reload' });
    const built = (await found.clone().text()).replaceAll(`="${FOLDER}`, '="/hub-ui/');
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(built));
    if (found.status !== 200 || hexOf(digest) !== SHELL.page) throw new Error('the page is of another build');
    await cache.put(FOLDER, found);
  } catch (error) {
    await caches.delete(CACHE);
    throw error;
  }
  await scope.skipWaiting();
}

/** Deletes old shells, whose names sort by creation time, and takes control of open pages. */
async function takeOver(): Promise<void> {
  const shells = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(shells.slice(0, -1).map((name) => caches.delete(name)));
  await scope.clients.claim();
}

/** Responds with the page for any path below its folder. */
async function page(request: Request): Promise<Response> {
  const answer = fetch(request);
  const patience = new Promise<undefined>((resolve) => setTimeout(resolve, PATIENCE_MS));
  const inTime = await Promise.race([answer.catch(() => undefined), patience]);
  if (inTime !== undefined && ![502, 503, 504].includes(inTime.status)) return inTime;
  const cache = await caches.open(CACHE);
  return (await cache.match(FOLDER)) ?? answer;
}

async function asset(request: Request): Promise<Response> {
  return (await caches.match(request, { ignoreVary: true })) ?? fetch(request);
}

function hexOf(bytes: ArrayBuffer): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
