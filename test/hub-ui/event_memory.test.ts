import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CDPSession } from 'playwright-core';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { createSite, DOCK, HALL } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

/** A tenth of the lines of the log. Each is drawn with older lines, and stays after those are removed. */
const TAGS = 10;
const WARM_UP_ROUNDS = 12;
const ROUNDS = 40;

interface Memory {
  readonly bytes: number;
  readonly nodes: number;
}

/** Heap size of the page after garbage collection. */
async function memoryOf(cdp: CDPSession): Promise<Memory> {
  await cdp.send('HeapProfiler.collectGarbage');
  const { metrics } = await cdp.send('Performance.getMetrics');
  const metric = (name: string): number => metrics.find((each) => each.name === name)?.value ?? Number.NaN;
  return { bytes: metric('JSHeapUsedSize'), nodes: metric('Nodes') };
}

test('The event log retains only the events it shows, however many arrive', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/events?show=entries,exits&tags=1`);
  await page.getByText('Nothing has happened yet').waitFor();
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable');
  const newest = page.getByRole('list', { name: 'Events' }).getByRole('listitem').first();
  const rounds = async (count: number): Promise<void> => {
    for (let round = 0; round < count; round++) {
      const isIn = round % 2 === 0;
      const locations = Array.from({ length: TAGS }, (_, i) => ({
        provider_id: `pallet-tag-${i}`,
        provider_type: 'uwb',
        source: 'hall',
        crs: 'local',
        position: { type: 'Point', coordinates: isIn ? [20, 20] : [60, 20] },
      }));
      const { status, text } = await hub.put('/providers/locations', locations);
      assert.equal(status, 204, text);
      const said = isIn ? 'entered Dock A' : 'left Dock A';
      await untilHolds(page, async () => (await newest.textContent())?.includes(said) ?? false);
    }
  };
  await rounds(WARM_UP_ROUNDS);
  const before = await memoryOf(cdp);
  await rounds(ROUNDS);
  const after = await memoryOf(cdp);
  const grown = (after.bytes - before.bytes) / 1e6;
  t.diagnostic(`${before.nodes} nodes, then ${after.nodes}; the heap grew by ${grown.toFixed(1)} MB`);
  assert.ok(after.nodes < 1.5 * before.nodes, `${before.nodes} nodes became ${after.nodes}`);
  // The log itself retains up to ten thousand events.
  assert.ok(grown < 6, `the heap grew by ${grown.toFixed(1)} MB over ${ROUNDS * TAGS} events`);
});

test('The log retains the changes of a zone without its floor plan image', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/events`);
  await page.getByText('Nothing has happened yet').waitFor();
  const image = `data:image/png;base64,${'A'.repeat(200_000)}`;
  await hub.post('/zones', { ...HALL, properties: { owner: 'Kim', floor_plan: { image, ground_control_points: [] } } });
  await page.getByRole('button', { name: 'JSON of the event' }).click();
  await page.getByText('"owner": "Kim"').waitFor();
  await page.getByText('… (200022 characters)').waitFor();
  assert.ok(((await page.getByRole('listitem').locator('pre').textContent()) ?? '').length < 2_000);
});

test('Events of fences with large properties keep page memory flat, even if each raises an alert', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await hub.put(`/fences/${DOCK.id}`, { ...DOCK, properties: { instructions: 'x'.repeat(8_000) } });
  for (const kind of ['entry', 'exit', 'entry', 'exit', 'entry', 'exit']) {
    await hub.post('/alerts/rules', { name: 'Noise', kind, severity: 'info', object_type: 'any' });
  }
  await hub.settle();
  const page = await openPage(t, `${hub.origin}/hub-ui/`);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable');
  const changes = await hub.subscribe('alert_changes');
  let times = 0;
  const rounds = async (count: number): Promise<void> => {
    for (let round = 0; round < count; round++, times++) {
      const locations = Array.from({ length: TAGS }, (_, i) => ({
        provider_id: `pallet-tag-${i}`,
        provider_type: 'uwb',
        source: 'hall',
        crs: 'local',
        position: { type: 'Point', coordinates: times % 2 === 0 ? [20, 20] : [60, 20] },
      }));
      assert.equal((await hub.put('/providers/locations', locations)).status, 204);
      const last = `pallet-tag-${TAGS - 1}`;
      const reached = Math.floor(times / 2) + 1;
      const kind = times % 2 === 0 ? 'entry' : 'exit';
      await changes.next(
        ({ object }) => object.kind === kind && object.provider_id === last && object.times >= reached,
      );
    }
  };
  // 2,000,000 characters are 250 events of 8,000.
  await rounds(40);
  const before = await memoryOf(cdp);
  await rounds(100);
  const after = await memoryOf(cdp);
  const grown = (after.bytes - before.bytes) / 1e6;
  t.diagnostic(`the heap grew by ${grown.toFixed(1)} MB over ${100 * TAGS} events`);
  assert.ok(grown < 2.5, `the heap grew by ${grown.toFixed(1)} MB`);
});
