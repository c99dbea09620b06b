import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../../bench/process/free_port.ts';
import { openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import { openPrefixProxy } from '../support/prefix_proxy.ts';
import { SocketClient } from '../support/socket_client.ts';
import { openSignedSite, signIn } from './signed_site.ts';
import { createSite, FORKLIFT, HALL, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;
const PREFIX = '/site/rtls';

/** Members of the API documents that contain URLs. */
interface ApiDocument {
  readonly servers: readonly { readonly url: string }[] & { readonly hub: { readonly pathname: string } };
  readonly links: readonly { readonly href: string }[];
}

/** A hub below a prefix that the proxy strips, or that its settings contain. */
const PROXIES = [
  { what: 'that a proxy strips', strips: true, settings: {} },
  { what: 'that a proxy passes on', strips: false, settings: { base_path: PREFIX } },
] as const;

for (const { what, strips, settings } of PROXIES) {
  test(`The page and the pages of the API work below a prefix ${what}`, { skip }, async (t) => {
    const hub = await openUiHub(t, { ...settings, allowed_hosts: ['hub.internal'] });
    await createSite(hub);
    const { origin, outside } = await openPrefixProxy(t, { to: hub.hub.port, prefix: PREFIX, strips });
    const page = await openPage(t, `${origin}${PREFIX}/`, { keepsShell: true });
    await page.waitForURL(`${origin}${PREFIX}/hub-ui/`);
    await page.getByRole('button', { name: 'Connected' }).first().waitFor();
    await move(hub, 'tag-1', [20, 20]);
    await page.locator('[data-counts]', { hasText: '1 trackable' }).waitFor();

    await page.getByRole('link', { name: 'Zones' }).first().click();
    await page.getByRole('link', { name: /Hall/ }).waitFor();
    assert.equal(page.url(), `${origin}${PREFIX}/hub-ui/zones`);
    await page.goto(`${origin}${PREFIX}/hub-ui/trackables/${FORKLIFT.id}`);
    await page.getByLabel('Name', { exact: true }).fill('Forklift 8');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Forklift 8 is saved').waitFor();
    await page.getByRole('link', { name: 'Operations' }).first().click();
    const documents = page.locator('a[target=_blank]');
    await documents.nth(3).waitFor();
    const paths = await documents.evaluateAll((links: HTMLAnchorElement[]) => links.map(({ pathname }) => pathname));
    assert.deepEqual(
      paths.filter((path) => !path.startsWith(`${PREFIX}/hub/`)),
      [],
    );

    await page.evaluate('navigator.serviceWorker.ready');
    // A worker that takes over while a page loads serves the page after it.
    await page.reload();
    assert.equal(await page.evaluate('navigator.serviceWorker.controller !== null'), true);
    const scope = await page.evaluate('navigator.serviceWorker.ready.then(({ scope }) => scope)');
    assert.equal(scope, `${origin}${PREFIX}/hub-ui/`);

    await page.goto(`${origin}${PREFIX}/hub/docs`);
    await page.getByText('/zones/summary').first().waitFor();
    await page.getByRole('link', { name: 'WebSocket' }).click();
    await page.locator('#frames option').first().waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('#log', { hasText: 'received: ' }).waitFor();
    assert.deepEqual(outside, []);
  });

  test(`URLs in API responses include a prefix ${what}`, async (t) => {
    const hub = await openUiHub(t, { ...settings, allowed_hosts: ['hub.internal'], history: true });
    const { origin } = await openPrefixProxy(t, { to: hub.hub.port, prefix: PREFIX, strips });
    const root = `${origin}${PREFIX}`;
    const documentOf = async (path: string) => (await (await fetch(root + path)).json()) as ApiDocument;

    const redirect = await fetch(`${root}/hub-ui`, { redirect: 'manual' });
    assert.equal(redirect.headers.get('location'), `${PREFIX}/hub-ui/`);
    const create = (body: object) => fetch(`${root}/v2/zones`, { method: 'POST', body: JSON.stringify(body) });
    assert.equal((await create(HALL)).headers.get('location'), `${PREFIX}/v2/zones/${HALL.id}`);
    await create({ ...HALL, id: '6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b12', foreign_id: 'hall 2' });
    const link = (await fetch(`${root}/hub/v2/zones/summary?limit=1`)).headers.get('link') ?? '';
    assert.match(link, new RegExp(`^<${PREFIX}/hub/v2/zones/summary\\?`));
    const next = /^<([^>]*)>/.exec(link)?.[1] ?? '';
    assert.equal((await fetch(origin + next)).status, 200);

    for (const name of ['openapi.json', 'openapi-3.0.json']) {
      const { servers } = await documentOf(`/hub/v2/${name}`);
      assert.deepEqual(
        servers.map(({ url }) => url),
        ['/hub/v2', '/v2', '/deephub/v2'].map((path) => PREFIX + path),
      );
    }
    assert.equal((await documentOf('/v1/asyncapi.json')).servers.hub.pathname, `${PREFIX}/hub/v1`);
    const { links } = await documentOf('/hub/v2/ogc/mf');
    assert.deepEqual(
      links.filter(({ href }) => !href.startsWith(`${PREFIX}/hub/v2/`)),
      [],
    );

    const socket = await SocketClient.open(`${root.replace('http', 'ws')}/hub/v2/ws/socket`, {
      headers: { Origin: origin },
    });
    t.after(() => socket.close());
    assert.equal((await socket.ask({ event: 'subscribe', topic: 'zone_changes' }))[0]?.event, 'subscribed');
  });
}

test('Sign-in below a prefix returns to the prefix', { skip }, async (t) => {
  const ports = { hub: await freePort(), page: await freePort() };
  const hub = await openSignedSite(t, { ports, pagePrefix: PREFIX });
  const { origin, outside } = await openPrefixProxy(t, {
    port: ports.page,
    to: hub.hub.port,
    prefix: PREFIX,
    strips: true,
  });
  const page = await openPage(t, `${origin}${PREFIX}/hub-ui/zones`, { mayFail: true });
  await signIn(page, 'hub-admin');
  assert.equal(page.url(), `${origin}${PREFIX}/hub-ui/zones`);
  await page.getByRole('link', { name: /Hall/ }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await page.waitForURL((url) => url.origin !== origin);
  await page.getByRole('button', { name: 'Yes, sign me out' }).click();
  await page.waitForURL(`${origin}${PREFIX}/hub-ui/**`);
  assert.deepEqual(outside, []);
});
