import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import type { EventBlock } from '../../src/core/entity_write.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { packedRows } from '../../src/wire/store_messages.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const NO_ROWS = packedRows([]);

function block(first: number, bytes: number): EventBlock {
  return { first, count: 1, timeMs: first, bytes: new Uint8Array(bytes) };
}

test('events of a failed transaction count neither in the log nor in its size', (context) => {
  const store = new SqliteStore(join(temporaryFolder(), 'data.dat'), randomUUID);
  context.after(() => store.close());
  const commit = (events: EventBlock, audit?: EventBlock) =>
    store.commit({ entities: [], rows: NO_ROWS, events, ...(audit && { audit }) });
  commit(block(1, 100));
  // The audit log rejects a position that is no integer, after the event log has added its block.
  assert.throws(() => commit(block(2, 50), block(1.5, 1)));
  commit({ ...block(3, 30), lostTo: 2 });
  const { newest, bytes } = store.logs.events.range();
  assert.deepEqual({ newest, bytes }, { newest: 3, bytes: 130 });
  const { blocks } = store.logs.events.read(2, 1000);
  assert.deepEqual(
    blocks.map(({ first }) => first),
    [3],
  );
});
