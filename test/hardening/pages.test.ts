import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { openPage, WITHOUT_BROWSER } from '../support/browser.ts';
import { HALL } from '../support/hall.ts';
import type { TestHub, TestSettings } from '../support/running_hub.ts';
import { borrowHub } from '../support/shared_hubs.ts';

/**
 * Foreign pages in a real browser that can access a hub on this machine, by a name of the local network, and by a name
 * of their own that they have resolved to the hub (DNS rebinding).
 */
const skip = WITHOUT_BROWSER ?? false;

const BLANK = '<!doctype html><title>A page</title><link rel="icon" href="data:,">';

/** Results of a page: the names of the zones, whether it created one, and the frames of its WebSocket. */
interface Loot {
  readonly read: string;
  readonly made: string;
  readonly received: string;
}

/** Script of the page. A POST of plain text needs no permission from the server (no preflight). */
const attack = (hub: string): string => `(async () => {
  const body = ${JSON.stringify(JSON.stringify({ ...HALL, id: undefined, foreign_id: 'page', name: 'Made by a page' }))};
  const read = await fetch('http://${hub}/v2/zones/summary').then((it) => it.text(), String);
  const made = await fetch('http://${hub}/v2/zones', { method: 'POST', mode: 'no-cors', body }).then((it) => it.type, String);
  const received = await new Promise((resolve) => {
    const socket = new WebSocket('ws://${hub}/v2/ws/socket');
    socket.onopen = () => socket.send('{"event":"subscribe","topic":"location_updates"}');
    socket.onmessage = ({ data }) => resolve(data);
    socket.onerror = () => resolve('refused');
  });
  return { read, made, received };
})()`;

/** Serves the foreign page; resolves to its port. */
async function openStranger(t: TestContext): Promise<number> {
  const server = createServer((_request, response) => response.setHeader('Content-Type', 'text/html').end(BLANK));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Opens a page at an address that attacks the hub under the given name. */
async function attacked(t: TestContext, hub: TestHub, from: string, name: string): Promise<Loot & { zones: number }> {
  const page = await openPage(t, 'about:blank', { mayFail: true });
  // A rebound name has the page of the hub's own address, from before it resolved to the hub.
  await page.route(`http://${from}/page`, (route) => route.fulfill({ contentType: 'text/html', body: BLANK }));
  await page.goto(`http://${from}/page`);
  const loot = await page.evaluate<Loot>(attack(`${name}:${hub.hub.port}`));
  const { body } = await hub.get('/zones/summary');
  const zones = (body as { name?: string }[]).filter((zone) => zone.name === 'Made by a page').length;
  await page.close();
  return { ...loot, zones };
}

async function openAttackedHub(t: TestContext, settings: TestSettings): Promise<TestHub> {
  const { now: hub } = await borrowHub(t, settings);
  assert.equal((await hub.post('/zones', { ...HALL, name: 'Secret hall' })).status, 201);
  return hub;
}

const LAN = { allowed_hosts: '["hub.lan"]' };

for (const cors of [true, false]) {
  for (const name of ['localhost', '127.0.0.1', 'hub.lan']) {
    test(`a foreign page changes nothing and receives nothing at ${name}, cors ${cors}`, { skip }, async (t) => {
      const hub = await openAttackedHub(t, { ...LAN, cors });
      const port = await openStranger(t);
      const { read, received, zones } = await attacked(t, hub, `stranger.example:${port}`, name);
      assert.equal(received, 'refused');
      assert.equal(zones, 0);
      assert.equal(read.includes('Secret hall'), cors, read);
    });
  }

  test(`a page under a rebound name receives nothing, cors ${cors}`, { skip }, async (t) => {
    const hub = await openAttackedHub(t, { ...LAN, cors });
    const { port } = hub.hub;
    const { read, received, zones } = await attacked(t, hub, `rebound.example:${port}`, 'rebound.example');
    assert.equal(received, 'refused');
    assert.equal(zones, 0);
    assert.match(read, /Host: must be a name of this hub, found \\"rebound\.example:\d+\\"/);
  });

  for (const name of ['localhost', '127.0.0.1', 'hub.lan']) {
    test(`a page of the hub itself may do everything at ${name}, cors ${cors}`, { skip }, async (t) => {
      const hub = await openAttackedHub(t, { ...LAN, cors });
      const { read, received, zones } = await attacked(t, hub, `${name}:${hub.hub.port}`, name);
      assert.match(received, /"event":"subscribed"/);
      assert.equal(zones, 1);
      assert.match(read, /Secret hall/);
    });
  }

  test(`a page of an allowed origin may do everything, cors ${cors}`, { skip }, async (t) => {
    const port = await openStranger(t);
    const origin = `http://dashboard.example:${port}`;
    const hub = await openAttackedHub(t, { ...LAN, cors, allowed_origins: JSON.stringify([origin]) });
    const { read, received, zones } = await attacked(t, hub, `dashboard.example:${port}`, 'hub.lan');
    assert.match(received, /"event":"subscribed"/);
    assert.equal(zones, 1);
    assert.match(read, /Secret hall/);
  });
}
