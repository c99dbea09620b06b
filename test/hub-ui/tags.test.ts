import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LastSeenCollector } from '../../src/hub-ui/hub/last_seen.ts';
import { TagActivity } from '../../src/hub-ui/lists/unassigned_tags.ts';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { createSite, FORKLIFT, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

const T0 = Date.parse('2026-01-01T00:00:00Z');

function location(id: string, atMs: number, properties?: object) {
  const timestamp_generated = new Date(atMs).toISOString();
  return { provider_id: id, timestamp_generated, ...(properties && { properties }) };
}

test('LastSeenCollector counts live locations, not listed ones, and reports each battery once', () => {
  const collector = new LastSeenCollector();
  collector.add([location('a', T0 - 60_000, { battery: 80 }), location('b', T0)], { isList: true });
  const first = collector.take();
  assert.deepEqual([first.isReset, first.added], [true, ['a', 'b']]);
  assert.deepEqual([...first.rows], [0, T0 - 60_000, 0, 1, T0, 0]);
  assert.deepEqual(first.batteries, [[0, '80']]);
  collector.add([location('a', T0 + 1, { battery: 80 }), location('a', T0 + 2), location('c', T0 + 3)]);
  collector.add([location('a', T0 - 60_000)], { isList: true });
  const next = collector.take();
  assert.deepEqual([next.isReset, next.added, next.batteries], [false, ['c'], []]);
  assert.deepEqual([...next.rows], [0, T0 + 2, 2, 2, T0 + 3, 1]);
  assert.ok(collector.isEmpty);
});

test('Tag rates cover the last minute, or the observed time if shorter', () => {
  const collector = new LastSeenCollector();
  const tags = new TagActivity();
  collector.add([location('a', T0 - 60_000, { battery: 7 })], { isList: true });
  tags.add(collector.take(), T0);
  assert.deepEqual([tags.lastMs('a'), tags.rate('a', T0), tags.lastMs('b')], [T0 - 60_000, undefined, undefined]);
  // Twice a second for two minutes, one batch a second.
  for (let second = 1; second <= 120; second++) {
    const atMs = T0 + second * 1_000;
    collector.add([location('a', atMs - 500), location('a', atMs)]);
    tags.add(collector.take(), atMs);
    if (second === 4) assert.equal(tags.rate('a', atMs), 2);
  }
  assert.ok(Math.abs((tags.rate('a', T0 + 120_000) ?? 0) - 2) < 0.05, String(tags.rate('a', T0 + 120_000)));
  assert.equal(tags.lastMs('a'), T0 + 120_000);
  assert.equal(tags.rate('a', T0 + 300_000), 0, 'the rate of a silent tag falls to zero');
  collector.restart();
  collector.add([location('b', T0)], { isList: true });
  tags.add(collector.take(), T0 + 300_000);
  assert.deepEqual([tags.lastMs('a'), tags.lastMs('b'), tags.battery('a')], [undefined, T0, undefined]);
});

test('A batch of twenty thousand tags is processed in under 250 ms', () => {
  const collector = new LastSeenCollector();
  const tags = new TagActivity();
  const all = Array.from({ length: 20_000 }, (_, i) => location(`tag-${i}`, T0, { battery: i % 100 }));
  collector.add(all, { isList: true });
  tags.add(collector.take(), T0);
  collector.add(all.map((each) => ({ ...each, timestamp_generated: new Date(T0 + 1_000).toISOString() })));
  const batch = collector.take();
  const beganMs = performance.now();
  tags.add(batch, T0 + 1_000);
  const tookMs = performance.now() - beganMs;
  assert.ok(tookMs < 250, `${tookMs} ms`);
  assert.equal(tags.battery('tag-19999'), '99');
});

test('A tag owner sees silent and unassigned tags, and assigns them', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20], { properties: { battery_percent: 71 } });
  await move(hub, 'tag-9', [22, 20]);
  const longAgo = new Date(Date.now() - 600_000).toISOString();
  await move(hub, 'tag-old', [24, 20], { timestamp_generated: longAgo });
  await hub.post('/providers', { id: 'tag-never', type: 'uwb', properties: { owner: 'Lab 3' } });
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/providers`);
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
  const shown = async () =>
    (
      await page
        .getByRole('row')
        .getByRole('checkbox', { name: /^Select tag/ })
        .all()
    ).length;
  await row('tag-1').getByText('71 %').waitFor();
  await row('tag-1').getByText('Forklift 7').waitFor();
  await row('tag-old').getByText('10 min ago').waitFor();
  await row('tag-never').getByText('never', { exact: true }).waitFor();
  await row('tag-never').getByText('Lab 3').waitFor();
  for (let i = 0; i < 10; i++) await move(hub, 'tag-9', [22 + i, 20]);
  await row('tag-9')
    .getByText(/^\d+(\.\d)?\/s$/)
    .waitFor();

  await page.getByLabel('Not seen for').selectOption('5 min');
  await untilHolds(page, async () => (await shown()) === 2);
  await page.reload();
  await row('tag-old').waitFor();
  assert.equal(await page.getByLabel('Not seen for').inputValue(), '300');
  assert.equal(await shown(), 2);
  await page.getByLabel('Not seen for').selectOption('any time');
  await page.getByLabel('Unassigned', { exact: true }).check();
  await untilHolds(page, async () => (await shown()) === 3);

  // One click creates a trackable for it, and another one reverts that.
  await page.getByRole('button', { name: 'Assign tag-9' }).click();
  await page.getByRole('button', { name: 'Create “tag-9” and assign it' }).click();
  await row('tag-9').waitFor({ state: 'detached' });
  assert.equal((await hub.get('/trackables/summary')).body.length, 2);
  await page.getByRole('button', { name: 'Undo' }).click();
  await row('tag-9').waitFor();
  await page.getByRole('button', { name: 'Assign tag-9' }).click();
  await page.getByLabel('Trackable', { exact: true }).fill('fork');
  await page.getByRole('button', { name: /Forklift 7/ }).click();
  await row('tag-9').waitFor({ state: 'detached' });
  assert.deepEqual((await hub.get(`/trackables/${FORKLIFT.id}`)).body.location_providers, ['tag-1', 'tag-9']);

  await page.getByRole('link', { name: 'Show unassigned on the map' }).click();
  await page.getByText('1 unassigned provider, 1 silent').waitFor();
  await page.getByRole('button', { name: 'Layers' }).click();
  assert.ok(await page.getByLabel('Unassigned providers').isChecked());
});
