import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import { FORKLIFT } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

test('The form of a trackable sets its filter, and names an invalid member', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/trackables', FORKLIFT);
  const page = await openPage(t, `${hub.origin}/hub-ui/trackables/${FORKLIFT.id}`, { mayFail: true });
  const section = page.getByRole('region', { name: 'Filter of positions' });
  const saved = async () => {
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Forklift 7 is saved').last().waitFor();
    return (await hub.get(`/trackables/${FORKLIFT.id}`)).body.filter;
  };
  assert.equal(await section.getByLabel('Gate', { exact: true }).count(), 0);
  await section.getByLabel('Kind', { exact: true }).selectOption({ label: 'Motion at constant velocity' });
  await section.getByLabel('Maximum gap', { exact: true }).fill('2.5');
  await section.getByLabel('Locations in use', { exact: true }).selectOption({ label: 'All providers together' });
  const gate = section.getByLabel('Gate', { exact: true });
  await gate.fill('0');
  await page.getByRole('button', { name: 'Save' }).click();
  await section.getByRole('alert').waitFor();
  assert.equal(await gate.getAttribute('aria-invalid'), 'true');
  await gate.fill('9.2');
  assert.deepEqual(await saved(), { kind: 'cv', max_gap: 2500, fuse: true, gate: 9.2 });
});
