import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { StartupError } from '../../src/errors.ts';
import { openTestHub, type TestSettings } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const STARTS: readonly [name: string, settings: TestSettings, file: string | undefined, problem: RegExp][] = [
  [
    'without openid_config_url',
    { openid_config_url: '' },
    'a: {}',
    /^openid_config_url: is required with openid_client_name, found nothing$/,
  ],
  [
    'without openid_client_name',
    { openid_client_name: '' },
    'a: {}',
    /^openid_client_name: is required with openid_config_url, found nothing$/,
  ],
  [
    'with an invalid address',
    { openid_config_url: 'keycloak' },
    'a: {}',
    /^openid_config_url: must be an http or https address, found "keycloak"$/,
  ],
  [
    'with the address of a file',
    { openid_config_url: 'file:///etc/passwd' },
    'a: {}',
    /^openid_config_url: must be an http/,
  ],
  [
    'with a certificate that is missing',
    { authserver_public_key_path: 'x.pem' },
    'a: {}',
    /^authserver_public_key_path: must be a file with a PEM certificate, found .*x\.pem without one$/,
  ],
  [
    'with an invalid certificate',
    { authserver_public_key_path: 'permissions.yaml' },
    'a: {}',
    /^authserver_public_key_path: must be a file with a PEM/,
  ],
  [
    'without permissions.yaml',
    {},
    undefined,
    /permissions\.yaml: is required with require_authorization, but is missing$/,
  ],
  [
    'with ANY and OWN for a path',
    {},
    "a:\n  '/v2/zones': [READ_ANY, READ_OWN]",
    /^permissions\.yaml:2: role "a": has READ_ANY at permissions\.yaml:2 and READ_OWN: a role has ANY or OWN throughout, so write one of them into another role$/,
  ],
  [
    'with a path twice in a role',
    {},
    "a:\n  '/v2/zones': []\n  '/v2/zones': []",
    /^permissions\.yaml:3: role "a": path "\/v2\/zones": is there already, at permissions\.yaml:2: write its permissions there$/,
  ],
  [
    'with ANY and OWN in a role, and one in each of two roles with a path twice',
    {},
    "a:\n  /zones: [READ_ANY]\n  '/v2/zones': [READ_OWN]\nb:\n  /v2/zones: []\n  /hub/v2//zones/: []",
    /^permissions\.yaml:3: role "a": has READ_ANY .*\npermissions\.yaml:6: role "b": path "\/hub\/v2\/\/zones\/": is there already.*$/,
  ],
  [
    'with a path of version 1 twice in a role, once without its version',
    {},
    'a:\n  /zones: [READ_ANY]\n  /v1/zones: [UPDATE_ANY]',
    /^permissions\.yaml:3: role "a": path "\/v1\/zones": is the path "\/zones" at permissions\.yaml:2: write its permissions there$/,
  ],
];

for (const [name, settings, file, problem] of STARTS) {
  test(`A hub ${name} does not start, and says why`, async () => {
    const folder = temporaryFolder();
    if (file !== undefined) await writeFile(join(folder, 'permissions.yaml'), file);
    const usual = { require_authorization: true, openid_config_url: 'http://127.0.0.1:1/x', openid_client_name: 'hub' };
    await assert.rejects(openTestHub({ ...usual, ...settings }, { folder }), (error) => {
      assert.ok(error instanceof StartupError, String(error));
      assert.match(error.message, problem);
      return true;
    });
  });
}
