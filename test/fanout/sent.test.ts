import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EventSubscriber } from '../../src/fanout/batch.ts';
import { Fanout } from '../../src/fanout/fanout.ts';
import { compileFilter } from '../../src/fanout/filter.ts';
import type { Topic, Variant } from '../../src/model/topics.ts';
import { batchesOf } from '../support/event_batches.ts';

const WGS84 = { crs: 'EPSG:4326' };
const listener: EventSubscriber = { deliver: () => undefined };

function openFanout() {
  let variants: readonly Variant[] = [];
  let nowMs = 0;
  const fanout = new Fanout({ now: () => nowMs, variantsChanged: (reported) => (variants = reported) });
  const publish = (atMs: number, topic: Topic, ...fields: readonly (readonly (string | undefined)[])[]): void => {
    nowMs = atMs;
    for (const { id, topic: of } of variants) {
      if (of === topic) fanout.publish(batchesOf(fields.map((each) => ({ variant: id, fields: each, text: '{}' }))));
    }
  };
  return { fanout, publish };
}

const entry = (fence: string) => [fence, undefined, 'p', undefined, 'region_entry', 'location_provider'];
const exit = (fence: string) => [fence, undefined, 'p', undefined, 'region_exit', 'location_provider'];

describe('Fanout counts sent events', () => {
  test('by form, once for each subscription, with the time of the last', () => {
    const { fanout, publish } = openFanout();
    assert.deepEqual(fanout.sent('location_updates', false), { events: 0, lastMs: 0, byKind: new Map() });
    fanout.subscribe(listener, { topic: 'location_updates', view: WGS84 });
    fanout.subscribe(listener, { topic: 'location_updates', view: { crs: 'local' } });
    fanout.subscribe(listener, { topic: 'location_updates', view: { ...WGS84, geojson: true } });
    publish(1000, 'location_updates', ['a'], ['b']);
    publish(2000, 'location_updates', ['a']);
    assert.deepEqual(fanout.sent('location_updates', false), { events: 6, lastMs: 2000, byKind: new Map() });
    assert.deepEqual(fanout.sent('location_updates', true), { events: 3, lastMs: 2000, byKind: new Map() });
  });

  test('by the kind of a fence event, with and without a filter', () => {
    const { fanout, publish } = openFanout();
    for (const params of [{}, {}, { fence_id: 'f' }, { event_type: 'region_exit' }]) {
      fanout.subscribe(listener, { topic: 'fence_events', view: WGS84, filter: compileFilter('fence_events', params) });
    }
    publish(1000, 'fence_events', entry('f'), entry('g'), exit('f'));
    const { events, byKind } = fanout.sent('fence_events', false);
    assert.equal(events, 2 * 3 + 2 + 1);
    assert.deepEqual(Object.fromEntries(byKind), { region_entry: 2 * 2 + 1, region_exit: 2 + 1 + 1 });
    assert.equal(fanout.counts().fence_events.delivered, events);
  });

  test('and leaves the time unchanged if no subscription receives anything', () => {
    const { fanout, publish } = openFanout();
    const first = fanout.subscribe(listener, { topic: 'fence_events', view: WGS84 });
    publish(1000, 'fence_events', entry('f'));
    fanout.unsubscribe(first);
    const filter = compileFilter('fence_events', { fence_id: 'none' });
    fanout.subscribe(listener, { topic: 'fence_events', view: WGS84, filter });
    publish(2000, 'fence_events', entry('f'));
    assert.equal(fanout.sent('fence_events', false).events, 1);
    assert.equal(fanout.sent('fence_events', false).lastMs, 1000);
  });
});

test('Fanout counts subscribers of a topic in all forms and views', () => {
  const { fanout } = openFanout();
  assert.equal(fanout.subscribers('location_updates'), 0);
  const views = [WGS84, WGS84, { crs: 'local' }, { ...WGS84, geojson: true }];
  const ids = views.map((view) => fanout.subscribe(listener, { topic: 'location_updates', view }));
  fanout.subscribe(listener, { topic: 'fence_events', view: WGS84 });
  assert.equal(fanout.subscribers('location_updates'), 4);
  for (const id of ids) fanout.unsubscribe(id);
  assert.equal(fanout.subscribers('location_updates'), 0);
});
