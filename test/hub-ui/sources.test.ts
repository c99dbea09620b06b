import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { createSite } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

test('A data source is created from a preset, with a preview while typing and a token that is shown once', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/sources`, { mayFail: true });
  await page.getByText('No data sources yet').waitFor();
  await page.getByRole('button', { name: 'New source' }).click();
  const dialog = page.getByRole('dialog', { name: 'New source' });
  const preview = dialog.getByRole('region', { name: 'Preview' });
  // The zone of the first sample does not exist.
  await preview.getByText(/name a zone.*hall-1/).waitFor();
  await dialog.getByLabel('System').selectOption('OwnTracks (HTTP)');
  await preview.getByText('1 mapped, 0 skipped, 0 rejected').waitFor();
  await preview.getByRole('link', { name: 'Show 8.6828, 50.1113 on the map' }).waitFor();
  await dialog.getByLabel('Sample payload').fill('{"_type":"location","tid":"kl","lat":"north","lon":8,"tst":1}');
  await preview.getByText(/\$\/lat.*"north"/).waitFor();
  await dialog.getByLabel('Sample payload').fill('{"_type":"location","tid":"kl","lat":1,"lon":1,"tst":1}');
  await preview.getByText(/outside every zone/).waitFor();
  await dialog.getByLabel('Source as JSON').fill('{');
  await dialog.getByText('This is not a JSON object.').waitFor();
  await dialog.getByLabel('System').selectOption('Traccar');
  await dialog.getByLabel('Name').fill('Vans');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.getByText('This token is shown only once.').waitFor();
  const token = (await dialog.locator('code').first().textContent()) ?? '';
  await dialog.getByRole('button', { name: 'Close' }).last().click();

  const [source] = (await hub.get('/sources')).body as { id: string; name: string; kind: string }[];
  assert.deepEqual([source?.name, source?.kind], ['Vans', 'http']);
  const payload = {
    position: { valid: true, longitude: 8, latitude: 50, fixTime: '2026-11-29T10:00:00Z' },
    device: { uniqueId: '1' },
  };
  const authorization = { authorization: `Bearer ${token}` };
  const sent = await hub.request('POST', `/sources/${source?.id}/data`, payload, authorization);
  assert.equal(sent.status, 204, sent.text);
  const row = page.getByRole('row', { name: /Vans/ });
  await row.getByText('Receiving').waitFor();
  await row.getByRole('link', { name: 'Vans' }).click();
  const edited = page.getByRole('dialog', { name: 'Change Vans' });
  await edited.getByRole('button', { name: 'New token' }).click();
  await edited.getByText('This token is shown only once.').waitFor();
  assert.equal((await hub.request('POST', `/sources/${source?.id}/data`, payload, authorization)).status, 401);
  await edited.getByRole('button', { name: 'Close' }).last().click();
  await row.getByRole('link', { name: 'Vans' }).click();
  await edited.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete source' }).click();
  await page.getByText('No data sources yet').waitFor();
  await untilHolds(page, async () => ((await hub.get('/sources')).body as unknown[]).length === 0);
});
