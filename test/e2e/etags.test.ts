import assert from 'node:assert/strict';
import { test } from 'node:test';
import { polygon } from '../entities/open_entities.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const ROWS = [
  { path: '/fences', body: { id: 'dock', region: polygon(), name: 'Dock', properties: { big: [1, 2.5e-7] } } },
  { path: '/providers', body: { id: 'tag-1', type: 'uwb', name: 'Tag' } },
  { path: '/views', body: { name: 'Overview', address: '?view=1' } },
];

test('Of two writers that have read the same version, one succeeds; ETags survive a restart', async (t) => {
  const folder = temporaryFolder();
  const first = await openTestHub({}, { folder });
  const left: { one: string; etag: string }[] = [];
  for (const { path, body } of ROWS) {
    const created = await first.post(path, body);
    assert.equal(created.status, 201, created.text);
    const one = `${path}/${created.body.id}`;
    const read = await first.get(one);
    const etag = String(read.headers['etag']);
    assert.equal(etag, created.headers['etag']);
    const unchanged = await first.request('GET', one, undefined, { 'If-None-Match': etag });
    assert.deepEqual([unchanged.status, unchanged.text, unchanged.headers['etag']], [304, '', etag]);
    for (let round = 0; round < 10; round++) {
      const known = String((await first.get(one)).headers['etag']);
      const replies = await Promise.all(
        ['left', 'right'].map(async (name) => {
          const sent = { ...body, name: `${name} ${round}` };
          const { status, body: error } = await first.request('PUT', one, sent, { 'If-Match': known });
          return { name: sent.name, isDone: status < 300, status, reason: error?.reason };
        }),
      );
      const [winner, ...others] = replies.filter(({ isDone }) => isDone);
      const losers = replies.filter(({ isDone }) => !isDone).map(({ status, reason }) => [status, reason]);
      assert.deepEqual([others.length, losers], [0, [[412, 'version_differs']]], path);
      assert.equal((await first.get(one)).body.name, winner?.name);
    }
    left.push({ one, etag: String((await first.get(one)).headers['etag']) });
  }
  await first.close();

  const second = await openTestHub({}, { folder });
  t.after(() => second.close());
  for (const { one, etag } of left) {
    const known = await second.request('GET', one, undefined, { 'If-None-Match': etag });
    assert.equal(known.status, 304, one);
    assert.equal((await second.request('DELETE', one, undefined, { 'If-Match': '"other"' })).status, 412);
    assert.equal((await second.request('DELETE', one, undefined, { 'If-Match': etag })).status, 204);
  }
});
