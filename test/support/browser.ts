import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, type TestContext } from 'node:test';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { once } from './once.ts';
import { openTestHub, type TestHub, type TestSettings } from './running_hub.ts';
import { borrowHub } from './shared_hubs.ts';

const CHROMIUM = process.env['HUB_CHROMIUM'] ?? '/usr/bin/chromium';

/** Reason why tests with a browser cannot run; undefined if they can. */
export const WITHOUT_BROWSER = existsSync(CHROMIUM) ? undefined : `needs a browser at ${CHROMIUM}`;

/** Builds the web UI if it is older than its sources. The builder is plain JavaScript, so its type is declared here. */
export const { ensureBuilt } = (await import(new URL('../../src/build_ui.mjs', import.meta.url).href)) as {
  ensureBuilt(): void;
};

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A hub may listen on any free port. Browsers block some of them because other protocols use them.
  '--explicitly-allowed-ports=1719,1720,1723,2049,3659,4045,4190,5060,5061,6000,6566,6665,6666,6667,6668,6669,6679,6697,10080',
  // Names of hubs and of foreign pages all resolve to this machine. Pages that tests synthesize have no address, so the
  // browser would treat this machine as a different network.
  '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests',
  '--host-resolver-rules=MAP *.lan 127.0.0.1, MAP *.example 127.0.0.1',
];

/** Timeout for updates of a page. A busy machine may need a multiple of the usual time. */
const PATIENCE_MS = 30_000;

/** Playwright's own test runner reuses a context by these methods. A new context takes 0.7 s of CPU time. */
interface ReusingBrowser extends Browser {
  /** Deletes cookies and storage, and resets emulation. */
  _newContextForReuse(options: BrowserContextOptions): Promise<BrowserContext>;
  /** Removes scripts, routes and listeners that were added. */
  _disconnectFromReusedContext(reason: string): Promise<void>;
}

let browser: Promise<Browser> | undefined;
/** Whether a test is using the context that tests share. */
let isShared = false;

/** For each test, the functions that empty or close its pages. */
const leaving = new WeakMap<TestContext, (() => Promise<void>)[]>();

// Registered at the top level: inside `openBrowser` it would run after the first test that opens the browser.
after(async () => (await browser)?.close());

/** Returns the browser of this test file. It is closed after the last test. */
export function openBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
  return browser;
}

/** Empties or closes the pages that a test has opened, which must happen before the hub closes: they would report errors. */
export async function leavePages(t: TestContext): Promise<void> {
  await Promise.all((leaving.get(t) ?? []).map((leave) => leave()));
}

/**
 * Opens a hub that serves the web UI built from the current sources. With a folder, the hub is new; otherwise tests
 * share it.
 */
export async function openUiHub(
  t: TestContext,
  settings?: TestSettings,
  options?: { readonly folder: string },
): Promise<TestHub> {
  ensureBuilt();
  t.after(() => leavePages(t));
  if (options === undefined) return (await borrowHub(t, settings)).now;
  const hub = await openTestHub(settings, options);
  t.after(hub.close);
  return hub;
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  /** Whether the test expects errors in the console. */
  readonly mayFail?: boolean;
  /** Whether the service worker may cache the app shell. Most tests block it to avoid its requests. */
  readonly keepsShell?: boolean;
  /** Language and country of the browser; `en-US` by default. */
  readonly locale?: string;
  /** IANA time zone of the browser; that of the machine by default. */
  readonly timezoneId?: string;
}

/**
 * Opens a page in a new browser context with empty storage. The test fails if the page has thrown or logged an error,
 * such as a violation of the content security policy.
 */
export async function openPage(t: TestContext, url: string, options: PageOptions = {}): Promise<Page> {
  const { width = 1280, height = width < 500 ? 844 : 800, theme = 'light', mayFail = false } = options;
  const { locale = 'en-US', timezoneId, keepsShell = false } = options;
  const { context, page, leave } = await openContext(keepsShell, {
    viewport: { width, height },
    colorScheme: theme,
    serviceWorkers: keepsShell ? 'allow' : 'block',
    locale,
    ...(timezoneId !== undefined && { timezoneId }),
  });
  leaving.set(t, [...(leaving.get(t) ?? []), leave]);
  context.setDefaultTimeout(PATIENCE_MS);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.stack ?? error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  t.after(async () => {
    await leave();
    if (!mayFail) assert.deepEqual(problems, []);
  });
  await page.goto(url);
  return page;
}

/** Returns the context that tests share, emptied, or a new one if the page needs its own or a page of the same test has it. */
async function openContext(needsOwn: boolean, options: BrowserContextOptions) {
  const opened = (await openBrowser()) as ReusingBrowser;
  if (needsOwn || isShared) {
    const context = await opened.newContext(options);
    return { context, page: await context.newPage(), leave: () => context.close() };
  }
  isShared = true;
  const context = await opened._newContextForReuse(options);
  await context.clearPermissions();
  await context.setOffline(false);
  const page = context.pages()[0] ?? (await context.newPage());
  // Emptying keeps the cache of responses, but tests count requests.
  const session = await context.newCDPSession(page);
  await session.send('Network.clearBrowserCache');
  await session.detach();
  const leave = once(async () => {
    const [first, ...others] = context.pages();
    for (const other of others) await other.close();
    await first?.goto('about:blank');
    await opened._disconnectFromReusedContext('The test is over');
    isShared = false;
  });
  return { context, page, leave };
}

/** Resolves when `holds` returns true. It is evaluated once per animation frame of the page. */
export async function untilHolds(page: Page, holds: () => Promise<boolean>): Promise<void> {
  // `waitForFunction` evaluates strings in the page, which its content security policy forbids.
  const giveUpMs = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    assert.ok(Date.now() < giveUpMs, `it does not hold within ${PATIENCE_MS} ms: ${holds}`);
    await page.evaluate('new Promise(requestAnimationFrame)');
  }
}

/** RGBA color of a pixel; each channel is 0 to 255. */
export type Color = readonly [number, number, number, number];

/**
 * Source of a function of the page that returns the pixels of a layer of the map: `(canvas, x, y, width, height) => data`, in
 * pixels of the canvas. Only a copy of the canvas can be read: another context may draw on it.
 */
export const PIXELS_OF = `((canvas, x, y, width, height) => {
  const copy = new OffscreenCanvas(width, height).getContext('2d');
  copy.drawImage(canvas, -x, -y);
  return copy.getImageData(0, 0, width, height).data;
})`;

/**
 * Returns the colors of the map's layers at a point of the page, bottom layer first. Transparent layers are omitted.
 */
export async function colorsAt(page: Page, [x, y]: readonly [number, number]): Promise<readonly Color[]> {
  // A string, because it runs in the page.
  return page.evaluate(`[...document.querySelectorAll('[data-map] canvas')].map((canvas) => {
    const { left, top, width } = canvas.getBoundingClientRect();
    const scale = canvas.width / width;
    return [...${PIXELS_OF}(canvas, Math.floor((${x} - left) * scale), Math.floor((${y} - top) * scale), 1, 1)];
  }).filter((color) => color[3] > 0)`);
}
