import assert from 'node:assert/strict';
import { test } from 'node:test';
import { musterList } from '../../src/hub-ui/muster/muster_list.ts';
import { fenceUses } from '../../src/hub-ui/reports/fence_use.ts';
import { tagIn } from '../../src/hub-ui/finder/scanner.ts';
import { violationsIn } from '../support/axe.ts';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { at, openRecordedHub } from './history_site.ts';
import { createSite, DOCK, FORKLIFT, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;
const KIM = { id: '0b680db2-b39b-45be-be77-40d7d2296c01', type: 'omlox', name: 'Kim', location_providers: ['tag-kim'] };

test('Missing objects come first, and a mark by hand makes an object safe', () => {
  const fence = (id: string) => ({ ...DOCK, id, name: id }) as never;
  const trackable = (id: string) => ({ id, type: 'omlox', name: id }) as never;
  const list = musterList({
    trackables: [trackable('a'), trackable('b'), trackable('c')],
    fences: [fence('Yard'), fence('Hall')],
    points: new Set(['Yard']),
    inside: new Map([
      ['Yard', new Set(['a'])],
      ['Hall', new Set(['b', 'c'])],
    ]),
    motions: [{ id: 'b', location: { timestamp_generated: '2026-03-01T10:00:00Z' } } as never],
    checked: new Map([['c', 5]]),
  });
  assert.deepEqual(
    list.map(({ trackable: { id }, safe, fences, lastSeenMs }) => [id, safe !== undefined, fences[0]?.id, lastSeenMs]),
    [
      ['b', false, 'Hall', Date.parse('2026-03-01T10:00:00Z')],
      ['a', true, undefined, undefined],
      ['c', true, 'Hall', undefined],
    ],
  );
});

test('The utilization of a fence is the share of samples with an object inside', () => {
  const dwell = { fence_id: 'f', visits: 2, entries: 2, objects: 1, median_ms: null, p95_ms: null, total_ms: 20 };
  const samples = [0, 2, 1, 0].map((count) => ({ time: '', count }));
  const [use] = fenceUses(
    {
      dwell: { fences: [{ ...dwell, open_visits: 1, open_ms: 20 }] },
      occupancy: { step: 1, fences: [{ fence_id: 'f', samples }] },
    },
    { fromMs: 0, toMs: 80 },
  );
  assert.deepEqual([use?.visits, use?.totalMs, use?.mean, use?.most, use?.usedShare], [3, 40, 0.5, 2, 0.5]);
});

test('A scanned code is an id, or a URL that ends with it', () => {
  assert.equal(tagIn(' 00:1A:7D:DA:71:13 '), '00:1A:7D:DA:71:13');
  assert.equal(tagIn('https://tags.example/t/tag%207'), 'tag 7');
  assert.equal(tagIn('https://tags.example/t?id=tag-7'), 'tag-7');
});

test('The muster list shows who is missing, live, and takes marks by hand', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await hub.post('/trackables', KIM);
  await move(hub, 'tag-kim', [80, 20]);
  await move(hub, 'tag-1', [20, 20]);
  await hub.settle();
  const page = await openPage(t, `${hub.origin}/hub-ui/muster`);
  await page.getByText('Muster points: 0').waitFor();
  await page.getByRole('checkbox', { name: 'Dock A', exact: true }).check();
  const counts = (missing: number, safe: number) =>
    page
      .getByRole('status')
      .filter({ hasText: new RegExp(`${missing} missing\\s*${safe} safe`) })
      .waitFor();
  await counts(1, 1);
  const row = page.getByRole('row', { name: /Kim/ });
  await row.getByText('In no fence').waitFor();
  assert.match((await page.getByRole('row').nth(1).textContent()) ?? '', /^Kim/, 'missing people come first');
  assert.deepEqual(await violationsIn(page), []);

  await move(hub, 'tag-kim', [22, 22]);
  await counts(0, 2);
  await move(hub, 'tag-kim', [80, 20]);
  await counts(1, 1);
  await row.getByRole('checkbox', { name: 'Kim is safe' }).check();
  await counts(0, 2);
  await page.reload();
  await counts(0, 2);

  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.getByRole('button', { name: 'Print' }).isVisible(), false);
  assert.equal(await row.getByText('Safe', { exact: true }).isVisible(), true);
  await page.emulateMedia({ media: 'screen' });
  await page.getByRole('button', { name: 'Start a new muster' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Start a new muster' }).click();
  await counts(1, 1);
});

test('The finder finds a tag on a phone, shows it on the map, and assigns it', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  await move(hub, 'tag-new', [40, 20]);
  await hub.settle();
  const page = await openPage(t, `${hub.origin}/hub-ui/finder`, { width: 390, height: 844 });
  const search = page.getByRole('searchbox', { name: 'Id or name of a tag' });
  await search.fill('Forklift');
  await page.getByText('Assigned to Forklift 7').waitFor();
  await search.fill('nothing');
  await page.getByText('No tag with this id or name').waitFor();
  await search.fill('tag-new');
  await page.getByText('Not assigned').waitFor();
  assert.deepEqual(await violationsIn(page), []);
  await page.getByRole('button', { name: 'Assign to a trackable' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Forklift 7' }).click();
  await page.getByText(/· Assigned to Forklift 7$/).waitFor();
  await untilHolds(page, async () => {
    const { location_providers: ids } = (await hub.get(`/trackables/${FORKLIFT.id}`)).body;
    return ids.includes('tag-new');
  });
  await page.getByRole('link', { name: 'Show on the map' }).click();
  await page.waitForURL(/sel=trackables/);
});

test('A report shows visits, dwell times and utilization, to print and to save', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/reports?span=3600&until=${at(3_600)}`);
  const row = page.getByRole('row', { name: /Dock A/ });
  await row.waitFor();
  assert.match((await row.textContent()) ?? '', /%$/);
  assert.deepEqual(await violationsIn(page), []);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as CSV' }).click();
  assert.match((await saved).suggestedFilename(), /^use-of-fences-[\dT-]+\.csv$/);
});
