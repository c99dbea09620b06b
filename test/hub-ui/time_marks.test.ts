import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { barsOf } from '../../src/hub-ui/history/event_density.ts';
import { violationsIn } from '../support/axe.ts';
import { openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import { at, openRecordedHub } from './history_site.ts';
import { createSite, DOCK, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

test('A range that moves on keeps its complete parts', () => {
  const hour = 3_600_000;
  const now = Date.parse('2026-03-01T10:07:00Z');
  const bars = barsOf({ fromMs: now - hour, toMs: now });
  const later = barsOf({ fromMs: now - hour + 60_000, toMs: now + 60_000 });
  assert.ok(bars.length >= 24 && bars.length <= 25, `${bars.length}`);
  assert.deepEqual(later.slice(0, -1), bars.slice(bars.length - later.length + 1));
  assert.ok((bars[0]?.fromMs ?? 0) <= now - hour && (bars.at(-1)?.toMs ?? 0) >= now);
});

test('The time bar shows when objects entered fences, from one query', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await openPage(t, 'about:blank');
  const queries: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/analytics/')) queries.push(new URL(request.url()).pathname);
  });
  await page.goto(`${hub.origin}/hub-ui/?t=${at(600)}&until=${at(3_600)}`);
  const bar = page.getByRole('region', { name: 'Time', exact: true });
  // The forklift enters the dock twice and the gate once; its first visit began with the first location.
  await bar.locator('[data-marks]', { hasText: 'Entries into fences: 3, alerts: 0' }).waitFor({ state: 'attached' });
  assert.equal(queries.length, 1, `${queries}`);
  // Two bars: the first visit of the dock and the others were more than a bar apart.
  const heights = await bar.locator('[data-marks] + div > :not([data-severity])').count();
  assert.ok(heights >= 2, `${heights}`);
});

test('The time bar has a tick for each alert, in the color of its severity', { skip }, async (t) => {
  const hub = await openUiHub(t, { history: true });
  await createSite(hub);
  await hub.post('/alerts/rules', { name: 'Dock', kind: 'entry', severity: 'critical', fence_ids: [DOCK.id] });
  await hub.settle();
  await move(hub, 'tag-1', [60, 20]);
  await move(hub, 'tag-1', [20, 20]);
  await hub.settle();
  const page = await openPage(t, `${hub.origin}/hub-ui/`);
  await page.getByRole('button', { name: 'History' }).click();
  await page.locator('[data-marks]', { hasText: 'alerts: 1' }).waitFor({ state: 'attached' });
  const tick = page.locator('[data-time-bar="past"] [data-severity="critical"]');
  assert.equal(await tick.count(), 1);
  const left = await tick.evaluate((element) => Number.parseFloat((element as HTMLElement).style.left));
  assert.ok(left > 90 && left <= 100, `${left} %: it was raised just now`);
});

test('The map is saved as a PNG with its layers', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  const page = await openPage(t, `${hub.origin}/hub-ui/`);
  await page.locator('[data-counts]', { hasText: '1 trackable' }).waitFor();
  await page.getByRole('button', { name: 'Layers' }).click();
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as PNG' }).click();
  const file = await saving;
  assert.match(file.suggestedFilename(), /^map-\d{4}-\d\d-\d\dT\d{6}\.png$/);
  const path = await file.path();
  const bytes = await readFile(path);
  assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
  const box = (await page.locator('[data-map]').boundingBox()) ?? assert.fail('The map has no size');
  assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [box.width, box.height + 24]);
  const colors = await page.evaluate(
    async (url) => {
      const image = new Image();
      image.src = url;
      await image.decode();
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [image.width, image.height];
      const context = canvas.getContext('2d') as CanvasRenderingContext2D;
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      const found = new Set<string>();
      for (let i = 0; i < data.length; i += 4) found.add([...data.slice(i, i + 3)].join());
      return [...found];
    },
    `data:image/png;base64,${bytes.toString('base64')}`,
  );
  assert.ok(colors.includes('11,110,102'), 'the trackable');
  assert.ok(colors.includes('28,95,184'), 'the edge of a fence');
});

for (const [theme, width] of [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['dark', 390],
] as const) {
  test(`The marks of the time bar fit ${width} px in the ${theme} theme`, { skip }, async (t) => {
    const hub = await openRecordedHub(t);
    const page = await openPage(t, `${hub.origin}/hub-ui/?t=${at(600)}&until=${at(3_600)}`, { theme, width });
    await page.locator('[data-marks]', { hasText: 'fences: 3' }).waitFor({ state: 'attached' });
    const folder = process.env['HUB_PICTURES'];
    if (folder !== undefined) await page.screenshot({ path: join(folder, `time-${width}-${theme}.png`) });
    const wide = await page.evaluate('document.documentElement.scrollWidth');
    assert.ok(Number(wide) <= width, `${wide} px`);
    assert.deepEqual(await violationsIn(page), []);
  });
}
