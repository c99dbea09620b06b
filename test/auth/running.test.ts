import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { makeCertificate } from '../support/certificates.ts';
import { gps } from '../support/hall.ts';
import { openTestHub, type TestHub, type TestSettings } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { type AuthorizedHub, openAuthorizedHub, withToken } from './authorized_hub.ts';
import { Issuer } from './issuer.ts';

const PERMISSIONS = `
sender:
  '/v2/providers/*': [READ_ANY, UPDATE_ANY]
  '/v2/ws/socket/*': [READ_ANY, CREATE_ANY]
  '/v2/zones/:id': [READ_ANY]
guest:
  '/health': [READ_ANY]
  '/v2/health': [READ_ANY]
  '/v2/ws/socket/zone_changes': [READ_ANY]
`;

describe('a hub that requires tokens', () => {
  let opened: AuthorizedHub;
  before(async () => {
    opened = await openAuthorizedHub(PERMISSIONS, {
      openid_clock_tolerance: 0,
      openid_client_secret: 'top-secret',
      openid_role_claims: ['groups'],
    });
  });
  after(() => opened.close());

  test('answers 401 to a request without token, and 403 to one without permission', async () => {
    const { hub, issuer } = opened;
    const none = await hub.get('/providers');
    assert.equal(none.status, 401);
    assert.equal(none.headers['www-authenticate'], 'Bearer');
    assert.deepEqual(none.body, {
      type: 'com.flowcate.auth.authenticated',
      code: 401,
      message: 'Cannot GET /v2/providers: there is no access token',
      reason: 'no_token',
      params: { request: 'GET /v2/providers' },
    });
    const sender = opened.as(await issuer.token({ roles: ['sender'] }));
    assert.deepEqual((await sender.get('/fences')).body, {
      type: 'com.flowcate.auth.permission',
      code: 403,
      message: 'Cannot GET /v2/fences: the access token does not permit it',
      reason: 'not_permitted',
      params: { request: 'GET /v2/fences' },
    });
    assert.equal((await sender.get('/providers')).status, 200);
    assert.equal((await sender.get(`${hub.origin}/v1/providers`)).status, 403, 'v1 is not in the list');
  });

  test('accepts a token only in the Authorization header', async () => {
    const { hub, issuer } = opened;
    const token = await issuer.token({ roles: ['sender'] });
    const by = async (path: string, headers: Readonly<Record<string, string>>): Promise<number> => {
      return (await hub.request('GET', path, undefined, headers)).status;
    };
    assert.equal(await by('/providers', { Authorization: `Bearer ${token}` }), 200);
    assert.equal(await by('/providers', { authorization: `BEARER   ${token} ` }), 200);
    assert.equal(await by('/providers', { Authorization: token }), 401);
    assert.equal(await by('/providers', { Authorization: `Basic ${token}` }), 401);
    assert.equal(await by('/providers', { Authorization: 'Bearer' }), 401);
    assert.equal(await by('/providers', { Authorization: `Bearer ${token}, Bearer ${token}` }), 401);
    assert.equal(await by(`/providers?token=${token}`, {}), 401);
    assert.equal(await by(`/providers?access_token=${token}`, {}), 401);
    assert.equal(await by('/providers', { Cookie: `token=${token}` }), 401);
  });

  test('admits guests if the role guest is permitted, even with an invalid token', async () => {
    const { hub } = opened;
    for (const path of ['/health', `${hub.origin}/health`, `${hub.origin}/deephub/v1/health`]) {
      assert.equal((await hub.get(path)).status, 200, path);
    }
    assert.equal((await opened.as('bad').get('/health')).status, 200);
    assert.equal((await hub.get('/version')).status, 401);
    const socket = await hub.socket();
    assert.equal((await socket.ask({ event: 'subscribe', topic: 'zone_changes' }))[0]?.event, 'subscribed');
    assert.equal((await socket.ask({ event: 'subscribe', topic: 'fence_changes' }))[0]?.code, 10006);
    await socket.close();
  });

  test('answers preflights, unknown paths and its documentation without a token', async () => {
    const { hub } = opened;
    assert.equal((await hub.request('OPTIONS', '/providers')).status, 204);
    assert.match(
      String((await hub.request('OPTIONS', '/providers')).headers['access-control-allow-headers']),
      /Authorization/,
    );
    assert.equal((await hub.get('/nothing')).status, 404);
    assert.equal((await hub.request('TRACE', '/providers')).status, 405);
    assert.equal((await hub.get(`${hub.origin}/hub/docs`)).status, 200);
    assert.equal((await hub.get('/openapi.json')).status, 200);
    assert.equal((await hub.request('HEAD', '/providers')).status, 401);
  });

  test('reveals the address of its broker in the AsyncAPI document only to clients with a valid token', async () => {
    const other = await openAuthorizedHub(PERMISSIONS, { mqtt_address: '127.0.0.1', mqtt_port: 1 });
    try {
      const hostBy = async (hub: TestHub) => (await hub.get('/asyncapi.json')).body['servers'].broker.host;
      const token = await other.issuer.token({ roles: ['sender'] });
      const hosts = [other.hub, other.as('bad'), other.as(token), other.hub].map(hostBy);
      assert.deepEqual(await Promise.all(hosts), ['{broker}', '{broker}', '127.0.0.1:1', '{broker}']);
    } finally {
      await other.close();
    }
  });

  test('verifies a token once for all its requests and frames', async () => {
    const { hub, issuer } = opened;
    const token = await issuer.token({ claims: { groups: ['sender'] } });
    const before = hub.hub.tokensVerified();
    const sender = opened.as(token);
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, i) => sender.put(`/providers/tag-${i % 7}/location`, gps(`tag-${i % 7}`))),
    );
    assert.ok(replies.every(({ status }) => status === 204));
    const socket = await sender.socket();
    for (let i = 0; i < 50; i++) {
      socket.send({ event: 'message', topic: 'location_updates', params: { token }, payload: [gps('tag-ws')] });
      socket.send({ event: 'message', topic: 'location_updates', payload: [gps('tag-ws')] });
    }
    await socket.settle();
    assert.deepEqual(
      socket.frames.map(({ code }) => code).filter((code) => code !== 10003),
      [],
    );
    assert.equal(hub.hub.tokensVerified() - before, 1);
    await socket.close();
  });

  test('accepts a long token that lists many owned objects', async () => {
    const owned = {
      zone_ids: Array.from({ length: 150 }, (_, i) => `eeeeeeee-0000-4000-8000-${String(i).padStart(12, '0')}`),
    };
    const token = await opened.issuer.token({ roles: ['sender'], owned });
    assert.ok(token.length > 7_000);
    assert.equal((await opened.as(token).get('/providers')).status, 200);
  });

  test('ends a subscription when its token expires, and rejects later requests with that token', async () => {
    const { hub, issuer } = opened;
    const token = await issuer.token({ roles: ['sender'], expiresIn: 2 });
    const socket = await hub.socket();
    const events = await socket.subscribe('location_updates', { provider_id: 'tag-e', token });
    await opened.admin.put('/providers/tag-e/location', gps('tag-e'));
    await events.next();
    const expired = await socket.frame(({ code }) => code === 10006);
    assert.match(expired.description ?? '', new RegExp(`of subscription ${events.subscriptionId} has expired`));
    await opened.admin.put('/providers/tag-e/location', gps('tag-e'));
    await hub.settle();
    assert.equal(events.events.length, 1);
    const [late] = await socket.ask({ event: 'subscribe', topic: 'location_updates', params: { token } });
    assert.deepEqual([late?.code, late?.description], [10006, 'The access token is not valid: it has expired']);
    const fresh = await issuer.token({ roles: ['sender'] });
    await socket.subscribe('location_updates', { provider_id: 'tag-e', token: fresh });
    assert.equal(socket.frames.filter(({ code }) => code === 10006).length, 2);
    await socket.close();
  });

  test('reports permissions without effect, and shows no secret', async () => {
    const warned = opened.hub.logged.filter(({ level }) => level === 'warn');
    assert.deepEqual(
      warned.map(({ facts }) => facts),
      [{ role: 'sender', path: '/v2/zones/:id', place: 'permissions.yaml:9' }],
    );
    const { text } = await opened.admin.get('/health/system');
    assert.match(text, /openid_client_secret: \\"\*\*\*\\"|openid_client_secret: '?\*\*\*/);
    assert.doesNotMatch(text + JSON.stringify(opened.hub.logged), /top-secret/);
  });
});

test('A hub starts without its identity server, answers 503, and accepts tokens when it is available', async (t) => {
  const issuer = await Issuer.open();
  t.after(() => issuer.close());
  issuer.broken = { status: 502, body: '' };
  const folder = temporaryFolder();
  await writeFile(join(folder, 'permissions.yaml'), PERMISSIONS);
  const hub = await openTestHub(issuer.settings, { folder });
  t.after(() => hub.close());
  const token = await issuer.token({ roles: ['sender'] });
  const get = async () =>
    (await hub.request('GET', '/providers', undefined, { Authorization: `Bearer ${token}` })).status;
  assert.equal(await get(), 503);
  assert.equal((await hub.get('/health')).status, 200);
  assert.equal((await hub.get('/providers')).status, 401);
  const socket = await hub.socket();
  assert.equal((await socket.ask({ event: 'subscribe', topic: 'fence_events', params: { token } }))[0]?.code, 10006);
  assert.deepEqual(
    hub.logged.filter(({ level }) => level === 'error').map(({ message }) => message),
    ['The identity server does not answer as expected'],
  );
  issuer.broken = undefined;
  while ((await get()) === 503) await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(await get(), 200);
  assert.ok(hub.logged.some(({ message }) => message === 'The identity server answers again'));
});

const CERTIFICATES: readonly [name: string, settings: TestSettings, status: number][] = [
  ['that the system does not trust', {}, 503],
  ['that it is configured to trust', { authserver_public_key_path: 'certificate.pem' }, 200],
  ['that it is configured to trust, and of another server', { authserver_public_key_path: 'another.pem' }, 503],
  ['that it is configured not to verify', { verify_authserver: false }, 200],
];

for (const [name, settings, status] of CERTIFICATES) {
  test(`A hub answers ${status} if its identity server has a certificate ${name}`, async (t) => {
    const certificate = await makeCertificate();
    const issuer = await Issuer.open(undefined, certificate);
    const folder = temporaryFolder();
    await writeFile(join(folder, 'permissions.yaml'), PERMISSIONS);
    await writeFile(join(folder, 'certificate.pem'), certificate.certificate);
    await writeFile(join(folder, 'another.pem'), (await makeCertificate()).certificate);
    const hub = await openTestHub({ ...issuer.settings, ...settings }, { folder });
    t.after(async () => {
      await hub.close();
      await issuer.close();
    });
    const token = await issuer.token({ roles: ['sender'] });
    assert.equal((await withToken(hub, token).get('/providers')).status, status);
    const warned = hub.logged.some(({ message }) =>
      message.includes('certificate of the identity server is not verified'),
    );
    assert.equal(warned, settings['verify_authserver'] === false);
  });
}
