import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { thresholdsOfNumbers } from '../../src/hub-ui/history/heat.ts';
import { csvOfQuality } from '../../src/hub-ui/history/quality_cells.ts';
import { violationsIn } from '../support/axe.ts';
import { colorsAt, openPage, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { at, openRecordedHub } from './history_site.ts';
import { earth } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

for (const [values, least, expected] of [
  [[], 1, [2]],
  [[1, 1], 1, [2]],
  [[1, 9], 1, [2, 5]],
  [[3, 100, 1_000], 1, [10, 20, 100, 200]],
  [[0.3, 0.32], 0.01, [0.2]],
  [[0.1, 20], 0.01, [0.2, 1, 2, 5]],
] as const) {
  test(`The steps of ${values.join(', ') || 'nothing'} are ${expected.join(', ')}`, () => {
    assert.deepEqual(thresholdsOfNumbers(values, least), expected);
  });
}

test('The CSV file of the quality of positions has all figures of each cell', () => {
  const cell = { longitude: 8.5, latitude: 50, positions: 12, gaps: 1, jumps: 0 };
  const file = csvOfQuality(
    [
      { ...cell, accuracy: 0.31 },
      { ...cell, accuracy: null },
    ],
    2,
  );
  assert.deepEqual(file.split('\r\n'), [
    'longitude,latitude,cell_meters,positions,accuracy,gaps,jumps',
    '8.5,50,2,12,0.31,1,0',
    '8.5,50,2,12,,1,0',
    '',
  ]);
});

test('The heat map shows where positions have gaps, and says that none has an accuracy', { skip }, async (t) => {
  const hub = await openRecordedHub(t);
  const page = await openPage(t, 'about:blank', { timezoneId: 'UTC' });
  const [longitude, latitude] = earth(50, 20);
  const view = `at=${longitude},${latitude}&z=19&layers=heat`;
  await page.goto(`${hub.origin}/hub-ui/?${view}&t=${at(600)}&until=${at(600)}&span=600`);
  const legend = page.getByRole('region', { name: 'Heat map' });
  await legend.getByText('or more').waitFor();
  await legend.getByLabel('Color by').selectOption('Gaps of more than 5 s');
  await legend.getByText(/^Gaps per .* square$/).waitFor();
  await legend.getByText('or more').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('heat'), 'gaps');
  assert.equal(await legend.getByLabel('Compare with').count(), 0, 'only times are compared');
  assert.deepEqual(await violationsIn(page), []);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as CSV' }).click(),
  ]);
  const [head = '', ...lines] = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
  assert.equal(head, 'longitude,latitude,cell_meters,positions,accuracy,gaps,jumps');
  const found = lines.map((line) => line.split(',').map(Number));
  const [east = 0, north = 0] = found.find((values) => (values[5] ?? 0) > 0) ?? assert.fail(`${lines}`);
  const map =
    (await page.getByRole('region', { name: 'Live map', exact: true }).boundingBox()) ?? assert.fail('no map');
  // A pixel is 0.1915 m.
  const [right = 0, down = 0] = [(east - longitude) * 71_390, (latitude - north) * 111_200].map(
    (meters) => meters / 0.1915,
  );
  const cell = [map.x + map.width / 2 + right, map.y + map.height / 2 + down] as const;
  await untilHolds(page, async () => (await colorsAt(page, cell)).some(([red, , blue]) => red > blue + 20));

  // An unknown name in the URL means time, like none.
  await page.goto(page.url().replace('heat=gaps', 'heat=constructor'));
  await legend.getByLabel('Compare with').waitFor();
  await legend.getByLabel('Color by').selectOption('Accuracy');
  await legend.getByText('No position here has a value for this time.').waitFor();
  await legend.getByLabel('Color by').selectOption('Time spent');
  await legend.getByText('or more').waitFor();
  await legend.getByLabel('Compare with').waitFor();
});
