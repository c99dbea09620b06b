import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ZoneTable } from '../../src/core/zone/zone_table.ts';
import { Ingest } from '../../src/ingest/ingest.ts';
import { GOOD_LOCATION, READER } from '../scenarios/bad_locations.ts';

const LIST = { root: 'locations' };
const GOOD = GOOD_LOCATION as Readonly<Record<string, unknown>>;

function openIngest(room = Number.POSITIVE_INFINITY) {
  const zones = new ZoneTable();
  zones.set(READER.id, { ...READER, position: { type: 'Point', coordinates: [9, 50] } });
  const arrived: string[] = [];
  const ingest = new Ingest({
    now: () => 1000,
    providerId: (id) => id,
    zone: zones.find,
    hasCapacity: (count) => count <= room,
    location: () => undefined,
    ensureProvider: () => undefined,
    publishProximity: () => undefined,
    accepted: ({ provider_id: id, source }, receivedMs, via) =>
      void arrived.push(`${id} ${source} ${receivedMs} ${via}`),
    committed: () => undefined,
  });
  return { ingest, arrived, reasons: () => Object.fromEntries(ingest.rejections()) };
}

describe('Ingest counts rejections', () => {
  const rows: readonly (readonly [reason: string, value: unknown])[] = [
    ['position', { ...GOOD, position: { type: 'Point', coordinates: [200, 0] } }],
    ['position', { ...GOOD, position: undefined }],
    ['floor', { ...GOOD, floor: 'top' }],
    ['crs', { ...GOOD, crs: 'EPSG:0' }],
    ['source', { ...GOOD, crs: 'local', source: 'nowhere' }],
    ['provider_id', { ...GOOD, provider_id: '' }],
    ['timestamp_generated', { ...GOOD, timestamp_generated: 'today' }],
    ['properties', { ...GOOD, properties: 'text' }],
    ['shape', 7],
    ['shape', null],
  ];
  for (const [index, [reason, value]] of rows.entries()) {
    test(`under ${reason}, from REST and from the WebSocket (${index})`, () => {
      const { ingest, reasons } = openIngest();
      ingest.locationsEach([GOOD_LOCATION, value]);
      assert.deepEqual(reasons(), { [reason]: 1 });
      assert.throws(() => ingest.locations([value], { root: '' }));
      assert.deepEqual(reasons(), { [reason]: 2 });
      assert.throws(() => ingest.locations([GOOD_LOCATION, GOOD_LOCATION, value], LIST));
      assert.deepEqual(reasons(), { [reason]: 3, list: 2 });
    });
  }

  test('under full when there is no room', () => {
    const { ingest, reasons } = openIngest(1);
    assert.throws(() => ingest.locations([GOOD_LOCATION, GOOD_LOCATION], LIST));
    assert.throws(() => ingest.locationsEach([GOOD_LOCATION, GOOD_LOCATION, 7]));
    assert.deepEqual(reasons(), { full: 5 });
  });

  test('under reasons whose sum is the total, and whose number is bounded', () => {
    const { ingest } = openIngest();
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constant(GOOD_LOCATION), fc.jsonValue())), fc.boolean(), (values, each) => {
        try {
          if (each) ingest.locationsEach(values);
          else ingest.locations(values, LIST);
        } catch {
          // Rejected as a whole.
        }
        const sum = [...ingest.rejections().values()].reduce((total, count) => total + count, 0);
        assert.equal(sum, ingest.counts.rejected);
      }),
      { numRuns: 200, seed: 11 },
    );
    assert.ok(ingest.rejections().size < 25);
  });
});

describe('Ingest reports each accepted location', () => {
  test('with its way into the hub', () => {
    const { ingest, arrived } = openIngest();
    ingest.locations([GOOD_LOCATION], LIST);
    ingest.locations([GOOD_LOCATION], { ...LIST, via: 'cisco' });
    ingest.locationsEach([GOOD_LOCATION]);
    ingest.locationsEach([GOOD_LOCATION, 7], 'iso-24730');
    const ways = arrived.map((text) => text.split(' ').at(-1));
    assert.deepEqual(ways, ['rest', 'cisco', 'ws', 'iso-24730']);
  });

  test('once for a proximity, which is also counted separately', () => {
    const { ingest, arrived } = openIngest();
    const proximity = { source: READER.id, provider_type: 'rfid', provider_id: 'card' };
    ingest.proximities([proximity], { root: 'proximities' });
    ingest.publishedProximities([proximity, 7]);
    assert.deepEqual(arrived, [`card ${READER.id} 1000 rest`, `card ${READER.id} 1000 ws`]);
    assert.equal(ingest.proximitiesTaken, 2);
  });
});
