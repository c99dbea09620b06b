import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { GOOD_LOCATION } from '../scenarios/bad_locations.ts';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';

/** Names and values that often cause defects, all of which can be stored. */
const STRANGE = JSON.stringify({
  constructor: { prototype: { polluted: true } },
  prototype: null,
  toString: 1,
  toJSON: 'text',
  ...JSON.parse('{"then":{}}'),
  hasOwnProperty: [],
  valueOf: false,
  length: -1,
  '': '',
  'a.b[0]': '\u0000\u001f\u007f\u2028\ufeff',
  '😀': '\ud83e\udd8a',
  numbers: [0, 1e308, -1e308, 5e-324, 0.1, 9007199254740991, 1e21],
  deep: JSON.parse(`${'[{"a":'.repeat(90)}1${'}]'.repeat(90)}`),
  list: Array.from({ length: 300 }, (_, i) => ({ [`name ${i}`]: i })),
});

let hub: TestHub;
before(async () => {
  hub = await openTestHub({ max_json_depth: 190 });
});
after(() => hub.close());

describe('properties are returned as they were sent', () => {
  const properties = JSON.parse(STRANGE);

  test('by entities, and in the events of a fence and of a motion', async () => {
    assert.equal((await hub.post('/zones', { ...HALL, properties })).status, 201);
    assert.equal((await hub.post('/fences', { ...square(), properties })).status, 201);
    const trackable = { type: 'omlox', location_providers: ['tag'], properties };
    const id = (await hub.post('/trackables', trackable)).body.id;
    for (const path of [`/zones/${HALL.id}`, `/fences/${square().id}`, `/trackables/${id}`]) {
      assert.deepEqual((await hub.get(path)).body.properties, properties, path);
    }
    const fenceEvents = await hub.subscribe('fence_events');
    const motions = await hub.subscribe('trackable_motions');
    const locations = await hub.subscribe('location_updates');
    const position = { type: 'Point', coordinates: [5, 5] };
    const location = { ...GOOD_LOCATION, provider_id: 'tag', source: 'hall', crs: 'local', position, properties };
    assert.equal((await hub.put('/providers/tag/location', location)).status, 204);
    assert.deepEqual((await fenceEvents.next()).properties, properties);
    assert.deepEqual((await motions.next()).properties, properties);
    assert.deepEqual((await locations.next()).properties, properties);
    assert.deepEqual((await hub.get('/providers/tag/location')).body.properties, properties);
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });
});

describe('properties that cannot be stored losslessly are rejected', () => {
  const rows: readonly (readonly [name: string, text: string, problem: RegExp])[] = [
    [
      'a member called __proto__',
      '{"__proto__":{"polluted":true}}',
      /^(\w+\.)?properties\.__proto__: is a name that cannot be stored$/,
    ],
    ['a nested, escaped one', '{"a":[{"\\u005f_proto__":1}]}', /properties\.a\[0\]\.__proto__: is a name/],
    ['half of a surrogate pair', '{"a":"\\ud800"}', /properties\.a: must be well-formed Unicode/],
    ['an unpaired surrogate in a name', '{"\\udc00":1}', /properties\.\ufffd: must be well-formed Unicode/],
    ['a number beyond the range', '{"a":[1e999]}', /properties\.a\[0\]: must be a finite number/],
    [
      'more levels than are set',
      `{"a":${'['.repeat(190)}${']'.repeat(190)}}`,
      /must be nested at most 190 levels deep, found more$/,
    ],
  ];
  for (const [name, text, problem] of rows) {
    test(name, async () => {
      const bodies: readonly (readonly [method: string, path: string, good: object])[] = [
        ['POST', '/providers', { type: 'uwb' }],
        ['POST', '/zones', { type: 'uwb' }],
        ['PUT', '/providers/refused/location', GOOD_LOCATION],
        ['POST', '/trackables', { type: 'omlox' }],
      ];
      for (const [method, path, { ...good }] of bodies) {
        if (path.endsWith('location')) Object.assign(good, { provider_id: 'refused' });
        const { status, body } = await hub.request(
          method,
          path,
          `${JSON.stringify(good).slice(0, -1)},"properties":${text}}`,
        );
        assert.equal(status, 400, `${method} ${path}: ${JSON.stringify(body)}`);
        assert.match(body.message, problem);
      }
      assert.equal((await hub.get('/providers/refused')).status, 404);
      const socket = await hub.socket();
      const item = `${JSON.stringify(GOOD_LOCATION).slice(0, -1)},"properties":${text}}`;
      const [answer] = await socket.ask(`{"event":"message","topic":"location_updates","payload":[${item}]}`);
      assert.match(String(answer?.description), new RegExp(problem.source.replace(/^\^(\(\\w\+\\\.\)\?)?/, '')));
    });
  }

  test('a JSON Patch that would create one', async () => {
    const patch = (operation: object) => hub.request('PATCH', '/providers/patched', JSON.stringify([operation]));
    assert.equal((await hub.post('/providers', { id: 'patched', type: 'uwb', properties: {} })).status, 201);
    const { status, body } = await patch({ op: 'add', path: '/properties/__proto__', value: 1 });
    assert.deepEqual([status, body.message], [400, 'properties.__proto__: is a name that cannot be stored']);
    assert.deepEqual((await hub.get('/providers/patched')).body.properties, {});
  });
});
