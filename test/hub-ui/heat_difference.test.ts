import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  compareCells,
  csvOfCells,
  differenceLevel,
  differenceSteps,
} from '../../src/hub-ui/history/heat_difference.ts';
import { violationsIn } from '../support/axe.ts';
import { colorsAt, openPage, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { at, openRecordedHub } from './history_site.ts';
import { earth } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

const cell = (longitude: number, seconds: number) => ({ longitude, latitude: 50, seconds });

test('Cells of two heat maps are joined by their position; a cell of one has no time in the other', () => {
  const cells = compareCells([cell(8, 60), cell(9, 10)], [cell(9, 30), cell(10, 5)]);
  assert.deepEqual(
    cells.map(({ longitude, seconds, secondsBefore }) => [longitude, seconds, secondsBefore]),
    [
      [8, 60, 0],
      [9, 10, 30],
      [10, 0, 5],
    ],
  );
});

test('Differences have the same steps for more and for less, and small ones count as none', () => {
  const cells = compareCells([cell(8, 3_600), cell(9, 60)], [cell(8, 0), cell(9, 120)]);
  const steps = differenceSteps(cells);
  assert.ok(steps[0] < steps[1], `${steps}`);
  const levels = [-3_600, -steps[0], -1, 0, 1, steps[0], 3_600].map((seconds) => differenceLevel(seconds, steps));
  assert.deepEqual(levels, [0, 1, 2, 2, 2, 3, 4]);
});

test('The CSV file of a difference has both times, and that of a heat map one', () => {
  assert.equal(csvOfCells([cell(8, 1.23456)], 5), 'longitude,latitude,cell_meters,seconds\r\n8,50,5,1.235\r\n');
  const compared = csvOfCells(compareCells([cell(8, 10)], [cell(8, 40)]), 5);
  assert.equal(compared, 'longitude,latitude,cell_meters,seconds,seconds_before,difference\r\n8,50,5,10,40,-30\r\n');
});

/** The forklift stands at the dock in the first ten minutes of the recorded hour, and at the gate in the next. */
async function openHeat(page: Page, origin: string): Promise<void> {
  const [longitude, latitude] = earth(50, 20);
  const view = `at=${longitude},${latitude}&z=19&layers=heat`;
  await page.goto(`${origin}/hub-ui/?${view}&t=${at(600)}&until=${at(600)}&span=600`);
}

async function savedBy(page: Page, name: string): Promise<{ readonly file: string; readonly data: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
  return { file: download.suggestedFilename(), data: await readFile(await download.path()) };
}

test('A user compares two times, sees where there was more and less, and saves it', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await openPage(t, 'about:blank', { timezoneId: 'UTC' });
  await openHeat(page, hub.origin);
  const legend = page.getByRole('region', { name: 'Heat map' });
  await legend.getByText('or more').waitFor();
  await legend.getByLabel('Compare with').selectOption('Another time');
  await legend.getByLabel('Until (UTC)').fill(at(1_200).slice(0, 16));
  await legend
    .getByText(/at least .* more/)
    .first()
    .waitFor();
  assert.equal(new URL(page.url()).searchParams.get('versus'), at(1_200));

  const box =
    (await page.getByRole('region', { name: 'Live map', exact: true }).boundingBox()) ?? assert.fail('no map');
  // The gate is 60 m north of the dock. A pixel is 0.19 m at this zoom.
  const middle = [box.x + box.width / 2, box.y + box.height / 2] as const;
  const colorsNorth = async (meters: number) => colorsAt(page, [middle[0], middle[1] - meters / 0.1915]);
  await untilHolds(page, async () => (await colorsNorth(-30)).some(([red, , blue]) => red > blue + 40));
  await untilHolds(page, async () => (await colorsNorth(30)).some(([red, , blue]) => blue > red + 40));

  const csv = await savedBy(page, 'Save as CSV');
  assert.match(csv.file, /^heat-map-2026-03-01T101000\.csv$/);
  const [head = '', ...lines] = csv.data.toString().trim().split('\r\n');
  assert.equal(head, 'longitude,latitude,cell_meters,seconds,seconds_before,difference');
  const differences = lines.map((line) => Number(line.split(',').at(-1)));
  assert.ok(Math.max(...differences) > 200 && Math.min(...differences) < -200, `${differences}`);
  const png = await savedBy(page, 'Save as PNG');
  assert.equal(png.data.subarray(1, 4).toString(), 'PNG');
  // The map has a caption and a legend below it.
  assert.equal(png.data.readUInt32BE(20), Math.round(box.height) + 48);

  await legend.getByLabel('Compare with').selectOption('Nothing');
  await legend.getByText('or more').waitFor();
});

for (const [theme, width] of [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
] as const) {
  test(`The difference of two times fits ${width} px in the ${theme} theme`, { skip }, async (t) => {
    const hub = await openRecordedHub(t);
    const page = await openPage(t, 'about:blank', { theme, width });
    await openHeat(page, hub.origin);
    await page.goto(`${page.url()}&versus=${at(1_200)}`);
    await page
      .getByText(/at least .* more/)
      .first()
      .waitFor();
    const folder = process.env['HUB_PICTURES'];
    if (folder !== undefined) await page.screenshot({ path: join(folder, `difference-${width}-${theme}.png`) });
    assert.deepEqual(await violationsIn(page), []);
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth')) <= width);
  });
}
