import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentenceOf } from '../../src/hub-ui/problems/sentences.ts';
import { openIssuer } from '../operation/license_keys.ts';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { openLine } from '../support/line.ts';
import { createSite, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

test('Operations show the connection state: connected, stale, reconnecting, and connected again', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  const line = await openLine(t, hub.hub.port);
  const page = await openPage(t, `http://127.0.0.1:${line.port}/hub-ui/operations`, { mayFail: true });
  const connection = page.getByRole('region', { name: 'Connection', exact: true });
  const itself = page.getByRole('region', { name: 'Hub', exact: true });
  await connection.getByText('Connected').waitFor();
  await itself.getByText('Running').waitFor();
  await connection.getByText('Round trip').waitFor();

  line.mute();
  await connection.getByText('Stale').waitFor();
  await page.getByRole('button', { name: 'Stale' }).first().waitFor();
  await connection.getByText('may be out of date').waitFor();

  line.target = undefined;
  line.cut();
  await connection.getByText('Reconnecting').waitFor();
  await itself.getByText('No answer').waitFor();
  await itself.getByText('The hub cannot be reached').waitFor();
  // The banner moves the button.
  await page.getByRole('button', { name: 'Try now' }).waitFor();
  line.target = hub.hub.port;
  // The page may reconnect before the click, which removes the button.
  await Promise.race([
    connection.getByRole('button', { name: 'Connect now' }).click(),
    connection.getByText('Connected').waitFor(),
  ]);
  await connection.getByText('Connected').waitFor();
  await itself.getByText('Running').waitFor();
  await page.close();
});

test('Operations show rates, sources, sessions, usage, the license and the link to the API', { skip }, async (t) => {
  const hub = await openUiHub(t, { license_public_keys: (await openIssuer()).publicKeys });
  await createSite(hub);
  const version = (await hub.get('/version')).body;
  // The browser logs the rejected key.
  const page = await openPage(t, `${hub.origin}/hub-ui/operations`, { mayFail: true });
  await page.getByText('Uptime').waitFor();
  await page.getByText(version.hub_version, { exact: true }).waitFor();
  await page
    .getByRole('region', { name: 'Database' })
    .getByText(/^[\d.]+ (bytes?|kB), since /)
    .waitFor();
  const locations = page.getByRole('figure', { name: 'Locations' });
  let x = 10;
  await untilHolds(page, async () => {
    await move(hub, 'tag-1', [x++ % 90, 20]);
    return /Received (?!0\/s)[\d.]+\/s/.test(await locations.innerText());
  });
  await page
    .getByRole('figure', { name: 'Delay of the hub' })
    .getByText(/Median [\d.]+ ms/)
    .waitFor();
  await page.getByText('Current configuration, without secrets').click();
  await page.locator('pre', { hasText: 'db_flush_interval' }).waitFor();

  const tab = (name: string) => page.getByRole('tab', { name });
  await tab('Sources').click();
  const zone = page.getByRole('region', { name: 'Zones' }).getByRole('row', { name: /Hall/ });
  await zone.getByText('Active').waitFor();
  await zone.getByText('rest').waitFor();
  await page.getByRole('region', { name: 'Sources', exact: true }).getByRole('row', { name: /hall/ }).waitFor();

  await tab('Sessions').click();
  const clients = page.locator('dl', { hasText: 'Clients' });
  await clients.getByText('1', { exact: true }).waitFor();
  await hub.subscribe('fence_events');
  await clients.getByText('2', { exact: true }).waitFor();
  await page
    .getByRole('region', { name: 'Topics' })
    .getByRole('row', { name: /^fence_events 2/ })
    .waitFor();

  await tab('Usage').click();
  const counted = page.getByRole('region', { name: 'Counted' }).getByRole('row', { name: /^Locations / });
  await untilHolds(
    page,
    async () => Number((await counted.getByRole('cell').nth(1).innerText()).replaceAll(',', '')) > 1,
  );

  await tab('License').click();
  await page.getByLabel('New key').fill('no-such-key');
  await page.getByRole('button', { name: 'Set license key' }).click();
  const { body } = await hub.put('/license/key', { license_key: 'no-such-key' });
  await page.getByText(sentenceOf(body)).waitFor();
  assert.equal(await page.getByLabel('New key').inputValue(), 'no-such-key', 'the typed key stays');
  await page.getByRole('button', { name: 'Start a trial' }).click();
  await page.getByText('Trial started').waitFor();
  await page.getByText('Grace period until').waitFor();

  for (const [name, path] of [
    ['REST API', '/hub/docs'],
    ['WebSocket API', '/hub/docs/socket'],
    ['OpenAPI document', '/hub/v2/openapi.json'],
    ['Metrics', '/hub/metrics'],
  ] as const) {
    assert.equal(await page.getByRole('link', { name }).getAttribute('href'), path);
    assert.equal((await hub.get(hub.origin + path)).status, 200, path);
  }
});
