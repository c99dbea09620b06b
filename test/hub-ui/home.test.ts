import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { hoursIn, openAlertSteps, sampledRange } from '../../src/hub-ui/home/samples.ts';
import { batteryPercent } from '../../src/hub-ui/hub/battery.ts';
import { violationsIn } from '../support/axe.ts';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { createSite, DOCK, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;
const HOUR_MS = 3_600_000;

for (const [text, percent] of [
  ['82 %', 82],
  ['19.5 %', 19.5],
  ['percentRemaining 55, daysRemaining 9', 55],
  ['85', 85],
  ['1', undefined], // A code of ISO 24730.
  ['3.1', undefined], // Volts.
  ['12 V', undefined],
  ['300', undefined],
  ['good', undefined],
] as const) {
  test(`batteryPercent of “${text}” is ${percent}`, () => assert.equal(batteryPercent(text), percent));
}

test('The samples of six hours end at the last full half hour', () => {
  const range = sampledRange(Date.parse('2026-03-01T10:44:59Z'));
  assert.equal(new Date(range.toMs).toISOString(), '2026-03-01T10:30:00.000Z');
  const hours = hoursIn(range).map((atMs) => new Date(atMs).toISOString().slice(11, 16));
  assert.deepEqual(hours, ['05:00', '06:00', '07:00', '08:00', '09:00', '10:00']);
  assert.equal(hoursIn(sampledRange(Date.parse('2026-03-01T10:01:00Z'))).length, 7);
});

test('Open alerts are counted from their raising to their clearing', () => {
  const time = (ms: number): string => new Date(ms).toISOString();
  const alerts = [
    { raised_at: time(2_000), cleared_at: time(5_000) },
    { raised_at: time(3_000), cleared_at: null },
  ];
  const steps = openAlertSteps(alerts, 1_000);
  assert.deepEqual(
    steps.map(({ atMs, count }) => [atMs, count]),
    [
      [1_000, 0],
      [2_000, 1],
      [3_000, 2],
      [5_000, 1],
    ],
  );
});

test('Home shows the figures of the site above a live map, and each leads to its list', { skip }, async (t) => {
  const hub = await openUiHub(t, { history: true, history_flush_interval: 600_000 });
  await createSite(hub);
  await hub.post('/alerts/rules', { name: 'Dock', kind: 'entry', severity: 'critical', fence_ids: [DOCK.id] });
  // The forklift was in the hall an hour ago, and stayed in the dock for 40 minutes two hours ago.
  const nowMs = Date.now();
  for (const [agoMs, at] of [
    [2 * HOUR_MS, [20, 20]],
    [2 * HOUR_MS - 2_400_000, [60, 20]],
    [HOUR_MS, [60, 20]],
  ] as const) {
    await move(hub, 'tag-1', at, { timestamp_generated: new Date(nowMs - agoMs).toISOString() });
  }
  await move(hub, 'tag-old', [60, 20], { timestamp_generated: new Date(nowMs - 600_000).toISOString() });
  await move(hub, 'tag-2', [70, 20], { properties: { battery_percent: 9 } });
  await move(hub, 'tag-1', [20, 20], { properties: { battery_percent: 80 } });
  await hub.settle();

  const page = await openPage(t, `${hub.origin}/hub-ui/`);
  const queries: string[] = [];
  page.on('request', (request) => {
    const [, query] = /\/v2\/(?:history|analytics)\/(\w+)/.exec(request.url()) ?? [];
    if (query !== undefined) queries.push(query);
  });
  await page.getByRole('link', { name: 'Home', exact: true }).first().click();
  const figures = page.getByRole('list', { name: 'Key figures' });
  const tile = (text: RegExp) => figures.getByRole('link', { name: text });
  await tile(/^Present 1 of trackables: 1$/).waitFor();
  await tile(/^Silent tags 1 not seen for 5 min$/).waitFor();
  await tile(/^Low battery 1 lowest 9 %$/).waitFor();
  await tile(/^Open alerts 1 Critical 1$/).waitFor();
  await tile(/^Busiest fence Dock A inside: 1$/).waitFor();
  await tile(/^Median stay 40 min in Dock A, last 6 h$/).waitFor();
  for (const text of [/^Present/, /^Silent/, /^Open/, /^Busiest/]) await tile(text).locator('svg').waitFor();
  await page.locator('[data-counts]', { hasText: '1 trackable' }).waitFor();
  const numberOf = (query: string): number => queries.filter((each) => each === query).length;
  await untilHolds(page, async () => numberOf('snapshot') >= 6);
  assert.ok(numberOf('snapshot') <= 7, `${queries}`);
  assert.deepEqual([numberOf('occupancy'), numberOf('dwell')], [1, 1], `${queries}`);

  // The figures are live: the forklift leaves the dock.
  await move(hub, 'tag-1', [60, 20]);
  await tile(/^Busiest fence .* inside: 0$/).waitFor();

  await tile(/^Low battery/).click();
  await page.getByRole('link', { name: 'tag-2', exact: true }).waitFor();
  assert.ok(await page.getByLabel('Low battery').isChecked());
  await untilHolds(page, async () => (await page.getByRole('checkbox', { name: /^Select tag/ }).count()) === 1);
  await page.goBack();
  await tile(/^Silent tags/).click();
  await page.getByRole('link', { name: 'tag-old', exact: true }).waitFor();
});

test('Without history, Home has the current figures', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  const page = await openPage(t, `${hub.origin}/hub-ui/home`);
  const figures = page.getByRole('list', { name: 'Key figures' });
  await figures.getByRole('link', { name: /^Busiest fence Dock A inside: 1$/ }).waitFor();
  assert.equal(await figures.getByText('Median stay').count(), 0);
});

for (const [theme, width, locale] of [
  ['light', 1280, 'en-US'],
  ['dark', 1280, 'en-US'],
  ['light', 390, 'de-DE'],
  ['light', 390, 'fr-FR'],
  ['light', 390, 'es-ES'],
  ['dark', 390, 'en-US'],
] as const) {
  test(`Home fits ${width} px in the ${theme} theme, for ${locale}`, { skip }, async (t) => {
    const hub = await openUiHub(t, { history: true, history_flush_interval: 600_000 });
    await createSite(hub);
    await move(hub, 'tag-1', [20, 20], { properties: { battery_percent: 12 } });
    const page = await openPage(t, `${hub.origin}/hub-ui/home`, { theme, width, locale });
    await page.getByRole('link', { name: /Dock A.*: 1$/ }).waitFor();
    const folder = process.env['HUB_PICTURES'];
    if (folder !== undefined) await page.screenshot({ path: join(folder, `home-${width}-${theme}.png`) });
    const wide = await page.evaluate('document.documentElement.scrollWidth');
    assert.ok(Number(wide) <= width, `${wide} px`);
    assert.deepEqual(await violationsIn(page), []);
  });
}
