import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openApi } from './open_api.ts';

describe('createApi', () => {
  for (const prefix of ['/hub/v1', '/hub/v2', '/v1', '/v2', '/deephub/v1', '/deephub/v2']) {
    it(`serves ${prefix}`, async () => {
      const { send } = openApi();
      assert.deepEqual((await send('GET', `${prefix}/providers`)).body, []);
      assert.equal((await send('POST', `${prefix}/providers`, { id: 'p', type: 'uwb' })).status, 201);
      assert.deepEqual((await send('GET', `${prefix}/providers/p/`)).body, { id: 'p', type: 'uwb' });
      assert.deepEqual((await send('GET', `${prefix}/health`)).body, {});
    });
  }

  const unknown = [
    '/',
    '',
    '/hub',
    '/v3/zones',
    '/hub/zones',
    '/v2/nothing',
    '/v2/zones/a/b/c',
    '/v2/providers//location',
    '/zones',
    '//v2/zones',
    '/v2',
  ];
  for (const path of unknown) {
    it(`answers 404 to ${path || 'an empty path'}`, async () => {
      const { status, body } = await openApi().send('GET', path);
      assert.equal(status, 404);
      assert.equal(body.type, 'com.flowcate.http.not_found');
      assert.equal(body.code, 404);
      assert.match(body.message, /^Cannot GET ".*": there is no such path$/);
    });
  }

  const notAllowed: readonly (readonly [string, string, string])[] = [
    ['PATCH', '/v2/zones', 'GET, POST, DELETE, HEAD, OPTIONS'],
    ['PUT', '/v2/fences/summary', 'GET, HEAD, OPTIONS'],
    ['POST', '/v2/trackables/x', 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS'],
    ['HEAD', '/v2/zones/z/transform', 'PUT, OPTIONS'],
    ['GET', '/v2/providers/proximities', 'PUT, POST, OPTIONS'],
    ['DELETE', '/health', 'GET, HEAD, OPTIONS'],
    ['get', '/v2/zones', 'GET, POST, DELETE, HEAD, OPTIONS'],
  ];
  for (const [method, path, allow] of notAllowed) {
    it(`answers 405 to ${method} ${path} and allows ${allow}`, async () => {
      const { status, headers, body } = await openApi().send(method, path);
      assert.equal(status, 405);
      assert.equal(headers['Allow'], allow);
      assert.equal(body.type, 'com.flowcate.http.method_not_allowed');
    });
  }

  it('answers HEAD as GET', async () => {
    const { send } = openApi();
    assert.deepEqual(await send('HEAD', '/v2/zones'), await send('GET', '/v2/zones'));
    assert.equal((await send('HEAD', '/v2/zones/unknown')).status, 404);
  });

  it('serves health and version without a version prefix', async () => {
    const { send } = openApi();
    for (const path of ['/health', '/health/', '/v1/health', '/hub/v2/health']) {
      assert.deepEqual((await send('GET', path)).body, {});
    }
    for (const path of ['/version', '/v1/version', '/deephub/v2/version']) {
      const version = { hub_version: '1.2.3', vendor: 'test', api_version: '2.0.0', hub_id: 'id', hub_name: 'hub' };
      assert.deepEqual((await send('GET', path)).body, version);
    }
  });

  it('decodes ids once', async () => {
    const { send, entities } = openApi();
    for (const id of ['a/b', 'a%2Fb', 'ä ö', '77:4f', 'x+y', 'summary?', '..']) {
      await entities.create('provider', { id, type: 'uwb' });
      assert.deepEqual((await send('GET', `/v2/providers/${encodeURIComponent(id)}`)).body?.id, id);
    }
    assert.equal((await send('GET', '/v2/providers/77:4f')).body.id, '77:4f');
  });

  for (const path of [
    '/v2/providers/%',
    '/v2/providers/%E0%A4%A',
    '/v2/%ff/x',
    '/v2/zones?foreign_id=%',
    '/v2/fences/summary?crs=%ff',
  ]) {
    it(`answers 400 to the broken encoding of ${path}`, async () => {
      const { status, body } = await openApi().send('GET', path);
      assert.equal(status, 400);
      assert.match(body.message, /^(path|query): must be percent-encoded UTF-8, found /);
    });
  }

  it('accepts a provider with the name of a list if that is unambiguous', async () => {
    const { send, accepted } = openApi();
    assert.equal((await send('PUT', '/v2/providers/locations/location', {})).status, 204);
    assert.equal(accepted[0]?.options?.providerId, 'locations');
  });

  it('names the created entity in Location, under the requested prefix', async () => {
    const { send } = openApi();
    const { headers } = await send('POST', '/deephub/v1/providers/', { id: 'ä/b', type: 'uwb' });
    assert.equal(headers['Location'], '/deephub/v1/providers/%C3%A4%2Fb');
    assert.equal((await send('GET', headers['Location'])).body.id, 'ä/b');
    const lone = await send('POST', '/v2/providers', '{"id":"\\ud800","type":"uwb"}');
    assert.deepEqual(
      [lone.status, lone.body.message],
      [400, `id: must be well-formed Unicode, found half of a surrogate pair`],
    );
  });

  it('answers 503 with Retry-After when the store is down', async () => {
    const commit = () => Promise.reject(errorWith('HUB_UNAVAILABLE', 'Cannot write: the disk is full'));
    const { send, entities } = openApi({ entities: { commit } });
    const { status, headers, body } = await send('POST', '/v2/providers', { id: 'p', type: 'uwb' });
    assert.deepEqual([status, headers['Retry-After'], body.type], [503, '1', 'com.flowcate.http.unavailable']);
    assert.equal((await send('POST', '/deephub/v1/providers', { id: 'p', type: 'uwb' })).body.type, 'server error');
    assert.equal(entities.count('provider'), 0);
  });

  it('uses the configured prefix for error types', async () => {
    const { body } = await openApi({ errorTypePrefix: 'org.example' }).send('GET', '/v2/zones/x');
    assert.deepEqual(Object.keys(body), ['type', 'code', 'message', 'reason', 'params']);
    assert.equal(body.type, 'org.example.http.not_found');
  });

  it('propagates internal errors to its caller', async () => {
    const { send } = openApi({ read: () => Promise.reject(new Error('bug')) });
    await assert.rejects(send('GET', '/v2/providers/locations'), /^Error: bug$/);
  });
});

describe('CORS', () => {
  it('allows every origin to read every reply', async () => {
    const { send } = openApi();
    const replies = [
      await send('GET', '/v2/zones'),
      await send('GET', '/v2/zones/unknown'),
      await send('GET', '/nowhere'),
      await send('POST', '/v2/zones', '{'),
      await send('POST', '/v2/providers', { id: 'p', type: 'uwb' }),
      await send('PUT', '/v2/providers/p/location', {}),
    ];
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 404, 404, 400, 201, 204],
    );
    for (const { headers } of replies) assert.equal(headers['Access-Control-Allow-Origin'], '*');
    for (const { headers } of replies) assert.equal(headers['Access-Control-Allow-Credentials'], undefined);
  });

  it('answers a preflight with the methods of the path', async () => {
    const { status, headers } = await openApi().send('OPTIONS', '/v2/trackables/x');
    assert.equal(status, 204);
    assert.equal(headers['Access-Control-Allow-Methods'], 'GET, PUT, PATCH, DELETE, HEAD, OPTIONS');
    assert.match(headers['Access-Control-Allow-Headers'] ?? '', /Authorization, Content-Type/);
    assert.equal((await openApi().send('OPTIONS', '/v2/nowhere')).status, 404);
  });

  it('sends no headers when it is disabled, but serves OPTIONS', async () => {
    const { send } = openApi({ corsEnabled: false });
    assert.deepEqual((await send('GET', '/v2/zones')).headers, {
      'Content-Type': 'application/json',
      'X-Content-Type-Options': 'nosniff',
    });
    assert.deepEqual((await send('OPTIONS', '/v2/zones')).headers, { Allow: 'GET, POST, DELETE, HEAD, OPTIONS' });
    assert.deepEqual((await send('PUT', '/v2/providers/locations', [])).headers, {});
  });
});
