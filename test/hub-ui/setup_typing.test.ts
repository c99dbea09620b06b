import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';

const skip = WITHOUT_BROWSER ?? false;

const WRITTEN = '{"driver": "Kim", "load": [1, {"deep": -0.05}]}';

/** Types at the end of a field, key by key, as users do. */
async function type(page: Page, label: string, text: string): Promise<void> {
  const field = page.getByLabel(label, { exact: true });
  await field.click();
  await field.press('End');
  await field.pressSequentially(text);
  assert.equal(await field.inputValue(), text, `${label} is as it was typed`);
}

async function create(page: Page, kind: string): Promise<void> {
  await page.getByRole('button', { name: `Create ${kind}` }).click();
  await page.getByText(/ is saved$/).waitFor();
}

/** Required members of each kind, besides its properties. */
const KINDS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  zone: (page) => page.getByLabel('Save incomplete, without a geographic position').check(),
  fence: (page) => page.getByRole('button', { name: 'Enter corners' }).click(),
  trackable: (page) => type(page, 'Name', 'Cart 7'),
  provider: (page) => type(page, 'Id', 'tag-7'),
  anchor: (page) => type(page, 'Id', 'anchor-7'),
};

for (const [kind, need] of Object.entries(KINDS)) {
  test(`The properties of a new ${kind} are typed, and stored as typed`, { skip }, async (t) => {
    const hub = await openUiHub(t);
    const page = await openPage(t, `${hub.origin}/hub-ui/${kind}s/new`);
    await need(page);
    await type(page, 'Properties', WRITTEN);
    await create(page, kind);
    const [stored] = (await hub.get(`/${kind}s/summary`)).body;
    assert.deepEqual(stored.properties, JSON.parse(WRITTEN));
  });
}

test('Properties follow an undo, and block saving while they are incomplete', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/trackables/new`);
  const properties = page.getByLabel('Properties');
  const save = page.getByRole('button', { name: 'Create trackable' });
  await type(page, 'Name', 'Cart');
  await properties.pressSequentially('{"a": 1}');
  await properties.press('Backspace');
  await page.getByText('This is not a JSON object yet').waitFor();
  assert.ok(await save.isDisabled());
  await page.getByRole('button', { name: 'Undo' }).click();
  await untilHolds(page, async () => (await properties.inputValue()) === '');
  assert.ok(await save.isEnabled());
});

test('Numbers can be typed as they are written: negative, with zeros, and into an empty field', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/anchors/new`);
  await type(page, 'Id', 'greenwich');
  await type(page, 'Longitude', '-0.0105');
  await page.getByText('Enter both longitude and latitude.').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Create anchor' }).isDisabled());
  assert.equal(await page.getByLabel('Latitude', { exact: true }).inputValue(), '', 'a missing value is not zero');
  await type(page, 'Latitude', '51.4706');
  await type(page, 'Elevation', '-1.05');
  await create(page, 'anchor');
  const { body: anchor } = await hub.get('/anchors/greenwich');
  assert.deepEqual(anchor.georeferenced_position.coordinates, [-0.0105, 51.4706]);
  assert.equal(anchor.elevation_angle, -1.05);

  await page.goto(`${hub.origin}/hub-ui/trackables/new`);
  await page.getByRole('button', { name: 'Round' }).click();
  await page.getByLabel('Radius').press('Backspace');
  await type(page, 'Radius', '0.5');
  await type(page, 'Exit delay', '0.05');
  await create(page, 'trackable');
  const [round] = (await hub.get('/trackables/summary')).body;
  assert.equal(round.radius, 0.5);
  assert.equal(round.exit_delay, 50);
  await page.getByRole('button', { name: 'Rectangle' }).click();
  await page.getByLabel('Length').press('Backspace');
  await type(page, 'Length', '0.8');
  await page.getByRole('button', { name: 'Save' }).click();
  await untilHolds(page, async () => (await hub.get(`/trackables/${round.id}`)).body.geometry != null);
  const { body: flat } = await hub.get(`/trackables/${round.id}`);
  assert.deepEqual(flat.geometry.coordinates[0][0], [-0.5, -0.4]);
});
