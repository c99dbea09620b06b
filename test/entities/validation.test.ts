import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Kind } from '../../src/entities/entities.ts';
import { HubError } from '../../src/errors.ts';
import { openEntities, POINTS, point, polygon, rfidZone, SQUARE, UUID_A, UUID_B, uwbZone } from './open_entities.ts';

const NIL = '00000000-0000-0000-0000-000000000000';
const hole = [
  ...SQUARE,
  [
    [8.68225, 50.11105],
    [8.6823, 50.11105],
    [8.6823, 50.1111],
    [8.68225, 50.11105],
  ],
];
const carrier = 'cccccccc-0000-4000-8000-000000000001';
const mobile = { 'com.hdm.hub.zone.autozoneupdate.trackables': [UUID_A] };

/** Every table runs beside the zones `hall` (local coordinates), `reader` and `sketch`, and the trackable `carrier`. */
async function beside() {
  const { entities } = openEntities({
    regionProblem: (f) => (f.name === 'bow tie' ? 'region: crosses itself at [1,2]' : undefined),
  });
  await entities.create('zone', uwbZone({ id: 'hall', foreign_id: 'hall-1' }));
  await entities.create('zone', rfidZone({ id: 'reader' }));
  await entities.create('zone', { id: 'sketch', type: 'uwb', incomplete_configuration: true });
  await entities.create('trackable', { id: carrier, type: 'omlox' });
  return entities;
}

const GOOD: Record<Kind, readonly (readonly [string, object])[]> = {
  zone: [
    ['three pairs', uwbZone()],
    ['two pairs', uwbZone({ ground_control_points: POINTS.slice(0, 4) })],
    ['a proximity zone', rfidZone()],
    ['no points, but incomplete', { type: 'wifi', incomplete_configuration: true }],
    [
      'one pair, but incomplete',
      uwbZone({ ground_control_points: POINTS.slice(0, 2), incomplete_configuration: true }),
    ],
    ['a proximity zone without position, but incomplete', { type: 'ibeacon', incomplete_configuration: true }],
    ['type none', { type: 'none' }],
    ['a benchmark', { type: 'generic', position: point(8.68, 50.11), surface_projection: 'EPSG:32632' }],
    ['nulls', uwbZone({ position: null, foreign_id: null, name: null, properties: null, parent: null })],
    ['a trackable as parent', rfidZone({ parent: carrier })],
    ['a proximity zone as parent', rfidZone({ parent: 'reader' })],
    ['an empty list of points', rfidZone({ ground_control_points: [] })],
  ],
  fence: [
    ['a polygon', { region: polygon() }],
    ['a circle', { region: point(8, 50), radius: 5 }],
    ['a hole', { region: polygon(hole), exit_tolerance: 0 }],
    ['local coordinates by id', { region: point(5, 5), radius: 1, crs: 'local', zone_id: 'hall' }],
    ['local coordinates by foreign id', { region: point(5, 5), radius: 1, crs: 'local', zone_id: 'hall-1' }],
    ['UTM', { region: point(477000, 5551000), radius: 1, crs: 'EPSG:32632' }],
    ['beyond the antimeridian', { region: point(181, 0), radius: 1 }],
    ['infinite and absent times', { region: polygon(), timeout: -1, exit_delay: null, entry_delay: 0 }],
  ],
  trackable: [
    ['nothing but a type', { type: 'virtual' }],
    ['a nil id', { type: 'omlox', id: NIL }],
    ['providers', { type: 'omlox', location_providers: ['a', 'b'] }],
    ['no providers', { type: 'omlox', location_providers: null }],
    [
      'a shape',
      {
        type: 'omlox',
        geometry: polygon([
          [
            [0, 0],
            [1, 0],
            [1, 1],
          ],
        ]),
      },
    ],
    ['rules', { type: 'omlox', locating_rules: [{ expression: "type = 'uwb' AND accuracy < 1", priority: 3 }] }],
    ['a parent', { type: 'omlox', parent: carrier }],
    ['the older name of a timeout', { type: 'omlox', timeout: 500 }],
  ],
  provider: [
    ['any id', { id: '77:4f:34:69/27%40', type: 'uwb' }],
    ['no id', { type: 'ble-aoa' }],
    ['sensors of any kind', { id: 'p', type: 'uwb', sensors: [1, { a: null }] }],
  ],
};

const BAD: Record<Kind, readonly (readonly [object | null, RegExp])[]> = {
  zone: [
    [null, /^body: must be object, found null$/],
    [[], /^body: must be object, found \[\]$/],
    [{}, /^type: is required/],
    [{ type: 'radar' }, /^type: must be one of uwb, .*found "radar"$/],
    [{ id: 5, type: 'uwb' }, /^id: must be string, found 5$/],
    [{ id: 'hall', ...uwbZone() }, /^id: zone "hall" already exists$/],
    [{ type: 'uwb' }, /^ground_control_points: are required for a zone of type uwb, found none$/],
    [uwbZone({ ground_control_points: POINTS.slice(0, 5) }), /^ground_control_points: .*even.*found 5$/],
    [uwbZone({ ground_control_points: POINTS.slice(0, 2) }), /^ground_control_points: .*2 pairs/],
    [
      uwbZone({ ground_control_points: [...POINTS, ...POINTS.slice(0, 2)] }),
      /^ground_control_points\[6\]: must differ/,
    ],
    [
      uwbZone({
        ground_control_points: [
          [8, 91],
          [0, 0],
          [8, 50],
          [1, 1],
        ],
      }),
      /^ground_control_points\[0\]\[1\]: .*91$/,
    ],
    [{ type: 'rfid' }, /^position: is required for a proximity zone, found nothing$/],
    [rfidZone({ ground_control_points: POINTS }), /^ground_control_points: must be absent .*found 6 rows$/],
    [
      rfidZone({ ground_control_points: POINTS, incomplete_configuration: true }),
      /^ground_control_points: must be absent/,
    ],
    [uwbZone({ transformation_type: 'proximity' }), /^ground_control_points: must be absent/],
    [rfidZone({ position: point(181, 0) }), /^position\.coordinates\[0\]: must be a longitude.*found 181$/],
    [rfidZone({ position: point(0, -91) }), /^position\.coordinates\[1\]: must be a latitude.*found -91$/],
    [rfidZone({ radius: -1 }), /^radius: must be >= 0, found -1$/],
    [uwbZone({ foreign_id: 'hall-1' }), /^foreign_id: must be unique, found "hall-1" of zone "hall"$/],
    [uwbZone({ properties: 'x' }), /^properties: must be object, found "x"$/],
    [uwbZone({ properties: [1] }), /^properties: must be object, found \[1\]$/],
    [{ type: 'generic', surface_projection: 'EPSG:32632' }, /^position: is required for a benchmark zone/],
    [{ type: 'generic', transformation_type: 'benchmark', position: point(8, 50) }, /^surface_projection: is required/],
    [
      { type: 'generic', surface_projection: 'EPSG:3857', position: point(8, 50) },
      /^surface_projection: .*"EPSG:3857"$/,
    ],
    [
      { type: 'generic', surface_projection: 'EPSG:32632', position: point(120, 0) },
      /^position: must lie within reach/,
    ],
    [uwbZone({ parent: carrier }), /^parent: is for proximity zones only, found "cccccccc/],
    [rfidZone({ parent: 'nobody' }), /^parent: must be the id of a trackable or of a proximity zone, found "nobody"$/],
    [rfidZone({ parent: 'hall' }), /^parent: must be the id of a trackable or of a proximity zone, found "hall"$/],
    [rfidZone({ id: 'own', parent: 'own' }), /^parent: must not be carried by the zone itself, found "own"$/],
    [rfidZone({ parent: carrier, properties: mobile }), /^parent: must not be set beside the automatic update/],
  ],
  fence: [
    [{}, /^region: is required/],
    [{ region: { type: 'LineString', coordinates: [] } }, /^region\.type: must be "Po.*found "LineString"$/],
    [{ region: point(8, 50) }, /^radius: must be greater than 0 .*found nothing$/],
    [{ region: point(8, 50), radius: 0 }, /^radius: must be greater than 0 .*found 0$/],
    [{ region: point(8, 50), radius: -1 }, /^radius: must be >= 0, found -1$/],
    [{ region: polygon(), timeout: 1.5 }, /^timeout: must be integer, found 1\.5$/],
    [{ region: polygon(), exit_delay: -2 }, /^exit_delay: must be >= -1, found -2$/],
    [{ region: polygon(), exit_delay: 1e300 }, /^exit_delay: must be <= 9007199254740991, found 1e\+300$/],
    [{ region: polygon(), exit_tolerance: -1 }, /^exit_tolerance: must be >= 0, found -1$/],
    [{ region: polygon(), extrusion: -1 }, /^extrusion: must be >= 0, found -1$/],
    [{ region: polygon(), crs: 'EPSG:3857' }, /^crs: must be one of local, .*found "EPSG:3857"$/],
    [{ region: polygon(), crs: 'local' }, /^zone_id: is required for a local region, found nothing$/],
    [{ region: polygon(), crs: 'local', zone_id: 'x' }, /^zone_id: must be the id or foreign id of a zone, found "x"$/],
    [{ region: polygon(), zone_id: 'x' }, /^zone_id: must be the id or foreign id of a zone, found "x"$/],
    [{ region: polygon(), crs: 'local', zone_id: 'reader' }, /^zone_id: must be a zone with local coord.*"reader"$/],
    [{ region: polygon(), crs: 'local', zone_id: 'sketch' }, /^zone_id: must be a zone with local coord.*"sketch"$/],
    [
      {
        region: polygon([
          [
            [0, 0],
            [1, 91],
            [1, 0],
          ],
        ]),
      },
      /^region\.coordinates\[0\]\[1\]\[1\]: must be a latitude.*91$/,
    ],
    [{ region: point(361, 0), radius: 1 }, /^region\.coordinates\[0\]: must be a longitude.*found 361$/],
    [{ region: point(1e9, 0), radius: 1, crs: 'EPSG:32632' }, /^region\.coordinates: must lie within reach/],
    [
      {
        region: polygon([
          [
            [0, 0],
            [1, 1],
          ],
        ]),
      },
      /^region\.coordinates\[0\]/,
    ],
    [
      { region: polygon(hole), exit_tolerance: 1 },
      /^exit_tolerance: must not be set for a region with holes, found 1$/,
    ],
    [{ region: polygon(hole), entry_tolerance: 2 }, /^entry_tolerance: must not be set .*found 2$/],
    [{ region: polygon(), name: 'bow tie' }, /^region: crosses itself at \[1,2\]$/],
    [{ region: polygon(), properties: 7 }, /^properties: must be object, found 7$/],
  ],
  trackable: [
    [{ type: 'car' }, /^type: must be one of omlox, virtual, found "car"$/],
    [{ id: 'not-a-uuid', type: 'omlox' }, /^id: must be a UUID, found "not-a-uuid"$/],
    [
      { type: 'omlox', location_providers: ['a', 'b', 'a'] },
      /^location_providers\[2\]: must differ .*\[0\], found "a"$/,
    ],
    [{ type: 'omlox', location_providers: [UUID_A, UUID_A.toUpperCase()] }, /^location_providers\[1\]: must differ/],
    [{ type: 'omlox', location_providers: [''] }, /^location_providers\[0\]: must not be empty/],
    [{ type: 'omlox', location_providers: 'a' }, /^location_providers: must be array, found "a"$/],
    [{ type: 'omlox', collision_tolerance: 1 }, /^collision_tolerance: was renamed exit_tolerance, found 1$/],
    [{ type: 'omlox', radius: -1 }, /^radius: must be >= 0, found -1$/],
    [{ type: 'omlox', fence_timeout: 0.5 }, /^fence_timeout: must be integer, found 0\.5$/],
    [
      {
        type: 'omlox',
        geometry: polygon([
          [
            [0, 0],
            [1, 1],
            [0, 0],
          ],
        ]),
      },
      /^geometry\.coordinates\[0\]: .*found 2$/,
    ],
    [
      { type: 'omlox', locating_rules: [{ expression: 'accuracy <', priority: 1 }] },
      /^locating_rules\[0\]\.expression/,
    ],
    [
      { type: 'omlox', locating_rules: [{ expression: 'floor = 1', priority: -1 }] },
      /^locating_rules\[0\]\.priority: .*-1$/,
    ],
    [
      { type: 'omlox', locating_rules: [{ expression: 'floor = 1', priority: 1e30 }] },
      /^locating_rules\[0\]\.priority: .*30$/,
    ],
    [{ type: 'omlox', parent: UUID_B }, /^parent: must be the id of a trackable, found "6f1f4d3e/],
    [
      { id: UUID_A, type: 'omlox', parent: UUID_A.toUpperCase() },
      /^parent: must not be carried by the trackable itself/,
    ],
    [{ type: 'omlox', properties: 'x' }, /^properties: must be object, found "x"$/],
  ],
  provider: [
    [{ id: '', type: 'uwb' }, /^id: must not be empty, found ""$/],
    [{ id: 'p' }, /^type: is required/],
    [{ id: 'p', type: 'radar' }, /^type: must be one of uwb, .*found "radar"$/],
    [{ id: 'p', type: 'uwb', exit_delay: '5' }, /^exit_delay: must be integer, found "5"$/],
    [{ id: 'p', type: 'uwb', properties: false }, /^properties: must be object, found false$/],
  ],
};

describe('Entities.create', () => {
  for (const [kind, rows] of Object.entries(GOOD) as [Kind, (typeof GOOD)[Kind]][]) {
    for (const [name, body] of rows) {
      it(`accepts a ${kind} with ${name} and keeps it as sent`, async () => {
        const entities = await beside();
        const entity = await entities.create(kind, body);
        const { id, ...rest } = entity;
        const { id: _sent, ...sent } = body as { id?: string };
        assert.ok(id !== '' && id !== NIL);
        if (kind !== 'fence') assert.deepEqual(rest, sent);
        assert.equal(entities.get(kind, id), entity);
      });
    }
  }

  for (const [kind, rows] of Object.entries(BAD) as [Kind, (typeof BAD)[Kind]][]) {
    for (const [body, message] of rows) {
      it(`refuses the ${kind} ${JSON.stringify(body).slice(0, 90)} saying ${message}`, async () => {
        const entities = await beside();
        const before = entities.count(kind);
        await assert.rejects(entities.create(kind, body), (error: HubError) => {
          assert.match(error.message, message);
          return error instanceof HubError && error.code === 'HUB_BAD_REQUEST';
        });
        assert.equal(entities.count(kind), before);
      });
    }
  }

  it('normalises a clockwise, open fence and leaves everything else as sent', async () => {
    const { entities } = openEntities();
    const clockwise = [
      [
        [8, 50],
        [8, 51],
        [9, 51],
        [9, 50],
      ],
    ];
    const { region } = await entities.create('fence', { name: 'f', region: polygon(clockwise) });
    assert.deepEqual(region.coordinates, [
      [
        [8, 50],
        [9, 50],
        [9, 51],
        [8, 51],
        [8, 50],
      ],
    ]);
  });

  it('drops unknown members, but none inside properties and sensors', async () => {
    const { entities } = openEntities();
    const body = JSON.parse(
      '{"colour":1,"type":"uwb","properties":{"colour":{"x":[]}},"id":"p","__proto__":{"a":1},"sensors":{"q":1}}',
    );
    const provider = await entities.create('provider', body);
    const kept = '{"type":"uwb","properties":{"colour":{"x":[]}},"id":"p","sensors":{"q":1}}';
    assert.equal(JSON.stringify(provider), kept);
  });
});
