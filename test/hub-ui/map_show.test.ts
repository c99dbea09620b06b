import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { colorsAt, openPage, openUiHub, PIXELS_OF, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { openLine } from '../support/line.ts';
import type { TestHub } from '../support/running_hub.ts';
import { createSite, earth, FORKLIFT, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

function mapAt(hub: TestHub, place: readonly [number, number], more: string): string {
  return `${hub.origin}/hub-ui/?at=${earth(...place)}${more}`;
}

async function middle(page: Page): Promise<[number, number]> {
  const box = await page.getByRole('region', { name: 'Live map' }).boundingBox();
  assert.ok(box !== null);
  return [box.x + box.width / 2, box.y + box.height / 2];
}

function counts(page: Page, text: string | RegExp): Promise<void> {
  return page.locator('[data-counts]', { hasText: text }).waitFor();
}

/** A query parameter of a URL. */
function param(page: Page, name: string): string | null {
  return new URL(page.url()).searchParams.get(name);
}

async function createCarts(hub: TestHub, owners: readonly (string | undefined)[]): Promise<void> {
  for (const [n, owner] of owners.entries()) {
    const properties = owner === undefined ? {} : { owner };
    const location_providers = [`cart-${n}`];
    await hub.post('/trackables', { type: 'virtual', name: `Cart ${n}`, location_providers, properties });
    await move(hub, `cart-${n}`, [60 + 4 * n, 20]);
  }
}

/** Whether a layer has approximately this color within some pixels of a point. */
async function isThere(page: Page, [x, y]: readonly [number, number], wanted: readonly number[]): Promise<boolean> {
  const found = await colorsAt(page, [x, y]);
  return found.some((color) => wanted.every((part, at) => Math.abs(part - (color[at] ?? 0)) < 24));
}

/** Number of dark pixels that the layers of the map have in a box of the page: left, top, width and height. */
async function inkIn(page: Page, [left, top, width, height]: readonly number[]): Promise<number> {
  return page.evaluate(`[...document.querySelectorAll('[data-map] canvas')].reduce((sum, canvas) => {
    const box = canvas.getBoundingClientRect();
    const data = ${PIXELS_OF}(canvas, ${left} - box.left, ${top} - box.top, ${width}, ${height});
    const pixels = Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 4));
    return sum + pixels.filter(([r, g, b, alpha]) => r < 90 && g < 90 && b < 90 && alpha > 120).length;
  }, 0)`);
}

test('Names are shown with enough room, wherever they fit, or not at all', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [50, 20]);
  const page = await openPage(t, mapAt(hub, [50, 20], '&z=20&layers=trackables,labels'));
  await counts(page, '1 trackable');
  const [x, y] = await middle(page);
  const inked = (): Promise<number> => inkIn(page, [x + 14, y - 6, 50, 12]);
  await untilHolds(page, async () => (await inked()) > 40);
  await page.getByRole('button', { name: 'Layers' }).click();
  const names = page.getByRole('group', { name: 'Names' });
  await names.getByRole('button', { name: 'Off' }).click();
  await untilHolds(page, async () => (await inked()) === 0);
  await names.getByRole('button', { name: 'All that fit' }).click();
  await untilHolds(page, async () => (await inked()) > 40);
  assert.deepEqual([param(page, 'labels'), param(page, 'layers')], ['all', 'trackables,labels']);
});

test('Objects have colors by a property, which the legend explains with counts', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await createCarts(hub, ['Kim', 'Kim', 'Lee', undefined]);
  await move(hub, 'tag-1', [20, 20]);
  const page = await openPage(t, mapAt(hub, [60, 20], '&z=20&layers=trackables'));
  await counts(page, '5 trackables');
  await page.getByRole('button', { name: 'Layers' }).click();
  await page.getByLabel('Color by').selectOption('Property “owner”');
  await page.keyboard.press('Escape');
  const legend = page.getByRole('region', { name: 'Trackables by “owner”' });
  await legend.getByText('Kim').waitFor();
  const rows = async (): Promise<string> => (await legend.locator('dl').innerText()).replace(/\s+/g, ' ');
  await untilHolds(page, async () => (await rows()) === 'Kim 2 Lee 1 Without a value 2');
  const [x, y] = await middle(page);
  await untilHolds(page, () => isThere(page, [x, y], [0x6c, 0x79, 0xfd]));
  await hub.put(`/trackables/${FORKLIFT.id}`, { ...FORKLIFT, properties: { owner: 'Lee' } });
  await untilHolds(page, async () => (await rows()) === 'Kim 2 Lee 2 Without a value 1');

  // The URL contains the view.
  assert.equal(param(page, 'color'), 'property:owner');
  await page.reload();
  await untilHolds(page, async () => (await rows()).startsWith('Kim 2'));
  await page.getByRole('button', { name: 'Layers' }).click();
  await page.getByLabel('Color by').selectOption('Type');
  await page.getByRole('region', { name: 'Trackables by type' }).getByText('virtual').waitFor();
  await page.getByLabel('Color by').selectOption('State');
  await untilHolds(page, () => isThere(page, [x, y], [0x0b, 0x6e, 0x66]));
  assert.equal(param(page, 'color'), null);
});

test('A followed object stays in the center until the user pans or presses Escape', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  const page = await openPage(t, mapAt(hub, [20, 20], `&z=20&sel=trackables:${FORKLIFT.id}&layers=trackables`));
  await counts(page, '1 trackable');
  const chip = page.getByText('Following Forklift 7');
  const isAt = async (x: number, y: number): Promise<void> => {
    const [longitude] = earth(x, y);
    await untilHolds(page, async () => Math.abs(Number.parseFloat(param(page, 'at') ?? '') - longitude) < 1e-6);
  };
  await page.keyboard.press('f');
  await chip.waitFor();
  for (const x of [21, 23, 25, 27]) await move(hub, 'tag-1', [x, 20 + x]);
  await isAt(27, 47);
  const [center, y] = await middle(page);
  // The object is in the middle of the part that its panel leaves free.
  const x = center - 196;
  // Its trail: to the southeast, as the x axis of the hall points north and its y axis west.
  await untilHolds(page, async () => (await colorsAt(page, [x + 22, y + 22])).length > 0);
  assert.equal(param(page, 'follow'), '1');

  await page.getByRole('region', { name: 'Live map' }).focus();
  await page.keyboard.press('Escape');
  await chip.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Follow' }).click();
  await chip.waitFor();
  await page.mouse.move(x - 200, y - 100);
  await page.mouse.down();
  await page.mouse.move(x - 150, y - 50, { steps: 4 });
  await page.mouse.up();
  await chip.waitFor({ state: 'detached' });
  assert.equal(param(page, 'follow'), null);

  await page.goto(mapAt(hub, [20, 20], `&z=20&sel=trackables:${FORKLIFT.id}&follow=1`));
  await chip.waitFor();
  await page.getByRole('button', { name: 'Stop following' }).click();
  await chip.waitFor({ state: 'detached' });
});

test('Wall mode shows the time and the number of objects in each fence, without navigation, until Escape', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [50, 20]);
  const line = await openLine(t, hub.hub.port);
  const address = mapAt(hub, [20, 20], '&z=20').replace(hub.origin, `http://127.0.0.1:${line.port}`);
  const page = await openPage(t, address, { mayFail: true });
  await counts(page, '1 trackable');
  await page.getByRole('button', { name: 'Wall view' }).click();
  const fences = page.getByRole('region', { name: 'Inside fences now' });
  const rows = async (): Promise<string> => (await fences.getByRole('list').innerText()).replace(/\s+/g, ' ');
  await untilHolds(page, async () => (await rows()) === 'Cellar 0 Dock A 0');
  assert.equal(await page.getByRole('navigation').filter({ visible: true }).count(), 0);
  assert.equal(await page.getByRole('combobox').count(), 0);
  assert.equal(await page.evaluate('document.fullscreenElement !== null'), true);
  assert.match(await page.locator('time').innerText(), /^\d{1,2}:\d\d:\d\d/);
  await move(hub, 'tag-1', [20, 20]);
  await untilHolds(page, async () => (await rows()) === 'Dock A 1 Cellar 0');
  const cursor = () => page.evaluate('document.documentElement.style.cursor');
  await untilHolds(page, async () => (await cursor()) === 'none');
  await page.mouse.move(300, 300);
  await untilHolds(page, async () => (await cursor()) === '');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Wall view' }).waitFor();
  assert.equal(param(page, 'wall'), null);

  // In wall mode, no user is there to press a button after a reconnect.
  await page.getByRole('button', { name: 'Wall view' }).click();
  await untilHolds(page, async () => (await rows()) === 'Dock A 1 Cellar 0');
  line.target = undefined;
  line.cut();
  await page.getByText('Reconnecting').waitFor();
  await move(hub, 'tag-1', [50, 20]);
  line.target = hub.hub.port;
  await page.getByText('Connected').waitFor();
  await untilHolds(page, async () => (await rows()) === 'Cellar 0 Dock A 0');

  // An unattended screen opens the URL, and stays awake until it leaves the view.
  const asked = 'navigator.wakeLock.request = async (what) => { window.awake = what; return { release: ended } };';
  await page.addInitScript(`const ended = async () => { window.awake = 'released' }; ${asked}`);
  await page.goto(`${address}&wall=1`);
  await untilHolds(page, async () => (await rows()) === 'Cellar 0 Dock A 0');
  assert.equal(await page.evaluate('window.awake'), 'screen');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Wall view' }).waitFor();
  assert.equal(await page.evaluate('window.awake'), 'released');
});
