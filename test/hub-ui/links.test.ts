import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { openTestHub } from '../support/running_hub.ts';
import { CELLAR, createSite, FORKLIFT, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

test('A link between two hubs is created in the UI, and shows when it is connected, down, paused and deleted', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  const other = await openTestHub({ hub_name: 'Plant 2' });
  t.after(other.close);
  await createSite(other);
  const page = await openPage(t, `${hub.origin}/hub-ui/links`, { mayFail: true });
  await page.getByText('No links yet').waitFor();
  await page.getByRole('button', { name: 'New link' }).click();
  const dialog = page.getByRole('dialog', { name: 'New link' });
  await dialog.getByLabel('Name').fill('The other plant');
  await dialog.getByLabel('URL').fill(`${other.origin}/v2?token=1`);
  await dialog.getByLabel('Mirror its zones, fences and trackables').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByLabel('URL').and(dialog.locator('[aria-invalid=true]')).waitFor();
  await dialog.getByLabel('URL').fill(`${other.origin}/v2`);
  await dialog.getByText('More', { exact: true }).click();
  await dialog.getByLabel('Prefix of ids').fill('p2-');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const row = page.getByRole('row', { name: /The other plant/ });
  await row.getByText('Connected').waitFor();
  await row.getByText('Plant 2').waitFor();

  await row.getByRole('link', { name: 'The other plant' }).click();
  await page.getByText('Events of Plant 2 arrive.').waitFor();
  await move(other, 'tag-1', [20, 20]);
  const counters = page.getByRole('region', { name: 'Counters' });
  await untilHolds(page, async () => /Received\s*1\b/.test(await counters.innerText()));
  const state = page.getByRole('region', { name: 'State' });
  await untilHolds(page, async () => /Mirrored entities\s*4/.test(await state.innerText()));

  // Mirrored entities are read-only, and name the hub to which they belong.
  const mirrored = (await hub.get('/fences/summary')).body.find(({ name }: { name: string }) => name === CELLAR.name);
  const fence = await page.context().newPage();
  await fence.goto(`${hub.origin}/hub-ui/fences/${encodeURIComponent(mirrored.id)}`);
  await fence.getByText('This fence is mirrored from Plant 2 by the link The other plant.').waitFor();
  assert.equal(await fence.getByLabel('Name', { exact: true }).isDisabled(), true);
  assert.equal(await fence.getByRole('button', { name: /^(Save|Delete)$/ }).count(), 0);
  await fence.goto(`${hub.origin}/hub-ui/lists/trackables`);
  await fence
    .getByRole('row', { name: new RegExp(FORKLIFT.name) })
    .getByText('Mirrored')
    .waitFor();
  await fence.close();

  await other.close();
  await state.getByText('Down', { exact: true }).waitFor();
  await state.getByText(/Down since .* ago\. The hub retries/).waitFor();
  await page.getByRole('link', { name: 'All links' }).click();
  await row.getByText(/^Down for \d+ s: /).waitFor();
  await row.getByRole('link', { name: 'The other plant' }).click();
  await page.getByRole('button', { name: 'Pause' }).click();
  await state.getByText('Paused').waitFor();
  assert.equal((await hub.get('/links')).body[0].enabled, false);
  await page.getByRole('button', { name: 'Resume' }).click();
  await state.getByText('Paused').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete link' }).click();
  await page.getByText('No links yet').waitFor();

  // The link is gone, so the fence belongs to this hub.
  await page.goto(`${hub.origin}/hub-ui/fences/${encodeURIComponent(mirrored.id)}`);
  await page.getByLabel('Name', { exact: true }).waitFor();
  await untilHolds(page, async () => page.getByLabel('Name', { exact: true }).isEnabled());
  assert.equal(await page.getByText('is mirrored from').count(), 0);
});

test('A changed link retains its credentials, and leads to no loop', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const token_url = 'http://127.0.0.1:1/token';
  const oidc = { token_url, client_id: 'hub', client_secret: 'secret' };
  const link = { name: 'Self', url: `${hub.origin}/v2`, enabled: true };
  const { body } = await hub.post('/links', link);
  const signed = await hub.post('/links', { ...link, name: 'Signed', enabled: false, oidc });
  const page = await openPage(t, `${hub.origin}/hub-ui/links/${body.id}`, { mayFail: true });
  await page.getByText('Leads to this hub', { exact: true }).waitFor();
  await page.goto(`${hub.origin}/hub-ui/links/${signed.body.id}?edit=1`);
  const dialog = page.getByRole('dialog', { name: 'Change Signed' });
  assert.equal(await dialog.getByLabel('Client id').inputValue(), 'hub');
  assert.equal(await dialog.getByLabel('Client secret').inputValue(), '');
  await dialog.getByLabel('Name').fill('Renamed');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Renamed' }).waitFor();
  // A secret must be entered again when its receiver changes.
  await page.getByRole('button', { name: 'Edit' }).click();
  const again = page.getByRole('dialog', { name: 'Change Renamed' });
  await again.getByLabel('Token URL').fill('http://127.0.0.1:2/token');
  await again.getByRole('button', { name: 'Save' }).click();
  await again.getByLabel('Client secret').and(again.locator('[aria-invalid=true]')).waitFor();
});
