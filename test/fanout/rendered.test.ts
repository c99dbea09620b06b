import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeliveryBatch, EventSubscriber } from '../../src/fanout/batch.ts';
import { Fanout } from '../../src/fanout/fanout.ts';
import { compileFilter } from '../../src/fanout/filter.ts';
import type { Topic, Variant } from '../../src/model/topics.ts';
import { locationAt, type ShardCommand, ShardHarness } from '../support/shard_harness.ts';

/** Deterministic numbers in [0, 1). */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const TAGS = ['a', 'b', 'c', '5F0E3A7C-0B1D-4B6E-9D2A-7C1E00000001'];
const TRACKABLES = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`);
const VIEWS = [{ crs: 'EPSG:4326' }, { crs: 'EPSG:32632' }, { crs: 'EPSG:4326', geojson: true }];

/** Parameters that subscriptions pick from, by topic. */
const PARAMS: Partial<Record<Topic, Readonly<Record<string, readonly unknown[]>>>> = {
  location_updates: {
    provider_id: [...TAGS, TAGS[3]?.toLowerCase(), ['a', 'c'], 'nobody'],
    source: ['x', 'y'],
    provider_type: ['uwb', 'gps'],
    associated: [true, false],
    accuracy: [0, 1, 5],
    floor: [0, 1],
  },
  trackable_motions: { id: TRACKABLES, name: ['one', 'two'], accuracy: [1], floor: [0, 1] },
  fence_events: {
    fence_id: ['f'],
    provider_id: TAGS,
    trackable_id: TRACKABLES,
    event_type: ['region_entry', 'region_exit'],
    object_type: ['trackable', 'location_provider'],
  },
};

class Listener implements EventSubscriber {
  /** Received payloads by subscription. Event ids are sequential, and so differ. */
  readonly got = new Map<number, string[]>();

  deliver(id: number, batch: DeliveryBatch): void {
    const texts = batch.strings.map((text) => text.replace(/"id":"event-\d+"/, ''));
    this.got.set(id, [...(this.got.get(id) ?? []), ...texts]);
  }
}

function pick<T>(values: readonly T[], random: () => number): T {
  return values[Math.floor(random() * values.length)] as T;
}

/** A random site with random subscriptions. Returns the received events, and the number of rendered events. */
async function run(seed: number, shown: (variant: Variant) => Variant) {
  const random = chance(seed);
  const harness = await ShardHarness.open();
  let variants: readonly Variant[] = [];
  const fanout = new Fanout({ variantsChanged: (changed) => (variants = changed) });
  const listener = new Listener();
  const topics = Object.keys(PARAMS) as Topic[];
  for (let i = 0; i < 1 + random() * 12; i++) {
    const topic = pick(topics, random);
    const params: Record<string, unknown> = {};
    for (const [name, values] of Object.entries(PARAMS[topic] ?? {})) {
      if (random() < 0.3) params[name] = pick(values, random);
    }
    const id = fanout.subscribe(listener, { topic, view: pick(VIEWS, random), filter: compileFilter(topic, params) });
    if (random() < 0.2) fanout.unsubscribe(id);
  }
  const region = { type: 'Point' as const, coordinates: [8, 50] };
  const entities: ShardCommand[] = TRACKABLES.map((id, i) => {
    const name = i === 0 ? 'one' : 'two';
    return { kind: 'trackable', id, entity: { id, type: 'omlox', name, location_providers: TAGS.slice(i, i + 2) } };
  });
  harness.tell(0, ...entities, { kind: 'fence', id: 'f', entity: { id: 'f', region, radius: 500 } });
  harness.tell(0, { kind: 'variants', variants: variants.map(shown) });
  let rendered = 0;
  for (let second = 1; second < 40; second++) {
    const more = {
      provider_id: pick(TAGS, random),
      source: pick(['x', 'y', 'z'], random),
      provider_type: pick(['uwb', 'gps'] as const, random),
      accuracy: pick([0, 1, 3, null], random),
      associated: pick([true, false, null], random),
      floor: pick([0, 1, null], random),
    };
    const { events } = harness.tell(second, locationAt(second, 8 + random() * 0.02, 50, more));
    for (const { ends } of events) rendered += ends.length;
    fanout.publish(events);
  }
  return { got: [...listener.got].sort(([a], [b]) => a - b), rendered };
}

test('Subscriptions receive the same events as when everything is rendered, and fewer are rendered', async () => {
  const everything = ({ wanted: _none, ...variant }: Variant): Variant => variant;
  let [got, rendered, renderedOfAll] = [0, 0, 0];
  for (let seed = 1; seed <= 150; seed++) {
    const all = await run(seed, everything);
    const wanted = await run(seed, (variant) => variant);
    assert.deepEqual(wanted.got, all.got, `seed ${seed}`);
    for (const [, texts] of wanted.got) got += texts.length;
    rendered += wanted.rendered;
    renderedOfAll += all.rendered;
  }
  assert.ok(got > 1000, `${got} events`);
  assert.ok(rendered < renderedOfAll * 0.75, `${rendered} of ${renderedOfAll} were rendered`);
});

test('Nothing is rendered for filters that pass nothing, regardless of their number', async () => {
  const harness = await ShardHarness.open();
  let variants: readonly Variant[] = [];
  const fanout = new Fanout({ variantsChanged: (changed) => (variants = changed) });
  const filters = [{ provider_id: 'nobody' }, { floor: 99 }, { accuracy: -1 }, { provider_type: 'gps', floor: 0 }];
  for (let zone = 1; zone <= 60; zone++) {
    for (const params of filters) {
      const view = { crs: `EPSG:${32600 + zone}` };
      fanout.subscribe(new Listener(), {
        topic: 'location_updates',
        view,
        filter: compileFilter('location_updates', params),
      });
    }
  }
  harness.tell(0, { kind: 'variants', variants });
  for (let second = 1; second <= 50; second++) {
    const { events } = harness.tell(second, locationAt(second, 8, 50, { provider_id: 'tag', accuracy: 1 }));
    assert.equal(events.length, 0);
  }
});

test('With many different filters everything is rendered, and the shards are notified once', () => {
  const reported: (readonly Variant[])[] = [];
  const fanout = new Fanout({ variantsChanged: (variants) => reported.push(variants) });
  for (let i = 0; i < 1000; i++) {
    const filter = compileFilter('location_updates', { provider_id: `tag ${i}` });
    fanout.subscribe(new Listener(), { topic: 'location_updates', view: { crs: 'EPSG:4326' }, filter });
  }
  assert.equal(reported.length, 65);
  assert.equal(reported[63]?.[0]?.wanted?.keys[0]?.values.length, 64);
  assert.equal(reported[64]?.[0]?.wanted, undefined);
});
