import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeliveryBatch, EventSubscriber } from '../../src/fanout/batch.ts';
import { Fanout } from '../../src/fanout/fanout.ts';
import { compileFilter } from '../../src/fanout/filter.ts';
import { topicName } from '../../src/fanout/topic_name.ts';
import { NO_FIELDS } from '../../src/model/event_batch.ts';
import type { Topic, Variant, View } from '../../src/model/topics.ts';
import { batchesOf } from '../support/event_batches.ts';

const WGS84: View = { crs: 'EPSG:4326' };

/** Records its input in order. */
class Listener implements EventSubscriber {
  readonly got: [id: number, texts: readonly string[]][] = [];
  readonly batches: DeliveryBatch[] = [];

  deliver(id: number, batch: DeliveryBatch): void {
    this.got.push([id, batch.strings]);
    this.batches.push(batch);
  }
}

function fanoutWithLog() {
  const reported: (readonly Variant[])[] = [];
  const fanout = new Fanout({ variantsChanged: (variants) => reported.push(variants) });
  const variantOf = (topic: Topic, crs = 'EPSG:4326'): number =>
    reported.at(-1)?.find((variant) => variant.topic === topic && variant.crs === crs)?.id ?? assert.fail('no variant');
  return { fanout, reported, variantOf };
}

test('Fanout adds a variant to the shards before subscribe returns, and removes it with its last subscription', () => {
  const { fanout, reported } = fanoutWithLog();
  const listener = new Listener();
  const first = fanout.subscribe(listener, { topic: 'fence_events', view: WGS84 });
  assert.deepEqual(reported.at(-1), [
    { id: 1, topic: 'fence_events', crs: 'EPSG:4326', zoneId: undefined, geojson: false, unfiltered: false },
  ]);
  const second = fanout.subscribe(listener, { topic: 'fence_events', view: { ...WGS84, geojson: false } });
  assert.equal(reported.length, 1, 'the same view is the same variant');
  for (const view of [{ ...WGS84, geojson: true }, { crs: 'local' }, { crs: 'local', zoneId: 'z' }]) {
    fanout.subscribe(listener, { topic: 'fence_events', view });
  }
  assert.equal(reported.at(-1)?.length, 4);
  assert.equal(fanout.unsubscribe(first), true);
  assert.equal(reported.length, 4);
  assert.equal(fanout.unsubscribe(second), true);
  assert.deepEqual(
    reported.at(-1)?.map(({ id }) => id),
    [2, 3, 4],
  );
  assert.equal(fanout.unsubscribe(second), false);
});

test('Fanout does not send the shards topics that they do not render', () => {
  const { fanout, reported } = fanoutWithLog();
  const id = fanout.subscribe(new Listener(), { topic: 'zone_changes', view: WGS84 });
  fanout.subscribe(new Listener(), { topic: 'location_updates', view: WGS84 });
  fanout.unsubscribe(id);
  assert.deepEqual(
    reported.map((variants) => variants.map(({ topic }) => topic)),
    [['location_updates']],
  );
});

test('Fanout assigns positive ids that are never reused', () => {
  const { fanout } = fanoutWithLog();
  const ids: number[] = [];
  for (let i = 0; i < 3; i++) {
    ids.push(fanout.subscribe(new Listener(), { topic: 'zone_changes', view: WGS84 }));
    fanout.unsubscribe(ids.at(-1) ?? 0);
  }
  assert.deepEqual(ids, [1, 2, 3]);
});

test('Fanout publishes by variant and filter, one batch per subscription, in order', () => {
  const { fanout, variantOf } = fanoutWithLog();
  const [all, some, none, local] = [new Listener(), new Listener(), new Listener(), new Listener()];
  const topic = 'location_updates';
  const filter = (provider_id: string) => compileFilter(topic, { provider_id });
  fanout.subscribe(all, { topic, view: WGS84 });
  fanout.subscribe(some, { topic, view: WGS84, filter: filter('b') });
  fanout.subscribe(none, { topic, view: WGS84, filter: filter('c') });
  fanout.subscribe(local, { topic, view: { crs: 'local' } });
  const [wgs84, plane] = [variantOf(topic), variantOf(topic, 'local')];
  const events = [
    { variant: wgs84, fields: ['a'], text: '1' },
    { variant: plane, fields: ['a'], text: 'p' },
    { variant: wgs84, fields: ['b'], text: '2' },
    { variant: 999, fields: ['b'], text: 'gone' },
    { variant: wgs84, fields: ['b'], text: '3' },
  ];
  fanout.publish(batchesOf(events));
  assert.deepEqual(all.got, [[1, ['1', '2', '3']]]);
  assert.deepEqual(some.got, [[2, ['2', '3']]]);
  assert.deepEqual(none.got, []);
  assert.deepEqual(local.got, [[4, ['p']]]);
  assert.deepEqual(fanout.counts().location_updates, { published: 4, delivered: 6 });
  assert.deepEqual(fanout.counts().fence_events, { published: 0, delivered: 0 });
});

test('Fanout tells the shards whether any subscription filters the events of a variant', () => {
  const { fanout, reported, variantOf } = fanoutWithLog();
  const [all, some] = [new Listener(), new Listener()];
  const topic = 'location_updates';
  const filter = compileFilter(topic, { provider_id: 'a' });
  const unfiltered = () => reported.at(-1)?.map((variant) => variant.unfiltered);
  fanout.subscribe(all, { topic, view: WGS84 });
  assert.deepEqual(unfiltered(), [true]);
  const variant = variantOf(topic);
  const first = fanout.subscribe(some, { topic, view: WGS84, filter });
  const second = fanout.subscribe(some, { topic, view: WGS84, filter });
  assert.deepEqual([reported.length, unfiltered()], [2, [false]]);
  // Rendered before the shards received the filter.
  fanout.publish(batchesOf([{ variant, fields: NO_FIELDS, text: 'early' }]));
  fanout.publish(batchesOf([{ variant, fields: ['a'], text: 'late' }]));
  assert.deepEqual(some.got, [
    [first, ['late']],
    [second, ['late']],
  ]);
  assert.deepEqual(
    all.got.map(([, texts]) => texts),
    [['early'], ['late']],
  );
  fanout.unsubscribe(first);
  assert.equal(reported.length, 2);
  fanout.unsubscribe(second);
  assert.deepEqual([reported.length, unfiltered()], [3, [true]]);
});

test('Fanout gives subscriptions with the same events the same batch, so that it is joined once', () => {
  const { fanout, variantOf } = fanoutWithLog();
  const listener = new Listener();
  const topic = 'location_updates';
  for (let i = 0; i < 3; i++) fanout.subscribe(listener, { topic, view: WGS84 });
  fanout.subscribe(listener, { topic, view: WGS84, filter: compileFilter(topic, { provider_id: 'a' }) });
  fanout.publish(batchesOf([{ variant: variantOf(topic), fields: ['a'], text: '1' }]));
  assert.equal(listener.batches.length, 4);
  assert.equal(new Set(listener.batches).size, 1);
});

test('Fanout renders an announced event once per variant, and not at all without subscriptions', () => {
  const { fanout } = fanoutWithLog();
  const listener = new Listener();
  const rendered: (string | undefined)[] = [];
  const render = (variant: Variant): string | undefined => {
    rendered.push(variant.crs);
    return variant.crs === 'local' ? undefined : `in ${variant.crs}`;
  };
  fanout.announce('fence_changes', ['f', 'create'], render);
  assert.deepEqual(rendered, []);
  assert.equal(fanout.hasSubscribers('fence_changes'), false);
  fanout.subscribe(listener, { topic: 'fence_changes', view: WGS84 });
  fanout.subscribe(listener, { topic: 'fence_changes', view: WGS84 });
  fanout.subscribe(listener, { topic: 'fence_changes', view: { crs: 'local' } });
  const deletions = compileFilter('fence_changes', { event_type: 'delete' });
  fanout.subscribe(listener, { topic: 'fence_changes', view: WGS84, filter: deletions });
  assert.equal(fanout.hasSubscribers('fence_changes'), true);
  fanout.announce('fence_changes', ['f', 'create'], render);
  assert.deepEqual(rendered, ['EPSG:4326', 'local']);
  assert.deepEqual(listener.got, [
    [1, ['in EPSG:4326']],
    [2, ['in EPSG:4326']],
  ]);
});

test('Fanout redelivers an event to earlier subscriptions only, and to no listener', () => {
  let interest = 0;
  const fanout = new Fanout({ variantsChanged: () => undefined, interestNumber: () => interest });
  const [early, late] = [new Listener(), new Listener()];
  let received = 0;
  fanout.listen({ receive: () => void received++ }, { topic: 'fence_events', view: WGS84 });
  fanout.subscribe(early, { topic: 'fence_events', view: WGS84 });
  interest = 1;
  fanout.subscribe(late, { topic: 'fence_events', view: WGS84 });
  fanout.announce('fence_events', ['f'], () => '{}', 0);
  assert.deepEqual([early.got.length, late.got.length, received], [1, 0, 0]);
  fanout.announce('fence_events', ['f'], () => '{}');
  assert.deepEqual([early.got.length, late.got.length, received], [2, 1, 1]);
});

test('Fanout lets a subscriber unsubscribe, and publish, during its delivery', () => {
  const { fanout } = fanoutWithLog();
  const later = new Listener();
  let deliveries = 0;
  const leaver: EventSubscriber = {
    deliver(id) {
      deliveries++;
      fanout.unsubscribe(id);
      fanout.announce('zone_changes', ['z', 'update'], () => 'second');
    },
  };
  fanout.subscribe(leaver, { topic: 'zone_changes', view: WGS84 });
  fanout.subscribe(later, { topic: 'zone_changes', view: WGS84 });
  fanout.announce('zone_changes', ['z', 'create'], () => 'first');
  assert.equal(deliveries, 1);
  assert.deepEqual(later.got.flatMap(([, texts]) => texts).sort(), ['first', 'second']);
});

test('topicName returns the topics, and a GeoJSON form of those with a position', () => {
  assert.deepEqual(topicName('fence_events'), { topic: 'fence_events', geojson: false });
  for (const topic of ['location_updates', 'trackable_motions', 'fence_events']) {
    assert.deepEqual(topicName(`${topic}:geojson`), { topic, geojson: true });
  }
  for (const name of ['collision_events:geojson', 'zone_changes:geojson', 'constructor', '__proto__', '', 1, null]) {
    assert.equal(topicName(name), undefined, String(name));
  }
});
