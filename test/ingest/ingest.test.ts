import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { AcceptedLocation } from '../../src/core/location/accepted.ts';
import { ZoneTable } from '../../src/core/zone/zone_table.ts';
import { HubError } from '../../src/errors.ts';
import { Ingest } from '../../src/ingest/ingest.ts';
import { GOOD_LOCATION, READER } from '../scenarios/bad_locations.ts';

const LIST = { root: 'locations' };
const PROXIMITY = { source: 'reader', provider_type: 'rfid', provider_id: 'card' };

/** An isolated Ingest whose output is collected. */
function openIngest(more: { room?: number; committed?: () => Promise<void> | undefined } = {}) {
  const zones = new ZoneTable();
  zones.set(READER.id, { ...READER, radius: 3, floor: 2, position: { type: 'Point', coordinates: [9, 50] } });
  const reported: string[] = [];
  const locations: object[] = [];
  const ingest = new Ingest({
    now: () => 1000,
    providerId: (id) => id,
    zone: zones.find,
    hasCapacity: (count) => count <= (more.room ?? Number.POSITIVE_INFINITY),
    location(location, times) {
      locations.push(location);
      reported.push(`location ${location.provider_id} ${times.generatedMs} ${times.receivedMs}`);
    },
    ensureProvider(id, type) {
      reported.push(`provider ${id} ${type}`);
      return undefined;
    },
    publishProximity: ({ provider_id: id, source }) => void reported.push(`proximity ${id} ${source}`),
    committed: more.committed ?? (() => undefined),
  });
  return { ingest, reported, locations };
}

describe('Ingest', () => {
  test('ensures that the provider exists before it submits a location', () => {
    const { ingest, reported } = openIngest();
    const timed = { ...GOOD_LOCATION, timestamp_generated: '1970-01-01T00:00:00.5Z' };
    assert.equal(ingest.locations([timed], LIST), undefined);
    assert.deepEqual(reported, ['provider bad-input uwb', 'location bad-input 500 1000']);
  });

  test('accepts all locations of a list or none, and names the invalid one by its index', () => {
    const { ingest, reported } = openIngest();
    const values = [GOOD_LOCATION, GOOD_LOCATION, { ...GOOD_LOCATION, floor: 'top' }];
    assert.throws(
      () => ingest.locations(values, LIST),
      badRequest('locations[2].floor: must be a number, found "top"'),
    );
    assert.deepEqual(reported, []);
    assert.deepEqual(ingest.counts, { received: 3, rejected: 3 });
  });

  test('accepts each valid location, and names every invalid one by its index', () => {
    const { ingest, reported } = openIngest();
    const values = [{ ...GOOD_LOCATION, floor: 'top' }, GOOD_LOCATION, null];
    const { problems } = ingest.locationsEach(values);
    assert.deepEqual(problems.map(String), [
      'payload[0].floor: must be a number, found "top"',
      'payload[2]: must be an object, found null',
    ]);
    assert.deepEqual(reported, ['provider bad-input uwb', 'location bad-input 1000 1000']);
    assert.deepEqual(ingest.counts, { received: 3, rejected: 2 });
  });

  test('accepts nothing if there is no room for all, and reports that', () => {
    const { ingest, reported } = openIngest({ room: 1 });
    const unavailable = (error: unknown) => error instanceof HubError && error.status === 503;
    assert.throws(() => ingest.locations([GOOD_LOCATION, GOOD_LOCATION], LIST), unavailable);
    assert.throws(() => ingest.locationsEach([GOOD_LOCATION, GOOD_LOCATION]), unavailable);
    assert.throws(() => ingest.publishedProximities([PROXIMITY, PROXIMITY]), unavailable);
    assert.throws(() => ingest.proximities([PROXIMITY, PROXIMITY], { root: 'proximities' }), unavailable);
    assert.deepEqual(reported, []);
    assert.deepEqual(ingest.counts, { received: 8, rejected: 8 });
  });

  test('waits until locations are stored, and reports a failure', async () => {
    const failing = { committed: () => Promise.reject(errorWith('HUB_UNAVAILABLE', 'The disk is full')) };
    const { ingest } = openIngest(failing);
    await assert.rejects(ingest.locations([GOOD_LOCATION], LIST) ?? Promise.resolve(), /The disk is full/);
    await assert.rejects(ingest.locationsEach([GOOD_LOCATION]).committed ?? Promise.resolve(), /The disk is full/);
    const { committed } = await ingest.publishedProximities([PROXIMITY]);
    await assert.rejects(committed ?? Promise.resolve(), /The disk is full/);
  });

  test('converts a proximity to a location at its zone, and publishes it as received', () => {
    const { ingest, reported, locations } = openIngest();
    ingest.proximities([{ ...PROXIMITY, properties: { battery: 7 } }], { root: 'proximities' });
    assert.deepEqual(reported, ['provider card rfid', 'location card 1000 1000', 'proximity card reader']);
    const [location] = locations as unknown as readonly [AcceptedLocation];
    assert.equal(location.source, 'reader');
    assert.deepEqual(location.coordinates, [9, 50]);
    assert.deepEqual([location.accuracy, location.floor], [3, 2]);
    assert.deepEqual(JSON.parse(`{${location.text}}`).properties, { battery: 7 });
  });

  test('publishes no proximity of a rejected list', () => {
    const { ingest, reported } = openIngest();
    const values = [PROXIMITY, { ...PROXIMITY, source: 'door' }];
    const message = 'proximities[1].source: must name a proximity zone, found "door"';
    assert.throws(() => ingest.proximities(values, { root: 'proximities' }), badRequest(message));
    assert.deepEqual(reported, []);
  });

  test('counts every value once', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constant(GOOD_LOCATION), fc.jsonValue())), (values) => {
        const { ingest, locations } = openIngest();
        const { problems } = ingest.locationsEach(values);
        assert.equal(ingest.counts.received, values.length);
        assert.equal(ingest.counts.rejected, problems.length);
        assert.equal(locations.length + problems.length, values.length);
      }),
      { numRuns: 200, seed: 7 },
    );
  });
});

function badRequest(message: string) {
  return (error: unknown) => {
    assert.ok(error instanceof HubError);
    assert.equal(error.status, 400);
    assert.equal(error.message, message);
    return true;
  };
}
