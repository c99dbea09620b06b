import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { withToken } from '../auth/authorized_hub.ts';
import { runCliIn } from '../cli/run_cli.ts';
import { violationsIn } from '../support/axe.ts';
import { ensureBuilt, leavePages, openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import { openTestHub } from '../support/running_hub.ts';
import { walk } from '../history/walk.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { HALL } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

const PERMISSIONS = `
admin:
  '/v2/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
viewer:
  '/v2/zones/*': [READ_ANY]
`;

test('A user creates and revokes API keys, and finds that in the audit log', { skip }, async (t) => {
  ensureBuilt();
  const folder = temporaryFolder();
  await writeFile(join(folder, 'permissions.yaml'), PERMISSIONS);
  const first = (await runCliIn(folder, 'keys', 'create', 'First', '--role', 'admin', '--offline')).out.trim();
  const hub = await openTestHub({ require_authorization: true }, { folder, isAlone: true });
  t.after(() => hub.close());
  t.after(() => leavePages(t));
  const admin = withToken(hub, first);
  const { id: zoneId } = (await admin.post('/zones', HALL)).body as { id: string };
  await admin.put(`/zones/${zoneId}`, { ...HALL, id: zoneId, name: 'Hall north' });

  const page = await openPage(t, `${hub.origin}/hub-ui/keys`, { mayFail: true });
  await page.getByLabel('API key').fill(first);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('rowheader', { name: 'First' }).waitFor();
  await page.getByRole('button', { name: 'New API key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Wall screen');
  await dialog.getByLabel('Roles').fill('viewer');
  await dialog.getByRole('button', { name: 'Create API key' }).click();
  const shown = dialog.getByLabel('API key', { exact: true });
  await shown.waitFor();
  const key = await shown.inputValue();
  assert.match(key, /^olh_/);
  assert.equal((await withToken(hub, key).get('/zones/summary')).status, 200);
  assert.deepEqual(await violationsIn(page), []);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  assert.ok(!(await page.content()).includes(key.slice(-20)), 'the key is displayed once');
  const row = page.getByRole('row').filter({ hasText: 'Wall screen' });
  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke API key' }).click();
  await row.getByText('Revoked').waitFor();
  assert.equal((await withToken(hub, key).get('/zones/summary')).status, 401);
  assert.deepEqual(await violationsIn(page), []);

  await page.getByRole('link', { name: 'Audit log' }).first().click();
  const log = page.getByRole('region', { name: 'Audit log' });
  await log.getByText('update api_key').waitFor();
  await log.getByText('create zone').waitFor();
  await page.getByLabel('Kind').selectOption('zone');
  await log.getByText('"Hall north"').waitFor();
  assert.equal(await log.getByText('api_key').count(), 0);
  await page.getByLabel('Subject of the token').fill('nothing');
  await page.getByText('No entries').waitFor();
  await page.getByLabel('Subject of the token').fill('');
  await log.getByText('"Hall north"').waitFor();
  assert.deepEqual(await violationsIn(page), []);
  await page.setViewportSize({ width: 390, height: 844 });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, 'fits the screen');
});

test('A user erases the history of a provider, and finds that in the audit log', { skip }, async (t) => {
  const hub = await openUiHub(t, { history: true });
  await walk(hub, 2);
  const page = await openPage(t, `${hub.origin}/hub-ui/providers/a`);
  await page.getByRole('button', { name: 'Erase history' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Erase history' }).click();
  await page.getByText(/rows of .* are erased/).waitFor();
  assert.deepEqual((await hub.get('/providers/a/history?from=2000-01-01T00:00:00Z')).body.points, []);
  await page.goto(`${hub.origin}/hub-ui/audit?kind=erasure`);
  await page.getByText('delete erasure').waitFor();
});
