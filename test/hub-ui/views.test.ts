import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { createSite } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

test('A map view is saved under a name, opened from the menu, and set as the start view', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const look = 'at=8.6790000,50.1105000&z=19&layers=fences,labels';
  const page = await openPage(t, `${hub.origin}/hub-ui/?${look}`);
  await page.getByRole('button', { name: 'Saved views' }).click();
  await page.getByText('None yet.').waitFor();
  await page.getByLabel('Name of this view').fill('Dock from above');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('The view is saved').waitFor();
  const [stored] = (await hub.get('/views')).body;
  assert.equal(stored.name, 'Dock from above');
  assert.match(stored.address, /^\?at=8\.679,50\.1105&z=19&layers=fences,labels$/);

  await page.goto(`${hub.origin}/hub-ui/?at=8.7,50.2&z=15`);
  await page.getByRole('button', { name: 'Saved views' }).click();
  await page.getByRole('button', { name: 'Dock from above', exact: true }).click();
  await page.waitForURL(/layers=fences,labels/);
  await untilHolds(page, async () => /at=8\.679,50\.1105/.test(page.url()));

  await page.getByRole('button', { name: 'Saved views' }).click();
  await page.getByRole('button', { name: 'Start with Dock from above' }).click();
  await page.getByRole('button', { name: 'Start with Dock from above', pressed: true }).waitFor();
  await page.goto(`${hub.origin}/hub-ui/`);
  await page.waitForURL(/at=8\.679,50\.1105&z=19&layers=fences,labels/);

  await page.getByRole('button', { name: 'Saved views' }).click();
  await page.getByRole('button', { name: 'Delete Dock from above' }).click();
  await page.getByRole('button', { name: 'Delete view' }).click();
  await untilHolds(page, async () => (await hub.get('/views')).body.length === 0);
});
