import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { EntityWrite, StoreBatch } from '../../../src/core/entity_write.ts';
import { openStore } from '../../../src/store/open.ts';
import { WideColumnStore } from '../../../src/store/widecolumn/wide_column_store.ts';
import { CqlProxy, type Fate, INVALID, OVERLOADED } from '../../cassandra/cql_proxy.ts';
import { testCassandra } from '../../cassandra/test_cassandra.ts';
import { row } from '../rows.ts';
import { simulated } from './simulated.ts';

const cassandra = testCassandra();
const { skip } = cassandra;

const zone = (id: string, text: string | undefined = `{"id":"${id}"}`): EntityWrite => ({ kind: 'zone', id, text });
const gone = (id: string): EntityWrite => ({ kind: 'zone', id, text: undefined });
const batch = ({ entities = [], rows = [] }: Partial<StoreBatch>): StoreBatch => ({ entities, rows });

/** A store that accesses the database through a proxy, and a session that bypasses both. */
async function openBehindProxy(context: TestContext) {
  const proxy = await CqlProxy.open(cassandra.process.port);
  const settings = cassandra.settings();
  const { time, deps } = simulated();
  const store = await WideColumnStore.open({ ...settings, port: proxy.port }, deps);
  context.after(async () => {
    proxy.fate = () => 'pass';
    await store.close();
    proxy.close();
  });
  const reopened = async () => {
    const other = await WideColumnStore.open(settings, deps);
    const kept = await other.load();
    await other.close();
    return kept;
  };
  return { proxy, time, store, reopened };
}

/** Injected results for the first `times` writes that contain a string; all others succeed. */
function fateOf(text: string, fate: Fate, times = Infinity): (request: { text: string }) => Fate {
  let left = times;
  return (request) => (request.text.includes(text) && left-- > 0 ? fate : 'pass');
}

test('A write that an overloaded database rejects is retried with growing delays, and counted', {
  skip,
}, async (t) => {
  const { proxy, time, store, reopened } = await openBehindProxy(t);
  proxy.fate = fateOf('busy', { refuse: OVERLOADED }, 3);
  await store.commit(batch({ entities: [zone('busy')] }));
  proxy.fate = fateOf('tag-2', { refuse: OVERLOADED }, 2);
  await store.commit(batch({ rows: [row(2)] }));
  assert.deepEqual(time.waits, [50, 100, 200, 50, 100]);
  assert.deepEqual([...store.takeFailures()], [['overloaded', 5]]);
  assert.deepEqual([...store.takeFailures()], []);
  const kept = await reopened();
  assert.deepEqual([kept.entities, kept.rows], [[zone('busy')], [row(2)]]);
});

test('A write is abandoned after the request timeout, and at once if it is invalid', { skip }, async (t) => {
  const { proxy, time, store } = await openBehindProxy(t);
  const startMs = time.nowMs;
  proxy.fate = fateOf('tag-2', { refuse: OVERLOADED });
  await assert.rejects(store.commit(batch({ rows: [row(2)] })), /by the proxy/);
  const tookMs = time.nowMs - startMs;
  assert.ok(tookMs > 25_000 && tookMs <= 30_000, `${tookMs} ms`);
  store.takeFailures();
  proxy.fate = fateOf('tag-2', { refuse: INVALID });
  await assert.rejects(store.commit(batch({ rows: [row(2)] })), /by the proxy/);
  assert.deepEqual([...store.takeFailures()], [['refused', 1]]);
  proxy.fate = () => 'pass';
  await store.commit(batch({ rows: [row(2)] }));
});

test('A group that fails after the database has applied it is reverted in order', { skip }, async (t) => {
  const { proxy, store, reopened } = await openBehindProxy(t);
  const first = [zone('replaced'), zone('deleted'), zone('kept')];
  await store.commit(batch({ entities: first }));
  proxy.fate = fateOf('never', { doAndRefuse: INVALID }, 1);
  const group = [zone('replaced', '"never"'), gone('deleted'), zone('new', '"never"')];
  await assert.rejects(store.commit(batch({ entities: group })));
  assert.deepEqual((await reopened()).entities, first);
});

test('A group that cannot be reverted at once is reverted before any other operation', { skip }, async (t) => {
  const { proxy, store, reopened } = await openBehindProxy(t);
  const before = zone('fragile', '"before"');
  await store.commit(batch({ entities: [before] }));
  let writes = 0;
  proxy.fate = ({ text, opcode }) => {
    // A statement id, or a time, may have any byte: only a value tells a write from a read.
    if (!text.includes('fragile') || (opcode !== 0x0d && !/"(before|never)"/.test(text))) return 'pass';
    return writes++ === 0 ? { doAndRefuse: INVALID } : { refuse: INVALID };
  };
  await assert.rejects(store.commit(batch({ entities: [zone('fragile', '"never"')] })));
  await assert.rejects(store.commit(batch({ rows: [row(2)] })), /by the proxy/, 'nothing is written earlier');
  proxy.fate = () => 'pass';
  await store.commit(batch({ rows: [row(4)] }));
  const kept = await reopened();
  assert.deepEqual([kept.entities, kept.rows], [[before], [row(4)]]);
});

test('A late write neither overwrites newer data nor restores deleted data', {
  skip,
}, async (t) => {
  const { proxy, store, reopened } = await openBehindProxy(t);
  const { promise: until, resolve: release } = Promise.withResolvers<void>();
  const lateRow = (id: string) => row(2, { id, atMs: 1 });
  await assert.rejects(attempt(store, { rows: [lateRow('late-a')] }));
  await assert.rejects(attempt(store, { rows: [lateRow('late-b')] }));
  await assert.rejects(attempt(store, { entities: [zone('late')] }));
  assert.equal(proxy.lateDone.length, 3);
  const newer = row(2, { id: 'late-a', atMs: 2000 });
  await store.commit(batch({ rows: [newer, { kind: 'provider', id: 'late-b', gone: true }] }));
  release();
  await Promise.all(proxy.lateDone);
  const kept = await reopened();
  assert.deepEqual([kept.entities, kept.rows], [[], [newer]]);

  /** The late write is rejected immediately as overloaded, and so are the retries. */
  async function attempt(to: WideColumnStore, what: Partial<StoreBatch>): Promise<void> {
    const passing = proxy.fate;
    let isFirst = true;
    proxy.fate = (request) => {
      if (!request.text.includes('late')) return 'pass';
      if (!isFirst) return { refuse: INVALID };
      isFirst = false;
      return { until };
    };
    try {
      await to.commit(batch(what));
    } finally {
      proxy.fate = passing;
    }
  }
});

test('A store recovers by itself when its connections are cut', { skip }, async (t) => {
  const proxy = await CqlProxy.open(cassandra.process.port);
  const store = await openStore(cassandra.settings({ port: proxy.port }));
  t.after(async () => {
    await store.close();
    proxy.close();
  });
  await store.commit(batch({ entities: [zone('a')] }));
  // Down until a commit has failed: otherwise the driver may have reconnected before its next request.
  proxy.isDown = true;
  proxy.cut();
  const commit = () => store.commit(batch({ entities: [zone('b')], rows: [row(2)] }));
  const isCommitted = () =>
    commit().then(
      () => true,
      () => false,
    );
  assert.equal(await isCommitted(), false);
  proxy.isDown = false;
  while (!(await isCommitted())) await new Promise((resolve) => setTimeout(resolve, 50));
  const kept = await store.load();
  assert.deepEqual([kept.entities, kept.rows], [[zone('a'), zone('b')], [row(2)]]);
  assert.deepEqual(
    [...(store.failures ?? [])].map(([reason]) => reason),
    ['no_host'],
  );
});
