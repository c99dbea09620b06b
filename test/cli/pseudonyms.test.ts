import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ID_COLUMNS, OMITTED_COLUMNS } from '../../src/cli/data/pseudonyms.ts';
import { COLUMNS } from '../../src/history/columns.ts';

/** Columns that an export with pseudonyms has as recorded: they name no object, and have no free content. */
const AS_RECORDED = [
  ...['time', 'received', 'entry_time', 'exit_time', 'start_time', 'collision_time', 'end_time'],
  ...['source', 'zone_id', 'floor', 'longitude', 'latitude', 'z', 'x', 'y', 'accuracy', 'speed', 'course', 'distance'],
  ...['event_type', 'collision_type', 'object_type', 'fence_id', 'foreign_id'],
];

test('Each column of the history is as recorded, a pseudonym, or omitted in an export with pseudonyms', () => {
  const columns = new Set(Object.values(COLUMNS).flatMap((of) => Object.keys(of)));
  assert.deepEqual([...AS_RECORDED, ...ID_COLUMNS, ...OMITTED_COLUMNS].toSorted(), [...columns].toSorted());
});
