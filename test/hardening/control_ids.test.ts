import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isId } from '../../src/model/id.ts';
import { GOOD_LOCATION } from '../scenarios/bad_locations.ts';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';

/** Characters that terminate strings, lines, headers or statements in programs that receive an id. */
const CONTROLS = ['\u0000', '\t', '\n', '\r', '\u001b', '\u007f', '\u0085', '\u009f'] as const;

test('An id has no control characters, and may have all others', () => {
  for (const control of CONTROLS) assert.equal(isId(`a${control}b`), false, JSON.stringify(control));
  for (const id of ['', ' ', 'aa:bb:cc', "it's", 'ä', '日本', '😀', '\u00a0', '\u200b', '%00', '\\u0000']) {
    assert.equal(isId(id), true, id);
  }
  assert.equal(isId('\ud83e'), false);
});

describe('Ids with control characters are rejected', () => {
  let hub: TestHub;
  before(async () => {
    hub = await openTestHub();
    await hub.post('/zones', HALL);
    await hub.post('/fences', square());
  });
  after(() => hub.close());

  for (const control of CONTROLS) {
    const id = `a${control}b`;
    const location = { ...GOOD_LOCATION, provider_id: 'tag' };
    const fenceEvent = { event_type: 'region_entry' };
    const text = JSON.stringify(control);
    const path = encodeURIComponent(id);
    const rows: readonly (readonly [method: 'post' | 'put' | 'get', path: string, body: unknown, field: string])[] = [
      ['get', `/providers/${path}`, undefined, 'path'],
      ['get', `/trackables/${path}/motion`, undefined, 'path'],
      ['put', `/providers/${path}/location`, { ...location, provider_id: undefined }, 'path'],
      ['put', '/providers/locations', [location, { ...location, provider_id: id }], 'locations[1].provider_id'],
      ['put', '/providers/locations', [{ ...location, source: id }], 'locations[0].source'],
      ['post', '/providers', { id, type: 'uwb' }, 'id'],
      ['post', '/fences', { ...square(), id }, 'id'],
      ['post', '/fences', { ...square(), id: undefined, foreign_id: id }, 'foreign_id'],
      ['post', '/fences', { ...square(), id: undefined, zone_id: id }, 'zone_id'],
      ['post', '/zones', { ...HALL, id: undefined, foreign_id: id }, 'foreign_id'],
      ['post', '/trackables', { type: 'omlox', location_providers: ['x', id] }, 'location_providers[1]'],
      ['post', `/fences/${square().id}/events`, { ...fenceEvent, provider_id: id }, 'provider_id'],
    ];
    for (const [method, where, body, field] of rows) {
      test(`${text} in ${field} of ${method} ${where}`, async () => {
        const { status, body: answer } = await (method === 'get' ? hub.get(where) : hub[method](where, body));
        assert.equal(status, 400, JSON.stringify(answer));
        assert.match(answer.message, /: must have no control characters, found /);
        assert.ok(answer.message.startsWith(field), answer.message);
      });
    }
  }

  test('also unescaped, in a body that is scanned', async () => {
    for (const id of ['a\u007fb', 'a\u0085b']) {
      const body = JSON.stringify([{ ...GOOD_LOCATION, provider_id: id }]);
      assert.ok(!body.includes('\\'));
      const { status, body: answer } = await hub.put('/providers/locations', JSON.parse(body));
      assert.deepEqual(
        [status, /^locations\[0\]\.provider_id: must have no control/.test(answer.message)],
        [400, true],
      );
    }
  });

  test('in parameters of subscriptions', async () => {
    await assert.rejects(
      hub.subscribe('location_updates', { provider_id: ['x', 'a\nb'] }),
      /params\.provider_id: must have/,
    );
  });
});
