import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { createSite, DOCK, FORKLIFT } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

const nameOf = (page: Page) => page.getByLabel('Name', { exact: true });
const delayOf = (page: Page) => page.getByLabel('Exit delay', { exact: true });
const saveOf = (page: Page) => page.getByRole('button', { name: 'Save' });

test('Concurrent edits of a fence are merged field by field, and no input is lost', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const address = `${hub.origin}/hub-ui/fences/${DOCK.id}`;
  const kim = await openPage(t, address);
  const sam = await openPage(t, address);
  const stored = async () => (await hub.get(`/fences/${DOCK.id}`)).body;

  await nameOf(kim).fill('Dock Kim');
  await delayOf(kim).fill('5');
  await kim.getByLabel('Properties').fill('{"by": "Kim", "gate": 1}');
  await nameOf(sam).fill('Dock Sam');
  await delayOf(sam).fill('9');
  await sam.getByLabel('Properties').fill('{"by": "Sam", "lamp": 2}');
  await saveOf(sam).click();
  await sam.getByText('Dock Sam is saved').waitFor();

  const news = kim.getByRole('status').filter({ hasText: 'Another user has changed this fence' });
  await news.getByRole('group', { name: 'Name' }).getByRole('radio', { name: 'theirs: Dock Sam' }).waitFor();
  await kim.getByText('Choose whose values to keep').waitFor();
  assert.ok(await saveOf(kim).isDisabled(), 'saving is disabled until each conflict is resolved');
  // A choice can be changed.
  await news.getByRole('radio', { name: 'theirs: Dock Sam' }).check();
  assert.equal(await nameOf(kim).inputValue(), 'Dock Sam');
  await news.getByRole('radio', { name: 'yours: Dock Kim' }).check();
  assert.equal(await nameOf(kim).inputValue(), 'Dock Kim');
  await news.getByRole('radio', { name: 'theirs: 9 s' }).check();
  await news.getByRole('group', { name: 'Properties, by' }).getByRole('radio', { name: 'yours: Kim' }).check();
  await saveOf(kim).click();
  await kim.getByText('Dock Kim is saved').waitFor();
  const { name, exit_delay: delay, properties } = await stored();
  assert.deepEqual([name, delay, properties], ['Dock Kim', 9_000, { by: 'Kim', gate: 1, lamp: 2 }]);
  await untilHolds(sam, async () => (await nameOf(sam).inputValue()) === 'Dock Kim');

  // Another client changes the fence after the page has loaded it: the page reads it again before it saves.
  let isFirst = true;
  await kim.route(`**/fences/${DOCK.id}*`, async (route) => {
    if (isFirst && route.request().method() === 'GET') {
      isFirst = false;
      await hub.put(`/fences/${DOCK.id}`, { ...DOCK, name: 'Dock Lee' });
    }
    await route.continue();
  });
  await nameOf(kim).fill('Dock Kim 2');
  await saveOf(kim).click();
  await news.getByRole('radio', { name: 'theirs: Dock Lee' }).waitFor();
  assert.equal((await stored()).name, 'Dock Lee', 'an unseen change is not overwritten');
  await news.getByRole('button', { name: 'Keep yours' }).click();
  await saveOf(kim).click();
  await untilHolds(kim, async () => (await stored()).name === 'Dock Kim 2');
});

test('A draft written offline survives a reload, and is offered until it is saved', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const address = `${hub.origin}/hub-ui/fences/${DOCK.id}`;
  const page = await openPage(t, address, { mayFail: true });
  page.on('dialog', (question) => void question.accept());
  await page.getByText('No changes to save').waitFor();
  await page.context().setOffline(true);
  await nameOf(page).fill('Dock kept');
  await delayOf(page).fill('5');
  await saveOf(page).click();
  await page.getByText('This browser stores your changes').waitFor();
  await page.context().setOffline(false);
  await hub.put(`/fences/${DOCK.id}`, { ...DOCK, name: 'Dock meanwhile' });

  await page.goto(`${hub.origin}/hub-ui/fences`);
  await page.getByRole('link', { name: /Dock meanwhile.*Not saved/ }).click();
  const offer = page.getByRole('status').filter({ hasText: 'You have unsaved changes' });
  await offer.getByText('Dock kept').waitFor();
  assert.equal(await nameOf(page).inputValue(), 'Dock meanwhile', 'no draft is restored without a click');
  await offer.getByRole('button', { name: 'Restore' }).click();
  assert.equal(await delayOf(page).inputValue(), '5');
  await page.getByRole('radio', { name: 'yours: Dock kept' }).check();
  await saveOf(page).click();
  await page.getByText('Dock kept is saved').waitFor();
  const { name, exit_delay: delay } = (await hub.get(`/fences/${DOCK.id}`)).body;
  assert.deepEqual([name, delay], ['Dock kept', 5_000]);
  await page.goto(address);
  await page.getByText('No changes to save').waitFor();
  assert.equal(await offer.count(), 0, 'a saved draft is no longer offered');

  // New entities have drafts too, until these are discarded.
  await page.goto(`${hub.origin}/hub-ui/trackables/new`);
  await nameOf(page).fill('Cart 9');
  await page.reload();
  await offer.getByText('Cart 9').waitFor();
  await offer.getByRole('button', { name: 'Discard' }).click();
  await page.reload();
  await page.getByRole('button', { name: 'Create trackable' }).waitFor();
  assert.equal(await offer.count(), 0, 'a discarded draft is no longer offered');
});

test('The JSON of an entity and the rules of the hub overwrite no unseen change', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/trackables?json=${FORKLIFT.id}`, { mayFail: true });
  page.on('dialog', (question) => void question.accept());
  await page.getByRole('button', { name: 'Edit as JSON' }).click();
  const json = page.getByRole('textbox', { name: 'JSON' });
  const mine = JSON.parse(await json.inputValue());
  await hub.put(`/trackables/${FORKLIFT.id}`, {
    ...FORKLIFT,
    name: 'Theirs',
    radius: 9,
    properties: { driver: 'Sam' },
  });
  await json.fill(JSON.stringify({ ...mine, name: 'Mine', properties: { driver: 'Lee', load: 2 } }));
  const save = page.getByRole('dialog').getByRole('button', { name: 'Save' });
  await save.click();
  await page.getByRole('radio', { name: 'theirs: Theirs' }).check();
  await page.getByRole('radio', { name: 'yours: Lee' }).check();
  await save.click();
  await page.getByText('Saved', { exact: true }).waitFor();
  const { name, radius, properties } = (await hub.get(`/trackables/${FORKLIFT.id}`)).body;
  assert.deepEqual([name, radius, properties], ['Theirs', 9, { driver: 'Lee', load: 2 }]);

  const rule = (expression: string) => ({ expression, priority: 1 });
  const keptRules = async () => (await hub.get('/trackables/rules/locating')).body;
  await page.goto(`${hub.origin}/hub-ui/rules`);
  await page.getByRole('button', { name: 'Add rule' }).click();
  const asText = page.getByRole('button', { name: 'Text', exact: true });
  await asText.click();
  await page.getByLabel('Rule 1', { exact: true }).fill('accuracy < 1');
  await page.getByText('Valid', { exact: true }).waitFor();
  await hub.put('/trackables/rules/locating', [rule("type = 'gps'")]);
  await saveOf(page).click();
  await page.getByText("type = 'gps'", { exact: true }).waitFor();
  assert.deepEqual(await keptRules(), [rule("type = 'gps'")]);
  await page.reload();
  await page.getByText('You have unsaved changes').waitFor();
  await page.getByRole('button', { name: 'Restore' }).click();
  await asText.click();
  await page.getByText('Valid', { exact: true }).waitFor();
  await hub.put('/trackables/rules/locating', []);
  await saveOf(page).click();
  await page.getByRole('button', { name: 'Keep yours' }).click();
  await saveOf(page).click();
  await page.getByText('The rules are saved').waitFor();
  assert.deepEqual(await keptRules(), [rule('accuracy < 1')]);
});
