import assert from 'node:assert/strict';
import { readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { colorsAt, openPage, openUiHub, type PageOptions, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import {
  at,
  CROWD,
  CROWD_MS,
  DAMAGED_MS,
  FORKLIFT,
  forkliftAt,
  GATE,
  openRecordedHub,
  recordCrowd,
  START_MS,
} from './history_site.ts';
import { createSite, DOCK, earth, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

/** A page whose map is centered on a position in the hall. */
async function lookAt(t: TestContext, hub: TestHub, place: [number, number], more = '', options: PageOptions = {}) {
  const [longitude, latitude] = earth(...place);
  return openPage(t, `${hub.origin}/hub-ui/?at=${longitude},${latitude}&z=20${more}`, options);
}

function slider(page: Page) {
  return page.getByRole('slider', { name: 'Time shown on the map' });
}

function counts(page: Page, text: string): Promise<void> {
  return page.locator('[data-counts]', { hasText: text }).waitFor();
}

function timeOf(page: Page): number {
  return Date.parse(new URL(page.url()).searchParams.get('t') ?? '');
}

/** Whether the center of the map has the color of a trackable in the light theme. */
async function isInTheMiddle(page: Page): Promise<boolean> {
  const box = await page.getByRole('region', { name: 'Live map', exact: true }).boundingBox();
  assert.ok(box !== null);
  const colors = await colorsAt(page, [box.x + box.width / 2, box.y + box.height / 2]);
  return colors.some(([red, green, blue]) => Math.abs(red - 11) + Math.abs(green - 110) + Math.abs(blue - 102) < 40);
}

test('A hub without history shows no history controls', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(
    t,
    `${hub.origin}/hub-ui/?t=${at(60)}&layers=trackables,fences,heat&sel=fences:${DOCK.id}`,
  );
  await page.getByRole('complementary', { name: 'Selected fence' }).waitFor();
  await page.getByRole('button', { name: 'Layers' }).click();
  await page.getByLabel('Floor plans').waitFor();
  assert.equal(await page.getByLabel('Heat map').count(), 0);
  assert.equal(await page.locator('[data-time-bar]').count(), 0);
  assert.equal(await page.getByRole('link', { name: 'Flows' }).count(), 0);
  await page.goto(`${hub.origin}/hub-ui/flows`);
  await page.getByText('This hub records no history').waitFor();
});

test('History shows past positions, and Live shows current positions', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  await move(hub, 'tag-1', [20, 20]);
  const page = await lookAt(t, hub, [20, 20]);
  await counts(page, '2 trackables');
  const url = page.url();
  await page.getByRole('button', { name: 'History' }).click();
  await slider(page).waitFor();
  assert.ok(Math.abs(Date.now() - 900_000 - timeOf(page)) < 60_000, page.url());
  await page.getByText('Nothing was recorded at this time').waitFor();
  await counts(page, '0 trackables');
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await counts(page, '2 trackables');
  await page.getByRole('button', { name: 'History' }).waitFor();
  assert.equal(page.url(), url);
});

test('A link opens a time, and playback continues until the forklift is at the gate', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await lookAt(t, hub, forkliftAt(660), `&t=${at(450)}&speed=120`);
  await counts(page, '2 trackables');
  assert.equal(await isInTheMiddle(page), false);
  await page.getByRole('button', { name: 'Play' }).click();
  await untilHolds(page, () => isInTheMiddle(page));
  await page.getByRole('button', { name: 'Pause' }).click();
  await untilHolds(page, async () => timeOf(page) >= START_MS + 595_000);
  assert.match((await slider(page).getAttribute('aria-valuetext')) ?? '', /2026/);
});

test('An object is interpolated between two points of its track', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const [longitude, latitude] = earth(...forkliftAt(452));
  // Zoomed in so far that the previous point, 40 cm away, is not in the center.
  const page = await openPage(t, `${hub.origin}/hub-ui/?at=${longitude},${latitude}&z=22&t=${at(452)}`);
  await counts(page, '1 trackable');
  await untilHolds(page, () => isInTheMiddle(page));
  await page.getByRole('region', { name: 'Live map', exact: true }).focus();
  for (let times = 0; times < 3; times++) await page.keyboard.press('-');
  await counts(page, '2 trackables');
});

test('The time bar is operated by keyboard', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await lookAt(t, hub, forkliftAt(600), `&t=${at(600)}`);
  await counts(page, '2 trackables');
  await slider(page).focus();
  await page.keyboard.press('ArrowRight');
  await untilHolds(page, async () => timeOf(page) === START_MS + 605_000);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await untilHolds(page, async () => timeOf(page) === START_MS + 595_000);
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  await page.keyboard.press('Space');
  await page.getByRole('button', { name: 'Play' }).waitFor();
  await page.keyboard.press('Home');
  const { fromMs, toMs } = { fromMs: START_MS - 1_200_000, toMs: START_MS + 2_400_000 };
  await untilHolds(page, async () => timeOf(page) === fromMs);
  await page.keyboard.press('End');
  await untilHolds(page, async () => timeOf(page) === toMs);
});

test('The time bar can be dragged, and Back returns to the previous time', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await lookAt(t, hub, [20, 20], `&t=${at(0)}`);
  await counts(page, '2 trackables');
  const box = await slider(page).boundingBox();
  assert.ok(box !== null);
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width / 2, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, y, { steps: 5 });
  await page.mouse.up();
  await untilHolds(page, async () => Math.abs(timeOf(page) - START_MS - 360_000) < 60_000);
  const reached = timeOf(page);
  await page.reload();
  await counts(page, '2 trackables');
  assert.equal(timeOf(page), reached);
  await page.goBack();
  await untilHolds(page, async () => timeOf(page) === START_MS);
  await untilHolds(page, async () => (await slider(page).inputValue()) === String(START_MS));
});

test('The time bar moves to a typed time', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await lookAt(t, hub, [20, 20], `&t=${at(0)}`);
  await page.getByTitle('Go to a time').click();
  const input = page.locator('input[type=datetime-local]');
  await input.fill((await input.inputValue()).replace(/:00(:00)?$/, ':10:30'));
  await page.getByRole('button', { name: 'Go', exact: true }).click();
  await untilHolds(page, async () => timeOf(page) === START_MS + 630_000);
  await input.waitFor({ state: 'detached' });
});

test('The panel of a trackable shows its past position and its day, whose fences link to their times', {
  skip,
}, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await lookAt(t, hub, [20, 20], `&t=${at(60)}&sel=trackables:${FORKLIFT.id}`);
  const panel = page.getByRole('complementary', { name: 'Selected trackable' });
  await panel.getByText('Position').waitFor();
  const day = panel.getByRole('region', { name: 'Day' });
  await day
    .getByRole('button', { name: /Dock A/ })
    .first()
    .waitFor();
  await day.getByRole('button', { name: /Gate/ }).click();
  await untilHolds(page, async () => Math.abs(timeOf(page) - START_MS - 550_000) < 20_000);
  await day.getByRole('button', { name: 'Day before' }).click();
  await day.getByText('It was in no fence on this day').waitFor();
});

test('The map does not pan to a trackable without a position at that time', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await lookAt(t, hub, [20, 20], `&t=${at(1_790)}&span=600&sel=trackables:${FORKLIFT.id}&follow=1`);
  await counts(page, '2 trackables');
  const where = () => new URL(page.url()).searchParams.get('at');
  await slider(page).focus();
  await page.keyboard.press('End');
  await counts(page, '0 trackables');
  const before = where();
  const panel = page.getByRole('complementary', { name: 'Selected trackable' });
  await panel.getByText('No position around').waitFor();
  await panel.getByRole('button', { name: 'Go to' }).click();
  await page.getByText('It was not on this map at this time').waitFor();
  assert.equal(where(), before);
});

test('The panel of a fence shows its visits, their duration, and its occupancy', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await lookAt(t, hub, [80, 20], `&t=${at(1_500)}&sel=fences:${GATE.id}`);
  const history = page.getByRole('region', { name: 'History of the fence' });
  await history.getByRole('cell', { name: 'Forklift 7' }).waitFor();
  await history.getByRole('figure', { name: 'Inside, over time' }).waitFor();
  await history.getByText('Median stay').waitFor();
});

test('200 tags on 200 trackables are 200 objects in visits, dwell times, occupancy and flows', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  await recordCrowd(hub);
  const page = await lookAt(
    t,
    hub,
    [80, 20],
    `&t=${at(60, CROWD_MS)}&until=${at(240, CROWD_MS)}&span=600&sel=fences:${GATE.id}`,
  );
  const history = page.getByRole('region', { name: 'History of the fence' });
  await history.getByText(`${CROWD}, by ${CROWD} objects`).waitFor();
  const occupancy = history.getByRole('figure', { name: 'Inside, over time' });
  await occupancy.getByText(`${CROWD}`, { exact: true }).waitFor();
  await page.goto(`${hub.origin}/hub-ui/flows?until=${at(240, CROWD_MS)}&span=600`);
  const flows = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'Dock A' }) });
  await flows.locator('strong').getByText(`${CROWD}`, { exact: true }).waitFor();
});

test('The heat map shows the time spent at each position, and its legend gives the scale', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await lookAt(t, hub, [20, 20], `&t=${at(600)}&layers=fences`);
  await page.getByRole('button', { name: 'Layers' }).click();
  await page.getByLabel('Heat map').check();
  await page.keyboard.press('Escape');
  const legend = page.getByRole('region', { name: 'Heat map' });
  await legend.getByText('or more').waitFor();
  assert.match(page.url(), /heat/);
  const box = await page.getByRole('region', { name: 'Live map', exact: true }).boundingBox();
  assert.ok(box !== null);
  const middle = [box.x + box.width / 2, box.y + box.height / 2] as const;
  const isHot = async (): Promise<boolean> => {
    return (await colorsAt(page, middle)).some(([red, , blue]) => red > blue + 20);
  };
  await untilHolds(page, isHot);
});

test('The flow matrix counts transitions between fences', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/flows?until=${at(3_600)}`);
  const table = page.getByRole('table');
  const row = table.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'Dock A' }) });
  await row.getByRole('cell', { name: /^\d+ ?\d+ min/ }).waitFor();
  await page.getByLabel('Period').selectOption({ label: '10 minutes' });
  await page.getByText('No movements between fences during this time').waitFor();
  assert.match(page.url(), /span=600/);
});

test('An error of a history query is shown, and the query is retried', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/`, { mayFail: true });
  const message = 'from, to: the 24.0 hours between them have too many rows: ask for 2 hours at once';
  const refuse = { status: 400, contentType: 'application/json', body: JSON.stringify({ message }) };
  let isRefused = true;
  for (const path of ['**/analytics/flows?*', '**/history/tracks?*']) {
    await page.route(path, (route) => (isRefused ? route.fulfill(refuse) : route.continue()));
  }
  await page.goto(`${hub.origin}/hub-ui/flows?until=${at(3_600)}`);
  await page.getByRole('alert').getByText('ask for 2 hours at once').waitFor();
  isRefused = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('table').waitFor();
  isRefused = true;
  await page.goto(`${hub.origin}/hub-ui/?t=${at(60)}`);
  await page.getByRole('alert').getByText('ask for 2 hours at once').waitFor();
  isRefused = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await counts(page, '2 trackables');
});

test('A damaged file is reported as missing, and the rest is shown', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const hour = join(hub.folder, 'history', 'motions', 'date=2026-03-02', 'hour=08');
  // Buffered rows are written before the query runs.
  const { status, text } = await hub.get(`/history/tracks?from=${at(0, DAMAGED_MS)}&to=${at(60, DAMAGED_MS)}`);
  assert.equal(status, 200, text);
  for (const name of readdirSync(hour)) truncateSync(join(hour, name), 20);
  const page = await lookAt(t, hub, [20, 20], `&t=${at(30, DAMAGED_MS)}`);
  await page.getByText('Some files of this time cannot be read').waitFor();
});
