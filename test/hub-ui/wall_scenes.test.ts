import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyFrom, scenesFrom } from '../../src/hub-ui/map_page/wall/scenes.ts';
import { violationsIn } from '../support/axe.ts';
import { openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import { createSite, DOCK, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

test('The URL selects scenes, their order and their duration', () => {
  assert.deepEqual(scenesFrom(undefined), ['map', 'numbers', 'alerts']);
  assert.deepEqual(scenesFrom('alerts,films,map'), ['alerts', 'map']);
  assert.deepEqual(scenesFrom('films'), ['map', 'numbers', 'alerts']);
  assert.deepEqual(['30', '1', 'often', undefined].map(everyFrom), [30_000, 5_000, 20_000, 20_000]);
});

test('The scenes of the wall view follow each other, with numbers and alerts, and without buttons', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await hub.post('/alerts/rules', { name: 'In the dock', kind: 'entry', severity: 'critical', fence_ids: [DOCK.id] });
  await hub.settle();
  await move(hub, 'tag-1', [20, 20]);
  const page = await openPage(t, `${hub.origin}/hub-ui/?wall=1&scenes=numbers,alerts&every=5`, {
    ...{ width: 1920, height: 1080 },
  });
  const numbers = page.getByRole('region', { name: 'Numbers' });
  await numbers.getByText('Fullest: Dock A').waitFor();
  await numbers.getByText('Open alerts: Critical').waitFor();
  assert.deepEqual(await violationsIn(page), []);
  const size = await numbers
    .locator('dd')
    .first()
    .evaluate((digits) => getComputedStyle(digits).fontSize);
  assert.ok(Number.parseFloat(size) > 100, `digits of ${size} are not legible from 5 m`);
  const alerts = page.getByRole('region', { name: 'Open alerts' });
  await alerts.getByText('In the dock · Dock A').waitFor();
  assert.deepEqual(await violationsIn(page), []);
  assert.equal(await page.getByRole('button').count(), 0);
  await numbers.waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Wall view' }).waitFor();
});
