import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { point, polygon, rfidZone, SQUARE, UUID_A, UUID_B, UUID_C, uwbZone } from '../entities/open_entities.ts';
import { openApi } from './open_api.ts';

const KINDS = [
  { path: 'zones', body: uwbZone({ id: UUID_A, name: 'n' }) },
  { path: 'fences', body: { id: UUID_A, region: polygon(), name: 'n' } },
  { path: 'trackables', body: { id: UUID_A, type: 'omlox', name: 'n' } },
  { path: 'providers', body: { id: UUID_A, type: 'uwb', name: 'n' } },
  { path: 'anchors', body: { id: UUID_A, name: 'n' } },
];

const rename = (value: unknown) => ({ op: 'replace', path: '/name', value });

for (const { path, body } of KINDS) {
  describe(`PATCH /${path}`, () => {
    it('applies one or several operations, and answers 200 with the entity', async () => {
      const { send, entities } = openApi();
      await send('POST', `/v2/${path}`, body);
      const one = await send('PATCH', `/v2/${path}/${UUID_A}`, rename('one'));
      assert.deepEqual([one.status, one.body], [200, { ...body, name: 'one' }]);
      const several = [rename('two'), { op: 'add', path: '/properties', value: { a: [] } }];
      await send('PATCH', `/v1/${path}/${UUID_A.toUpperCase()}`, several);
      const more = [{ op: 'add', path: '/properties/a/-', value: { b: null } }];
      const { body: shown } = await send('PATCH', `/hub/v2/${path}/${UUID_A}`, more);
      const expected = { ...body, name: 'two', properties: { a: [{ b: null }] } };
      assert.deepEqual(shown, expected);
      assert.deepEqual((await send('GET', `/v2/${path}/${UUID_A}`)).body, expected);
      assert.equal(entities.list('zone').length <= 1, true);
    });

    it('answers 400 if the result is not a valid entity, and changes nothing', async () => {
      const { send } = openApi();
      await send('POST', `/v2/${path}`, body);
      const bad: readonly (readonly [unknown, RegExp])[] = [
        ['', /^body: must be JSON/],
        [[rename('x'), { op: 'remove', path: '/nothing' }], /^patch\[1\]\.path: must lead to a value/],
        [[rename('x'), rename(5)], /^name: must be a string, found 5$/],
        [{ op: 'replace', path: '', value: 'x' }, /^body: must be an object, found "x"$/],
        [{ op: 'remove', path: '' }, /^body: must be an object, found nothing$/],
        [{ op: 'add', path: '/properties', value: 'x' }, /^properties: must be an object, found "x"$/],
        [{ op: 'replace', path: '/id', value: UUID_B }, /^id: must be "[^"]*" as in the path, found "[^"]*"$/],
      ];
      for (const [patch, message] of bad) {
        const { status, body: error } = await send('PATCH', `/v2/${path}/${UUID_A}`, patch);
        assert.equal(status, 400, JSON.stringify(patch));
        assert.match(error.message, message);
      }
      assert.deepEqual((await send('GET', `/v2/${path}/${UUID_A}`)).body, body);
    });

    it('answers 404 to an unknown id, with any patch', async () => {
      const { send } = openApi();
      for (const patch of [rename('x'), [], { op: 'nonsense' }]) {
        assert.equal((await send('PATCH', `/v2/${path}/${UUID_B}`, patch)).status, 404);
      }
    });
  });
}

describe('PATCH', () => {
  it('applies all of many concurrent patches', async () => {
    const { send, entities } = openApi({ entities: { commit: () => new Promise<void>((done) => setImmediate(done)) } });
    await send('POST', '/v2/trackables', { id: UUID_A, type: 'omlox', location_providers: [] });
    const names = Array.from({ length: 50 }, (_, i) => `tag-${i}`);
    const append = (value: string) => ({ op: 'add', path: '/location_providers/-', value });
    await Promise.all(names.map((name) => send('PATCH', `/v2/trackables/${UUID_A}`, append(name))));
    assert.deepEqual(entities.get('trackable', UUID_A)?.location_providers, names);
    const twice = await send('PATCH', `/v2/trackables/${UUID_A}`, append('tag-7'));
    assert.deepEqual(
      [twice.status, twice.body.message],
      [400, 'location_providers[50]: must differ from location_providers[7], found "tag-7"'],
    );
  });

  it('passes on force_location_update, and subdivides', async () => {
    const forced: unknown[] = [];
    const { send } = openApi({ entities: { committed: (changes) => void forced.push(changes[0]?.force) } });
    await send('POST', '/v2/trackables', { id: UUID_A, type: 'omlox' });
    await send('PATCH', `/v2/trackables/${UUID_A}?force_location_update=true`, []);
    await send('PATCH', `/v2/trackables/${UUID_A}`, []);
    assert.deepEqual(forced, [undefined, true, undefined]);
    await send('POST', '/v2/fences', { id: 'f', region: polygon() });
    const fence = await send('PATCH', '/v2/fences/f?subdivide=true', []);
    assert.ok(Number(fence.body.region.coordinates[0]?.length) > SQUARE[0]!.length);
    assert.equal((await send('PATCH', '/v2/fences/f?subdivide=perhaps', [])).status, 400);
  });

  it('works on a local fence as it was sent, and returns it in EPSG:4326', async () => {
    const { send, entities } = openApi();
    await send('POST', '/v2/zones', uwbZone({ id: 'hall' }));
    await send('POST', '/v2/fences', { id: 'f', region: point(50, 50), radius: 5, crs: 'local', zone_id: 'hall' });
    const { body } = await send('PATCH', '/v2/fences/f', { op: 'replace', path: '/region/coordinates/0', value: 60 });
    assert.equal(body.crs, 'EPSG:4326');
    assert.deepEqual(entities.get('fence', 'f')?.region.coordinates, [60, 50]);
  });

  it('ignores need_transformation in patches, and returns it in v1', async () => {
    const { send } = openApi();
    await send('POST', '/v2/zones', uwbZone({ id: 'hall' }));
    const { body } = await send('PATCH', '/v1/zones/hall', { op: 'add', path: '/need_transformation', value: false });
    assert.equal(body.need_transformation, true);
  });
});

describe('parents and children', () => {
  it('are returned by every endpoint that returns trackables, with computed children', async () => {
    const { send, entities } = openApi({ answers: () => [{ ids: [UUID_A] }] });
    await send('POST', '/v2/trackables', { id: UUID_A, type: 'omlox', location_providers: ['p'], children: ['x'] });
    await send('POST', '/v2/providers', { id: 'p', type: 'uwb' });
    await send('POST', '/v2/fences', { id: 'f', region: polygon() });
    assert.equal('children' in (await send('GET', `/v2/trackables/${UUID_A}`)).body, false);
    for (const id of [UUID_C, UUID_B]) {
      const child = await send('POST', '/v2/trackables', { id, type: 'omlox', parent: UUID_A });
      assert.deepEqual([child.body.parent, 'children' in child.body], [UUID_A, false]);
    }
    const expected = { id: UUID_A, type: 'omlox', location_providers: ['p'], children: [UUID_B, UUID_C].sort() };
    for (const path of [
      `trackables/${UUID_A}`,
      'trackables/summary',
      'providers/p/trackables',
      'fences/f/trackables',
    ]) {
      const { body } = await send('GET', `/v2/${path}`);
      assert.deepEqual(path.endsWith(UUID_A) ? body : body[0], expected, path);
    }
    assert.deepEqual((await send('PUT', `/v2/trackables/${UUID_A}`, expected)).body, expected);
    assert.equal('children' in (entities.get('trackable', UUID_A) ?? {}), false);
  });

  it('are returned by zones; a carrying trackable lists trackables only', async () => {
    const { send } = openApi();
    await send('POST', '/v2/trackables', { id: UUID_A, type: 'omlox' });
    await send('POST', '/v2/zones', rfidZone({ id: 'a', parent: UUID_A }));
    await send('POST', '/v2/zones', rfidZone({ id: 'b', parent: 'a' }));
    assert.deepEqual((await send('GET', '/v1/zones/a')).body.children, ['b']);
    assert.deepEqual((await send('GET', '/v2/zones/summary')).body[0]?.children, ['b']);
    assert.equal('children' in (await send('GET', `/v2/trackables/${UUID_A}`)).body, false);
    await send('DELETE', '/v2/zones/b');
    assert.equal('children' in (await send('GET', '/v2/zones/a')).body, false);
  });

  it('are unaffected by patches of other members, and cycles are rejected', async () => {
    const { send } = openApi();
    await send('POST', '/v2/trackables', { id: UUID_A, type: 'omlox' });
    await send('POST', '/v2/trackables', { id: UUID_B, type: 'omlox', parent: UUID_A });
    const ignored = await send('PATCH', `/v2/trackables/${UUID_A}`, { op: 'add', path: '/children/-', value: UUID_C });
    assert.deepEqual([ignored.status, ignored.body.children], [200, [UUID_B]]);
    const cycle = await send('PATCH', `/v2/trackables/${UUID_A}`, { op: 'add', path: '/parent', value: UUID_B });
    assert.equal(cycle.status, 400);
    assert.match(cycle.body.message, /^parent: must not be carried by the trackable itself/);
    await send('DELETE', `/v2/trackables/${UUID_A}`);
    assert.deepEqual((await send('GET', `/v2/trackables/${UUID_B}`)).body, { id: UUID_B, type: 'omlox' });
  });
});
