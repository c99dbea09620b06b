import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { withToken } from './authorized_hub.ts';
import { DEV } from './dev/people.ts';
import { BROWSER_CLIENT, type IdentityProvider, openIdentityProvider } from './identity_provider.ts';
import { CLIENT } from './issuer.ts';
import { checkTokenRequests } from './token_requests.ts';

/** A hub with a certified third-party OpenID Connect server. */

const REDIRECT = 'http://127.0.0.1:4321/hub-ui/';

const releaseClient = {
  client_id: 'hub-release-client',
  client_secret: DEV.clients['hub-release-client'].password,
};

let provider: IdentityProvider;
let hub: TestHub;
let folder: string;

before(async () => {
  provider = await openIdentityProvider({ port: 0, ...DEV, redirectUris: [REDIRECT] });
  folder = temporaryFolder();
  const permissions = await readFile(new URL('dev/permissions.yaml', import.meta.url), 'utf8');
  await writeFile(join(folder, 'permissions.yaml'), permissions);
  hub = await openTestHub(
    { require_authorization: true, openid_config_url: provider.configUrl, openid_client_name: CLIENT },
    { folder },
  );
});
after(async () => {
  await hub.close();
  await provider.close();
});

test('The example of permissions.yaml has no rule without effect', () => {
  assert.deepEqual(
    hub.logged.filter(({ level }) => level === 'warn'),
    [],
  );
});

test('A token requested as the API describes is accepted over REST and WebSocket', async () => {
  await checkTokenRequests(hub, {
    tokenUrl: provider.tokenUrl,
    clientId: 'hub-release-client',
    clientSecret: DEV.clients['hub-release-client'].password,
    username: 'tag-owner',
    password: DEV.people['tag-owner'].password,
  });
});

test('The token response has all members that the API lists', async () => {
  const form = { grant_type: 'client_credentials', scope: 'openid', ...releaseClient };
  const response = await fetch(provider.tokenUrl, { method: 'POST', body: new URLSearchParams(form) });
  const token = (await response.json()) as Record<string, unknown>;
  assert.match(String(token['access_token']), /^[\w-]+\.[\w-]+\.[\w-]+$/);
  assert.deepEqual([token['expires_in'], token['refresh_expires_in'], token['scope']], [900, 0, 'openid']);
  assert.equal(String(token['token_type']).toLowerCase(), 'bearer');
  assert.equal(typeof token['not-before-policy'], 'number');
  assert.equal(typeof token['session_state'], 'string');
});

test('The release and beta environments have their own token addresses, clients and secrets', async (t) => {
  const clients = { 'hub-beta-client': { password: 'of-beta', roles: ['hub-admin'] } };
  const beta = await openIdentityProvider({ port: 0, people: {}, clients });
  t.after(() => beta.close());
  const betaFolder = temporaryFolder();
  await writeFile(join(betaFolder, 'permissions.yaml'), "hub-admin:\n  '/v2/*': [READ_ANY]\n");
  const settings = { require_authorization: true, openid_config_url: beta.configUrl, openid_client_name: CLIENT };
  const betaHub = await openTestHub(settings, { folder: betaFolder });
  t.after(() => betaHub.close());
  const betaClient = { client_id: 'hub-beta-client', client_secret: 'of-beta' };
  const ask = async (url: string, client: Readonly<Record<string, string>>) => {
    const form = new URLSearchParams({ grant_type: 'client_credentials', scope: 'openid', ...client });
    const response = await fetch(url, { method: 'POST', body: form });
    return {
      status: response.status,
      token: ((await response.json()) as { access_token?: string }).access_token ?? '',
    };
  };
  const ofRelease = await ask(provider.tokenUrl, releaseClient);
  const ofBeta = await ask(beta.tokenUrl, betaClient);
  assert.deepEqual([ofRelease.status, ofBeta.status], [200, 200]);
  assert.ok((await ask(beta.tokenUrl, releaseClient)).status >= 400);
  assert.ok((await ask(provider.tokenUrl, betaClient)).status >= 400, 'the secret is that of another environment');
  const taken = async (at: TestHub, { token }: { token: string }) => (await withToken(at, token).get('/zones')).status;
  assert.deepEqual([await taken(hub, ofRelease), await taken(hub, ofBeta)], [200, 401]);
  assert.deepEqual([await taken(betaHub, ofRelease), await taken(betaHub, ofBeta)], [401, 200]);
});

test('A browser signs in by authorization code with PKCE, and accesses the hub from its page', async () => {
  const verifier = randomBytes(32).toString('base64url');
  const browser = new Browser();
  const config = (await (await fetch(provider.configUrl)).json()) as Record<string, string>;
  const query = new URLSearchParams({
    client_id: BROWSER_CLIENT,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid',
    state: 'x',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const login = await browser.follow(`${config['authorization_endpoint']}?${query}`);
  const action = /action="([^"]+)"/.exec(login.text)?.[1] ?? assert.fail(login.text);
  const form = new URLSearchParams({ prompt: 'login', login: 'viewer', password: 'anything' });
  const back = await browser.follow(new URL(action, login.url).href, form, REDIRECT);
  const code = new URL(back.url).searchParams.get('code') ?? assert.fail(back.url);
  const response = await fetch(String(config['token_endpoint']), {
    method: 'POST',
    headers: { Origin: 'http://127.0.0.1:4321' },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: BROWSER_CLIENT,
      redirect_uri: REDIRECT,
      code,
      code_verifier: verifier,
    }),
  });
  const { access_token: token = '', id_token: idToken = '' } = (await response.json()) as Record<string, string>;
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('access-control-allow-origin'), 'http://127.0.0.1:4321');
  assert.equal((await withToken(hub, token).get('/zones/summary')).status, 200);
  assert.equal((await withToken(hub, token).delete('/zones')).status, 403);
  assert.equal((await withToken(hub, idToken).get('/zones')).status, 401, 'an ID token is no access token');
});

/** The part of a browser that a login needs: cookies, redirects, and a form. */
class Browser {
  readonly #cookies = new Map<string, string>();

  /** Follows redirects until one leads below `stop`, which is not requested. */
  async follow(start: string, form?: URLSearchParams, stop = 'none:'): Promise<{ url: string; text: string }> {
    let url = start;
    let body = form;
    for (let hops = 0; hops < 10; hops++) {
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const sent = body === undefined ? {} : { method: 'POST', body };
      const response = await fetch(url, { redirect: 'manual', headers: { Cookie: cookie }, ...sent });
      for (const line of response.headers.getSetCookie()) {
        const [pair = ''] = line.split(';', 1);
        this.#cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
      }
      const to = response.headers.get('location');
      if (to === null) return { url, text: await response.text() };
      url = new URL(to, url).href;
      if (url.startsWith(stop)) return { url, text: '' };
      body = undefined;
    }
    throw new Error(`Too many redirects, the last to ${url}`);
  }
}
