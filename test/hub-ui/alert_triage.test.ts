import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { violationsIn } from '../support/axe.ts';
import { openPage, openUiHub, type PageOptions, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import type { TestHub, TestSettings } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { createSite, DOCK, FORKLIFT, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

/** Key of the focused row, which is the id of an alert or the key of a group; undefined without focus in the list. */
const FOCUSED = "document.activeElement.closest('[data-row]')?.querySelector('strong').textContent";

async function openSite(t: TestContext, settings: TestSettings = {}): Promise<TestHub> {
  const folder = temporaryFolder();
  const hub = await openUiHub(t, settings, { folder });
  await createSite(hub);
  return hub;
}

/** Raises an alert for each of some tags in the dock, by a rule for unassigned providers. */
async function raise(hub: TestHub, name: string, { severity, count }: { severity: string; count: number }) {
  const rule = { name, severity, kind: 'entry', fence_ids: [DOCK.id], object_type: 'location_provider' };
  assert.equal((await hub.post('/alerts/rules', rule)).status, 201);
  await hub.settle();
  if (count === 0) return;
  const tags = Array.from({ length: count }, (_, i) => ({
    ...{ provider_id: `${name}-${i}`, provider_type: 'uwb', source: 'hall', crs: 'local' },
    position: { type: 'Point', coordinates: [20, 20] },
  }));
  assert.equal((await hub.put('/providers/locations', tags)).status, 204);
}

async function openAlerts(t: TestContext, hub: TestHub, options: PageOptions = {}): Promise<Page> {
  const page = await openPage(t, `${hub.origin}/hub-ui/alerts`, options);
  await page.getByRole('list', { name: 'Alerts', exact: true }).waitFor();
  return page;
}

async function statesOf(hub: TestHub): Promise<Readonly<Record<string, number>>> {
  const states: Record<string, number> = {};
  for (const { name, state } of (await hub.get('/alerts')).body as { name: string; state: string }[]) {
    const key = `${name} ${state}`;
    states[key] = (states[key] ?? 0) + 1;
  }
  return states;
}

test('800 alerts are groups, severest first, which open to pages of alerts', { skip }, async (t) => {
  const hub = await openSite(t);
  // A rule also raises alerts for entries that are still to be stored when it begins.
  await raise(hub, 'Info', { severity: 'info', count: 1 });
  await untilSum(hub, 1);
  await raise(hub, 'Critical', { severity: 'critical', count: 9 });
  await untilSum(hub, 1 + 9 * 2);
  // Both former rules raise alerts for these tags as well.
  await raise(hub, 'Warning', { severity: 'warning', count: 256 });
  await untilSum(hub, 1 + 9 * 2 + 256 * 3);
  const page = await openAlerts(t, hub);
  const groups = page.locator('[data-row]');
  await page.getByText('Alerts: 787, in groups: 3').waitFor();
  assert.equal(await groups.count(), 3, 'only the groups are on the page');
  assert.deepEqual(await groups.locator('strong').allInnerTexts(), [
    'Critical · Dock A',
    'Warning · Dock A',
    'Info · Dock A',
  ]);
  await groups.first().getByText('265 objects concerned').waitFor();
  const toggle = page.getByRole('button', { name: 'Warning · Dock A ×256', exact: true });
  await toggle.click();
  const members = page.getByRole('list', { name: 'Warning · Dock A' });
  await members.waitFor();
  assert.equal(await members.locator('[data-row]').count(), 50);
  await page.getByRole('button', { name: 'Show older' }).click();
  await untilHolds(page, async () => (await members.locator('[data-row]').count()) === 100);
  assert.deepEqual(await violationsIn(page), []);
  await toggle.click();
  await members.waitFor({ state: 'detached' });
});

async function untilSum(hub: TestHub, wanted: number): Promise<void> {
  for (;;) {
    const { open } = (await hub.get('/alerts/summary')).body;
    if (open.info + open.warning + open.critical >= wanted) return;
  }
}

test('A group is acknowledged and cleared as one, and the other groups stay as they are', { skip }, async (t) => {
  const hub = await openSite(t);
  await raise(hub, 'Other', { severity: 'info', count: 0 });
  await raise(hub, 'Dock', { severity: 'critical', count: 3 });
  const page = await openAlerts(t, hub);
  await page.getByRole('button', { name: 'Acknowledge 3: Dock · Dock A', exact: true }).click();
  await untilHolds(page, async () => (await statesOf(hub))['Dock acknowledged'] === 3);
  await page.getByRole('status').getByText('Acknowledged alerts: 3').waitFor({ state: 'attached' });
  assert.equal((await statesOf(hub))['Other raised'], 3);
  await page.getByRole('button', { name: 'Clear 3: Dock · Dock A', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Clear all alerts of Dock · Dock A?').waitFor();
  await dialog.getByRole('button', { name: 'Clear all' }).click();
  await untilHolds(page, async () => (await statesOf(hub))['Dock cleared'] === 3);
  await page.getByRole('button', { name: 'Other · Dock A ×3', exact: true }).waitFor();
  assert.equal((await statesOf(hub))['Other raised'], 3);
});

test('J and K go through the alerts, and A acknowledges, but not while typing', { skip }, async (t) => {
  const hub = await openSite(t);
  await raise(hub, 'Critical', { severity: 'critical', count: 0 });
  await raise(hub, 'Warning', { severity: 'warning', count: 2 });
  const page = await openAlerts(t, hub);
  await page
    .locator('[data-keys]', { hasText: /J next\s*K previous\s*A acknowledge\s*S snooze\s*M assign\s*C comment/ })
    .waitFor();
  await page.getByRole('button', { name: 'Warning · Dock A ×2', exact: true }).waitFor();
  const focused = (): Promise<unknown> => page.evaluate(FOCUSED);
  await page.keyboard.press('a');
  await page.keyboard.press('j');
  assert.equal(await focused(), 'Critical · Dock A');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const members = page.getByRole('list', { name: 'Warning · Dock A' });
  await members.waitFor();
  await page.keyboard.press('j');
  const first = await members.locator('strong').first().innerText();
  assert.equal(await focused(), first);
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  assert.equal(await focused(), 'Critical · Dock A');
  assert.deepEqual(await statesOf(hub), { 'Critical raised': 2, 'Warning raised': 2 });

  const search = page.getByRole('searchbox', { name: 'Search alerts' });
  await search.focus();
  await page.keyboard.type('jka');
  assert.equal(await search.inputValue(), 'jka');
  await search.fill('');
  await page.getByRole('button', { name: 'Warning · Dock A ×2', exact: true }).waitFor();
  assert.deepEqual(await statesOf(hub), { 'Critical raised': 2, 'Warning raised': 2 });

  await page.keyboard.press('Tab');
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  assert.equal(await focused(), 'Warning · Dock A', 'A goes on to the next group');
  await untilHolds(page, async () => (await statesOf(hub))['Critical acknowledged'] === 2);
  await page.getByRole('button', { name: 'Raised', exact: true }).click();
  await page.getByText('Critical · Dock A').waitFor({ state: 'detached' });
  await untilHolds(page, async () => {
    await page.keyboard.press('k');
    return (await focused()) === 'Warning · Dock A';
  });
  await page.keyboard.press('a');
  await untilHolds(page, async () => (await statesOf(hub))['Warning acknowledged'] === 2);
});

test('The focus stays in the list when another user clears the focused alert', { skip }, async (t) => {
  const hub = await openSite(t);
  await raise(hub, 'First', { severity: 'critical', count: 0 });
  await raise(hub, 'Second', { severity: 'warning', count: 1 });
  const page = await openAlerts(t, hub);
  await page.keyboard.press('j');
  const alerts = (await hub.get('/alerts')).body as { id: string; name: string }[];
  const first = alerts.find(({ name }) => name === 'First');
  assert.equal((await hub.post('/alerts/clear', { ids: [first?.id] })).status, 204);
  await untilHolds(page, async () => (await page.locator('[data-row]').count()) === 1);
  await untilHolds(page, async () => (await page.evaluate(FOCUSED)) !== undefined);
});

test('An alert links to the map 30 s before it was raised, which plays', { skip }, async (t) => {
  const hub = await openSite(t, { history: true });
  const rule = { name: 'Forklift', kind: 'entry', fence_ids: [DOCK.id] };
  await hub.post('/alerts/rules', rule);
  await hub.settle();
  await move(hub, 'tag-1', [60, 20]);
  await move(hub, 'tag-1', [20, 20]);
  const page = await openAlerts(t, hub);
  const [{ raised_at: raised }] = (await hub.get('/alerts')).body as [{ raised_at: string }];
  await page.getByRole('link', { name: `Replay the 30 s before: ${FORKLIFT.name} has entered Dock A` }).click();
  await page.locator('[data-time-bar=past]').getByRole('button', { name: 'Pause' }).waitFor();
  const search = new URL(page.url()).searchParams;
  assert.equal(search.get('sel'), `trackables:${FORKLIFT.id}`);
  assert.equal(search.get('play'), null, 'a reload does not play again');
  const leadMs = Date.parse(raised) - Date.parse(search.get('t') ?? '');
  assert.ok(leadMs <= 31_000 && leadMs > -5_000, `${leadMs} ms before`);
});

test('Without history no alert links to the past', { skip }, async (t) => {
  const hub = await openSite(t);
  await raise(hub, 'Dock', { severity: 'info', count: 1 });
  const page = await openAlerts(t, hub);
  await page.getByRole('link', { name: /^Show on the map: / }).waitFor();
  assert.equal(await page.getByRole('link', { name: /^Replay/ }).count(), 0);
});

for (const theme of ['light', 'dark'] as const) {
  for (const width of [1280, 390]) {
    test(`The groups of alerts fit ${width} px in the ${theme} theme`, { skip }, async (t) => {
      const hub = await openSite(t, { history: true });
      await raise(hub, 'A pallet stands in front of the emergency exit', { severity: 'critical', count: 2 });
      await raise(hub, 'Dock', { severity: 'warning', count: 12 });
      const page = await openAlerts(t, hub, { width, theme });
      await page.getByRole('button', { name: /^Dock · Dock A/ }).click();
      await page.getByRole('list', { name: 'Dock · Dock A' }).waitFor();
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      assert.ok(Number(wide) <= width, `${wide} px`);
      assert.deepEqual(await violationsIn(page), []);
      const folder = process.env['HUB_PICTURES'];
      if (folder !== undefined) await page.screenshot({ path: join(folder, `alerts-${width}-${theme}.png`) });
    });
  }
}

test('A group is snoozed, assigned and commented on by keys, and its later alerts stay quiet', { skip }, async (t) => {
  const hub = await openSite(t);
  await raise(hub, 'Dock', { severity: 'critical', count: 2 });
  const page = await openAlerts(t, hub);
  const row = page.locator('[data-row]').first();
  const dialog = page.getByRole('dialog', { name: 'Dock · Dock A' });
  await page.getByText('Dock · Dock A').waitFor();

  await page.keyboard.press('j');
  await page.keyboard.press('m');
  await dialog.waitFor();
  assert.deepEqual(await violationsIn(page), []);
  await page.keyboard.type('Anna');
  await page.keyboard.press('Enter');
  await row.getByText('Assigned to Anna').waitFor();

  await page.keyboard.press('c');
  await dialog.getByLabel('Comment', { exact: true }).waitFor();
  await page.keyboard.type('On my way');
  await dialog.getByRole('button', { name: 'Add comment' }).click();
  await dialog.waitFor({ state: 'detached' });
  const [alert] = (await hub.get('/alerts')).body;
  assert.deepEqual([alert.assignee, alert.comments[0].text, alert.comments[0].author], ['Anna', 'On my way', 'Anna']);

  const bell = page.getByRole('link', { name: /^Alerts/ }).first();
  await page.keyboard.press('s');
  await dialog.getByLabel('Snooze', { exact: true }).selectOption('4h');
  await dialog.getByRole('button', { name: 'Snooze', exact: true }).click();
  await page.getByText('No open alerts').waitFor();
  await bell.getByText('2', { exact: true }).waitFor({ state: 'detached' });
  const later = { provider_id: 'later', provider_type: 'uwb', source: 'hall', crs: 'local' };
  await hub.put('/providers/locations', [{ ...later, position: { type: 'Point', coordinates: [20, 20] } }]);
  await page.getByRole('button', { name: 'Snoozed', exact: true }).click();
  await page.getByRole('button', { name: 'Dock · Dock A ×3', exact: true }).waitFor();
  await row.getByText(/^Snoozed until/).waitFor();

  await page.getByRole('button', { name: 'Handle: Dock · Dock A', exact: true }).click();
  await dialog.getByRole('button', { name: 'End the snooze' }).click();
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.getByRole('button', { name: 'Dock · Dock A ×3', exact: true }).waitFor();
  assert.deepEqual((await hub.get('/alerts/snoozes')).body, []);
});

test('A rule shows how often it would have triggered', { skip }, async (t) => {
  const hub = await openSite(t);
  await raise(hub, 'Dock', { severity: 'info', count: 3 });
  const page = await openPage(t, `${hub.origin}/hub-ui/alerts/rules`);
  await page.getByRole('button', { name: 'New rule' }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Enters', exact: true }).click();
  await page.getByText(/^Would have triggered in the last .*: \d/).waitFor();
  assert.deepEqual(await violationsIn(page), []);
});
