import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import { TestMap } from './setup_map.ts';
import { earth } from './ui_site.ts';

const run = promisify(execFile);
const skip = WITHOUT_BROWSER ?? false;

const PLAN =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 200" width="400" height="200"><rect x="2" y="2" width="396" ' +
  'height="196" fill="#ddd" stroke="#000" stroke-width="4"/><path d="M200 0V120" stroke="#000" stroke-width="4"/></svg>';

/** Length of the longer side of the plan, in meters. */
const LENGTH = 60;
/** The way takes 39; each step that the page adds to it is a loss. */
const CLICKS_MAX = 40;
const FENCES = [
  ['Dock A', earth(15, 30), earth(25, 38)],
  ['Dock B', earth(15, 18), earth(25, 26)],
  ['Racks', earth(15, -4), earth(25, 10)],
] as const;

/** Counts the clicks on a page, those on its maps included, until it is reloaded. */
async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate("window.clicks = 0; addEventListener('pointerdown', () => window.clicks++, true)");
  return () => page.evaluate<number>('window.clicks');
}

/** The user pastes the line that the page shows into a shell, here with another position if wanted. */
async function pasteLine(line: string, at?: readonly [number, number]): Promise<void> {
  const pasted = at === undefined ? line : line.replace(/"coordinates":\[[^\]]*\]/, `"coordinates":[${at}]`);
  await run('sh', ['-c', `${pasted} -fsS`]);
}

async function placePlan(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Load a floor plan' }).click();
  const map = new TestMap(page, 'Map of the zone');
  await map.goTo(earth(20, 20));
  const chosen = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose a file' }).click();
  await (await chosen).setFiles({ name: 'hall.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(PLAN) });
  await page.getByRole('button', { name: 'By hand' }).click();
  const width = Number(await page.getByLabel('Width of the image', { exact: true }).inputValue());
  await page.getByRole('button', { name: 'Known length' }).click();
  await map.click(earth(20, 20 + width / 2));
  await map.click(earth(20, 20 - width / 2));
  await page.getByLabel('Length from A to B').fill(String(LENGTH));
  await page.keyboard.press('Enter');
  await page.getByLabel('Name', { exact: true }).fill('Hall');
  await page.getByRole('button', { name: 'Create zone' }).click();
  await page.getByText('Hall is saved').waitFor();
}

async function drawFences(page: Page): Promise<void> {
  for (const [i, [name, [west, south], [east, north]]] of FENCES.entries()) {
    if (i > 0) await page.getByRole('link', { name: 'All fences' }).click();
    await page.getByRole('link', { name: 'New fence' }).click();
    const map = new TestMap(page, 'Map of the fence');
    await map.draw([
      [west, south],
      [east, south],
      [east, north],
      [west, north],
    ]);
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByRole('button', { name: 'Create fence' }).click();
    await page.getByText(`${name} is saved`).waitFor();
  }
}

async function createRule(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Alerts', exact: true }).click();
  await page.getByRole('tab', { name: 'Alert rules' }).click();
  await page.getByRole('button', { name: 'New rule' }).click();
  const dialog = page.getByRole('dialog', { name: 'New alert rule' });
  await dialog.getByLabel('Which objects').selectOption('any trackable or unassigned provider');
  await dialog.getByLabel('Name').fill('Something is inside');
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await dialog.waitFor({ state: 'detached' });
}

test('A first user comes from an empty hub over a plan and three fences to an alert in few clicks', {
  skip,
}, async (t: TestContext) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/`);
  const clicks = await countClicks(page);
  const startMs = performance.now();
  await page.getByRole('region', { name: 'First steps' }).getByRole('link', { name: 'first steps' }).click();
  await page.getByText('0 of 4 done').waitFor();
  await placePlan(page);
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await page.getByRole('link', { name: 'Continue the first steps' }).click();
  await page.getByText('1 of 4 done').waitFor();
  const line = (await page.getByRole('region', { name: 'REST' }).locator('pre').textContent()) ?? '';
  await pasteLine(line);
  await page.getByText('2 of 4 done').waitFor();
  await drawFences(page);
  await createRule(page);
  await pasteLine(line, earth(20, 34));
  await page.getByRole('link', { name: 'Alerts 1 not acknowledged' }).click();
  await page.getByRole('tab', { name: 'Alerts', exact: true }).click();
  await page.getByText('tag-1 has entered Dock A').waitFor();
  const count = await clicks();
  t.diagnostic(`${count} clicks, ${Math.round((performance.now() - startMs) / 1_000)} s without reading and thinking`);
  assert.ok(count <= CLICKS_MAX, `${count} clicks`);
});
