import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { polygon, rfidZone, UUID_A, uwbZone } from '../entities/open_entities.ts';
import { openApi } from './open_api.ts';

/** Values of wrong types for the schemas, and some of correct types. */
const value = fc.oneof(
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  fc.constantFrom<unknown>(
    null,
    '',
    -1,
    0,
    1.5,
    Number.MAX_VALUE,
    9e15,
    'local',
    'EPSG:4326',
    UUID_A,
    'hall',
    [],
    {},
    [[]],
    true,
  ),
  fc.constantFrom<unknown>({ type: 'Point', coordinates: [8, 50] }, { type: 'Point', coordinates: [] }, polygon()),
  fc.constantFrom<unknown>(
    { type: 'Polygon', coordinates: [[[0, 0]]] },
    [
      [8, 50],
      [0, 0],
      [8, 50],
      [0, 0],
    ],
    [{}],
  ),
);

const members = [
  ...new Set(
    ROUTES.flatMap(({ body }) => Object.keys((body as { properties?: object } | undefined)?.properties ?? {})),
  ),
];

/** A valid entity with some members changed, or an arbitrary value. */
const good = fc.constantFrom<object>(
  uwbZone(),
  rfidZone(),
  { region: polygon() },
  { region: { type: 'Point', coordinates: [5, 5] }, radius: 1, crs: 'local', zone_id: 'hall' },
  { type: 'omlox' },
  { id: 'p', type: 'uwb' },
  { position: { type: 'Point', coordinates: [5, 5] } },
);
const changed = fc.tuple(good, fc.dictionary(fc.constantFrom(...members, '__proto__', 'x'), value, { maxKeys: 3 }));
const body = fc.oneof(
  { weight: 4, arbitrary: changed.map(([base, changes]) => JSON.stringify({ ...base, ...changes })) },
  { weight: 1, arbitrary: value.map((something) => JSON.stringify(something)) },
  { weight: 1, arbitrary: fc.string() },
);

const segment = fc.oneof(fc.constantFrom('hall', 'f', 'p', UUID_A, '%', '%00', '..', 'summary', ''), fc.string());
const query = fc
  .array(
    fc.tuple(
      fc.constantFrom('crs', 'zone_id', 'geojson', 'spatial_query', 'foreign_id', 'force_location_update', '__proto__'),
      fc.oneof(fc.constantFrom('local', 'EPSG:4326', 'EPSG:32661', 'EPSG:32760', 'hall', 'true', '0', ''), fc.string()),
    ),
    { maxLength: 3 },
  )
  .map((pairs) => pairs.map(([name, text]) => `${name}=${text.replaceAll(/[&#]/g, '')}`).join('&'));

describe('every route', () => {
  it('answers any body, id and query without a 5xx status', async () => {
    const api = openApi();
    const { entities } = api;
    const request = fc.record({
      route: fc.constantFrom(...ROUTES),
      segment,
      query,
      body,
      version: fc.constantFrom('v1', 'v2'),
    });
    const property = fc.asyncProperty(request, async ({ route, ...sent }) => {
      if (!entities.has('zone', 'hall')) await entities.create('zone', uwbZone({ id: 'hall' }));
      if (!entities.has('fence', 'f')) await entities.create('fence', { id: 'f', region: polygon() });
      if (!entities.has('provider', 'p')) await entities.create('provider', { id: 'p', type: 'uwb' });
      if (!entities.has('trackable', UUID_A)) await entities.create('trackable', { id: UUID_A, type: 'omlox' });
      const path = `/${sent.version}${route.path.replace(/:\w+/, () => sent.segment)}?${sent.query}`;
      const { status } = await api.send(route.method, path, sent.body);
      assert.ok(status < 500, `${route.method} ${path} ${sent.body}: ${status}`);
    });
    await fc.assert(property, { numRuns: 3000, seed: 11 });
  });
});
