import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { freePort } from '../../bench/process/free_port.ts';
import { ensureBuilt } from '../../bench/ui/hub_child.ts';
import { Balancer } from '../cluster/balancer.ts';
import { testNats } from '../cluster/test_nats.ts';
import { HubProcess, locationOf } from '../durability/hub_process.ts';
import { openPage, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { CELLAR, FORKLIFT } from './ui_site.ts';

const ends: (() => void)[] = [];
const atEnd = (callback: () => void): void => void ends.push(callback);
after(() => {
  for (const end of ends) end();
});
const nats = await testNats();
const skip = WITHOUT_BROWSER ?? nats.skip;

let clusters = 0;

/** A single hub behind a load balancer, which other hubs can join. */
async function openCluster(t: TestContext) {
  ensureBuilt();
  const cluster = `ui${++clusters}`;
  const ports = { a: await freePort(), b: await freePort() };
  const start = (name: keyof typeof ports): Promise<HubProcess> => {
    const settings = {
      port: ports[name],
      cluster_servers: nats.servers.addresses.join(','),
      cluster_replicas: 1,
      cluster_name: cluster,
      cluster_hub_name: name,
      cluster_journal_max_size: 16,
    };
    return HubProcess.start(temporaryFolder(), settings, atEnd);
  };
  const a = await start('a');
  const balancer = await Balancer.open({ ports: Object.values(ports) });
  t.after(() => balancer.close());
  const isUp = async (name: keyof typeof ports): Promise<boolean> => balancer.up.includes(ports[name]);
  return { a, start, isUp, address: `http://127.0.0.1:${balancer.port}/hub-ui` };
}

async function status(answered: ReturnType<HubProcess['get']>): Promise<number | undefined> {
  return (await answered)?.status;
}

/** Sends locations of the forklift until a hub accepts one. A hub that was stalled for long leaves its cluster and rejoins it. */
async function locate(page: Page, hub: HubProcess, east: number, more = {}): Promise<void> {
  await untilHolds(page, async () => {
    return (await status(hub.put('/providers/locations', [locationOf('tag-1', east, more)]))) === 204;
  });
}

/** Longitude and latitude of a location, as the page displays them. */
function placeText(east: number): string {
  const [x = 0, y = 0] = locationOf('tag-1', east).position.coordinates;
  return `${x.toFixed(7)}°, ${y.toFixed(7)}°`;
}

function clusterCard(page: Page): Locator {
  return page.getByRole('region', { name: 'Cluster', exact: true });
}

function hubRow(page: Page, name: string): Locator {
  const table = page.getByRole('region', { name: 'Hubs of the cluster' });
  return table.getByRole('row', { name: new RegExp(`^${name}\\b`) });
}

/** Sets a mark in the page that a reload would clear. Returns a function that checks it. */
async function mark(page: Page): Promise<() => Promise<boolean>> {
  await page.evaluate('window.marked = true');
  return async () => (await page.evaluate('window.marked === true')) as boolean;
}

test('Pages reconnect to another hub when an owner fails, and show the new owners of its objects', {
  skip,
}, async (t) => {
  const { a, start, isUp, address } = await openCluster(t);
  await a.post('/trackables', FORKLIFT);
  const operations = await openPage(t, `${address}/operations`, { mayFail: true });
  const map = await openPage(t, `${address}/?sel=trackables:${FORKLIFT.id}`, { mayFail: true });
  const [operationsMarked, mapMarked] = [await mark(operations), await mark(map)];
  const panel = map.getByRole('complementary', { name: 'Selected trackable' });
  await locate(map, a, 1);
  await panel.getByText('Technical').click();
  await panel.getByText(placeText(1)).waitFor();
  await clusterCard(operations).getByText('This hub owns all objects').waitFor();
  // Both pages are connected to the first hub, as no other hub has joined yet.
  const b = await start('b');
  await untilHolds(operations, () => isUp('b'));
  await operations.getByText('From one hub of the cluster').waitFor();
  for (const name of ['a', 'b']) {
    await hubRow(operations, name).getByText('Owner').waitFor();
    await hubRow(operations, name).getByText('Active').waitFor();
    await hubRow(operations, name).getByText('0 records').waitFor();
    await hubRow(operations, name).getByText('128 of 256').waitFor();
  }
  await clusterCard(operations).getByText('at their owners').waitFor();

  await Promise.all([
    operations
      .getByRole('button', { name: /Reconnecting/ })
      .first()
      .waitFor(),
    a.crash(),
  ]);
  await hubRow(operations, 'b').getByText('Owner').waitFor();
  await hubRow(operations, 'a').waitFor({ state: 'detached' });
  await clusterCard(operations).getByText('This hub owns all objects').waitFor();
  await hubRow(operations, 'b')
    .getByText(/^\d, last in [\d.]+ m?s$/)
    .waitFor();
  await operations.getByRole('button', { name: 'Connected' }).first().waitFor();

  await panel.getByText(placeText(1)).waitFor();
  await locate(map, b, 2);
  await panel.getByText(placeText(2)).waitFor();
  await map.locator('[data-counts]', { hasText: '1 trackable' }).waitFor();
  assert.equal(await status(b.post('/fences', CELLAR)), 201);
  await map.getByRole('combobox', { name: 'Search the site' }).fill('cellar');
  await map.getByRole('option', { name: /Cellar/ }).waitFor();
  assert.ok((await operationsMarked()) && (await mapMarked()), 'neither page was reloaded');
});

test('Sessions and sources cover all hubs, whichever hub responds', { skip }, async (t) => {
  const { a, start, isUp, address } = await openCluster(t);
  const b = await start('b');
  const page = await openPage(t, `${address}/operations/sessions`, { mayFail: true });
  await untilHolds(page, () => isUp('b'));
  const rows = page.getByRole('region', { name: 'Clients by hub' }).getByRole('row');
  await untilHolds(page, async () => (await rows.allInnerTexts()).length === 3);
  assert.deepEqual(
    (await rows.allInnerTexts()).map((text) => text.split(/\s/)[0]),
    ['Hub', 'a', 'b'],
  );
  await page.getByRole('region', { name: 'Topics' }).getByText('location_updates').waitFor();

  for (const [hub, east] of [
    [a, 1],
    [b, 2],
  ] as const) {
    await locate(page, hub, east, { source: 'yard' });
  }
  await page.goto(`${address}/operations/sources`);
  const yard = page.getByRole('region', { name: 'Sources' }).getByRole('row', { name: /^yard/ });
  await yard.getByRole('cell', { name: '2', exact: true }).waitFor();
});

test('Pages reconnect to another hub when theirs is shut down', { skip }, async (t) => {
  const { a, start, isUp, address } = await openCluster(t);
  const page = await openPage(t, `${address}/lists/trackables`, { mayFail: true });
  const isMarked = await mark(page);
  await page.getByText('No trackables yet').waitFor();
  const b = await start('b');
  await untilHolds(page, () => isUp('b'));
  await a.stop();
  assert.equal(await status(b.post('/trackables', FORKLIFT)), 201);
  await page.getByRole('row', { name: /Forklift 7/ }).waitFor();
  assert.ok(await isMarked(), 'it was not reloaded');
});

test('A single hub shows no cluster information', { skip }, async (t) => {
  ensureBuilt();
  const hub = await HubProcess.start(temporaryFolder(), {}, atEnd);
  const page = await openPage(t, `${new URL(hub.base).origin}/hub-ui/operations`);
  await page.getByText('Uptime').waitFor();
  assert.equal(await clusterCard(page).count(), 0);
});
