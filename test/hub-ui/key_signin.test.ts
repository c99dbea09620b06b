import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { withToken } from '../auth/authorized_hub.ts';
import { runCliIn } from '../cli/run_cli.ts';
import { ensureBuilt, leavePages, openPage, WITHOUT_BROWSER } from '../support/browser.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { HALL } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

const PERMISSIONS = `
admin:
  '/v2/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
viewer:
  '/v2/*': [READ_ANY]
`;

test('Without an identity server a user signs in by an API key, until it is revoked', { skip }, async (t) => {
  ensureBuilt();
  const folder = temporaryFolder();
  await writeFile(join(folder, 'permissions.yaml'), PERMISSIONS);
  const { out, err } = await runCliIn(folder, 'keys', 'create', 'First', '--role', 'admin', '--offline');
  assert.equal(err, '');
  const hub = await openTestHub({ require_authorization: true }, { folder, isAlone: true });
  t.after(() => hub.close());
  t.after(() => leavePages(t));
  const admin = withToken(hub, out.trim());
  await admin.post('/zones', HALL);
  const { id, key } = (await admin.post('/keys', { name: 'Wall', roles: ['viewer'] })).body as {
    id: string;
    key: string;
  };

  const page = await openPage(t, `${hub.origin}/hub-ui/zones`, { mayFail: true });
  await page.getByLabel('API key').fill(`${key.slice(0, -2)}zz`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The hub has no such key').waitFor();
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: /Hall/ }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'New zone' }).count(), 0);
  await page.reload();
  await page.getByRole('link', { name: /Hall/ }).waitFor();

  assert.equal((await admin.post(`/keys/${id}/revoke`)).status, 200);
  await page.getByText('Your session has ended.').waitFor();
  await page.getByRole('button', { name: 'Sign in again' }).click();
  await page.getByLabel('API key').waitFor();
  assert.equal(await page.evaluate('sessionStorage.length'), 0);
});
