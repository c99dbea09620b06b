import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { TestMap } from './setup_map.ts';
import { CELLAR, createSite, DOCK, earth, FORKLIFT, HALL, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

async function boxOf(locator: Locator): Promise<Box> {
  const box = (await locator.boundingBox()) ?? assert.fail(`${locator} has no size`);
  return { left: box.x, top: box.y, right: box.x + box.width, bottom: box.y + box.height };
}

function overlap(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

/** How far the page can be scrolled sideways, in pixels. */
function sideways(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

test('The clock of the wall view has 24 hours and fits its card, which has no button', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  for (const [width, height] of [
    [1_280, 800],
    [2_560, 1_440],
    [390, 844],
  ] as const) {
    for (const locale of ['en-US', 'hi-IN']) {
      const page = await openPage(t, `${hub.origin}/hub-ui/?wall=1`, { width, height, locale });
      const wall = page.getByRole('complementary', { name: 'Wall' });
      const [right, end] = await wall.getByRole('time').evaluate((time) => {
        const range = document.createRange();
        range.selectNodeContents(time);
        const { right } = range.getBoundingClientRect();
        return [right, time.parentElement?.getBoundingClientRect().right ?? 0] as const;
      });
      const shown = `${await wall.getByRole('time').textContent()} in ${width} pixels`;
      assert.ok(right <= end, `${shown} ends at ${right}, its card at ${end}`);
      assert.match(shown, /^\d\d:\d\d:\d\d in /);
      assert.equal(await wall.getByRole('button').count(), 0);
      await page.close();
    }
  }
});

test('The times of events stay on one line with 12 hours', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/events`);
  await page.getByText('Nothing has happened yet').waitFor();
  await move(hub, 'tag-1', [20, 20]);
  const time = page.getByRole('list', { name: 'Events' }).getByRole('time').first();
  await time.getByText(/[AP]M$/).waitFor();
  const { top, bottom } = await boxOf(time);
  assert.ok(bottom - top < 28, `it is ${bottom - top} pixels high`);
});

test('Labels of chart axes neither overlap nor repeat, also without values', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, 'about:blank');
  // Charts are canvases: their labels are visible only as they are drawn.
  await page.addInitScript(() => {
    const labels: unknown[] = [];
    Object.assign(globalThis, { drawnLabels: labels });
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      const half = this.measureText(text).width / 2;
      labels.push({ canvas: [...document.querySelectorAll('canvas')].indexOf(this.canvas), text, x, y, half });
      fillText.call(this, text, x, y);
    };
  });
  await page.goto(`${hub.origin}/hub-ui/operations`);
  const read = async () =>
    (await page.evaluate('drawnLabels')) as { canvas: number; text: string; x: number; y: number; half: number }[];
  const drawn = async () => (await read()).filter(({ canvas }) => canvas === 0).map(({ text }) => text);
  await untilHolds(page, async () => (await drawn()).includes('1/s'));
  const all = await drawn();
  assert.ok(!all.includes('0.0/s'), `${all}`);
  const clocks = (await read()).filter(({ canvas, text }) => canvas === 0 && /[AP]M$/.test(text));
  assert.ok(clocks.length > 2);
  for (const [i, one] of clocks.entries()) {
    const next = clocks[i + 1];
    if (next === undefined || next.x <= one.x || next.y !== one.y) continue;
    assert.ok(one.x + one.half < next.x - next.half, `${one.text} covers ${next.text}`);
  }
});

test('At a zoom of 400 % nothing scrolls sideways, and the floors cover no tools', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  for (let floor = 1; floor < 6; floor++) await hub.post('/fences', { ...CELLAR, id: undefined, name: 'F', floor });
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/new`, { width: 320, height: 256 });
  await page.getByRole('button', { name: 'Create zone' }).waitFor();
  assert.equal(await sideways(page), 0);
  await page.goto(`${hub.origin}/hub-ui/?floor=0`);
  const floors = page.getByRole('group', { name: 'Floor' });
  await floors.getByRole('button', { name: 'Floor 5' }).waitFor();
  assert.equal(await sideways(page), 0);
  const side = await boxOf(floors);
  for (const tool of ['Layers', 'Wall view']) {
    assert.ok(!overlap(side, await boxOf(page.getByRole('button', { name: tool }))), tool);
  }
  assert.ok(!overlap(side, await boxOf(page.getByRole('button', { name: 'Zoom in' }))));
});

test('The toolbar of the map fits a phone', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/zones', { ...HALL, name: 'A hall with a long name' });
  for (const width of [320, 360]) {
    const page = await openPage(t, `${hub.origin}/hub-ui/`, { width });
    const view = await boxOf(page.getByRole('combobox', { name: 'View' }));
    const last = await boxOf(page.getByRole('button', { name: 'Wall view' }));
    assert.ok(view.left >= 0 && last.right <= width, `from ${view.left} to ${last.right} of ${width}`);
    await page.close();
  }
});

for (const [width, height] of [
  [1_280, 800],
  [390, 844],
] as const) {
  test(`A selected fence lies next to its panel, ${width} pixels wide, also after a reload`, { skip }, async (t) => {
    const hub = await openUiHub(t);
    await createSite(hub);
    const page = await openPage(t, `${hub.origin}/hub-ui/?sel=fences:${DOCK.id}`, { width, height });
    const panel = page.getByRole('complementary', { name: 'Selected fence' });
    await panel.getByText('Providers inside').waitFor();
    await untilHolds(page, async () => page.url().includes('at='));
    const map = new TestMap(page, 'Live map');
    const box = await boxOf(panel);
    const first = await map.pixelOf(earth(10, 10));
    const last = await map.pixelOf(earth(30, 30));
    for (const [x, y] of [first, last]) {
      const isFree = x > 0 && y > 0 && (width < 720 ? y < box.top : x < box.left);
      assert.ok(isFree, `the corner at ${x}, ${y} is below the panel at ${box.left}, ${box.top}`);
    }
    await page.reload();
    await panel.getByText('Providers inside').waitFor();
    const [x, y] = await map.pixelOf(earth(10, 10));
    assert.ok(Math.hypot(x - first[0], y - first[1]) < 4, `${x}, ${y} was at ${first}`);
  });
}

test('A lasso inside a building selects what it contains, but not the building', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const center = { ...DOCK, id: '9d2c4f7e-52b6-4c0b-8a0e-3a1f6a1de009', name: 'Middle' };
  await hub.post('/fences', { ...center, region: { type: 'Polygon', coordinates: [[...square(45, 25, 10)]] } });
  const page = await openPage(t, `${hub.origin}/hub-ui/?at=${earth(50, 30)}&z=20`);
  await page.getByText(/^0 trackables/).waitFor();
  await page.getByRole('button', { name: 'Select several' }).click();
  const map = new TestMap(page, 'Live map');
  const pixels: [number, number][] = [];
  for (const at of [earth(40, 20), earth(60, 20), earth(60, 40), earth(40, 40)]) pixels.push(await map.pixelOf(at));
  await page.mouse.move(...(pixels[0] ?? [0, 0]));
  await page.mouse.down();
  for (const pixel of pixels.slice(1)) await page.mouse.move(...pixel, { steps: 5 });
  await page.mouse.up();
  const chosen = page.getByRole('region', { name: 'Selected on the map' });
  await chosen.getByText('2 fences').waitFor();
  assert.equal(await chosen.getByText('1 zone').count(), 0);
});

function square(x: number, y: number, side: number): readonly (readonly [number, number])[] {
  return [
    [x, y],
    [x + side, y],
    [x + side, y + side],
    [x, y + side],
    [x, y],
  ];
}

test('After choosing a plan, the form that places it is in view', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 40"><rect width="90" height="30"/></svg>';
  const plan = { name: 'plan.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(svg) };
  for (const [width, seen] of [
    [1_280, 'Place image'],
    [390, 'Rotation'],
  ] as const) {
    const page = await openPage(t, `${hub.origin}/hub-ui/zones/new`, { width });
    await page.getByLabel('Image of the floor plan').setInputFiles(plan);
    const last =
      width < 500
        ? page.getByRole('region', { name: 'Floor plan' }).getByLabel(seen)
        : page.getByRole('button', { name: seen });
    const first = page.getByLabel('Longitude of the center');
    await first.waitFor();
    const form = await boxOf(page.locator('[data-editor]'));
    await untilHolds(page, async () => (await boxOf(last)).bottom <= form.bottom);
    const { top } = await boxOf(first);
    assert.ok(top >= form.top, `${top} is above the form at ${form.top}`);
    await page.close();
  }
});

test('An import names a row in one way, and damaged files in its own words', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/trackables`, { mayFail: true });
  await page.getByRole('button', { name: 'Import' }).click();
  const dialog = page.getByRole('dialog');
  const open = (name: string, text: string): Promise<void> =>
    page.getByLabel('File to import').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  for (const [text, message] of [
    ['{"a": 1\n "b": 2}', 'The file is not JSON: line 2 is invalid'],
    ['{"a": [1, 2', 'The file is not JSON: it ends too early'],
    ['Hall 3', 'The file is not JSON'],
  ] as const) {
    await open('site.json', text);
    await dialog.getByText(`${message}.`, { exact: true }).waitFor();
  }
  await open('carts.csv', `id,name,radius\n${FORKLIFT.id},Cart 1,-4\ncart-2,Cart 2,wide\n`);
  await dialog.getByRole('button', { name: 'Compare with the hub' }).click();
  await dialog.getByRole('list', { name: 'Problems' }).getByText('Row 2, Cart 1, Radius:').waitFor();
  await dialog.getByRole('list', { name: 'Notes' }).getByText('Row 3, Cart 2:').first().waitFor();
});

test('A visit of a room within the visit of its building is no movement', { skip }, async (t) => {
  const hub = await openUiHub(t, { history: true, history_flush_interval: 600_000 });
  await createSite(hub);
  const at = (name: string, x: number, y: number, side: number) => {
    const region = { type: 'Polygon', coordinates: [square(x, y, side)] };
    return { ...DOCK, id: undefined, name, region };
  };
  await hub.post('/fences', at('Building', 0, 0, 60));
  await hub.post('/fences', at('Room', 40, 40, 15));
  const startMs = Date.now() - 60_000;
  for (const [i, [x, y]] of (
    [
      [80, 58],
      [20, 20],
      [5, 50],
      [45, 45],
      [80, 58],
    ] as const
  ).entries()) {
    const timestamp_generated = new Date(startMs + i * 5_000).toISOString();
    await move(hub, 'tag-1', [x, y], { timestamp_generated });
  }
  await hub.settle();
  const page = await openPage(t, `${hub.origin}/hub-ui/flows`);
  const table = page.getByRole('region', { name: 'Flow matrix' });
  await table.getByRole('row', { name: /^Dock A/ }).waitFor();
  assert.deepEqual(await table.getByRole('rowheader').allTextContents(), ['Dock A', 'Room', 'All']);
  const [card, box] = [await boxOf(page.getByRole('region', { name: 'From fence to fence' })), await boxOf(table)];
  assert.ok(box.right <= card.right && box.bottom <= card.bottom);
  const isCut = await table.evaluate((element) => element.scrollHeight > element.clientHeight);
  assert.equal(isCut, false);
});
