import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { point, polygon, UUID_A, UUID_B, uwbZone } from '../entities/open_entities.ts';
import { type OpenApi, openApi, type Replied } from './open_api.ts';

const webhook = { type: 'webhook', url: 'https://example.com/hook', topics: ['fence_events'] };

/** Entities and documents with a body that can be sent again. */
const KINDS: readonly { readonly path: string; readonly kind: string; readonly body: object }[] = [
  { path: 'zones', kind: 'zone', body: uwbZone({ id: UUID_A, name: 'n' }) },
  { path: 'fences', kind: 'fence', body: { id: UUID_A, region: polygon(), name: 'n' } },
  { path: 'trackables', kind: 'trackable', body: { id: UUID_A, type: 'omlox', name: 'n' } },
  { path: 'providers', kind: 'provider', body: { id: UUID_A, type: 'uwb', name: 'n' } },
  { path: 'anchors', kind: 'anchor', body: { id: UUID_A, name: 'n' } },
  { path: 'views', kind: 'view', body: { name: 'n', address: '?view=1' } },
  { path: 'sinks', kind: 'sink', body: { name: 'n', ...webhook } },
];

const change = (name: string) => [{ op: 'add', path: '/name', value: name }];

function etagOf({ headers, status }: Replied): string {
  const etag = headers['ETag'] ?? '';
  assert.match(etag, /^"[\w-]{22}(\.[\w-]{22})?"$/, `status ${status}`);
  return etag;
}

/** Creates an entity, and returns its path and the reply. */
async function created({ send }: OpenApi, { path, body }: (typeof KINDS)[number]) {
  const reply = await send('POST', `/v2/${path}`, body);
  assert.equal(reply.status, 201, JSON.stringify(reply.body));
  return { one: `/v2/${path}/${reply.body.id}`, reply };
}

for (const row of KINDS) {
  describe(`ETags of ${row.path}`, () => {
    it('are the same in all replies with the same body, and change with the entity', async () => {
      const api = openApi();
      const { one, reply } = await created(api, row);
      const read = await api.send('GET', one);
      assert.equal(etagOf(read), etagOf(reply));
      assert.equal(etagOf(await api.send('GET', one)), etagOf(read));
      const put = await api.send('PUT', one, { ...row.body, name: 'other' });
      const after = await api.send('GET', one);
      assert.notEqual(etagOf(after), etagOf(read));
      assert.equal(etagOf(put).slice(0, 23), etagOf(after).slice(0, 23));
      if (put.status === 200) assert.equal(etagOf(put), etagOf(after));
    });

    it('let a read reply 304 without body until the entity changes', async () => {
      const api = openApi();
      const { one, reply } = await created(api, row);
      const etag = etagOf(reply);
      for (const known of [etag, `W/${etag}`, `"a,b", ${etag}`, '*']) {
        const { status, headers, body } = await api.send('GET', one, undefined, { 'if-none-match': known });
        assert.deepEqual([status, headers['ETag'], body], [304, etag, undefined], known);
        assert.match(headers['Access-Control-Expose-Headers'] ?? '', /\bETag\b/);
      }
      for (const unknown of ['"other"', etag.slice(1, -1), '']) {
        assert.equal((await api.send('GET', one, undefined, { 'if-none-match': unknown })).status, 200, unknown);
      }
      await api.send('PUT', one, { ...row.body, name: 'other' });
      assert.equal((await api.send('GET', one, undefined, { 'if-none-match': etag })).status, 200);
    });

    it('of another version refuse PUT, PATCH and DELETE with 412, and change nothing', async () => {
      const api = openApi();
      const { one, reply } = await created(api, row);
      const old = etagOf(reply);
      await api.send('PUT', one, { ...row.body, name: 'other' });
      const before = await api.send('GET', one);
      const patches = row.path === 'views' ? [] : (['PATCH'] as const);
      for (const method of ['PUT', ...patches, 'DELETE'] as const) {
        const body = { PUT: row.body, PATCH: change('third'), DELETE: undefined }[method];
        for (const match of [old, '"a", "b"', `W/${etagOf(before)}`]) {
          const refused = await api.send(method, one, body, { 'if-match': match });
          const { reason, params, message } = refused.body as unknown as Readonly<Record<string, object>>;
          assert.deepEqual([refused.status, reason], [412, 'version_differs'], `${method} ${match}`);
          const action = method === 'DELETE' ? 'delete' : 'replace';
          assert.deepEqual({ ...params, found: '' }, { action, kind: row.kind, id: before.body.id, found: '' });
          assert.match(String(message), /: If-Match must list its current ETag, found "/);
        }
        const invalid = await api.send(method, one, body, { 'if-match': 'abc' });
        assert.deepEqual(
          [invalid.status, invalid.body.message],
          [400, 'If-Match: must be *, or ETags in double quotes, separated by commas, found "abc"'],
        );
      }
      assert.deepEqual(await api.send('GET', one), before);
    });

    it('of the current version permit PUT, PATCH and DELETE, as * does', async () => {
      const api = openApi();
      const { one, reply } = await created(api, row);
      const put = await api.send('PUT', one, { ...row.body, name: 'second' }, { 'if-match': `"a", ${etagOf(reply)}` });
      assert.ok(put.status < 300, JSON.stringify(put.body));
      let last = put;
      if (row.path !== 'views') {
        last = await api.send('PATCH', one, change('third'), { 'if-match': etagOf(put) });
        assert.equal(last.status, 200, JSON.stringify(last.body));
        last = await api.send('PATCH', one, change('fourth'), { 'if-match': '*' });
      }
      assert.equal((await api.send('DELETE', one, undefined, { 'if-match': etagOf(last) })).status, 204);
      assert.equal((await api.send('DELETE', one, undefined, { 'if-match': '*' })).status, 404);
    });

    it('let only one of many concurrent writers succeed', async () => {
      const api = openApi({ entities: { commit: () => new Promise<void>((done) => setImmediate(done)) } });
      const { one, reply } = await created(api, row);
      const match = { 'if-match': etagOf(reply) };
      const writers = ['a', 'b', 'c', 'd'].map((name) => api.send('PUT', one, { ...row.body, name }, match));
      const statuses = (await Promise.all([...writers, api.send('DELETE', one, undefined, match)])).map(
        ({ status }) => status,
      );
      assert.deepEqual(statuses.sort(), [put(row.path), 412, 412, 412, 412]);
      assert.equal((await api.send('GET', one)).body.name, 'a');
    });
  });
}

/** Status of a successful PUT. */
function put(path: string): number {
  return ['zones', 'fences', 'providers', 'anchors'].includes(path) ? 204 : 200;
}

describe('The ETag of a reply', () => {
  it('changes with its body if other entities or parameters change that, but If-Match ignores them', async () => {
    const { send } = openApi();
    await send('POST', '/v2/zones', uwbZone({ id: 'hall' }));
    await send('POST', '/v2/fences', { id: 'f', region: point(50, 50), radius: 5, crs: 'local', zone_id: 'hall' });
    const global = etagOf(await send('GET', '/v2/fences/f'));
    const local = etagOf(await send('GET', '/v2/fences/f?crs=local&zone_id=hall'));
    assert.notEqual(global, local);
    await send('POST', '/v2/trackables', { id: UUID_A, type: 'omlox' });
    const alone = etagOf(await send('GET', `/v2/trackables/${UUID_A}`));
    await send('POST', '/v2/trackables', { id: UUID_B, type: 'omlox', parent: UUID_A });
    const carrying = await send('GET', `/v2/trackables/${UUID_A}`, undefined, { 'if-none-match': alone });
    assert.deepEqual([carrying.status, carrying.body.children], [200, [UUID_B]]);
    const named = await send('PATCH', `/v2/trackables/${UUID_A}`, change('cart'), { 'if-match': alone });
    assert.equal(named.status, 200);
    for (const match of [global, local]) {
      assert.equal((await send('PATCH', '/v2/fences/f', [], { 'if-match': match })).status, 200);
    }
  });

  it('does not depend on secrets', async () => {
    const { send } = openApi();
    const secret = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
    const body = { name: 'n', ...webhook };
    const { body: sink } = await send('POST', '/v2/sinks', { ...body, secret: secret(1) });
    const before = etagOf(await send('GET', `/v2/sinks/${sink.id}`));
    const replaced = await send('PUT', `/v2/sinks/${sink.id}`, { ...body, secret: secret(2) });
    assert.deepEqual([replaced.status, etagOf(replaced)], [200, before]);
  });

  it('is absent from lists, which also ignore conditions', async () => {
    const { send } = openApi();
    for (const path of ['/v2/zones', '/v2/zones/summary', '/v2/sinks']) {
      const { status, headers } = await send('GET', path, undefined, { 'if-none-match': '*' });
      assert.deepEqual([status, headers['ETag']], [200, undefined]);
    }
  });
});
