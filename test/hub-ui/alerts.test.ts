import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { createSite, FORKLIFT, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

test('Somebody builds a rule, is told when it holds, acknowledges it, and sees it go', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/alerts`);
  await page.getByText('Nothing to look at').waitFor();
  await page.getByRole('link', { name: 'Say what to alert of' }).click();
  await page.getByRole('button', { name: 'New rule' }).click();
  const dialog = page.getByRole('dialog', { name: 'New alert rule' });
  await dialog.getByLabel('Which fences').selectOption('one of these fences');
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await dialog.getByRole('alert').getByText('Choose at least one fence').waitFor();
  await dialog.getByRole('checkbox', { name: 'Dock A' }).check();
  await dialog.getByLabel('Which trackables').selectOption('a trackable with a property');
  await dialog.getByLabel('Property').fill('driver');
  await dialog.getByLabel('Its value').fill('Kim');
  await dialog.getByText('Trackables that are watched: 1.').waitFor();
  await dialog.getByLabel('Name').fill('Kim is at the dock');
  await dialog.getByLabel('Severity').selectOption('Critical');
  await dialog.getByRole('button', { name: 'Save rule' }).click();
  await dialog.waitFor({ state: 'detached' });
  const rules = page.getByRole('list', { name: 'Alert rules' });
  await rules.getByText('Alert when any trackable with driver = Kim enters Dock A.').waitFor();
  const [rule] = (await hub.get('/alerts/rules')).body;
  assert.deepEqual(rule.property, { name: 'driver', value: 'Kim' });
  await hub.settle();

  await page.getByRole('tab', { name: 'Alerts' }).click();
  await move(hub, 'tag-1', [20, 20]);
  const alerts = page.getByRole('list', { name: 'Alerts' });
  await alerts.getByText(`${FORKLIFT.name} has entered Dock A`).waitFor();
  const bell = page
    .getByRole('navigation', { name: 'Main' })
    .first()
    .getByRole('link', { name: /Alerts/ });
  await untilHolds(page, async () => (await bell.innerText()).includes('1'));
  await page.getByRole('button', { name: /^Acknowledge: / }).click();
  await alerts.getByText('Acknowledged').waitFor();
  await untilHolds(page, async () => !(await bell.innerText()).includes('1'));
  await move(hub, 'tag-1', [60, 20]);
  await alerts.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Cleared', exact: true }).click();
  await page.getByText('Kim is at the dock').waitFor();

  await move(hub, 'tag-1', [20, 20]);
  await untilHolds(page, async () => (await bell.innerText()).includes('1'));
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await page.getByRole('button', { name: 'Clear all' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Clear all' }).click();
  await untilHolds(page, async () => !(await bell.innerText()).includes('1'));

  await page.getByRole('button', { name: 'Sound' }).click();
  await page.reload();
  await page.getByRole('button', { name: 'Sound', pressed: true }).waitFor();
});
