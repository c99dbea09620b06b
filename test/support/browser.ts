import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, type TestContext } from 'node:test';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { openTestHub, type TestHub, type TestSettings } from './running_hub.ts';
import { borrowHub } from './shared_hubs.ts';

const CHROMIUM = process.env['HUB_CHROMIUM'] ?? '/usr/bin/chromium';

/** Reason why tests with a browser cannot run; undefined if they can. */
export const WITHOUT_BROWSER = existsSync(CHROMIUM) ? undefined : `needs a browser at ${CHROMIUM}`;

// The builder is plain JavaScript: its type is stated here.
const { ensureBuilt } = (await import(new URL('../../src/build_ui.mjs', import.meta.url).href)) as {
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
  // A hub has any free port, some of which a browser refuses, as they belong to other protocols.
  '--explicitly-allowed-ports=1719,1720,1723,2049,3659,4045,4190,5060,5061,6000,6566,6665,6666,6667,6668,6669,6679,6697,10080',
  // Names of hubs and of strangers' pages, all of which are this machine.
  // Pages that tests make up come from no address, so the browser would take this machine for another network.
  '--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests',
  '--host-resolver-rules=MAP *.lan 127.0.0.1, MAP *.example 127.0.0.1',
];

/** Timeout for updates of a page. A busy machine may take a multiple of the usual time. */
const PATIENCE_MS = 30_000;

let browser: Promise<Browser> | undefined;

/** Contexts that a test has opened. They are closed before the hub: open pages would report errors. */
const contexts = new WeakMap<TestContext, BrowserContext[]>();

// Closed here: registered where it is opened, it would be closed after the test that opened it.
after(async () => (await browser)?.close());

/** The browser of a test file, closed when its tests are done. */
export function openBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });
  return browser;
}

/** A hub with the web UI in it, as its sources are now: one of its own in a given folder, else one that tests share. */
export async function openUiHub(
  t: TestContext,
  settings?: TestSettings,
  options?: { readonly folder: string },
): Promise<TestHub> {
  ensureBuilt();
  t.after(() => Promise.all((contexts.get(t) ?? []).map((context) => context.close())));
  if (options === undefined) return (await borrowHub(t, settings)).now;
  const hub = await openTestHub(settings, options);
  t.after(hub.close);
  return hub;
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  /** Whether the test expects errors on the console. */
  readonly mayFail?: boolean;
  /** Whether its app shell is cached. Most tests avoid these requests. */
  readonly keepsShell?: boolean;
  /** The reader's language and country; a reader in the United States without. */
  readonly locale?: string;
  /** Time zone of the reader, an IANA name; by default that of the machine. */
  readonly timezoneId?: string;
}

/**
 * A page of its own, with nothing kept from others. At the end of the test it must have thrown nothing and complained of
 * nothing, as it would of whatever the hub's policy forbids.
 */
export async function openPage(t: TestContext, url: string, options: PageOptions = {}): Promise<Page> {
  const { width = 1280, height = width < 500 ? 844 : 800, theme = 'light', mayFail = false } = options;
  const { locale = 'en-US', timezoneId } = options;
  const serviceWorkers = options.keepsShell === true ? 'allow' : 'block';
  const context = await (await openBrowser()).newContext({
    viewport: { width, height },
    colorScheme: theme,
    serviceWorkers,
    locale,
    ...(timezoneId !== undefined && { timezoneId }),
  });
  contexts.set(t, [...(contexts.get(t) ?? []), context]);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.stack ?? error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  t.after(async () => {
    await context.close();
    if (!mayFail) assert.deepEqual(problems, []);
  });
  await page.goto(url);
  return page;
}

/** Resolves when something holds, looked at once per frame of the page. */
export async function untilHolds(page: Page, holds: () => Promise<boolean>): Promise<void> {
  // waitForFunction would need the page to evaluate texts, which its policy forbids.
  const giveUpMs = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    assert.ok(Date.now() < giveUpMs, `it does not hold within ${PATIENCE_MS} ms: ${holds}`);
    await page.evaluate('new Promise(requestAnimationFrame)');
  }
}

/** Color of a point: red, green, blue and how opaque it is, each up to 255. */
export type Color = readonly [number, number, number, number];

/** The colors that the layers of a map have at a point of the page, from below; those without any are left out. */
export async function colorsAt(page: Page, [x, y]: readonly [number, number]): Promise<readonly Color[]> {
  // A string, since it runs in the page.
  return page.evaluate(`[...document.querySelectorAll('[data-map] canvas')].map((canvas) => {
    const { left, top, width } = canvas.getBoundingClientRect();
    const scale = canvas.width / width;
    return [...canvas.getContext('2d').getImageData((${x} - left) * scale, (${y} - top) * scale, 1, 1).data];
  }).filter((color) => color[3] > 0)`);
}
