import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Zone } from '../../src/model/zone.ts';
import { Arrivals } from '../../src/operation/arrivals.ts';

const HALL: Zone = { id: 'h', type: 'uwb', foreign_id: 'hall' };

function openArrivals(zones: readonly Zone[] = [HALL], sourcesMax?: number) {
  const find = (name: string) => zones.find(({ id }) => id === name) ?? zones.find(({ foreign_id: id }) => id === name);
  const arrivals = new Arrivals(find, sourcesMax);
  const from = (source: string, atMs = 0, via: 'ws' | 'rest' = 'rest') => {
    arrivals.arrived({ source, provider_id: `of ${source}`, provider_type: 'gps' }, atMs, via);
  };
  return { arrivals, from };
}

describe('Arrivals', () => {
  test('shows a source with its number of updates, and the time and way of the last', () => {
    const { arrivals, from } = openArrivals();
    assert.equal(arrivals.source('phone'), undefined);
    from('phone', 1000);
    from('phone', 2000, 'ws');
    const phone = {
      id: 'phone',
      type: 'gps',
      number_of_updates: 2,
      last_update_received: '1970-01-01T00:00:02.000Z',
      last_update_type: 'ws',
    };
    assert.deepEqual(arrivals.source('phone'), phone);
    assert.deepEqual(arrivals.sources(), [phone]);
  });

  test('returns a zone with the arrivals under its id and under its foreign id', () => {
    const { arrivals, from } = openArrivals();
    assert.deepEqual(arrivals.ofZone(HALL), { id: 'h', type: 'uwb', number_of_updates: 0 });
    from('hall', 3000, 'ws');
    from('h', 2000);
    assert.deepEqual(arrivals.ofZone(HALL), {
      id: 'h',
      type: 'uwb',
      number_of_updates: 2,
      last_update_received: '1970-01-01T00:00:03.000Z',
      last_update_type: 'ws',
    });
    assert.equal(arrivals.source('hall')?.type, 'uwb');
  });

  test('does not resolve the foreign id of a zone if another zone has that id', () => {
    const other: Zone = { id: 'other', type: 'wifi', foreign_id: 'h' };
    const { arrivals, from } = openArrivals([HALL, other]);
    from('h');
    assert.equal(arrivals.ofZone(HALL).number_of_updates, 1);
    assert.equal(arrivals.ofZone(other).number_of_updates, 0);
  });

  test('returns the connection of a zone to which the hub has connected', () => {
    const { arrivals } = openArrivals();
    const connection = { zoneId: 'h', reconnects: 3, establishedMs: 1000 };
    const up = arrivals.ofZone(HALL, { connection, nowMs: 61_999 });
    const established = '1970-01-01T00:00:01.000Z';
    assert.deepEqual([up.reconnects, up.connection_established, up.uptime], [3, established, 60]);
    const down = arrivals.ofZone(HALL, { connection: { ...connection, establishedMs: undefined }, nowMs: 0 });
    assert.deepEqual(down, { id: 'h', type: 'uwb', number_of_updates: 0, reconnects: 3 });
  });

  test('drops the source that was silent the longest, and never a zone', () => {
    const { arrivals, from } = openArrivals([HALL], 3);
    for (const source of ['h', 'a', 'b', 'a', 'c']) from(source);
    assert.deepEqual(
      arrivals
        .sources()
        .map(({ id }) => id)
        .sort(),
      ['a', 'c', 'h'],
    );
    assert.equal(arrivals.source('a')?.number_of_updates, 2);
  });

  test('stores a bounded number of sources for any input', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        (ids, max) => {
          const zones = [0, 1, 2].map((id): Zone => ({ id: String(id), type: 'uwb' }));
          const { arrivals, from } = openArrivals(zones, max);
          const seen = new Set<number>();
          for (const id of ids) {
            from(String(id));
            seen.add(id);
            // Zones may use all the room. Then all other sources share one entry.
            assert.ok(arrivals.sources().length <= Math.max(max, zones.length + 1));
            assert.ok(arrivals.source(String(id)) !== undefined);
            for (const zone of zones) assert.equal(arrivals.source(zone.id) !== undefined, seen.has(Number(zone.id)));
          }
        },
      ),
      { numRuns: 200, seed: 3 },
    );
  });

  test('knows which providers were active this month, as long as they exist', () => {
    const { arrivals, from } = openArrivals();
    arrivals.wereActive(['before']);
    from('a');
    from('b');
    assert.deepEqual([...arrivals.active], ['before', 'of a', 'of b']);
    arrivals.retain((id) => id !== 'of a');
    assert.deepEqual([...arrivals.active], ['before', 'of b']);
    arrivals.beginMonth();
    assert.deepEqual([...arrivals.active], []);
  });

  test('stores at most 10 million characters of names, and drops the oldest', () => {
    const { arrivals, from } = openArrivals();
    const name = (n: number) => `${n} ${'x'.repeat(1000)}`;
    from('h');
    for (let n = 0; n < 20_000; n++) from(name(n));
    const kept = arrivals.sources();
    const characters = kept.reduce((sum, { id }) => sum + id.length, 0);
    assert.ok(characters <= 10_000_000 && characters > 9_900_000, `${characters}`);
    assert.equal(arrivals.source(name(0)), undefined);
    assert.equal(arrivals.source(name(19_999))?.number_of_updates, 1);
    assert.equal(arrivals.source('h')?.number_of_updates, 1);
  });
});
