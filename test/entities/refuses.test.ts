import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Kind } from '../../src/entities/entities.ts';
import { HubError } from '../../src/errors.ts';
import { beside, carrier, hole } from './beside.ts';
import { POINTS, point, line, polygon, rfidZone, UUID_A, UUID_B, uwbZone } from './open_entities.ts';

const mobile = { 'com.hdm.hub.zone.autozoneupdate.trackables': [UUID_A] };

const BOW_TIE = [
  [
    [0, 0],
    [4, 4],
    [4, 0],
    [0, 4],
    [0, 0],
  ],
];

const BAD: Record<Kind, readonly (readonly [object | null, RegExp])[]> = {
  zone: [
    [null, /^body: must be an object, found null$/],
    [[], /^body: must be an object, found \[\]$/],
    [{}, /^type: is required/],
    [{ type: 'radar' }, /^type: must be one of uwb, .*found "radar"$/],
    [{ id: 5, type: 'uwb' }, /^id: must be a string, found 5$/],
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
    [rfidZone({ position: polygon() }), /^position\.type: must be "Point", found "Polygon"$/],
    [rfidZone({ position: [8, 50] }), /^position: must be a GeoJSON Point, found \[8,50\]$/],
    [uwbZone({ ground_control_points: [[8]] }), /^ground_control_points\[0\]: must be a position .*found \[8\]$/],
    [rfidZone({ radius: -1 }), /^radius: must be >= 0, found -1$/],
    [uwbZone({ foreign_id: 'hall-1' }), /^foreign_id: must differ .*found "hall-1"$/],
    [uwbZone({ foreign_id: 'hall' }), /^foreign_id: must differ from .*found "hall"$/],
    [uwbZone({ id: 'hall-1' }), /^id: must differ from ids and foreign ids of other zones, found "hall-1"$/],
    [uwbZone({ properties: 'x' }), /^properties: must be an object, found "x"$/],
    [uwbZone({ properties: [1] }), /^properties: must be an object, found \[1\]$/],
    [
      { type: 'uwb', transformation_type: 'none', proximity_resolution: {} },
      /^proximity_resolution: is for proximity zones only, found/,
    ],
    [
      { type: 'rfid', position: point(8, 50), proximity_resolution: { exit_grace_duration: 1e300 } },
      /^proximity_resolution\.exit_grace_duration: .*found 1e\+300$/,
    ],
    [
      { type: 'rfid', position: point(8, 50), proximity_resolution: { entry_confidence_min: 2 } },
      /^proximity_resolution\.entry_confidence_min: must be <= 1, found 2$/,
    ],
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
    [{ type: 'uwb', anchor_ids: ['a1'] }, /^ground_control_points: are required/],
    [{ type: 'uwb', anchor_ids: ['a1', 'a3'] }, /^ground_control_points: are required/],
    [uwbZone({ anchor_ids: 'a1' }), /^anchor_ids: must be an array, found "a1"$/],
    [{ type: 'generic' }, /^ground_control_points: are required for a zone of type generic/],
    [{ type: 'generic', surface_projection: 'local', position: point(8, 50) }, /^surface_projection: .*"local"$/],
    [
      { type: 'generic', surface_projection: 'EPSG:32632', position: point(8, 50), scale_factor: 0 },
      /^scale_factor: must be > 0, found 0$/,
    ],
    [uwbZone({ transformation_type: 'helmert' }), /^transformation_type: must be one of gcp, .*found "helmert"$/],
    [uwbZone({ parent: carrier }), /^parent: is for proximity zones only, found "cccccccc/],
    [rfidZone({ parent: 'nobody' }), /^parent: must be the id of a trackable or of a proximity zone, found "nobody"$/],
    [rfidZone({ parent: 'hall' }), /^parent: must be the id of a trackable or of a proximity zone, found "hall"$/],
    [rfidZone({ id: 'own', parent: 'own' }), /^parent: must not be carried by the zone itself, found "own"$/],
    [rfidZone({ parent: carrier, properties: mobile }), /^parent: must not be set together with the automatic update/],
  ],
  fence: [
    [{}, /^region: is required/],
    [{ region: { type: 'MultiPoint', coordinates: [] } }, /^region\.type: must be one of Po.*found "MultiPoint"$/],
    [{ region: 7 }, /^region: must be a GeoJSON geometry of one of the types Point, Polygon, LineString, found 7$/],
    [{ region: line([]) }, /^region\.coordinates: must be a list of at least 2 positions, found \[\]$/],
    [{ region: line([[8, 50]]) }, /^region\.coordinates: must be a list of at least 2 positions, found \[\[8,50\]\]$/],
    [
      {
        region: line([
          [8, 50],
          [8, 50],
        ]),
      },
      /^region\.coordinates: must have at least 2 different points, found 1$/,
    ],
    [
      {
        region: line([
          [8, 50],
          [8, 91],
        ]),
      },
      /^region\.coordinates\[1\]\[1\]: must be a latitude.*found 91$/,
    ],
    [
      {
        region: line([
          [0, 0],
          [2, 0],
          [2, 2],
          [1, -1],
        ]),
      },
      /^region\.coordinates\[2\]: must be on a line that does not cross or touch itself, found \[2,2\]$/,
    ],
    [
      {
        region: line([
          [8, 50],
          [8, 51],
        ]),
        crossing: 'x',
      },
      /^crossing: must be one of none, segment, found "x"$/,
    ],
    [{ region: point(8, 50) }, /^radius: must be greater than 0 .*found nothing$/],
    [{ region: point(8, 50), radius: 0 }, /^radius: must be greater than 0 .*found 0$/],
    [{ region: point(8, 50), radius: -1 }, /^radius: must be >= 0, found -1$/],
    [{ region: polygon(), timeout: 1.5 }, /^timeout: must be an integer, found 1\.5$/],
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
      /^region\.coordinates\[0\]: must have at least 4 positions, the last the same as the first, found 2$/,
    ],
    [
      { region: polygon(hole), exit_tolerance: 1 },
      /^exit_tolerance: must not be set for a region with holes, found 1$/,
    ],
    [{ region: polygon(hole), entry_tolerance: 2 }, /^entry_tolerance: must not be set .*found 2$/],
    [{ region: polygon(BOW_TIE) }, /^region: must be a valid polygon, found Self-intersection at \[2, 2\]$/],
    [{ region: polygon([]) }, /^region\.coordinates: must have at least one ring, found \[\]$/],
    [
      { region: { type: 'MultiPolygon', coordinates: [BOW_TIE] } },
      /^region\.type: must be one of Point, Polygon, LineString, found "M/,
    ],
    [
      { region: { type: 'Feature', geometry: polygon() } },
      /^region\.type: must be one of Point, Polygon, LineString, found "Feature"$/,
    ],
    [{ region: 'x' }, /^region: must be a GeoJSON geometry of one of the types Point, Polygon, LineString, found "x"$/],
    [
      { region: { type: 'Point', coordinates: [8] }, radius: 1 },
      /^region\.coordinates: must be a position .*found \[8\]$/,
    ],
    [{ region: polygon(), properties: 7 }, /^properties: must be an object, found 7$/],
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
    [{ type: 'omlox', location_providers: 'a' }, /^location_providers: must be an array, found "a"$/],
    [{ type: 'omlox', collision_tolerance: 1 }, /^collision_tolerance: was renamed exit_tolerance, found 1$/],
    [{ type: 'omlox', radius: -1 }, /^radius: must be >= 0, found -1$/],
    [{ type: 'omlox', fence_timeout: 0.5 }, /^fence_timeout: must be an integer, found 0\.5$/],
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
      { type: 'omlox', geometry: polygon(BOW_TIE) },
      /^geometry: must be a valid polygon, found Self-intersection at \[2, 2\]$/,
    ],
    [{ type: 'omlox', geometry: polygon([]) }, /^geometry\.coordinates: must have at least one ring, found \[\]$/],
    [{ type: 'omlox', geometry: point(1, 2) }, /^geometry\.type: must be "Polygon", found "Point"$/],
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
    [{ type: 'omlox', properties: 'x' }, /^properties: must be an object, found "x"$/],
  ],
  provider: [
    [{ id: '', type: 'uwb' }, /^id: must not be empty, found ""$/],
    [{ id: 'p' }, /^type: is required/],
    [{ id: 'p', type: 'radar' }, /^type: must be one of uwb, .*found "radar"$/],
    [{ id: 'p', type: 'uwb', exit_delay: '5' }, /^exit_delay: must be an integer, found "5"$/],
    [{ id: 'p', type: 'uwb', properties: false }, /^properties: must be an object, found false$/],
  ],
  anchor: [
    [{ name: 'north' }, /^id: is required, but is missing$/],
    [{ id: 'a1' }, /^id: anchor "a1" already exists$/],
    [{ id: 'a', zone_id: 'nowhere' }, /^zone_id: must be the id or foreign id of a zone, found "nowhere"$/],
    [{ id: 'a', local_position: [1, 2] }, /^local_position: must be a GeoJSON Point, found \[1,2\]$/],
    [
      { id: 'a', georeferenced_position: point(181, 0) },
      /^georeferenced_position\.coordinates\[0\]: must be a longitude.*found 181$/,
    ],
    [{ id: 'a', properties: 'x' }, /^properties: must be an object, found "x"$/],
  ],
};

describe('Entities.create', () => {
  for (const [kind, rows] of Object.entries(BAD) as [Kind, (typeof BAD)[Kind]][]) {
    for (const [body, message] of rows) {
      it(`rejects the ${kind} ${JSON.stringify(body).slice(0, 90)} with ${message}`, async () => {
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
});
