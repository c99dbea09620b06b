import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import { openTestHub } from '../support/running_hub.ts';
import { createSite, DOCK, move, openSiteByLine } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

const FIRST_VIEW_MAX_BYTES = 250_000;

for (const [locale, connected, steps] of [
  ['en-US', 'Connected', 'First steps'],
  ['de-DE', 'Verbunden', 'Erste Schritte'],
  ['fr-FR', 'Connecté', 'Premiers pas'],
  ['es-ES', 'Conectado', 'Primeros pasos'],
] as const) {
  const name = `The first view for ${locale}, map included, needs less than 250 KB, without the coasts of the world`;
  test(name, { skip }, async (t) => {
    const hub = await openUiHub(t);
    const page = await openPage(t, 'about:blank', { locale });
    const files: string[] = [];
    let bytes = 0;
    page.on('requestfinished', async (request) => {
      if (request.url().includes('/countries-')) return;
      const { responseBodySize } = await request.sizes();
      files.push(`${responseBodySize} ${new URL(request.url()).pathname}`);
      bytes += responseBodySize;
    });
    await page.goto(`${hub.origin}/hub-ui/`);
    await page.getByRole('region', { name: steps }).waitFor();
    await page.getByRole('button', { name: connected }).first().waitFor();
    t.diagnostic(`${bytes} bytes in ${files.length} files`);
    assert.ok(bytes > 100_000, `it measures what is loaded, found ${bytes} bytes`);
    assert.ok(bytes < FIRST_VIEW_MAX_BYTES, files.join('\n'));
  });
}

test("Every page of the navigation has a URL, and the browser's Back button works", { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/`);
  const rail = page.getByRole('navigation', { name: 'Main' }).first();
  for (const name of [
    'Events',
    'Operations',
    'Methods',
    'Zones',
    'Fences',
    'Trackables',
    'Providers',
    'Rules',
    'Sinks',
    'Sources',
    'Links',
    'Lists',
  ]) {
    await rail.getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    await page.waitForURL((url) => url.pathname === `/hub-ui/${name.toLowerCase()}`);
    await rail.locator('a[aria-current=page]', { hasText: name }).waitFor();
  }
  await page.goBack();
  await page.waitForURL('**/hub-ui/links');
  await page.goto(`${hub.origin}/hub-ui/nowhere`);
  await page.getByText('There is no such page').waitFor();
});

test('On a narrow screen all pages are reachable from the bottom bar', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/`, { width: 390, theme: 'dark' });
  const bar = page.getByRole('navigation', { name: 'Main' });
  await bar.getByRole('button', { name: 'More' }).click();
  await page.getByRole('dialog', { name: 'More' }).getByRole('link', { name: 'Fences' }).click();
  await page.waitForURL('**/hub-ui/fences');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  assert.equal(overflow, 0);
});

test('A chosen theme persists', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/rules`, { theme: 'dark' });
  const ground = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor');
  await page.getByRole('button', { name: 'Theme: System' }).waitFor();
  const dark = await ground();
  await page.getByRole('button', { name: 'Theme: System' }).click();
  await page.getByRole('button', { name: 'Theme: Light' }).waitFor();
  assert.notEqual(await ground(), dark);
  await page.reload();
  await page.getByRole('button', { name: 'Theme: Light' }).waitFor();
  assert.notEqual(await ground(), dark);
});

test('The page reports a lost connection, reconnects automatically, and shows the current state', {
  skip,
}, async (t) => {
  const { folder, hub: first, line } = await openSiteByLine(t);
  const page = await openPage(t, `http://127.0.0.1:${line.port}/hub-ui/`, { mayFail: true });
  await page.locator('[data-counts]', { hasText: '1 trackable' }).waitFor();
  await page.getByRole('button', { name: 'Connected' }).first().waitFor();

  line.target = undefined;
  line.cut();
  await first.close();
  await page
    .getByRole('button', { name: /Reconnecting/ })
    .first()
    .waitFor();
  await page.locator('[data-counts]', { hasText: '1 trackable' }).waitFor();
  const second = await openTestHub({}, { folder });
  t.after(second.close);
  line.target = second.hub.port;
  await second.post('/trackables', { type: 'virtual', name: 'Cart', location_providers: ['tag-2'] });
  await move(second, 'tag-2', [30, 20]);
  // The page may reconnect before the click, which removes the button.
  await page.locator('button[data-state]').first().dispatchEvent('click');
  await page.getByRole('button', { name: 'Connected' }).first().waitFor();
  await page.locator('[data-counts]', { hasText: '2 trackables' }).waitFor();
  await page.getByRole('combobox', { name: 'Search the site' }).fill('cart');
  await page.getByRole('option', { name: /Cart/ }).waitFor();
  await page.close();
});

test('The page retries failed reads with a notice, and leaves retries of changes to the user', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/rules`, { mayFail: true });
  await page.getByRole('button', { name: 'Connected' }).first().waitFor();
  /** Answers the next requests of a kind like a load balancer whose hub is down. */
  const failing = async (method: string, path: string, times: number) => {
    const asked: string[] = [];
    await page.route(path, async (route) => {
      if (route.request().method() !== method) return route.fallback();
      asked.push(route.request().url());
      return asked.length > times ? route.fallback() : route.fulfill({ status: 502, body: '' });
    });
    return asked;
  };
  const lists = await failing('GET', '**/fences/summary', 2);
  const code = await failing('GET', '**/lists_page-*.js', 1);
  await page.getByRole('link', { name: 'Lists' }).first().click();
  await page.getByRole('button', { name: 'Retrying' }).first().waitFor();
  await page.getByRole('tab', { name: /fences/i }).click();
  await page.getByRole('row', { name: /Dock A/ }).waitFor();
  await page.getByRole('button', { name: 'Connected' }).first().waitFor();
  assert.deepEqual([lists.length, code.length], [3, 2]);

  const changes = await failing('PATCH', '**/fences/*', 1);
  await page.goto(`${hub.origin}/hub-ui/fences/${DOCK.id}`);
  await page.getByLabel('Name', { exact: true }).fill('Dock B');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The hub answered 502').first().waitFor();
  assert.equal(changes.length, 1);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Dock B is saved').waitFor();
});
