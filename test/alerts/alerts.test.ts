import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Alerts } from '../../src/alerts/alerts.ts';
import type { QueryResult, Query } from '../../src/core/item.ts';
import { HubError } from '../../src/errors.ts';
import { Fanout } from '../../src/fanout/fanout.ts';

const RULE = { name: 'In the dock', kind: 'entry' };

/** Alerts over a real fan-out. Shards answer when they are told to, and what is kept is kept here. */
function openAlerts() {
  const fanout = new Fanout({ variantsChanged: () => undefined });
  const asked: { readonly query: Query; readonly answer: (answers: readonly QueryResult[]) => void }[] = [];
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  const store = { isFailing: false, kept: new Map<string, object>() };
  let nowMs = 1_000_000;
  let ids = 0;
  const alerts = new Alerts({
    fanout,
    running: () => nowMs,
    now: () => nowMs,
    newId: () => `id-${++ids}`,
    schedule(delayMs, run) {
      const timer = { atMs: nowMs + delayMs, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    known: {
      hasFence: () => true,
      trackable: () => ({}),
      trackables: () => [{ id: 't' }],
      provider: () => ({}),
      providers: () => [{ id: 'p' }],
      isAssigned: () => false,
    },
    read: (query) => new Promise((answer) => void asked.push({ query, answer })),
    async commit(documents) {
      if (store.isFailing) throw new HubError('HUB_UNAVAILABLE', 'Cannot write now: the disk is full');
      for (const [name, document] of documents) {
        if (document === undefined) store.kept.delete(name);
        else store.kept.set(name, document);
      }
      return undefined;
    },
    isWatcher: () => true,
    notice: (text) => assert.fail(text),
  });
  alerts.start();
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return {
    alerts,
    fanout,
    asked,
    store,
    timers,
    settled,
    /** Who is inside of `f`, as the shards answer the first question that is open. */
    async answer(...inside: readonly string[]) {
      asked.shift()?.answer([{ stays: inside.map((id) => ['f', id, 5000] as const) }]);
      await settled();
    },
    async crosses(type: 'region_entry' | 'region_exit', trackable = 't') {
      const fields = ['f', undefined, undefined, trackable, type, 'trackable'];
      const event = { id: 'e', fence_id: 'f', event_type: type, trackable_id: trackable };
      fanout.announce('fence_events', fields, () => JSON.stringify(event));
      await settled();
    },
    async crossesAlone(type: 'region_entry' | 'region_exit', provider = 'p') {
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
    seen: () =>
      alerts.list().map(({ trackable_id: trackable, provider_id: provider, state, times, over_at: over }) => {
        return [trackable ?? provider, state, times, over != null];
      }),
  };
}

test('Without an enabled rule nothing is subscribed to, asked or timed', async () => {
  const { alerts, fanout, asked, timers, answer } = openAlerts();
  const idle = () => [fanout.hasSubscribers('fence_events'), asked.length, timers.size];
  assert.deepEqual(idle(), [false, 0, 0]);
  const { id } = await alerts.rules.create({ ...RULE, kind: 'inside_longer', longer_than: 60_000 });
  assert.deepEqual(idle(), [true, 1, 0]);
  await answer('t');
  assert.deepEqual(idle(), [true, 0, 1]);
  await alerts.rules.remove(id);
  assert.deepEqual(idle(), [false, 0, 0]);
});

test('Who enters while it is asked who is inside has entered, whatever the answer says', async () => {
  for (const inside of [['t', 'u'], ['u']]) {
    const { alerts, answer, crosses, seen } = openAlerts();
    await alerts.rules.create(RULE);
    await crosses('region_entry');
    await answer(...inside);
    assert.deepEqual(seen(), [['t', 'raised', 1, false]]);
    await crosses('region_exit');
    assert.deepEqual(seen(), [['t', 'raised', 1, true]]);
  }
});

test('Who leaves while it is asked who is inside has left, though the answer is older', async () => {
  const { alerts, answer, crosses, seen, pass } = openAlerts();
  await alerts.rules.create({ ...RULE, kind: 'inside_longer', longer_than: 10_000 });
  await crosses('region_exit');
  await answer('t');
  await pass(20_000);
  assert.deepEqual(seen(), []);
});

test('While rules change, what they have alerted of goes on, once', async () => {
  const { alerts, answer, crosses, seen } = openAlerts();
  await alerts.rules.create(RULE);
  await answer();
  await crosses('region_entry');
  await alerts.rules.create({ ...RULE, name: 'Another', kind: 'exit' });
  await crosses('region_entry', 'u');
  assert.deepEqual(seen().toSorted(), [
    ['t', 'raised', 1, false],
    ['u', 'raised', 1, false],
  ]);
  // From before `u` has entered.
  await answer('t');
  assert.deepEqual(seen().toSorted(), [
    ['t', 'raised', 1, false],
    ['u', 'raised', 1, false],
  ]);
  await crosses('region_exit', 'u');
  assert.equal(seen().filter(([id]) => id === 'u').length, 2);
});

test('Providers are heard and asked of where a rule is about them alone', async () => {
  const { alerts, asked, answer, crosses, crossesAlone, seen } = openAlerts();
  await alerts.rules.create(RULE);
  assert.deepEqual(asked.at(-1)?.query, { ask: 'stays' });
  await answer();
  await crossesAlone('region_entry');
  assert.deepEqual(seen(), []);
  await crossesAlone('region_exit');

  await alerts.rules.create({ ...RULE, name: 'Tags', object_type: 'location_provider' });
  assert.deepEqual(asked.at(-1)?.query, { ask: 'stays', providers: true });
  asked.shift()?.answer([{ stays: [], providerStays: [['f', 'q', 5000]] }, { stays: [] }]);
  await crossesAlone('region_entry', 'q');
  await crossesAlone('region_entry');
  await crosses('region_entry');
  assert.deepEqual(seen().toSorted(), [
    ['p', 'raised', 1, false],
    ['t', 'raised', 1, false],
  ]);
  await crossesAlone('region_exit');
  assert.deepEqual(seen().toSorted(), [
    ['p', 'raised', 1, true],
    ['t', 'raised', 1, false],
  ]);
});

test('What the database does not take is refused to whoever asks, and kept when it does again', async () => {
  const { alerts, answer, crosses, seen, pass, store } = openAlerts();
  await alerts.rules.create(RULE);
  await answer();
  await crosses('region_entry');
  const [alert] = alerts.list();
  assert.ok(alert);
  store.isFailing = true;
  await assert.rejects(alerts.act('acknowledge', [alert.id]), { code: 'HUB_UNAVAILABLE' });
  assert.deepEqual(seen(), [['t', 'raised', 1, false]]);
  store.isFailing = false;
  await pass(2000);
  assert.deepEqual(seen(), [['t', 'acknowledged', 1, false]]);
  assert.deepEqual(store.kept.get(`alert ${alert.id}`), alerts.get(alert.id));
});

test('Who leaves while rules change has left, though the answer is older', async () => {
  const { alerts, answer, crosses, seen, pass } = openAlerts();
  await alerts.rules.create({ ...RULE, kind: 'inside_longer', longer_than: 10_000 });
  await answer();
  await crosses('region_entry');
  await alerts.rules.create({ ...RULE, name: 'Another' });
  await crosses('region_exit');
  await answer('t');
  await pass(20_000);
  assert.deepEqual(seen(), []);
});
