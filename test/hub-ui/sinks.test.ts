import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { openWebhookServer, SIGNING_KEY, verifySignature, type WebhookServer } from '../support/webhook_server.ts';
import { openSignedSite, signIn } from './signed_site.ts';
import { createSite, DOCK, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

/** Test events in the first test. */
const TESTS = 2;

/** A hub that may deliver to this machine, and a webhook. */
async function openSite(t: TestContext): Promise<{ readonly hub: TestHub; readonly server: WebhookServer }> {
  const folder = temporaryFolder();
  const hub = await openUiHub(t, { sink_allowed_hosts: ['127.0.0.1'] }, { folder });
  const server = await openWebhookServer();
  t.after(() => server.close());
  await createSite(hub);
  return { hub, server };
}

test('A webhook is created and tested in the UI, and its deliveries are paused, resumed, replayed and deleted', {
  skip,
}, async (t) => {
  const { hub, server } = await openSite(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/sinks`, { mayFail: true });
  await page.getByText('No sinks yet').waitFor();
  await page.getByRole('button', { name: 'New sink' }).click();
  const dialog = page.getByRole('dialog', { name: 'New sink' });
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByRole('alert').getByText('Enter a name').waitFor();
  await dialog.getByLabel('Name').fill('Warehouse system');
  await dialog.getByLabel('URL').fill('http://10.1.2.3/hook');
  await dialog.getByLabel('Signing key').fill(SIGNING_KEY);
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog
    .getByRole('alert')
    .getByText(/sink_allowed_hosts allows/)
    .waitFor();
  await dialog.getByLabel('URL').fill(server.url);
  server.answer = (_request, response) => response.writeHead(500).end();
  await dialog.getByRole('button', { name: 'Save and test' }).click();
  await dialog
    .getByRole('alert')
    .getByText(/did not accept the test event.*500/)
    .waitFor();
  server.answer = (_request, response) => response.writeHead(204).end();
  await dialog.getByRole('button', { name: 'Save and test' }).click();
  await dialog.getByText(/accepted the test event/).waitFor();
  assert.equal((await hub.get('/sinks')).body.length, 1, 'the second click has changed the sink');
  await dialog.getByRole('button', { name: 'Close' }).last().click();

  const row = page.getByRole('row', { name: /Warehouse system/ });
  await row.getByText('Active').waitFor();
  await row.getByRole('link').click();
  await page.getByText('No deliveries').waitFor();
  await move(hub, 'tag-1', [20, 20]);
  const deliveries = page.getByRole('region', { name: 'Deliveries', exact: true }).getByRole('table');
  await deliveries.getByText('Delivered').first().waitFor();
  const entries = server.requests.length;
  const last = server.requests.at(-1);
  assert.ok(last !== undefined);
  verifySignature(last);

  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused').waitFor();
  await move(hub, 'tag-1', [60, 20]);
  await page.getByLabel('State of the deliveries').selectOption('Failed');
  await page.getByText('No delivery has this state.').waitFor();
  await page.getByLabel('State of the deliveries').selectOption('Any state');
  assert.equal(server.requests.length, entries, 'a paused sink receives nothing');
  await page.getByRole('button', { name: 'Resume' }).click();
  const exits = (await hub.get('/events?topic=fence_events')).body.events.length;
  await server.until(TESTS + exits);
  assert.ok(exits > entries - TESTS);

  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  const replay = page.getByRole('dialog', { name: 'Deliver events again' });
  await replay.getByRole('button', { name: 'After a cursor' }).click();
  await replay.getByLabel('Cursor').fill('nonsense');
  await replay.getByRole('button', { name: 'Replay' }).click();
  await replay.getByRole('alert').waitFor();
  await replay.getByRole('button', { name: 'From a time' }).click();
  await replay.getByRole('button', { name: 'Replay' }).click();
  await server.until(TESTS + 2 * exits);
  const ids = server.requests.slice(TESTS).map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids).size, ids.length / 2, 'a replay has the same ids');

  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete sink' }).click();
  await page.getByText('No sinks yet').waitFor();
  assert.deepEqual((await hub.get('/sinks')).body, []);
});

test('An edited sink retains the secrets that the form does not show, and deletes them on request', {
  skip,
}, async (t) => {
  const { hub, server } = await openSite(t);
  const sink = { type: 'webhook', url: server.url, topics: ['fence_events'], secret: SIGNING_KEY };
  const { body } = await hub.post('/sinks', { ...sink, name: 'A', headers: { 'X-Key': '1' }, params: { floor: 0 } });
  const page = await openPage(t, `${hub.origin}/hub-ui/sinks/${body.id}?edit=1`, { mayFail: true });
  const dialog = page.getByRole('dialog', { name: 'Change A' });
  assert.equal(await dialog.getByLabel('Signing key').inputValue(), '');
  await dialog.getByLabel('Name').fill('B');
  await dialog.getByRole('button', { name: 'Save and test' }).click();
  await dialog.getByText(/accepted the test event/).waitFor();
  const [first] = server.requests;
  assert.ok(first !== undefined);
  verifySignature(first);
  assert.equal(first.headers['x-key'], '1');
  const stored = (await hub.get(`/sinks/${body.id}`)).body;
  assert.deepEqual([stored.name, stored.params], ['B', { floor: 0 }]);

  await dialog.getByLabel('URL').fill(`${server.url}/other`);
  await dialog.getByRole('button', { name: 'Save and test' }).click();
  await dialog.getByRole('alert').first().waitFor();
  for (const box of await dialog.getByLabel('Delete the stored value').all()) await box.check();
  await dialog.getByRole('button', { name: 'Save and test' }).click();
  await dialog.getByText(/accepted the test event/).waitFor();
  const second = server.requests.at(-1);
  assert.deepEqual([second?.headers['webhook-signature'], second?.headers['x-key']], [undefined, undefined]);
});

test('An alert rule names the sinks that receive its alerts', { skip }, async (t) => {
  const { hub, server } = await openSite(t);
  const { body } = await hub.post('/sinks', { name: 'Pager', type: 'webhook', url: server.url, topics: [] });
  const page = await openPage(t, `${hub.origin}/hub-ui/alerts/rules?rule=new`);
  const dialog = page.getByRole('dialog', { name: 'New alert rule' });
  await dialog.getByLabel('Name').fill('Entered');
  await dialog.getByRole('checkbox', { name: 'Pager' }).check();
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.deepEqual((await hub.get('/alerts/rules')).body[0].sinks, [body.id]);
  await hub.settle();
  await move(hub, 'tag-1', [20, 20]);
  await server.until(1);
  assert.match(server.requests[0]?.body ?? '', new RegExp(`alert_changes.*${DOCK.id}`));
});

test('A viewer sees sinks and links without a control that changes them', { skip }, async (t) => {
  const site = [
    ['/sinks', { name: 'Lake', type: 'webhook', url: 'https://lake.example.com/', topics: ['fence_events'] }],
    ['/links', { name: 'Plant 2', url: 'http://127.0.0.1:1/v2', enabled: false }],
  ] as const;
  const hub = await openSignedSite(t, { site });
  const page = await openPage(t, `${hub.origin}/hub-ui/sinks`, { mayFail: true });
  await signIn(page, 'viewer');
  const actions = /^(New|Send|Pause|Resume|Replay|Edit|Delete)/;
  for (const [path, name] of [
    ['sinks', 'Lake'],
    ['links', 'Plant 2'],
  ] as const) {
    await page.goto(`${hub.origin}/hub-ui/${path}`);
    await page.getByRole('link', { name }).waitFor();
    assert.equal(await page.getByRole('button', { name: actions }).count(), 0);
    await page.getByRole('link', { name }).click();
    await page.getByRole('heading', { name }).waitFor();
    await untilHolds(page, async () => (await page.getByText(/^(Active|Paused)$/).count()) > 0);
    assert.equal(await page.getByRole('button', { name: actions }).count(), 0);
  }
});
