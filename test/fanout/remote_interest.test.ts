import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeliveryBatch, type EventSubscriber } from '../../src/fanout/batch.ts';
import { Fanout } from '../../src/fanout/fanout.ts';
import { compileFilter } from '../../src/fanout/filter.ts';
import { look } from '../../src/model/borrowed.ts';
import { NO_FIELDS } from '../../src/model/event_batch.ts';
import type { FilterFields, Topic, Variant } from '../../src/model/topics.ts';
import { batchesOf } from '../support/event_batches.ts';

const TOPIC = 'location_updates' satisfies Topic;
const WGS84 = { crs: 'EPSG:4326' };
const FILTER = compileFilter(TOPIC, { provider_id: 'p' });

/** A variant as described by another hub. */
function wanted(id: number, more: Partial<Variant> = {}): Variant {
  return { id, topic: TOPIC, ...WGS84, zoneId: undefined, geojson: false, unfiltered: true, ...more };
}

class Listener implements EventSubscriber {
  readonly got: string[] = [];
  readonly missing: string[] = [];

  deliver(_id: number, { strings: texts }: DeliveryBatch): void {
    this.got.push(...texts);
  }

  missed(id: number, why: string): void {
    this.missing.push(`${id}: ${why}`);
  }
}

function fanoutAmongHubs() {
  const reported: (readonly Variant[])[] = [];
  const forwarded: string[] = [];
  const interests: (readonly Variant[])[] = [];
  const fanout: Fanout = new Fanout({
    variantsChanged: (variants) => reported.push(variants),
    interestChanged: () => interests.push(fanout.interest()),
    forward({ ends }, to) {
      forwarded.push(`${ends.length} to ${Array.from(to, ([hub, { id }]) => `${hub} ${id}`).join()}`);
    },
  });
  const publish = (variant: number, text: string, fields: FilterFields = NO_FIELDS): void =>
    fanout.publish(batchesOf([{ variant, fields, text }]));
  return { fanout, reported, forwarded, interests, publish };
}

test('Fanout renders events requested by other hubs once, and forwards them under the numbers of those hubs', () => {
  const { fanout, reported, forwarded, publish } = fanoutAmongHubs();
  fanout.setRemoteInterest('b', [wanted(7), wanted(8, { geojson: true })]);
  assert.equal(reported.length, 1, 'all at once');
  fanout.setRemoteInterest('c', [wanted(3)]);
  assert.deepEqual(
    reported.at(-1)?.map(({ id, geojson, unfiltered }) => [id, geojson, unfiltered]),
    [
      [1, false, true],
      [2, true, true],
    ],
  );
  publish(1, 'x');
  publish(2, 'y');
  assert.deepEqual(forwarded, ['1 to b 7,c 3', '1 to b 8']);
  assert.deepEqual(fanout.counts()[TOPIC], { published: 0, delivered: 0 }, 'they are counted where they are delivered');
  fanout.setRemoteInterest('b', [wanted(7)]);
  fanout.setRemoteInterest('c', []);
  assert.deepEqual(
    reported.at(-1)?.map(({ id }) => id),
    [1],
  );
  fanout.setRemoteInterest('b', []);
  assert.deepEqual(reported.at(-1), []);
});

test('Fanout has one number for a variant of its own subscriptions and of other hubs', () => {
  const { fanout, reported, forwarded, publish } = fanoutAmongHubs();
  const listener = new Listener();
  const id = fanout.subscribe(listener, { topic: TOPIC, view: WGS84 });
  fanout.setRemoteInterest('b', [wanted(7)]);
  assert.deepEqual(
    reported.at(-1)?.map((variant) => variant.id),
    [1],
  );
  publish(1, 'x');
  assert.deepEqual([listener.got, forwarded], [['x'], ['1 to b 7']]);
  assert.deepEqual([fanout.subscribers(TOPIC), fanout.sent(TOPIC, false).events], [1, 1]);
  fanout.unsubscribe(id);
  publish(1, 'y');
  assert.deepEqual([listener.got, forwarded.length, fanout.topicOf(1)], [['x'], 2, TOPIC]);
  fanout.subscribe(listener, { topic: TOPIC, view: WGS84 });
  fanout.setRemoteInterest('b', []);
  publish(1, 'z');
  assert.deepEqual([listener.got, forwarded.length], [['x', 'z'], 2]);
});

test('Fanout renders all events for other hubs, with fields if they filter', () => {
  const { fanout, reported } = fanoutAmongHubs();
  fanout.subscribe(new Listener(), { topic: TOPIC, view: WGS84, filter: FILTER });
  assert.deepEqual(reported.at(-1)?.[0]?.wanted, { keys: [{ at: 0, values: ['p'] }], limits: [] });
  fanout.setRemoteInterest('b', [wanted(7)]);
  assert.equal(reported.at(-1)?.[0]?.wanted, undefined);
  fanout.setRemoteInterest('b', [wanted(7), wanted(8, { crs: 'local', unfiltered: false })]);
  assert.deepEqual(
    reported.at(-1)?.map(({ crs, unfiltered }) => [crs, unfiltered]),
    [
      ['EPSG:4326', false],
      ['local', false],
    ],
  );
  fanout.setRemoteInterest('b', [wanted(8, { crs: 'local' })]);
  assert.deepEqual(
    reported.at(-1)?.map(({ crs, unfiltered, wanted: keys }) => [crs, unfiltered, keys !== undefined]),
    [
      ['EPSG:4326', false, true],
      ['local', true, false],
    ],
  );
});

test('Fanout delivers events of other hubs to its own subscriptions only', () => {
  const { fanout, forwarded } = fanoutAmongHubs();
  const [all, some] = [new Listener(), new Listener()];
  fanout.subscribe(all, { topic: TOPIC, view: WGS84 });
  fanout.subscribe(some, { topic: TOPIC, view: WGS84, filter: FILTER });
  fanout.setRemoteInterest('b', [wanted(7), wanted(8, { crs: 'local' })]);
  const events = ['p', 'q'].map((provider) => ({ variant: 1, fields: [provider], text: provider }));
  for (const block of batchesOf([
    ...events,
    { variant: 2, fields: [], text: 'x' },
    { variant: 9, fields: [], text: 'y' },
  ]))
    fanout.receive(block);
  assert.deepEqual([all.got, some.got, forwarded], [['p', 'q'], ['p'], []]);
});

test('Fanout reports the interest of its own subscriptions whenever it changes', () => {
  const { fanout, interests } = fanoutAmongHubs();
  const listener = new Listener();
  const seen = () => interests.at(-1)?.map(({ id, topic, unfiltered, wanted: keys }) => [id, topic, unfiltered, keys]);
  fanout.setRemoteInterest('b', [wanted(7)]);
  fanout.subscribe(listener, { topic: 'zone_changes', view: WGS84 });
  assert.equal(interests.length, 0);
  const first = fanout.subscribe(listener, { topic: TOPIC, view: WGS84 });
  assert.deepEqual(seen(), [[1, TOPIC, true, undefined]]);
  const second = fanout.subscribe(listener, { topic: TOPIC, view: WGS84, filter: FILTER });
  fanout.subscribe(listener, { topic: TOPIC, view: WGS84, filter: FILTER });
  fanout.unsubscribe(second);
  assert.deepEqual([interests.length, seen()], [2, [[1, TOPIC, false, undefined]]]);
  fanout.unsubscribe(first);
  assert.deepEqual(
    [interests.length, seen()],
    [3, [[1, TOPIC, false, { keys: [{ at: 0, values: ['p'] }], limits: [] }]]],
  );
  fanout.subscribe(listener, { topic: 'fence_events', view: WGS84 });
  assert.deepEqual(seen()?.at(-1), [3, 'fence_events', false, undefined], 'it is counted by kind');
});

test('Fanout reports up to a thousand filter values of its own subscriptions, and interest in everything beyond that', () => {
  const { fanout, interests } = fanoutAmongHubs();
  const subscribe = (params: object): number =>
    fanout.subscribe(new Listener(), { topic: TOPIC, view: WGS84, filter: compileFilter(TOPIC, { ...params }) });
  const wants = () => interests.at(-1)?.[0]?.wanted;
  subscribe({ provider_id: 'a' });
  subscribe({ provider_id: ['a', 'b'] });
  subscribe({ accuracy: 5 });
  assert.deepEqual(wants(), { keys: [{ at: 0, values: ['a', 'b'] }], limits: [{ at: 4, most: 5 }] });
  const { length } = interests;
  const same = subscribe({ provider_id: 'b' });
  fanout.unsubscribe(same);
  assert.equal(interests.length, length, 'it is known');
  const many = subscribe({ provider_id: Array.from({ length: 997 }, (_, i) => `${i}`) });
  assert.equal(wants()?.keys[0]?.values.length, 999);
  subscribe({ source: 's' });
  assert.equal(wants(), undefined);
  fanout.unsubscribe(many);
  assert.deepEqual(
    wants()?.keys.map(({ values }) => values),
    [['a', 'b'], ['s']],
  );
  subscribe({});
  assert.equal(wants(), undefined);
});

test('Fanout forwards only requested events to other hubs, and renders nothing else while there are few', () => {
  const reported: (readonly Variant[])[] = [];
  const got = new Map<string, string[]>();
  const own: Fanout = new Fanout({
    variantsChanged: (variants) => reported.push(variants),
    forward({ bytes, ends, fields }, to) {
      const texts = new DeliveryBatch(look(bytes), ends).strings;
      assert.deepEqual(
        fields?.map(([name]) => name),
        texts,
      );
      for (const hub of to.keys()) got.set(hub, [...(got.get(hub) ?? []), ...texts]);
    },
  });
  const of = (...values: string[]): Partial<Variant> => ({
    unfiltered: false,
    wanted: { keys: [{ at: 0, values }], limits: [] },
  });
  own.setRemoteInterest('b', [wanted(7, of('p', 'é'))]);
  own.setRemoteInterest('c', [wanted(7, of('q'))]);
  assert.deepEqual(reported.at(-1)?.[0]?.wanted?.keys, [{ at: 0, values: ['p', 'é', 'q'] }]);
  own.setRemoteInterest('d', [wanted(7, of('none'))]);
  const publish = (): void => {
    const events = ['p', 'q', 'x', 'é', 'p'].map((name) => ({ variant: 1, fields: [name, 's'], text: name }));
    own.publish(batchesOf(events));
  };
  publish();
  assert.deepEqual(Object.fromEntries(got), { b: ['p', 'é', 'p'], c: ['q'] });
  own.setRemoteInterest('e', [wanted(7, { unfiltered: false })]);
  assert.equal(reported.at(-1)?.[0]?.wanted, undefined);
  publish();
  assert.deepEqual(
    [got.get('e'), got.get('c')],
    [
      ['p', 'q', 'x', 'é', 'p'],
      ['q', 'q'],
    ],
  );
  own.setRemoteInterest('e', []);
  own.setRemoteInterest('c', [wanted(7, of(...Array.from({ length: 70 }, (_, i) => `${i}`), 'x'))]);
  assert.equal(reported.at(-1)?.[0]?.wanted, undefined, 'too many values for the shards');
  publish();
  assert.deepEqual(got.get('c'), ['q', 'q', 'x']);
});

test('Fanout notifies subscriptions of lost events by topic', () => {
  const { fanout } = fanoutAmongHubs();
  const listener = new Listener();
  for (const topic of ['fence_events', 'zone_changes', TOPIC] as const)
    fanout.subscribe(listener, { topic, view: WGS84 });
  fanout.missed([TOPIC, 'fence_events', 'proximity_updates'], 'lost');
  assert.deepEqual(listener.missing, ['1: lost', '3: lost']);
});
