import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { EntityWrite, EventBlock, StoreBatch } from '../../../src/core/entity_write.ts';
import type { WideColumnSettings } from '../../../src/store/widecolumn/settings.ts';
import { WideColumnStore } from '../../../src/store/widecolumn/wide_column_store.ts';
import { CqlProxy, INVALID } from '../../cassandra/cql_proxy.ts';
import { testCassandra } from '../../cassandra/test_cassandra.ts';
import { row, sorted } from '../rows.ts';
import { simulated } from './simulated.ts';

const cassandra = testCassandra();
const { skip } = cassandra;
const START = 2 ** 20;
const BYTES_MAX = 1 << 20;

const zone = (id: string, text: string | undefined = `{"id":"${id}"}`): EntityWrite => ({ kind: 'zone', id, text });
const block = (first: number, text: string, more: Partial<EventBlock> = {}): EventBlock => {
  return { first, count: 1, timeMs: first, bytes: Buffer.from(text), ...more };
};
const batch = ({ entities = [], rows = [], events }: Partial<StoreBatch>): StoreBatch => ({ entities, rows, events });

async function opened(context: TestContext, settings: WideColumnSettings): Promise<WideColumnStore> {
  const store = await WideColumnStore.open(settings, simulated().deps);
  context.after(() => store.close());
  return store;
}

/** Texts of the blocks after a position. */
async function textsAfter({ events }: WideColumnStore, after = 0): Promise<string[]> {
  const texts: string[] = [];
  for (let from = after; ; ) {
    const { blocks } = await events.read(from, BYTES_MAX);
    for (const { bytes } of blocks) texts.push(Buffer.from(bytes).toString());
    const last = blocks.at(-1);
    if (last === undefined) return texts;
    from = last.first + last.count - 1;
  }
}

test('Events are stored with their causes, and read from any position', { skip }, async (context) => {
  const settings = cassandra.settings();
  const store = await opened(context, settings);
  assert.deepEqual(
    await store.events.range().then(({ newest, trimmed, bytes }) => [newest, trimmed, bytes]),
    [0, 0, 0],
  );
  // The blocks are in several buckets; one is larger than a row.
  const large = 'é'.repeat(1_500_000);
  await store.commit(batch({ entities: [zone('a')], events: block(START, 'first') }));
  await store.commit(batch({ rows: [row(2)], events: block(START + 1, 'wide', { count: 10_000 }) }));
  await store.commit(batch({ events: block(START + 10_001, large) }));
  await store.commit(batch({ events: block(2 * START, 'after a start') }));
  const other = await opened(context, settings);
  assert.deepEqual(await textsAfter(other), ['first', 'wide', large, 'after a start']);
  assert.deepEqual(await textsAfter(other, START + 5000), ['wide', large, 'after a start']);
  assert.deepEqual(await textsAfter(other, START + 10_000), [large, 'after a start']);
  assert.deepEqual(await textsAfter(other, 2 * START), []);
  const { newest, oldestMs, newestMs, bytes } = await other.events.range();
  assert.deepEqual([newest, oldestMs, newestMs, bytes], [2 * START, START, 2 * START, 5 + 4 + 3_000_000 + 13]);
  const kept = await other.load();
  assert.deepEqual([kept.entities, kept.rows], [[zone('a')], [row(2)]]);
});

test('Events are found by time, and removed by age, by size and all at once', { skip }, async (context) => {
  const store = await opened(context, cassandra.settings());
  const first = [START, START + 1, START + 4096, START + 9000, 2 * START];
  for (const [i, position] of first.entries()) {
    await store.commit(batch({ events: block(position, '12345', { timeMs: 1000 * (i + 1) }) }));
  }
  const { events } = store;
  const before = async (timeMs: number) => (await events.positionAt(timeMs)) - START;
  assert.deepEqual(await Promise.all([0, 1000, 1001, 3500, 5000, 5001].map(before)), [
    -1,
    -1,
    0,
    8999,
    START - 1,
    START,
  ]);
  assert.equal((await events.trim({ beforeMs: 1500, bytesMax: 1000 })).hasMore, true);
  assert.equal((await events.trim({ beforeMs: 1500, bytesMax: 1000 })).hasMore, false);
  assert.equal((await textsAfter(store)).length, 4);
  while ((await events.trim({ beforeMs: 0, bytesMax: 10 })).hasMore);
  const { trimmed, oldestMs, bytes } = await events.range();
  assert.deepEqual(
    [trimmed, oldestMs, bytes, (await events.read(0, 1)).trimmed],
    [START + 4096, 4000, 10, START + 4096],
  );
  await store.commit(batch({ events: block(2 * START + 1, 'x', { timeMs: 6000, lostTo: 2 * START }) }));
  assert.deepEqual([await textsAfter(store), (await events.range()).trimmed], [['x'], 2 * START]);
  while ((await events.trim({ all: 2 * START + 2 })).hasMore);
  const range = await events.range();
  assert.deepEqual(
    [range.newest, range.trimmed, range.bytes, range.oldestMs],
    [2 * START + 2, 2 * START + 2, 0, undefined],
  );
});

test('Whatever request a hub is killed after, an event is stored if and only if its cause is', {
  skip,
}, async (context) => {
  const settings = cassandra.settings();
  const proxy = await CqlProxy.open(cassandra.process.port);
  context.after(() => proxy.close());
  let first = START;
  const before = await opened(context, settings);
  await before.commit(batch({ entities: [zone('old')], rows: [row(2)], events: block(first, 'zero') }));
  let stored = ['zero'];
  let kept: Pick<StoreBatch, 'entities' | 'rows'> = { entities: [zone('old')], rows: [row(2)] };
  const outcomes = new Set<boolean>();
  // Each round lets one request more pass than the round before, until a commit succeeds.
  for (let passing = 0, isDone = false; !isDone; passing++) {
    const killed = await opened(context, { ...settings, port: proxy.port });
    await killed.load();
    first += START;
    const text = `event ${passing}`;
    const change = {
      entities: [zone(`z${passing}`), zone('old', `"${text}"`)],
      rows: [row(2, { atMs: passing }), row(4 + passing)],
    };
    let left = passing;
    proxy.fate = () => (left-- > 0 ? 'pass' : { refuse: INVALID });
    isDone = await killed.commit(batch({ ...change, events: block(first, text) })).then(
      () => true,
      () => false,
    );
    proxy.fate = () => 'pass';
    const next = await opened(context, settings);
    const found = await textsAfter(next);
    const { entities, rows } = await next.load();
    const isStored = found.at(-1) === text;
    outcomes.add(isStored);
    const expected: Pick<StoreBatch, 'entities' | 'rows'> = isStored
      ? {
          entities: [change.entities[1] as EntityWrite, ...kept.entities.slice(1), change.entities[0] as EntityWrite],
          rows: [...[...kept.rows].filter(({ id }) => id !== 'tag-2'), ...change.rows],
        }
      : kept;
    if (isStored) stored = [...stored, text];
    assert.deepEqual(found, stored, `after ${passing} requests`);
    // Rows without an event may be stored, since rows of a rejected commit are written again; entities may not.
    assert.deepEqual(entities, expected.entities, `after ${passing} requests`);
    if (isStored) assert.deepEqual(sorted(rows), sorted([...expected.rows]), `after ${passing} requests`);
    kept = { entities, rows };
    // The next hub repeats the writes before its own, which are newer.
    first += START;
    await next.commit(
      batch({ rows: [row(2, { atMs: 5000 + passing })], ...(passing % 2 === 0 && { events: block(first, 'later') }) }),
    );
    if (passing % 2 === 0) stored = [...stored, 'later'];
    const again = await opened(context, settings);
    const reread = await again.load();
    kept = {
      entities: kept.entities,
      rows: [...[...kept.rows].filter(({ id }) => id !== 'tag-2'), row(2, { atMs: 5000 + passing })],
    };
    assert.deepEqual([reread.entities, sorted(reread.rows)], [kept.entities, sorted([...kept.rows])]);
    assert.deepEqual(await textsAfter(again), stored);
  }
  assert.deepEqual([...outcomes].sort(), [false, true]);
});
