import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { freePort } from '../../bench/process/free_port.ts';
import type { HttpReply } from '../../src/exchange.ts';
import { lend } from '../../src/model/borrowed.ts';
import { withSite } from '../../src/site/site.ts';
import { readSiteFiles, type SiteFiles } from '../../src/site/site_files.ts';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { openLine } from '../support/line.ts';
import { openTestHub } from '../support/running_hub.ts';
import { openSignedSite, signIn } from './signed_site.ts';
import { openSiteByLine } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

/** Names of the cached shells, newest last. */
function keptShells(page: Page): Promise<string[]> {
  return page.evaluate('caches.keys()');
}

async function untilKept(page: Page): Promise<void> {
  await page.evaluate(`navigator.serviceWorker.ready`);
  await untilHolds(page, async () => page.evaluate('navigator.serviceWorker.controller !== null'));
}

/** Width and height of a PNG. */
function sizeOf(png: Buffer): string {
  return `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`;
}

test('The page can be installed, and its shell opens offline with a notice', { skip }, async (t) => {
  const { folder, hub: first, line } = await openSiteByLine(t);
  const folderUrl = `http://127.0.0.1:${line.port}/hub-ui/`;
  const page = await openPage(t, folderUrl, { mayFail: true, keepsShell: true });
  await page.locator('[data-counts]', { hasText: '1 trackable' }).waitFor();
  await untilKept(page);

  const manifestUrl = new URL((await page.locator('link[rel=manifest]').getAttribute('href')) ?? '', folderUrl);
  const manifest = await (await fetch(manifestUrl)).json();
  assert.deepEqual([new URL(manifest.start_url, manifestUrl).href, manifest.display], [folderUrl, 'standalone']);
  for (const { src, sizes } of manifest.icons) {
    const icon = Buffer.from(await (await fetch(new URL(src, manifestUrl))).arrayBuffer());
    assert.equal(sizeOf(icon), sizes, src);
  }
  const cached: string[] = await page.evaluate(`(async () => {
    const caches_ = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
    const requests = (await Promise.all(caches_.map((cache) => cache.keys()))).flat();
    return requests.map(({ url }) => new URL(url).pathname);
  })()`);
  const others = cached.filter((path) => path !== '/hub-ui/' && !path.startsWith('/hub-ui/assets/'));
  assert.deepEqual(others, [], 'neither API responses nor settings are cached');

  line.target = undefined;
  line.cut();
  await first.close();
  await page.goto(`${folderUrl}zones`);
  await page.getByText('The hub cannot be reached.').waitFor();
  await page.getByText('No data yet.').waitFor();
  // Code that was not loaded before, and the world map.
  await page.getByRole('link', { name: 'Methods' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Methods' }).waitFor();
  await page.getByRole('link', { name: 'Map' }).first().click();
  await page.getByText('Natural Earth').waitFor();

  const second = await openTestHub({}, { folder });
  t.after(second.close);
  line.target = second.hub.port;
  await page.locator('button[data-state]').first().dispatchEvent('click');
  await page.getByText('The hub cannot be reached.').waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Connected' }).first().waitFor();
  await page.getByRole('link', { name: 'Zones' }).first().click();
  await page.getByRole('link', { name: /Hall/ }).waitFor();
  await page.close();
});

test('With authorization the shell opens offline, and users are signed in again when the hub is back', {
  skip,
}, async (t) => {
  const port = await freePort();
  const line = await openLine(t, port);
  await openSignedSite(t, { ports: { hub: port, page: line.port } });
  const folderUrl = `http://127.0.0.1:${line.port}/hub-ui/`;
  const page = await openPage(t, folderUrl, { mayFail: true, keepsShell: true });
  await signIn(page, 'hub-admin');
  await untilKept(page);
  const go = async (tab: Page, path: string): Promise<void> => {
    await tab.goto(folderUrl + path);
    await tab.getByText('The hub cannot be reached.').waitFor();
    assert.equal(
      await tab.getByRole('button', { name: 'Sign in' }).count(),
      0,
      'no sign-in is requested before a hub answers',
    );
  };
  const seesHall = async (tab: Page): Promise<void> => {
    await tab.getByRole('link', { name: /Hall/ }).waitFor();
    await tab.getByRole('navigation', { name: 'Main' }).getByTitle('hub-admin', { exact: true }).waitFor();
    assert.equal(tab.url(), `${folderUrl}zones?q=hall`);
  };
  line.target = undefined;
  line.cut();
  await go(page, 'zones?q=hall');
  const tab = await page.context().newPage();
  await go(tab, 'zones?q=hall');
  line.target = port;
  await seesHall(page);
  await seesHall(tab);
  await tab.close();
  await page.close();
});

/** A copy of the build with a mark in its page. Its worker may name another page, or a nonexistent file. */
function buildOf(mark: string, { pageOf = mark, missing }: { pageOf?: string; missing?: string } = {}): SiteFiles {
  const built = readSiteFiles(new URL('../../.hub-ui', import.meta.url).pathname);
  const pageWith = (text: string): Buffer => {
    const page = String(built.get('index.html')?.plain ?? assert.fail('it is not built'));
    return Buffer.from(page.replace('<head>', `<head><meta name="build" content="${text}" />`));
  };
  const worker = String(built.get('sw.js')?.plain ?? assert.fail('there is no worker'));
  const [, shell = ''] = /^const SHELL=(.*);\n/.exec(worker) ?? [];
  const { files } = JSON.parse(shell);
  const page = createHash('sha256').update(pageWith(pageOf)).digest('hex');
  const other = { version: mark, files: [...files, ...(missing === undefined ? [] : [missing])], page };
  const changed = (name: string, plain: Buffer) => {
    const file = built.get(name) ?? assert.fail(`there is no ${name}`);
    return [name, { ...file, plain, etag: `"${name} ${mark}"`, br: undefined, gzip: undefined }] as const;
  };
  return new Map([
    ...built,
    changed('index.html', pageWith(mark)),
    changed('sw.js', Buffer.from(worker.replace(shell, JSON.stringify(other)))),
  ]);
}

/** Serves a build on a separate port, without an API. If undefined, the server is down. */
async function serveBuild(t: TestContext, first: SiteFiles) {
  const served: { files: SiteFiles | undefined; origin: string } = { files: first, origin: '' };
  const none: HttpReply = { status: 503, body: '{}' };
  const settings = {
    hub_version: '1.0.0',
    map_tiles: null,
    sign_in: null,
    history: false,
    entity_properties_bytes: 1 << 20,
  };
  const server = createServer(async ({ method = '', url = '', headers }, response) => {
    const header = (name: string): string | undefined => headers[name]?.toString();
    const request = { method, path: url.split('?')[0] ?? '', query: '', header, body: lend(new Uint8Array()) };
    const refuse = ({ status }: { status: number }): HttpReply => ({ status });
    const { files } = served;
    const reply =
      files === undefined ? none : await withSite(() => none, { files: () => files, settings, refuse })(request);
    response.writeHead(reply.status, reply.headers);
    response.end(reply.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  served.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return served;
}

test('A new build replaces the cached one completely, or not at all', { skip }, async (t) => {
  await openUiHub(t);
  const served = await serveBuild(t, buildOf('first'));
  const page = await openPage(t, `${served.origin}/hub-ui/`, { mayFail: true, keepsShell: true });
  const shown = (): Promise<string | null> => page.locator('meta[name=build]').getAttribute('content');
  const openWithout = async (): Promise<string | null> => {
    const { files } = served;
    served.files = undefined;
    await page.reload({ timeout: 60_000 });
    const found = await shown();
    served.files = files;
    return found;
  };
  /** Makes the browser check for a new worker, and waits until that has taken over or failed. */
  const update = (): Promise<string> =>
    page.evaluate(`navigator.serviceWorker.ready.then(async (registration) => {
      await registration.update().catch(() => undefined);
      const next = registration.installing;
      if (next === null) return 'none';
      return new Promise((done) => {
        next.onstatechange = () => {
          if (next.state === 'activated' || next.state === 'redundant') done(next.state);
        };
      });
    })`);
  await untilKept(page);
  assert.equal(await openWithout(), 'first');

  served.files = buildOf('second');
  await page.reload();
  assert.equal(await shown(), 'second', 'the hub takes precedence over the cache');
  await untilHolds(page, async () => (await keptShells(page)).includes('hub-shell /hub-ui/ second'));
  await update();
  assert.equal(await openWithout(), 'second');

  // While a hub is replaced, its worker and its page or files may come from different builds.
  for (const half of [buildOf('third', { pageOf: 'fourth' }), buildOf('fifth', { missing: 'assets/gone-1a2b.js' })]) {
    served.files = half;
    assert.equal(await update(), 'redundant');
    assert.equal(await openWithout(), 'second');
  }
  served.files = buildOf('sixth');
  assert.equal(await update(), 'activated');
  assert.equal(await openWithout(), 'sixth');
  assert.deepEqual(await keptShells(page), ['hub-shell /hub-ui/ second', 'hub-shell /hub-ui/ sixth']);
});
