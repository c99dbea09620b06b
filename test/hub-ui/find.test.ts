import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import { createSite, earth, HALL, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;
const CARTS = [0, 1, 2, 3];
const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Find here' });

/** Carts along the x axis of the hall, 4 m apart, the first one in the center of the view. */
async function createCarts(hub: TestHub): Promise<void> {
  await createSite(hub);
  for (const n of CARTS) {
    await hub.post('/trackables', { type: 'virtual', name: `Cart ${n}`, location_providers: [`cart-${n}`] });
    await move(hub, `cart-${n}`, [50 + 4 * n, 20], { accuracy: n });
  }
}

/** Opens the map with the tool. At zoom 21 a meter is about 21 pixels. */
async function openTool(page: Page): Promise<readonly [x: number, y: number]> {
  await page.locator('[data-counts]', { hasText: '4 trackables' }).waitFor();
  await page.getByRole('button', { name: 'Find here' }).click();
  await panelOf(page).waitFor();
  const box = await page.getByRole('region', { name: 'Live map' }).boundingBox();
  assert.ok(box !== null);
  return [box.x + box.width / 2, box.y + box.height / 2];
}

function atCarts(hub: TestHub, more = ''): string {
  return `${hub.origin}/hub-ui/?at=${earth(50, 20)}&z=21&layers=trackables${more}`;
}

async function rows(page: Page): Promise<readonly string[]> {
  const texts = await panelOf(page).getByRole('listitem').allInnerTexts();
  return texts.map((text) => text.replaceAll(/\s+/g, ' '));
}

async function untilFound(page: Page, expected: readonly RegExp[]): Promise<void> {
  await untilHolds(page, async () => {
    const found = await rows(page);
    return found.length === expected.length && expected.every((pattern, i) => pattern.test(found[i] ?? ''));
  });
}

test('A click finds the nearest objects with their distances, while they move', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createCarts(hub);
  const page = await openPage(t, atCarts(hub));
  const [x, y] = await openTool(page);
  await panelOf(page).getByText('Click the map to find nearby objects.').waitFor();
  await page.mouse.click(x, y);
  const first = /^1 Cart 0 0(\.0\d)? m$/;
  await untilFound(page, [
    first,
    /^2 Cart 1 [34](\.\d+)? m$/,
    /^3 Cart 2 [78](\.\d+)? m$/,
    /^4 Cart 3 1[12](\.\d+)? m$/,
  ]);
  await panelOf(page).getByText('4 trackables').waitFor();

  // The click selects nothing.
  assert.equal(new URL(page.url()).searchParams.get('sel'), null);
  await panelOf(page).getByLabel('At most').fill('2');
  await untilFound(page, [first, /Cart 1/]);
  await panelOf(page).getByText('2 trackables, and more').waitFor();
  await panelOf(page).getByLabel('At most').fill('');
  await panelOf(page).getByLabel('Within').fill('6');
  await untilFound(page, [first, /Cart 1/]);
  await move(hub, 'cart-3', [50, 22], { accuracy: 3 });
  await untilFound(page, [first, /^2 Cart 3 [12](\.\d+)? m$/, /^3 Cart 1/]);

  await panelOf(page).getByRole('button', { name: 'Providers' }).click();
  await untilFound(page, [/^1 cart-0/, /^2 cart-3/, /^3 cart-1/]);
  await panelOf(page).getByRole('button', { name: 'Trackables' }).click();
  await untilFound(page, [/Cart 0/, /Cart 3/, /Cart 1/]);
  await panelOf(page).getByRole('button', { name: 'Cart 3' }).click();
  await page.getByRole('complementary', { name: 'Selected trackable' }).getByText('Cart 3').waitFor();
  await page.keyboard.press('Escape');
  await panelOf(page).waitFor({ state: 'detached' });
});

test('A drawn area finds all that is inside, also in the meters of a zone', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createCarts(hub);
  for (const [what, url] of [
    ['geographic', atCarts(hub)],
    ['local', `${hub.origin}/hub-ui/?zone=${HALL.id}&at=50,20&z=12&layers=trackables`],
  ] as const) {
    const page = await openPage(t, url);
    const [x, y] = await openTool(page);
    await panelOf(page).getByRole('button', { name: 'Rectangle' }).click();
    await panelOf(page).getByText('Draw around an area of the map.').waitFor();
    // The x axis of the hall points up on the earth, and to the right in the hall. Each contains the first two carts.
    const scale = await pixelsPerMeter(page);
    const [toX, toY] = what === 'local' ? [6 * scale, 2 * scale] : [2 * scale, -6 * scale];
    await page.mouse.move(x - (what === 'local' ? scale : 2 * scale), y + (what === 'local' ? -2 * scale : scale));
    await page.mouse.down();
    await page.mouse.move(x + toX / 2, y + toY / 2);
    await page.mouse.move(x + toX, y + toY);
    await page.mouse.up();
    await untilFound(page, [/^1 Cart 0$/, /^2 Cart 1$/]);
    await panelOf(page).getByText('2 trackables').waitFor();
    // Another way of naming the place removes it.
    await panelOf(page).getByRole('button', { name: 'Point' }).click();
    await untilFound(page, []);
  }
});

/** From the scale bar of the map. */
async function pixelsPerMeter(page: Page): Promise<number> {
  const bar = page.locator('[data-scale] > span').first();
  const width = (await bar.boundingBox())?.width ?? 0;
  const text = await page.locator('[data-scale] > span').nth(1).innerText();
  return width / (Number.parseFloat(text) * (text.endsWith(' cm') ? 0.01 : 1));
}

test('A condition limits the objects, and an invalid one is marked at its column', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createCarts(hub);
  for (const { locale, find, name, problem } of [
    { locale: 'en-US', find: 'Find here', name: 'Condition', problem: /^Expected .* at column 12/ },
    { locale: 'de-DE', find: 'Hier suchen', name: 'Bedingung', problem: /^An Stelle 12 wird .* erwartet/ },
    { locale: 'fr-FR', find: 'Rechercher ici', name: 'Condition', problem: /^Il faut .* à la colonne 12/ },
    { locale: 'es-MX', find: 'Buscar aquí', name: 'Condición', problem: /^Se esperaba .* en la columna 12/ },
  ] as const) {
    const page = await openPage(t, atCarts(hub), { locale, mayFail: true });
    await page.locator('[data-counts]', { hasText: '4' }).waitFor();
    await page.getByRole('button', { name: find }).click();
    const panel = page.getByRole('complementary', { name: find });
    await panel.waitFor();
    const box = await page.locator('[data-map]').boundingBox();
    assert.ok(box !== null);
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    const condition = panel.getByLabel(name);
    await condition.fill('accuracy > 1');
    await untilHolds(page, async () => (await panel.getByRole('listitem').count()) === 2);
    await condition.fill('accuracy < AND floor = 0');
    await panel.getByRole('alert').getByText(problem).waitFor();
    assert.equal(await condition.getAttribute('aria-invalid'), 'true');
    assert.equal(await panel.locator('mark').innerText(), 'A');
    assert.equal(await panel.getByRole('listitem').count(), 0);
    await condition.fill('accuracy = 0');
    await untilHolds(page, async () => (await panel.getByRole('listitem').count()) === 1);
    assert.equal(await panel.locator('mark').count(), 0);
  }
});
