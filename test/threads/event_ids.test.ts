import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newEventId } from '../../workers/event_ids.ts';

test('newEventId generates unique version 4 UUIDs whose other digits are random', () => {
  const ids = Array.from({ length: 20_000 }, newEventId);
  for (const id of ids) assert.match(id, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  assert.equal(new Set(ids).size, ids.length);
  const seen = Array.from({ length: 36 }, (_, at) => new Set(ids.map((id) => id[at])).size);
  const expected = Array.from('xxxxxxxx-xxxx-1xxx-4xxx-xxxxxxxxxxxx', (kind) =>
    kind === 'x' ? 16 : Number(kind) || 1,
  );
  assert.deepEqual(seen, expected);
});
