import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { anchoredZone } from '../../src/core/zone/control_points.ts';
import { zoneTransform } from '../../src/core/zone/zone_transform.ts';
import type { Anchor } from '../../src/model/anchor.ts';
import type { Zone } from '../../src/model/zone.ts';
import { HALL } from '../support/hall.ts';

const point = (...coordinates: number[]) => ({ type: 'Point' as const, coordinates });
const anchor = (id: string, local: number[] | null, global: number[] | null): Anchor => ({
  id,
  local_position: local && point(...local),
  georeferenced_position: global && point(...global),
});

const ANCHORS: readonly Anchor[] = [
  anchor('a', [0, 0, 3], [8, 50, 120]),
  anchor('b', [10, 0], [8.001, 50]),
  anchor('c', [0, 10], [8, 50.001]),
  anchor('above a', [0, 0, 6], [8, 50, 123]),
  anchor('at the position of a', [1, 1], [8, 50]),
  anchor('local', [5, 5], null),
  anchor('global', null, [8, 50.002]),
];
const A = [
  [8, 50],
  [0, 0],
];
const B = [
  [8.001, 50],
  [10, 0],
];
const C = [
  [8, 50.001],
  [0, 10],
];

const ROWS: readonly (readonly [what: string, zone: Partial<Zone>, rows: readonly number[][] | undefined])[] = [
  ['without anchors', {}, undefined],
  ['with an empty list of anchors', { anchor_ids: [] }, undefined],
  ['with unknown anchors', { anchor_ids: ['x', 'y'] }, undefined],
  ['with one anchor', { anchor_ids: ['a'] }, undefined],
  ['with one anchor in both planes', { anchor_ids: ['a', 'local', 'global'] }, undefined],
  ['with two anchors', { anchor_ids: ['b', 'a'] }, [...B, ...A]],
  ['with three anchors', { anchor_ids: ['a', 'b', 'c'] }, [...A, ...B, ...C]],
  ['with anchors above each other', { anchor_ids: ['a', 'above a', 'b', 'a'] }, [...A, ...B]],
  ['with anchors that contradict each other', { anchor_ids: ['a', 'b', 'at the position of a'] }, undefined],
  ['that is placed by a benchmark', { anchor_ids: ['a', 'b'], transformation_type: 'benchmark' }, undefined],
  ['of proximity', { anchor_ids: ['a', 'b'], transformation_type: 'proximity' }, undefined],
  ['that is not transformed', { anchor_ids: ['a', 'b'], transformation_type: 'none' }, undefined],
  ['without points of its own', { anchor_ids: ['a', 'b'], ground_control_points: null }, [...A, ...B]],
];

describe('anchoredZone', () => {
  for (const [what, more, rows] of ROWS) {
    test(`${rows === undefined ? 'leaves' : 'georeferences'} a zone ${what}`, () => {
      const zone: Zone = { ...HALL, ...more };
      const placed = anchoredZone(zone, (id) => ANCHORS.find((candidate) => candidate.id === id));
      if (rows === undefined) assert.equal(placed, zone);
      else assert.deepEqual(placed, { ...zone, ground_control_points: rows });
    });
  }

  test('moves everything in local coordinates of the zone', () => {
    const zone: Zone = { ...HALL, anchor_ids: ['a', 'b', 'c'] };
    const placed = anchoredZone(zone, (id) => ANCHORS.find((candidate) => candidate.id === id));
    const out: [number, number] = [0, 0];
    zoneTransform(placed)?.toWgs84(10, 10, out);
    assert.ok(Math.abs(out[0] - 8.001) < 1e-6 && Math.abs(out[1] - 50.001) < 1e-6, String(out));
  });
});
