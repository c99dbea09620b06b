import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Hierarchies } from '../../src/adapters/cisco/hierarchy.ts';
import { decodeNotification } from '../../src/adapters/cisco/notification.ts';
import { checker } from '../../src/model/check.ts';
import { Location } from '../../src/model/location.ts';
import { hierarchies, NOTIFICATIONS, OFFICE, WORKS } from './cisco_samples.ts';

const KNOWN = hierarchies(OFFICE, WORKS);

function decode(value: unknown, known = KNOWN) {
  return decodeNotification(value, { at: 'notifications[0]', zone: (name) => known.find(name) });
}

function locationOf(value: unknown, known?: Hierarchies): Location {
  const decoded = decode(value, known);
  assert.ok(decoded.is === 'location', JSON.stringify(decoded));
  return decoded.location;
}

function details(properties: Location['properties']) {
  return properties?.['cisco'] as Record<string, unknown>;
}

const { inFeet, inZoneOfVendor, geographic, association, withArrows, nowhere } = NOTIFICATIONS;
const local = (more: object) => ({ ...inFeet, locationCoordinate: { ...inFeet.locationCoordinate, ...more } });
const geo = (latitude: unknown, longitude: unknown) => ({ ...inFeet, geoCoordinate: { latitude, longitude } });

describe('decodeNotification', () => {
  test('creates a location in meters, with useful properties and without personal data', () => {
    assert.deepEqual(locationOf(inFeet), {
      provider_type: 'wifi',
      provider_id: '02:00:5e:10:00:01',
      source: OFFICE.foreign_id,
      position: { type: 'Point', coordinates: [12.5, 30] },
      crs: 'local',
      floor: 4,
      associated: true,
      accuracy: 17.069,
      timestamp_generated: '2026-11-20T10:04:07.120Z',
      properties: {
        cisco: {
          notification_type: 'locationupdate',
          map_hierarchy: OFFICE.foreign_id,
          entity: 'WIRELESS_CLIENTS',
          ap_mac: '02:00:5e:aa:00:01',
          ssid: 'plant',
          band: 'IEEE_802_11_A',
          event_id: 101,
        },
      },
    });
  });

  test("drops the segment of the vendor's zone, and keeps meters and a height", () => {
    const { properties, ...location } = locationOf(inZoneOfVendor);
    assert.deepEqual(location, {
      provider_type: 'wifi',
      provider_id: '02:00:5e:10:00:02',
      source: WORKS.foreign_id,
      position: { type: 'Point', coordinates: [12.5, 30.25, 1.5] },
      crs: 'local',
      elevation_ref: 'floor',
      floor: 0,
      accuracy: 8,
      timestamp_generated: '2026-11-20T10:04:10.000Z',
    });
    assert.equal(details(properties)['move_distance_ft'], 10_000);
  });

  test('prefers geographic coordinates, inside a zone or not', () => {
    const { properties, ...location } = locationOf(geographic);
    assert.deepEqual(location, {
      provider_type: 'wifi',
      provider_id: '02:00:5e:10:00:03',
      source: 'Campus X>B1>F2',
      position: { type: 'Point', coordinates: [8.67521, 49.41733] },
      crs: 'EPSG:4326',
      associated: false,
      accuracy: 21.946,
      timestamp_generated: '2026-11-20T10:04:11.000Z',
    });
    assert.equal(details(properties)['boundary'], 'OUTSIDE');
    const inZone = locationOf({ ...inFeet, geoCoordinate: geographic.geoCoordinate });
    assert.deepEqual([inZone.crs, inZone.floor, inZone.source], ['EPSG:4326', 4, OFFICE.foreign_id]);
    const { locationMapHierarchy: _, ...homeless } = geographic;
    assert.equal(locationOf(homeless).source, homeless.deviceId);
  });

  test('finds the zone of a hierarchy with arrows as separators', () => {
    const { source, position, accuracy, timestamp_generated } = locationOf(withArrows);
    assert.deepEqual(
      [source, position.coordinates, accuracy, timestamp_generated],
      [WORKS.foreign_id, [39.228, 33.924], 26.822, '2026-11-20T10:04:13.468Z'],
    );
  });

  test('keeps feet for a zone that is measured in feet, except for heights', () => {
    const raw = hierarchies({ ...OFFICE, properties: { cisco_unit: 'raw' } });
    const { position, accuracy } = locationOf(local({ z: 10 }), raw);
    assert.deepEqual([position.coordinates, accuracy], [[41.01, 98.425, 3.048], 17.069]);
  });

  const locations: readonly (readonly [name: string, value: object, expected: Partial<Location>])[] = [
    ['uses feet without a unit', local({ unit: undefined }), { accuracy: 17.069 }],
    ['accepts a unit in any notation', local({ unit: 'meters', x: 1, y: 2 }), { accuracy: 56 }],
    ['does not use null island as a position', geo(0, 0), { crs: 'local' }],
    ['takes local coordinates if the geographic ones are impossible', geo(95, 8), { crs: 'local' }],
    ['ignores geographic coordinates that are strings', geo('49', '8'), { crs: 'local' }],
    ['keeps a device id unchanged', { ...inFeet, deviceId: 'AA:BB' }, { provider_id: 'AA:BB' }],
    ['takes macAddress for deviceId', { ...inFeet, deviceId: '', macAddress: 'cc' }, { provider_id: 'cc' }],
    ['accepts unknown kinds', { ...inFeet, notificationType: 'batterylife' }, { provider_type: 'wifi' }],
    [
      'accepts a time in seconds',
      { ...inFeet, timestamp: 1795169047.5 },
      { timestamp_generated: '2026-11-20T10:04:07.500Z' },
    ],
    [
      'accepts a time in a string',
      { ...inFeet, timestamp: '1795169047121' },
      { timestamp_generated: '2026-11-20T10:04:07.121Z' },
    ],
    [
      'takes lastSeen for timestamp',
      { ...inFeet, timestamp: null },
      { timestamp_generated: '2026-11-20T10:04:07.120Z' },
    ],
    [
      'prefers lastSeen to an absurd time',
      { ...inFeet, timestamp: 9e11 },
      { timestamp_generated: '2026-11-20T10:04:07.120Z' },
    ],
    [
      'takes dot11Status for associated',
      { ...inFeet, associated: null, dot11Status: 'PROBING' },
      { associated: false },
    ],
  ];
  for (const [name, value, expected] of locations) {
    test(name, () => {
      const location = locationOf(value);
      assert.deepEqual({ ...location, ...expected }, location);
    });
  }

  test('omits missing values', () => {
    const { deviceId, locationMapHierarchy, locationCoordinate } = inFeet;
    const location = locationOf({ deviceId, locationMapHierarchy, locationCoordinate, confidenceFactor: 0 });
    for (const name of ['accuracy', 'associated', 'timestamp_generated']) assert.equal(name in location, false, name);
  });

  const ignored: readonly (readonly [name: string, value: object])[] = [
    ['an association', association],
    ['an absence, although it has a position', { ...inFeet, notificationType: 'Absence' }],
    ['a notification about no device', { notificationType: 'networkdesignchanged' }],
    ['a state of the service', { notificationType: 'servicestatus' }],
    ['an unknown kind without coordinates', { notificationType: 'batterylife', deviceId: 'a' }],
    ['coordinates unknown to the vendor', { ...local({ x: -999, y: -999 }), geoCoordinate: null }],
  ];
  for (const [name, value] of ignored) {
    test(`ignores ${name}`, () => assert.deepEqual(decode(value), { is: 'ignored' }));
  }

  const refused: readonly (readonly [name: string, value: unknown, problem: string])[] = [
    ['an unknown place', nowhere, 'locationMapHierarchy: must be the foreign_id of a zone, found "Nowhere>B>F"'],
    [
      'no place',
      { ...nowhere, locationMapHierarchy: undefined },
      'locationMapHierarchy: must be the foreign_id of a zone, found nothing',
    ],
    ['a coordinate of text', local({ x: '41' }), 'locationCoordinate.x: must be a number, found "41"'],
    ['a missing coordinate', local({ y: undefined }), 'locationCoordinate.y: must be a number, found nothing'],
    [
      'an unknown unit',
      local({ unit: 'YARDS' }),
      'locationCoordinate.unit: must be one of FEET, METERS, found "YARDS"',
    ],
    ['no device', { ...inFeet, deviceId: 7 }, 'deviceId: must be a string that is not empty, found 7'],
    [
      'an impossible latitude alone',
      { ...geo(95, 8), locationCoordinate: null },
      'geoCoordinate.latitude: must be a latitude from -90 to 90, found 95',
    ],
    [
      'an impossible longitude alone',
      { ...geo(9, 181), locationCoordinate: null },
      'geoCoordinate.longitude: must be a longitude from -180 to 180, found 181',
    ],
  ];
  for (const [name, value, problem] of refused) {
    test(`rejects ${name}`, () => {
      const decoded = decode(value);
      assert.equal(decoded.is === 'refused' && String(decoded.problem), `notifications[0].${problem}`);
    });
  }

  test('never throws, and returns only locations, for any input', () => {
    const LOCATION = checker(Location);
    const members = fc.record(Object.fromEntries(Object.keys(inFeet).map((name) => [name, fc.anything()])), {
      requiredKeys: [],
    });
    const number = fc.oneof(fc.double(), fc.constantFrom(-999, 0, 1), fc.string());
    const placed = fc.record({
      x: number,
      y: number,
      z: number,
      latitude: number,
      longitude: number,
      unit: fc.constantFrom('FEET', 'METERS', null, 'x'),
    });
    fc.assert(
      fc.property(members, placed, fc.anything(), (value, place, anything) => {
        decode(anything);
        decode(value);
        const decoded = decode({ ...inFeet, ...value, deviceId: 'a', locationCoordinate: place, geoCoordinate: place });
        if (decoded.is !== 'location') return;
        // A number near the maximum may still overflow, which ingest rejects.
        const { coordinates } = decoded.location.position;
        if (![...coordinates, decoded.location.accuracy ?? 0].every(Number.isFinite)) return;
        assert.equal(LOCATION.explain(decoded.location), undefined);
      }),
      { numRuns: 300, seed: 13 },
    );
  });
});
