/**
 * Keeps the shell of the page, so that it opens where no hub answers: the page itself, its code, styles, fonts and the
 * coarse world. Nothing else is kept, and no answer of the API: requests for anything but these are not even looked at.
 *
 * One build is one shell. A build has its list in here, so that another build is another service worker, which fetches
 * all of its shell or none of it: the page is compared with that of the build, and whatever is missing is the end of the
 * attempt, until the next one. What the page needs has a hash of the content in its name, so parts of two builds cannot
 * be mixed: a page asks for the parts of its own build only. The page comes from the hub as long as one answers, and a
 * shell that is as new as it has then been kept beside it. The shell before the newest stays as well, for pages that are
 * still open and may want more of it.
 *
 * | event | what happens |
 * |---|---|
 * | install | fetches the shell of this build, and takes over at once |
 * | activate | forgets shells but the newest two |
 * | fetch of a page | the hub's, unless it does not answer: then the newest shell's |
 * | fetch of an asset | from any shell that has it, from the hub otherwise |
 */

/** What this file is built with: see the plugin in vite.config.ts. */
declare const SHELL: {
  readonly version: string;
  /** Below the folder of the page. */
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

/** What there is in a service worker, of which the types of pages know nothing. */
interface Scope {
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: Extendable) => void): void;
  addEventListener(type: 'fetch', listener: (event: Fetching) => void): void;
}

const scope = globalThis as unknown as Scope;

/** The folder of the page, such as /hub-ui/. */
const FOLDER = new URL('./', location.href).pathname;
/** Several hubs may share an origin, each in a folder of its own. */
const PREFIX = `hub-shell ${FOLDER} `;
const CACHE = `${PREFIX}${SHELL.version}`;

/** A hub that has not answered for so long is taken for gone. */
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

/** Shells are named in the order in which they were made. */
async function takeOver(): Promise<void> {
  const shells = (await caches.keys()).filter((name) => name.startsWith(PREFIX) && name !== CACHE);
  await Promise.all(shells.slice(0, -1).map((name) => caches.delete(name)));
  await scope.clients.claim();
}

/** Whatever its address: the page knows what to show there. */
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
