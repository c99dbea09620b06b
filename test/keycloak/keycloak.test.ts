import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { withToken } from '../auth/authorized_hub.ts';
import { checkTokenRequests } from '../auth/token_requests.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const { KEYCLOAK_ISSUER: issuer } = process.env;
const skip = issuer === undefined && 'it needs a running Keycloak: npm run keycloak';

test('Tokens of Keycloak are accepted over REST and WebSocket, according to the realm and permissions.yaml', {
  skip,
}, async (t) => {
  const folder = temporaryFolder();
  const permissions = await readFile(new URL('../auth/dev/permissions.yaml', import.meta.url), 'utf8');
  await writeFile(join(folder, 'permissions.yaml'), permissions);
  const config = `${issuer}/.well-known/openid-configuration`;
  const hub = await openTestHub(
    { require_authorization: true, openid_config_url: config, openid_client_name: 'hub' },
    { folder },
  );
  t.after(() => hub.close());
  const tokenUrl = `${issuer}/protocol/openid-connect/token`;
  await checkTokenRequests(hub, {
    tokenUrl,
    clientId: 'hub-release-client',
    clientSecret: 'release-secret',
    username: 'tag-owner',
    password: 'tag-owner',
  });
  const response = await fetch(tokenUrl, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'another-client',
      client_secret: 'another-secret',
    }),
  });
  const { access_token: foreign } = (await response.json()) as { readonly access_token: string };
  assert.equal((await withToken(hub, foreign).get('/zones')).status, 401, 'the token is for another client');
  assert.deepEqual(
    hub.logged.filter(({ level }) => level === 'error'),
    [],
  );
});
