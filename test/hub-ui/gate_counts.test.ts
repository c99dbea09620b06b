import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sideOf } from '../../src/hub-ui/map/plane/label_position.ts';
import { colorsAt, openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { createSite, earth, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;
const FENCE_COLOR = [0x1c, 0x5f, 0xb8];
/** Along the x axis of the hall, which points up on the map: the right side is in the direction of negative y. */
const GATE = {
  name: 'Gate',
  crs: 'EPSG:4326',
  region: { type: 'LineString', coordinates: [earth(10, 20), earth(30, 20)] },
};

test("The map shows today's crossings of a gate on both sides of its line, if that layer is on", {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const { body } = await hub.post('/fences', GATE);
  const page = await openPage(t, `${hub.origin}/hub-ui/?at=${earth(20, 20)}&z=20&layers=fences`);
  const box = await page.getByRole('region', { name: 'Live map' }).boundingBox();
  assert.ok(box !== null);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const isColored = async (dx: number): Promise<boolean> => {
    const colors = await Promise.all([-1, 0, 1].map((by) => colorsAt(page, [x + dx + by, y])));
    // The area of a fence has the same color, almost transparent.
    return colors.flat().some(([r = 0, g = 0, b = 0, alpha = 0]) => {
      return alpha > 150 && FENCE_COLOR.every((part, i) => Math.abs(part - ([r, g, b][i] ?? 0)) < 30);
    });
  };
  // The line itself is there by default, without arrows.
  await untilHolds(page, () => isColored(0));
  assert.deepEqual([await isColored(-12), await isColored(12)], [false, false]);
  await page.getByRole('button', { name: 'Layers' }).click();
  await page.getByLabel('Crossings of gates today').check();
  await untilHolds(page, async () => (await isColored(-12)) && (await isColored(12)));

  const counted = page.waitForResponse(async (response) => {
    if (!response.url().includes(`/fences/${body.id}/crossings`)) return false;
    const { left, right } = (await response.json()) as { readonly left: number; readonly right: number };
    return left === 0 && right === 1;
  });
  for (const place of [
    [20, 25],
    [20, 15],
  ] as const)
    await move(hub, 'tag-1', place);
  await counted;
});

test('The sides of a line are those of a walk along it', () => {
  const north = [
    [0, 0],
    [0, 10],
  ];
  assert.deepEqual(sideOf(north, 'left').from(3), [-3, 5]);
  assert.deepEqual(sideOf(north, 'right').from(3), [3, 5]);
  assert.deepEqual([sideOf(north, 'left').bearing, sideOf(north, 'right').bearing], [-Math.PI / 2, Math.PI / 2]);
  // The middle is in the last segment, which leads west.
  const bent = [
    [0, 0],
    [0, 4],
    [-8, 4],
  ];
  assert.deepEqual(sideOf(bent, 'left').from(1), [-2, 3]);
  assert.deepEqual(sideOf(bent, 'right').from(1), [-2, 5]);
  // Points that repeat have no direction.
  assert.deepEqual(
    sideOf(
      [
        [1, 1],
        [1, 1],
        [1, 3],
      ],
      'left',
    ).from(1),
    [0, 2],
  );
});
