import assert from 'node:assert/strict';
import { test } from 'node:test';
import { positioningNodesets } from '../../src/opcua/positioning_models.ts';
import { readMotion, zoneFacts } from '../../src/opcua/site_facts.ts';

const [SPATIAL = '', POSITIONING = ''] = positioningNodesets();

/** Ids in OPC 10000-211 1.0.0, by browse names. Namespace 1 is that of the document. */
const PUBLISHED = {
  '1:ZoneType': 1005,
  '1:GlobalLocationType': 2003,
  '1:GlobalPositionType': 2006,
  '1:3DGeographicCoordinateDataType': 3003,
  '1:GlobalLocationDataType': 3004,
  '1:GroundControlPointDataType': 3005,
  '1:GlobalPositionDataType': 3006,
  '1:GlobalLocations': 5013,
  '1:ZoneId': 6043,
  '1:GroundControlPoints': 6047,
  '1:SourceId': 6038,
  '2:Position': 6009,
};

test('The models have the published ids, and each id once', () => {
  for (const [name, id] of Object.entries(PUBLISHED)) {
    assert.ok(POSITIONING.includes(`NodeId="ns=1;i=${id}" BrowseName="${name}"`), name);
  }
  for (const document of [SPATIAL, POSITIONING]) {
    const ids = [...document.matchAll(/ NodeId="([^"]+)"/g)].map(([, id]) => id);
    assert.ok(ids.length > 4);
    assert.equal(new Set(ids).size, ids.length);
    // All references within the model have a target.
    for (const [, target] of document.matchAll(/>(ns=1;i=\d+)<\/Reference>/g)) assert.ok(ids.includes(target), target);
  }
});

test('A zone has the pairs of its ground control points, and names without a name', () => {
  const zone = {
    id: 'z',
    type: 'uwb',
    ground_control_points: [
      [8, 50],
      [0, 1],
      [8.1, 50],
      [2, 3],
      [9, 51],
    ],
  } as const;
  const facts = zoneFacts({ ...zone, ground_control_points: zone.ground_control_points.map((row) => [...row]) });
  assert.deepEqual(facts.controlPoints, [
    [8, 50, 0, 1],
    [8.1, 50, 2, 3],
  ]);
  assert.deepEqual([facts.name, zoneFacts({ id: 'z', type: 'uwb', foreign_id: 'f' }).name], ['z', 'f']);
});

test('The position of a motion has what its location has', () => {
  const location = {
    position: { type: 'Point', coordinates: [8, 50, 1] },
    ...{ provider_type: 'uwb', source: 'hall', floor: -1, timestamp_generated: '2026-07-01T10:00:00.000Z' },
  };
  assert.deepEqual(readMotion(JSON.stringify({ id: 't', location })), {
    id: 't',
    position: {
      ...{ longitude: 8, latitude: 50, accuracy: undefined, floor: -1, source: 'hall' },
      at: new Date('2026-07-01T10:00:00.000Z'),
    },
  });
});
