import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openIssuer } from '../operation/license_keys.ts';
import { openTestHub, whileHubRuns } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const EXPIRES = '2099-01-01T00:00:00.000Z';
const CLAIMS = { email: 'ops@site.example', exp: Date.parse(EXPIRES) / 1000 };

test('A license key is valid if a configured public key verifies it, whether it is set by configuration or by API', async (t) => {
  const [issuer, other] = [await openIssuer(), await openIssuer('other')];
  const folder = temporaryFolder();
  const license_public_keys = JSON.stringify([...other.publicKeys, ...issuer.publicKeys]);
  const configured = { license_public_keys, license_key: await issuer.issue(CLAIMS) };
  await whileHubRuns(folder, configured, async (first) => {
    const { body: lease } = await first.get('/license/lease');
    assert.deepEqual([lease.customer_email, lease.lease_end_timestamp], [CLAIMS.email, EXPIRES]);
    assert.equal((await first.get('/license/info')).body.warning, undefined);
    for (const version of ['v1', 'v2']) {
      const key = await other.issue({ ...CLAIMS, email: `${version}@site.example` });
      const url = `${first.origin}/hub/${version}/license`;
      assert.equal((await first.put(`${url}/key`, { license_key: key })).status, 204);
      assert.equal((await first.get(`${url}/lease`)).body.customer_email, `${version}@site.example`);
    }
    const stranger = await (await openIssuer()).issue(CLAIMS);
    const refused = await first.put('/license/key', { license_key: stranger });
    assert.deepEqual([refused.status, refused.body.type], [400, 'com.flowcate.license.invalid']);
  });

  const second = await openTestHub({ license_public_keys }, { folder });
  t.after(second.close);
  assert.equal((await second.get('/license/lease')).body.customer_email, 'v2@site.example');
});

test('An invalid public key in the list fails the start with a line that names it', async () => {
  const open = openTestHub({ license_public_keys: '[short, 7]' });
  await assert.rejects(open, ({ message }: Error) => {
    assert.match(message, /HUB_LICENSE_PUBLIC_KEYS\[0\]: must .*found "short"/);
    return true;
  });
});
