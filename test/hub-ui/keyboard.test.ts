import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { createSite, HALL, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

/** The focused element: its name, and the width of its focus ring. */
async function focused(page: Page): Promise<{ name: string; ring: number }> {
  return page.evaluate(`(() => {
    const { activeElement: element } = document;
    const name = element.getAttribute('aria-label') || element.textContent.trim() || element.tagName;
    return { name, ring: Number.parseFloat(getComputedStyle(element).outlineWidth) };
  })()`);
}

test('Every control of the map page is reachable by Tab, and has a visible focus', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/`);
  await page.getByRole('button', { name: 'Floor -2' }).waitFor();
  const names: string[] = [];
  for (let i = 0; i < 40 && !names.includes('Show everything'); i++) {
    await page.keyboard.press('Tab');
    const { name, ring } = await focused(page);
    assert.ok(ring >= 1, `${name} has a ring of ${ring} px`);
    names.push(name);
  }
  const wanted = ['Skip to content', 'Zones', 'Live map', 'Search the site', 'View', 'Layers', 'Measure', 'Floor -2'];
  for (const name of [...wanted, 'Zoom in', 'Show everything']) assert.ok(names.includes(name), `${name}: ${names}`);
});

test('The map can be panned, measured on and searched by keyboard', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  const page = await openPage(t, `${hub.origin}/hub-ui/?at=8.68,50.11&z=18`);
  const look = (): [number, number, number] => {
    const { searchParams } = new URL(page.url());
    const [x = 0, y = 0] = (searchParams.get('at') ?? '').split(',').map(Number);
    return [x, y, Number(searchParams.get('z'))];
  };
  await page.locator('[data-counts]', { hasText: '1 trackable' }).waitFor();
  await page.getByRole('region', { name: 'Live map', exact: true }).focus();
  await page.keyboard.press('ArrowRight');
  await untilHolds(page, async () => look()[0] > 8.6801);
  await page.keyboard.press('+');
  await untilHolds(page, async () => look()[2] > 18.5);

  await page.getByRole('button', { name: 'Layers' }).press('Enter');
  await page.getByLabel('Names').getByRole('button', { name: 'Off' }).press('Space');
  await untilHolds(page, async () => !page.url().includes('labels') && page.url().includes('layers='));
  await page.keyboard.press('Escape');
  await page.getByLabel('Names').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Measure' }).press('Enter');
  await page.getByText('Click points to measure').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('Click points to measure').waitFor({ state: 'detached' });

  await page.keyboard.press('/');
  await page.keyboard.type('fork');
  await page.getByRole('option', { name: /Forklift 7/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'Selected trackable' }).waitFor();
  await page.getByRole('button', { name: 'Follow' }).press('Enter');
  await untilHolds(page, async () => page.url().includes('follow=1'));
});

test('A fence can be created by keyboard, and an open dialog traps the focus', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/zones', HALL);
  const page = await openPage(t, `${hub.origin}/hub-ui/fences/new`);
  await page.getByLabel('Name', { exact: true }).fill('Gate');
  await page.getByRole('button', { name: 'Enter corners' }).press('Enter');
  await page.getByText('4 corners as numbers').press('Enter');
  await page.getByLabel('Height of corner 4', { exact: true }).fill('2');
  await page.getByRole('button', { name: 'Add corner after 4' }).press('Enter');
  await page.getByText('5 corners as numbers').waitFor();
  await page.keyboard.press('Control+s');
  await page.getByText('Gate is saved').waitFor();
  const [fence] = (await hub.get('/fences/summary')).body;
  assert.equal(fence.region.coordinates[0].length, 6);

  const remove = page.getByRole('button', { name: 'Delete', exact: true });
  await remove.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Delete this fence?' });
  await dialog.waitFor();
  for (let i = 0; i < 6; i++) {
    await page.keyboard.press('Tab');
    // After the last button, the focus moves to the browser, not to the page behind the dialog.
    const isInside = await page.evaluate(
      "document.activeElement === document.body || document.activeElement.closest('dialog') !== null",
    );
    assert.equal(isInside, true);
  }
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await focused(page)).name, 'Delete');
});

test('No page is wider than a narrow screen', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await hub.post('/anchors', { id: 'an-anchor-with-an-id-that-is-longer-than-the-screen-is-wide-0123456789' });
  await move(hub, 'tag-1', [20, 20]);
  const page = await openPage(t, `${hub.origin}/hub-ui/`, { width: 390 });
  const places = ['zones', 'anchors', 'fences', 'trackables', 'providers', 'rules', 'sinks', 'sources', 'links'];
  const open = ['zones/new', `zones/${HALL.id}`, 'anchors/new', 'fences/new', 'trackables/new', 'providers/tag-1'];
  for (const path of [...places, ...open, `?sel=zones:${HALL.id}`]) {
    await page.goto(`${hub.origin}/hub-ui/${path}`);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    assert.equal(await page.evaluate(overflow), 0, path);
  }
});
