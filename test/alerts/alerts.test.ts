import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Alerts } from '../../src/alerts/alerts.ts';
import type { QueryResult, Query } from '../../src/core/item.ts';
import { Fanout } from '../../src/fanout/fanout.ts';

const RULE = { name: 'In the dock', kind: 'entry' };

/** Alerts on a real fan-out. The test answers the queries to shards, and `store` contains the committed documents. */
function openAlerts() {
  const fanout = new Fanout({ variantsChanged: () => undefined });
  const queries: { readonly query: Query; readonly answer: (answers: readonly QueryResult[]) => void }[] = [];
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  const store = { isFailing: false, held: Promise.resolve(), documents: new Map<string, object>() };
  const warnings: string[] = [];
  let nowMs = 1_000_000;
  let ids = 0;
  const alerts = new Alerts({
    fanout,
    monotonicMs: () => nowMs,
    now: () => nowMs,
    newId: () => `id-${++ids}`,
    schedule(delayMs, run) {
      const timer = { atMs: nowMs + delayMs, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    entities: {
      fence: (id) => ({ id }),
      trackable: (id) => ({ id }),
      trackables: () => [{ id: 't' }],
      provider: (id) => ({ id }),
      providers: () => [{ id: 'p' }],
      isAssigned: () => false,
    },
    read: (query) => new Promise((answer) => void queries.push({ query, answer })),
    async commit(documents) {
      await store.held;
      if (store.isFailing) throw errorWith('HUB_UNAVAILABLE', 'Cannot write now: the disk is full');
      for (const [name, document] of documents) {
        if (document === undefined) store.documents.delete(name);
        else store.documents.set(name, document);
      }
      return undefined;
    },
    isWatcher: () => true,
    warn: (message) => void warnings.push(message),
  });
  alerts.start();
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    alerts,
    fanout,
    queries,
    store,
    warnings,
    timers,
    settled,
    /** Answers the first pending query: these trackables are inside `f`. */
    async answer(...inside: readonly string[]) {
      queries.shift()?.answer([{ stays: inside.map((id) => ['f', id, 5000] as const) }]);
      await settled();
    },
    async crosses(type: 'region_entry' | 'region_exit', trackable = 't') {
      const fields = ['f', undefined, undefined, trackable, type, 'trackable'];
      const event = { id: 'e', fence_id: 'f', event_type: type, trackable_id: trackable };
      fanout.announce('fence_events', fields, () => JSON.stringify(event));
      await settled();
    },
    async providerCrosses(type: 'region_entry' | 'region_exit', provider = 'p') {
      const fields = ['f', undefined, provider, undefined, type, 'location_provider'];
      const event = { id: 'e', fence_id: 'f', event_type: type, provider_id: provider };
      fanout.announce('fence_events', fields, () => JSON.stringify(event));
      await settled();
    },
    async pass(ms: number) {
      nowMs += ms;
      for (const timer of [...timers].filter(({ atMs }) => atMs <= nowMs)) {
        timers.delete(timer);
        timer.run();
      }
      await settled();
    },
    listed: () =>
      alerts.list().map(({ trackable_id: trackable, provider_id: provider, state, times, over_at: over }) => {
        return [trackable ?? provider, state, times, over != null];
      }),
  };
}

test('Without an enabled rule there are no subscriptions, queries or timers', async () => {
  const { alerts, fanout, queries, timers, answer } = openAlerts();
  const idle = () => [fanout.hasSubscribers('fence_events'), queries.length, timers.size];
  assert.deepEqual(idle(), [false, 0, 0]);
  const { id } = await alerts.rules.create({ ...RULE, kind: 'inside_longer', longer_than: 60_000 });
  assert.deepEqual(idle(), [true, 1, 0]);
  await answer('t');
  assert.deepEqual(idle(), [true, 0, 1]);
  await alerts.rules.remove(id);
  assert.deepEqual(idle(), [false, 0, 0]);
});

test('An entry during the query for stays counts as an entry, regardless of the result', async () => {
  for (const inside of [['t', 'u'], ['u']]) {
    const { alerts, answer, crosses, listed } = openAlerts();
    await alerts.rules.create(RULE);
    await crosses('region_entry');
    await answer(...inside);
    assert.deepEqual(listed(), [['t', 'raised', 1, false]]);
    await crosses('region_exit');
    assert.deepEqual(listed(), [['t', 'raised', 1, true]]);
  }
});

test('An exit during the query for stays takes precedence over the older result', async () => {
  const { alerts, answer, crosses, listed, pass } = openAlerts();
  await alerts.rules.create({ ...RULE, kind: 'inside_longer', longer_than: 10_000 });
  await crosses('region_exit');
  await answer('t');
  await pass(20_000);
  assert.deepEqual(listed(), []);
});

test('Alerts continue without duplicates while rules change', async () => {
  const { alerts, answer, crosses, listed } = openAlerts();
  await alerts.rules.create(RULE);
  await answer();
  await crosses('region_entry');
  await alerts.rules.create({ ...RULE, name: 'Another', kind: 'exit' });
  await crosses('region_entry', 'u');
  assert.deepEqual(listed().toSorted(), [
    ['t', 'raised', 1, false],
    ['u', 'raised', 1, false],
  ]);
  // The result is older than the entry of `u`.
  await answer('t');
  assert.deepEqual(listed().toSorted(), [
    ['t', 'raised', 1, false],
    ['u', 'raised', 1, false],
  ]);
  await crosses('region_exit', 'u');
  assert.equal(listed().filter(([id]) => id === 'u').length, 2);
});

test('Provider events and stays are used only if a rule concerns providers', async () => {
  const { alerts, queries, answer, crosses, providerCrosses, listed } = openAlerts();
  await alerts.rules.create(RULE);
  assert.deepEqual(queries.at(-1)?.query, { ask: 'stays' });
  await answer();
  await providerCrosses('region_entry');
  assert.deepEqual(listed(), []);
  await providerCrosses('region_exit');

  await alerts.rules.create({ ...RULE, name: 'Tags', object_type: 'location_provider' });
  assert.deepEqual(queries.at(-1)?.query, { ask: 'stays', providers: true });
  queries.shift()?.answer([{ stays: [], providerStays: [['f', 'q', 5000]] }, { stays: [] }]);
  await providerCrosses('region_entry', 'q');
  await providerCrosses('region_entry');
  await crosses('region_entry');
  assert.deepEqual(listed().toSorted(), [
    ['p', 'raised', 1, false],
    ['t', 'raised', 1, false],
  ]);
  await providerCrosses('region_exit');
  assert.deepEqual(listed().toSorted(), [
    ['p', 'raised', 1, true],
    ['t', 'raised', 1, false],
  ]);
});

test('A crossing of a gate is an alert in its direction, and neither an entry nor an exit', async () => {
  const { alerts, fanout, queries, answer, settled, listed } = openAlerts();
  await alerts.rules.create({ name: 'Out', kind: 'gate', fence_ids: ['f'], direction: 'right' });
  assert.equal(queries.length, 0, 'a gate has no objects inside');
  await alerts.rules.create(RULE);
  await answer();
  for (const direction of ['left', 'right']) {
    const properties = { 'hub.direction': direction };
    const event = { id: 'e', fence_id: 'f', event_type: 'region_entry', trackable_id: 't', properties };
    const fields = ['f', undefined, undefined, 't', 'region_entry', 'trackable'];
    fanout.announce('fence_events', fields, () => JSON.stringify(event));
    await settled();
  }
  assert.deepEqual(listed(), [['t', 'raised', 1, true]]);
  const preview = await alerts.preview({ name: 'Out', kind: 'gate', fence_ids: ['f'], direction: 'right' });
  assert.deepEqual(preview, { watched: 1, matches: [], total: 0 });
});

test('Speeds and positions are sampled every second while a rule needs them', async () => {
  const { alerts, queries, timers, settled, pass, listed } = openAlerts();
  const speeding = { name: 'Fast', kind: 'speed', speed_above: 2 };
  const { id } = await alerts.rules.create(speeding);
  const apart = { name: 'Apart', kind: 'separated', trackable_ids: ['t'], other_trackable_ids: ['u'], distance: 10 };
  const { id: other } = await alerts.rules.create({ ...apart, longer_than: 1500 });
  assert.deepEqual(queries.shift()?.query, { ask: 'sample', above: 2, only: [] });
  const sample = async (): Promise<void> => {
    const { query, answer } = queries.shift() ?? assert.fail('no query');
    assert.deepEqual(query, { ask: 'sample', above: 2, only: ['t', 'u'] });
    answer([
      { speeds: [['t', 3]], positions: [['t', 0, 0, 0]] },
      { speeds: [], positions: [['u', 1, 0, 0]] },
    ]);
    await settled();
  };
  await sample();
  assert.deepEqual(listed(), [['t', 'raised', 1, false]]);
  await pass(1000);
  await sample();
  assert.equal(listed().length, 1);
  await pass(500);
  assert.equal(listed().length, 2);
  const preview = alerts.preview({ ...apart, longer_than: 600_000 });
  await settled();
  queries.pop()?.answer([
    {
      speeds: [],
      positions: [
        ['t', 0, 0, 0],
        ['u', 1, 0, 0],
      ],
    },
  ]);
  assert.deepEqual((await preview).matches, [{ trackable_id: 't', other_trackable_id: 'u' }]);
  for (const each of [id, other]) await alerts.rules.remove(each);
  assert.equal(timers.size, 0);
});

test('An action that cannot be stored is rejected, and stored when the database works again', async () => {
  const { alerts, answer, crosses, listed, pass, store } = openAlerts();
  await alerts.rules.create(RULE);
  await answer();
  await crosses('region_entry');
  const [alert] = alerts.list();
  assert.ok(alert);
  store.isFailing = true;
  await assert.rejects(alerts.act({ act: 'acknowledge' }, [alert.id], { via: 'rest' }), { code: 'HUB_UNAVAILABLE' });
  assert.deepEqual(listed(), [['t', 'raised', 1, false]]);
  store.isFailing = false;
  await pass(2000);
  assert.deepEqual(listed(), [['t', 'acknowledged', 1, false]]);
  assert.deepEqual(store.documents.get(`alert ${alert.id}`), alerts.get(alert.id));
});

test('An unknown alert is reported with its id in one pair of quotes', () => {
  const { alerts } = openAlerts();
  assert.throws(() => alerts.get('none'), { message: 'Cannot find alert "none": no alert has that id' });
});

test('An exit while rules change takes precedence over the older result', async () => {
  const { alerts, answer, crosses, listed, pass } = openAlerts();
  await alerts.rules.create({ ...RULE, kind: 'inside_longer', longer_than: 10_000 });
  await answer();
  await crosses('region_entry');
  await alerts.rules.create({ ...RULE, name: 'Another' });
  await crosses('region_exit');
  await answer('t');
  await pass(20_000);
  assert.deepEqual(listed(), []);
});

test('A condition that ends while its count is being stored is no longer counted', async () => {
  const { alerts, answer, crosses, store, warnings, settled } = openAlerts();
  await alerts.rules.create({ ...RULE, severity: 'warning' });
  await answer();
  // As many as there is room for warnings, and one more.
  for (let index = 0; index < 800; index++) await crosses('region_entry', `t${index}`);
  let release = () => {};
  store.held = new Promise((resolve) => {
    release = resolve;
  });
  await crosses('region_entry', 'one too many');
  assert.equal(warnings.length, 1);
  await crosses('region_exit', 'one too many');
  release();
  await settled();
  assert.deepEqual(alerts.summary().not_raised, { info: 0, warning: 0, critical: 0 });
  assert.equal(store.documents.has('alerts_not_raised'), false);
});
