import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { makeCertificate } from '../support/certificates.ts';
import { openConnectProxy } from '../support/connect_proxy.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { withToken } from './authorized_hub.ts';
import { Issuer } from './issuer.ts';

/** A name that no system resolves: only the proxy can. */
const HOST = 'identity.invalid';
const VARIABLES = ['https_proxy', 'no_proxy', 'HTTPS_PROXY', 'NO_PROXY'];

/** A hub that accesses its identity server through the proxy of its environment. */
async function openBehindProxy(t: TestContext, noProxy: string) {
  const made = await makeCertificate(HOST);
  const issuer = await Issuer.open(undefined, made, HOST);
  t.after(() => issuer.close());
  const proxy = await openConnectProxy(t, Number(new URL(issuer.url).port));
  const before = VARIABLES.map((name) => [name, process.env[name]] as const);
  t.after(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  for (const name of VARIABLES) delete process.env[name];
  process.env['https_proxy'] = `127.0.0.1:${proxy.port}`;
  process.env['no_proxy'] = noProxy;
  const folder = temporaryFolder();
  await writeFile(join(folder, 'permissions.yaml'), "reader:\n  '/v2/*': [READ_ANY]\n");
  await writeFile(join(folder, 'certificate.pem'), made.certificate);
  const hub = await openTestHub({ ...issuer.settings, authserver_public_key_path: 'certificate.pem' }, { folder });
  t.after(() => hub.close());
  const reader = withToken(hub, await issuer.token({ roles: ['reader'] }));
  return { reader, tunnels: proxy.tunnels, target: new URL(issuer.url).host };
}

test('A hub accesses its identity server through the https_proxy of its environment', async (t) => {
  const { reader, tunnels, target } = await openBehindProxy(t, 'example.com');
  assert.equal((await reader.get('/zones')).status, 200);
  assert.ok(tunnels.length > 0);
  assert.deepEqual(new Set(tunnels.map((tunnel) => tunnel.target)), new Set([target]));
});

test('A hub uses no proxy for the hosts in no_proxy', async (t) => {
  const { reader, tunnels } = await openBehindProxy(t, HOST);
  assert.equal((await reader.get('/zones')).status, 503, 'the name does not resolve');
  assert.deepEqual(tunnels, []);
});
