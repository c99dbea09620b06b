import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { locationOfProximity } from '../../src/core/location/proximity.ts';
import { HubError } from '../../src/errors.ts';
import type { Proximity } from '../../src/model/location.ts';
import type { Zone } from '../../src/model/zone.ts';

const position = { type: 'Point' as const, coordinates: [8.68, 50.11, 2] };
const zone: Zone = {
  id: 'z',
  type: 'rfid',
  foreign_id: 'gate-1',
  position,
  radius: 3,
  floor: 4,
};
const proximity: Proximity = {
  source: 'gate-1',
  provider_type: 'rfid',
  provider_id: 'tag-1',
  timestamp_generated: '2026-11-20T10:00:00Z',
  timestamp_sent: '2026-11-20T10:00:01Z',
  accuracy: 1.5,
  properties: { antenna: 2 },
};

describe('locationOfProximity', () => {
  it('is at the zone, with the members of the proximity', () => {
    assert.deepEqual(locationOfProximity(proximity, zone), {
      position: { type: 'Point', coordinates: [8.68, 50.11, 2] },
      source: 'gate-1',
      provider_type: 'rfid',
      crs: 'EPSG:4326',
      provider_id: 'tag-1',
      timestamp_generated: '2026-11-20T10:00:00Z',
      timestamp_sent: '2026-11-20T10:00:01Z',
      accuracy: 1.5,
      floor: 4,
      properties: { antenna: 2 },
    });
  });

  it('is as accurate as the radius of the zone if the proximity has no accuracy', () => {
    assert.equal(locationOfProximity({ ...proximity, accuracy: null }, zone).accuracy, 3);
    assert.equal(locationOfProximity({ ...proximity, accuracy: 0 }, zone).accuracy, 0);
    assert.ok(!('accuracy' in locationOfProximity({ ...proximity, accuracy: null }, { ...zone, radius: null })));
  });

  it('omits unset members', () => {
    const bare = locationOfProximity({ source: 'z', provider_type: 'rfid' }, { id: 'z', type: 'rfid', position });
    assert.deepEqual(Object.keys(bare).sort(), ['crs', 'position', 'provider_type', 'source']);
  });

  it('does not share the position object of the zone', () => {
    const location = locationOfProximity(proximity, zone);
    location.position.coordinates[0] = 0;
    assert.equal(position.coordinates[0], 8.68);
  });

  it('rejects a zone without a position, naming the source', () => {
    const expected = (error: unknown): boolean =>
      error instanceof HubError && /^source: .*"gate-1"/.test(error.message);
    assert.throws(() => locationOfProximity(proximity, { id: 'z', type: 'rfid' }), expected);
  });
});
