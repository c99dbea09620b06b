import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { everyFrom, scenesFrom } from '../../src/hub-ui/map_page/wall/scenes.ts';
import { violationsIn } from '../support/axe.ts';
import { openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { createSite, DOCK, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

test('The URL selects scenes, their order and their duration', () => {
  assert.deepEqual(scenesFrom(undefined), ['map', 'numbers', 'alerts']);
  assert.deepEqual(scenesFrom('alerts,films,map'), ['alerts', 'map']);
  assert.deepEqual(scenesFrom('films'), ['map', 'numbers', 'alerts']);
  assert.deepEqual(['30', '1', 'often', undefined].map(everyFrom), [30_000, 5_000, 20_000, 20_000]);
});

/** Opens the wall view of a new site with one alert, which shows these scenes for 5 s each. */
async function openWall(t: TestContext, scenes: string): Promise<Page> {
  const hub = await openUiHub(t, {}, { folder: temporaryFolder() });
  await createSite(hub);
  await hub.post('/alerts/rules', { name: 'In the dock', kind: 'entry', severity: 'critical', fence_ids: [DOCK.id] });
  await hub.settle();
  await move(hub, 'tag-1', [20, 20]);
  const url = `${hub.origin}/hub-ui/?wall=1&scenes=${scenes}&every=5`;
  return openPage(t, url, { width: 1920, height: 1080 });
}

const numbersOf = (page: Page) => page.getByRole('region', { name: 'Numbers' });
const alertsOf = (page: Page) => page.getByRole('region', { name: 'Open alerts' });

test('The numbers of the wall view are legible from 5 m', { skip }, async (t) => {
  const page = await openWall(t, 'numbers');
  const numbers = numbersOf(page);
  await numbers.getByText('Fullest: Dock A').waitFor();
  await numbers.getByText('Open alerts: Critical').waitFor();
  const digits = numbers.locator('dd').first();
  const size = await digits.evaluate((element) => getComputedStyle(element).fontSize);
  assert.ok(Number.parseFloat(size) > 100, `the digits have ${size}`);
  assert.deepEqual(await violationsIn(page), []);
});

test('The alerts of the wall view are groups, and it has no button', { skip }, async (t) => {
  const page = await openWall(t, 'alerts');
  await alertsOf(page).getByText('In the dock · Dock A').waitFor();
  assert.equal(await page.getByRole('button').count(), 0);
  assert.deepEqual(await violationsIn(page), []);
});

test('The scenes of the wall view follow each other until Escape ends it', { skip }, async (t) => {
  const page = await openWall(t, 'numbers,alerts');
  await numbersOf(page).waitFor();
  await alertsOf(page).waitFor();
  await numbersOf(page).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Wall view' }).waitFor();
});
