import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { GOOD_LOCATION, READER } from '../scenarios/bad_locations.ts';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import type { SocketClient } from '../support/socket_client.ts';

const TRACKABLE = { id: '11111111-0000-4000-8000-000000000001', type: 'omlox', location_providers: ['tag'], radius: 1 };
const IDS = [
  HALL.id,
  READER.id,
  square().id,
  TRACKABLE.id,
  'tag',
  'nobody',
  '%00',
  '%F0%9F%98%80',
  'a%2Fb',
  '%25',
  '..',
];
const GOOD = [
  HALL,
  READER,
  square(),
  TRACKABLE,
  { id: 'tag', type: 'uwb' },
  { id: 'north', zone_id: 'hall', local_position: { type: 'Point', coordinates: [0, 0] } },
  GOOD_LOCATION,
  { ...GOOD_LOCATION, provider_id: 'tag' },
];
const LOCATIONS = [
  GOOD_LOCATION,
  { ...GOOD_LOCATION, provider_id: undefined },
  {
    ...GOOD_LOCATION,
    provider_id: 'tag',
    crs: 'local',
    source: 'hall',
    position: { type: 'Point', coordinates: [5, 5] },
  },
  { source: READER.id, provider_type: 'rfid', provider_id: 'tag' },
];
const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'length',
  ...new Set(GOOD.flatMap((value) => Object.keys(value))),
];

const anyKey = fc.oneof(fc.constantFrom(...NAMES), fc.string());
const anyNumber = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(-1, 0, 1, 2 ** 53, 1e300, -0));
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '2026-03-01T12:00:00Z', 'local', 'EPSG:32632', ...IDS),
);
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    anyNumber,
    anyText,
    fc.constantFrom(...GOOD),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(anyKey, tie('value'), { maxKeys: 4 }),
  ),
}));
/** A valid entity or location with some members replaced. */
function nearly(good: fc.Arbitrary<object>): fc.Arbitrary<object> {
  const changes = fc.dictionary(anyKey, anyValue, { maxKeys: 2 });
  return fc.tuple(good, fc.option(changes, { freq: 1, nil: {} })).map(([base, changed]) => ({ ...base, ...changed }));
}
const nearlyGood = nearly(fc.constantFrom<object>(...GOOD));
const nearlyLocation = nearly(fc.constantFrom<object>(...LOCATIONS));
const PATHS = [
  '',
  '/id',
  '/name',
  '/type',
  '/region',
  '/region/coordinates/0/-',
  '/location_providers/0',
  '/properties/x',
];
const anyOperation = fc.record(
  {
    op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test'),
    path: fc.oneof(fc.constantFrom(...PATHS), fc.string()),
    from: fc.constantFrom(...PATHS),
    value: anyValue,
  },
  { requiredKeys: ['op', 'path'] },
);
const anyPatch = fc.oneof(anyOperation, fc.array(anyOperation, { maxLength: 4 }));
const anyBody = fc.oneof(anyValue, nearlyGood, nearlyLocation, fc.array(nearlyLocation, { maxLength: 3 }));
const anyQuery = fc.constantFrom(
  '',
  '',
  '?crs=local',
  '?crs=EPSG:32632&geojson',
  '?zone_id=hall',
  '?spatial_query=1',
  '?force_location_update=true',
  '?crs=%FF',
);
/** A request of the API. `call` is its method and path, with the name of a parameter in place of an id. */
function requests(calls: readonly (readonly [method: string, path: string])[], body: fc.Arbitrary<unknown>) {
  return fc.record({
    call: fc.constantFrom(...calls),
    prefix: fc.constantFrom('/v1', '/v2', '/hub/v1', '/hub/v2', '/deephub/v2'),
    id: fc.constantFrom(...IDS),
    query: anyQuery,
    body: fc.option(body, { freq: 20, nil: undefined }),
  });
}
const anyRequest = fc.oneof(
  requests(
    ROUTES.map(({ method, path }) => [method, path] as const),
    anyBody,
  ),
  requests(
    ['/zones', '/fences', '/trackables', '/providers', '/anchors'].map((path) => ['POST', path] as const),
    nearlyGood,
  ),
  requests(
    ['/zones/:id', '/fences/:id', '/trackables/:id', '/providers/:id', '/anchors/:id'].map((path) => ['PATCH', path]),
    anyPatch,
  ),
  requests([['PUT', '/providers/:provider_id/location']], nearlyLocation),
  requests([['POST', '/providers/locations']], fc.array(nearlyLocation, { maxLength: 3 })),
);

let hub: TestHub;
let socket: SocketClient;

before(async () => {
  hub = await openTestHub();
  socket = await hub.socket();
  for (const topic of ['location_updates:geojson', 'trackable_motions', 'fence_events', 'collision_events']) {
    await socket.subscribe(topic, { crs: 'local', zone_id: undefined });
  }
});
after(() => hub.close());

describe('the hub', () => {
  test('answers any JSON on any endpoint with a success or with an error that names the defect', async () => {
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(anyRequest, { minLength: 1, maxLength: 8 }), async (asked) => {
        const replies = asked.map(({ call: [method, path], prefix, id, query, body }) => {
          return hub.request(method, hub.origin + prefix + path.replace(/:\w+/, id) + query, body);
        });
        for (const { status, body } of await Promise.all(replies)) {
          seen.set(status, (seen.get(status) ?? 0) + 1);
          assert.ok(status < 500, JSON.stringify(body));
          if (status < 400) continue;
          assert.equal(body.code, status);
          assert.ok(body.message.length > 10, body.message);
        }
      }),
      { numRuns: 250, seed: 20260301 },
    );
    for (const status of [200, 201, 204, 400, 404]) assert.ok((seen.get(status) ?? 0) > 0, `never ${status}`);
  });

  test('answers any JSON on the WebSocket with nothing or an error, and stays connected', async () => {
    const anyFrame = fc.record(
      {
        event: fc.constantFrom('message', 'subscribe', 'unsubscribe', 'error', 'message'),
        topic: fc.oneof(fc.constantFrom('location_updates', 'proximity_updates', 'fence_events:geojson'), anyValue),
        payload: fc.oneof(anyBody, fc.array(anyBody)),
        params: fc.oneof(anyValue, fc.dictionary(fc.constantFrom('crs', 'zone_id', 'floor', 'provider_id'), anyValue)),
        subscription_id: anyValue,
      },
      { requiredKeys: ['event'] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyFrame, anyFrame, anyValue), async (frame) => {
        const answers = await socket.ask(JSON.stringify(frame));
        assert.equal(socket.closed, undefined);
        const refusals = answers.filter(({ event }) => event === 'error');
        assert.ok(refusals.length <= 1, JSON.stringify(answers));
        for (const { code } of refusals) assert.ok(code !== undefined && code >= 10000 && code <= 10005, String(code));
      }),
      { numRuns: 300, seed: 20260302 },
    );
  });

  test('has no internal error, has lost nothing, and still works', async () => {
    await hub.settle();
    // A rejected notification of a vendor is logged as a warning, since its sender ignores the response.
    assert.deepEqual(
      hub.logged.filter(({ level }) => level !== 'warn'),
      [],
    );
    const { received, processed, outdated, rejected, workerRestarts } = hub.hub.counts();
    assert.equal(received, processed + outdated + rejected);
    assert.ok(processed > 10, `only ${processed} locations were accepted`);
    assert.equal(workerRestarts, 0);
    const events = await hub.subscribe('location_updates', { provider_id: 'fine' });
    assert.equal((await hub.put('/providers/fine/location', { ...GOOD_LOCATION, provider_id: 'fine' })).status, 204);
    await events.next();
  });
});
