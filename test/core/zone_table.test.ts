import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ZoneTable } from '../../src/core/zone/zone_table.ts';
import type { Zone } from '../../src/model/zone.ts';

describe('ZoneTable', () => {
  const hall: Zone = { id: 'a', type: 'uwb', foreign_id: 'hall' };

  test('finds a zone by id before one by foreign id', () => {
    const zones = new ZoneTable();
    zones.set('a', hall);
    zones.set('b', { id: 'b', type: 'uwb', foreign_id: 'a' });
    assert.equal(zones.find('a'), hall);
    assert.equal(zones.find('hall'), hall);
    assert.equal(zones.find('c'), undefined);
  });

  test('removes a foreign id with its zone, and when the zone gets another one', () => {
    const zones = new ZoneTable();
    zones.set('a', hall);
    zones.set('a', { ...hall, foreign_id: 'tower' });
    assert.equal(zones.find('hall'), undefined);
    assert.equal(zones.find('tower')?.id, 'a');
    zones.set('a', undefined);
    assert.equal(zones.find('tower'), undefined);
    assert.equal(zones.find('a'), undefined);
  });

  test('retains a foreign id that has passed to another zone', () => {
    const zones = new ZoneTable();
    zones.set('a', hall);
    zones.set('b', { id: 'b', type: 'uwb', foreign_id: 'hall' });
    zones.set('a', undefined);
    assert.equal(zones.find('hall')?.id, 'b');
  });

  test('finds and replaces a zone with a UUID in any case', () => {
    const zones = new ZoneTable();
    const id = 'AAAAAAAA-0000-4000-8000-00000000000A';
    zones.set(id, { ...hall, id });
    assert.equal(zones.find(id.toLowerCase())?.id, id);
    zones.set(id.toLowerCase(), undefined);
    assert.deepEqual([zones.find(id), zones.find('hall'), zones.size], [undefined, undefined, 0]);
  });

  test('finds a UUID in any case, as an id before a foreign id', () => {
    const zones = new ZoneTable();
    const uuid = 'aaaaaaaa-0000-4000-8000-00000000000a';
    zones.set('b', { id: 'b', type: 'ibeacon', foreign_id: uuid.toUpperCase() });
    assert.deepEqual([zones.find(uuid)?.id, zones.find(uuid.toUpperCase())?.id], ['b', 'b']);
    zones.set(uuid, { id: uuid, type: 'uwb' });
    assert.deepEqual([zones.find(uuid)?.id, zones.find(uuid.toUpperCase())?.id], [uuid, uuid]);
    zones.set('b', undefined);
    assert.equal(zones.size, 1);
  });
});
