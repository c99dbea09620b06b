import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UUID_A, UUID_B } from '../entities/open_entities.ts';
import { openApi } from './open_api.ts';

describe('trackables', () => {
  it('return their providers, and providers their trackables, as objects in v2 and as ids in v1', async () => {
    const { send } = openApi();
    await send('POST', '/v2/providers', { id: 'p', type: 'uwb', sensors: { battery: 5 } });
    await send('POST', '/v2/providers', { id: 'q', type: 'gps', sensors: null });
    await send('POST', '/v2/trackables', { id: UUID_A, type: 'omlox', location_providers: ['q', 'nobody', 'p'] });
    const providers = (await send('GET', `/v2/trackables/${UUID_A}/providers`)).body;
    assert.deepEqual(
      providers.map((row: { id: string; type: string }) => [row.id, row.type]),
      [
        ['q', 'gps'],
        ['p', 'uwb'],
      ],
    );
    assert.deepEqual((await send('GET', `/v1/trackables/${UUID_A}/providers`)).body, ['q', 'p']);
    assert.equal((await send('GET', '/v2/providers/p/trackables')).body[0]?.id, UUID_A);
    assert.deepEqual((await send('GET', '/v1/providers/p/trackables')).body, [UUID_A]);
    assert.deepEqual((await send('GET', `/v2/trackables/${UUID_A.toUpperCase()}/sensors`)).body, [{ battery: 5 }]);
    assert.equal((await send('GET', '/v2/providers/nobody/trackables')).status, 404);
    assert.equal((await send('GET', `/v2/trackables/${UUID_B}/providers`)).status, 404);
  });

  it('pass force_location_update to the shards', async () => {
    const forced: (boolean | undefined)[] = [];
    const committed = (changes: readonly { force?: boolean }[]) =>
      void forced.push(...changes.map(({ force }) => force));
    const { send } = openApi({ entities: { committed } });
    await send('POST', '/v2/trackables?force_location_update=true', { id: UUID_A, type: 'omlox' });
    await send('PUT', `/v2/trackables/${UUID_A}?force_location_update`, { type: 'omlox' });
    await send('PUT', `/v2/trackables/${UUID_A}?force_location_update=0`, { type: 'omlox' });
    assert.deepEqual(forced, [true, true, undefined]);
    const bad = await send('PUT', `/v2/trackables/${UUID_A}?force_location_update=maybe`, { type: 'omlox' });
    assert.deepEqual(
      [bad.status, bad.body.message],
      [400, 'force_location_update: must be true or false, found "maybe"'],
    );
  });
});

describe('provider sensors', () => {
  it('are any JSON value, and 404 until they are set', async () => {
    const { send } = openApi();
    await send('POST', '/v2/providers', { id: 'p', type: 'uwb' });
    assert.equal((await send('GET', '/v2/providers/p/sensors')).status, 404);
    for (const sensors of [0, false, '"text"', [], { a: [1, null] }]) {
      assert.equal((await send('PUT', '/v2/providers/p/sensors', sensors)).status, 204);
      const expected = typeof sensors === 'string' ? JSON.parse(sensors) : sensors;
      assert.deepEqual((await send('GET', '/v2/providers/p/sensors')).body, expected);
    }
    assert.equal((await send('PUT', '/v2/providers/p/sensors', '{')).status, 400);
    assert.equal((await send('PUT', '/v2/providers/nobody/sensors', {})).status, 404);
    assert.equal((await send('GET', '/v2/providers/nobody/sensors')).status, 404);
  });
});
