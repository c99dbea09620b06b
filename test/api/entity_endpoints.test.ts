import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { point, polygon, rfidZone, UUID_A, UUID_B, uwbZone } from '../entities/open_entities.ts';
import { openApi } from './open_api.ts';

const KINDS = [
  { path: 'zones', id: UUID_A, body: uwbZone({ name: 'n' }), other: rfidZone(), putStatus: 204 },
  { path: 'fences', id: UUID_A, body: { region: polygon(), name: 'n' }, other: { region: polygon() }, putStatus: 204 },
  { path: 'trackables', id: UUID_A, body: { type: 'omlox', name: 'n' }, other: { type: 'virtual' }, putStatus: 200 },
  { path: 'providers', id: 'tag-1', body: { type: 'uwb', name: 'n' }, other: { type: 'gps' }, putStatus: 204 },
  { path: 'anchors', id: 'anchor-1', body: { name: 'n', local_position: point(1, 2) }, other: {}, putStatus: 204 },
] as const;

for (const { path, id, body, other, putStatus } of KINDS) {
  describe(`/${path}`, () => {
    it('creates, returns, replaces and deletes', async () => {
      const { send } = openApi();
      const created = await send('POST', `/v2/${path}`, { id, ...body });
      assert.equal(created.status, 201);
      assert.deepEqual(created.body, { id, ...body });
      assert.equal(created.headers['Location'], `/v2/${path}/${id}`);
      assert.deepEqual((await send('GET', `/v2/${path}`)).body, [id]);
      assert.deepEqual((await send('GET', `/v2/${path}/summary`)).body, [{ id, ...body }]);
      assert.deepEqual((await send('GET', `/v2/${path}/${id}`)).body, created.body);
      const put = await send('PUT', `/v2/${path}/${id}`, other);
      assert.equal(put.status, putStatus);
      assert.deepEqual(put.body, putStatus === 200 ? { id, ...other } : undefined);
      assert.deepEqual((await send('GET', `/v2/${path}/${id}`)).body, { id, ...other });
      const gone = await send('DELETE', `/v2/${path}/${id}`);
      assert.deepEqual([gone.status, gone.body], [204, undefined]);
      assert.deepEqual((await send('GET', `/v2/${path}`)).body, []);
    });

    it('deletes all, also when there are none', async () => {
      const { send, entities } = openApi();
      await send('POST', `/v2/${path}`, { id, ...body });
      assert.equal((await send('DELETE', `/v2/${path}`)).status, 204);
      assert.deepEqual((await send('GET', `/v2/${path}/summary`)).body, []);
      assert.equal((await send('DELETE', `/v2/${path}`)).status, 204);
      assert.equal(entities.list('zone').length, 0);
    });

    it('answers 404 to every method on an unknown id', async () => {
      const { send } = openApi();
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const { status, body: error } = await send(
          method,
          `/v2/${path}/${UUID_B}`,
          method === 'PUT' ? body : undefined,
        );
        assert.deepEqual([status, error.type], [404, 'com.flowcate.http.not_found']);
      }
      assert.deepEqual((await send('GET', `/v2/${path}`)).body, []);
    });

    it('answers 400 to an existing id, in both versions if the id is stored', async () => {
      const { send } = openApi();
      await send('POST', `/v2/${path}`, { id, ...body });
      const again = await send('POST', `/v2/${path}`, { id, ...body });
      assert.equal(again.status, 400);
      assert.match(again.body.message, new RegExp(`"${id}" already exists$`));
      const inV1 = await send('POST', `/v1/${path}`, { id, ...body });
      const keepsId = path === 'providers' || path === 'anchors';
      assert.equal(inV1.status, keepsId ? 400 : 201);
      if (!keepsId) assert.notEqual(inV1.body.id, id);
    });

    it('answers 400 to bodies that are not an entity', async () => {
      const { send } = openApi();
      await send('POST', `/v2/${path}`, { id, ...body });
      // An anchor requires only its id, which PUT has in the path.
      const incomplete = path === 'anchors' ? [] : ['{}', '{"type":7}'];
      for (const bad of ['', '{', 'null', '[]', '5', '{"name":7}', ...incomplete, '[[[', '\u0000']) {
        assert.equal((await send('POST', `/v2/${path}`, bad)).status, 400, `POST ${bad}`);
        assert.equal((await send('PUT', `/v2/${path}/${id}`, bad)).status, 400, `PUT ${bad}`);
      }
      const other = await send('PUT', `/v2/${path}/${id}`, { ...body, id: UUID_B });
      assert.match(other.body.message, /^id: must be "[^"]*" as in the path, found "[^"]*"$/);
      assert.equal(other.status, 400);
    });
  });
}

describe('bodies', () => {
  it('are JSON with any surrounding whitespace', async () => {
    const { send, sendBytes } = openApi();
    assert.equal((await send('POST', '/v2/providers', ' {"id":"p","type":"uwb"}\n')).status, 201);
    const withMark = new Uint8Array([0xef, 0xbb, 0xbf, ...new TextEncoder().encode('{"id":"q","type":"uwb"}')]);
    assert.equal((await sendBytes('POST', '/v2/providers', withMark)).status, 201);
  });

  it('that are not UTF-8 or nested too deeply are rejected', async () => {
    const { send, sendBytes } = openApi();
    const latin = await sendBytes('POST', '/v2/providers', new Uint8Array([0x22, 0xe4, 0x22]));
    assert.deepEqual([latin.status, latin.body.message], [400, 'body: must be JSON, found bytes that are not UTF-8']);
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const nested = await send('POST', '/v2/providers', `{"id":"p","type":"uwb","sensors":${deep}}`);
    assert.deepEqual(
      [nested.status, nested.body.message],
      [400, 'body: must be nested at most 200 levels deep, found more'],
    );
    assert.equal((await send('POST', '/v2/providers', deep)).status, 400);
    assert.equal((await send('PUT', '/v2/providers/locations', `{"a":${deep}}`)).status, 400);
  });
});
