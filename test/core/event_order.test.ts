import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Fence } from '../../src/model/fence.ts';
import { TOPICS } from '../../src/model/topics.ts';
import { square } from '../support/hall.ts';
import {
  eventsOf,
  fence,
  inHall,
  provider,
  ShardHarness,
  trackable,
  VARIANTS,
  zone,
} from '../support/shard_harness.ts';
import { brief } from './brief.ts';

const HERE = [5, 5] as const;
const THERE = [50, 5] as const;

function at(x: number, id: string, more: Partial<Fence> = {}): Fence {
  const ring = [
    [x, 0],
    [x + 10, 0],
    [x + 10, 10],
    [x, 10],
    [x, 0],
  ];
  return square({ id, region: { type: 'Polygon', coordinates: [ring] }, ...more });
}

/** Fences b, a, c are here, and e, d there. */
async function open(more: Partial<Fence> = {}): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone());
  for (const id of ['b', 'a', 'c']) harness.tell(0, fence(at(0, id, more)));
  for (const id of ['e', 'd']) harness.tell(0, fence(at(45, id, more)));
  return harness;
}

describe('events of one location are published', () => {
  test('exits before entries, each in the order of fence ids', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, THERE));
    harness.takeFenceEvents();
    harness.tell(2, inHall(2, HERE));
    assert.deepEqual(brief(harness.takeFenceEvents()), [
      'exit d tag 1-2',
      'exit e tag 1-2',
      'entry a tag 2',
      'entry b tag 2',
      'entry c tag 2',
    ]);
  });

  test('with fence ids compared as plain strings', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone());
    for (const id of ['ä', 'b', 'B', '10', '9', 'a']) harness.tell(0, fence(at(0, id)));
    harness.tell(1, inHall(1, HERE));
    assert.deepEqual(
      harness.observed.fenceEvents.map(({ fence_id: id }) => id),
      ['10', '9', 'B', 'a', 'b', 'ä'],
    );
  });

  test('by topic: for the provider, then for each trackable', async () => {
    const harness = await open();
    harness.tell(0, trackable('y', ['tag']), trackable('x', ['tag']));
    const seen = eventsOf(harness.tell(1, inHall(1, THERE))).map(({ variant, text }) => {
      const event = JSON.parse(text);
      const { topic } = VARIANTS.find(({ id }) => id === variant) as (typeof VARIANTS)[number];
      return `${topic} ${event.trackable_id ?? event.provider_id ?? event.id}`;
    });
    assert.deepEqual(seen, [
      'location_updates tag',
      'trackable_motions x',
      'trackable_motions y',
      'fence_events tag',
      'fence_events tag',
      'fence_events x',
      'fence_events x',
      'fence_events y',
      'fence_events y',
    ]);
  });

  test('after those of deadlines that were due earlier', async () => {
    const harness = await open({ timeout: 3000 });
    harness.tell(1, inHall(1, HERE));
    harness.takeFenceEvents();
    harness.tell(10, inHall(10, THERE, { provider_id: 'other' }), inHall(10, HERE));
    assert.deepEqual(brief(harness.takeFenceEvents()).slice(0, 4), [
      'exit a tag 1-4',
      'exit b tag 1-4',
      'exit c tag 1-4',
      'entry d other 10',
    ]);
  });
});

describe('events of deadlines are published', () => {
  test('in the order of time, across all objects', async () => {
    const harness = await open({ timeout: 5000 });
    harness.tell(0, provider('late', { fence_timeout: 7000 }), provider('soon', { fence_timeout: 1000 }));
    for (const id of ['tag', 'late', 'soon']) harness.tell(1, inHall(1, THERE, { provider_id: id }));
    harness.takeFenceEvents();
    harness.step(100);
    assert.deepEqual(brief(harness.takeFenceEvents()), [
      'exit d soon 1-2',
      'exit e soon 1-2',
      'exit d tag 1-6',
      'exit e tag 1-6',
      'exit d late 1-8',
      'exit e late 1-8',
    ]);
  });

  test('at one time: providers before trackables, each in id order, regardless of how often the shard was woken', async () => {
    const seen: string[][] = [];
    for (const wakes of [[], [2], [1.5, 3, 4.25, 5.5], [2, 3, 4, 5, 5.9]]) {
      const harness = await open({ timeout: 5000 });
      harness.tell(0, trackable('x', ['tag-3']), trackable('a', ['tag-1']));
      for (const [i, id] of ['tag-2', 'tag-3', 'tag-1'].entries()) {
        harness.tell(0.1 * (i + 1), inHall(0, HERE, { provider_id: id }));
        harness.tell(1, inHall(1, HERE, { provider_id: id }));
      }
      harness.takeFenceEvents();
      for (const second of wakes) harness.step(second);
      harness.step(6);
      seen.push(brief(harness.takeFenceEvents()).map((line) => line.split(' ').slice(0, 3).join(' ')));
    }
    const expected = ['tag-1', 'tag-2', 'tag-3', 'a', 'x'].flatMap((id) =>
      ['a', 'b', 'c'].map((f) => `exit ${f} ${id}`),
    );
    for (const events of seen) assert.deepEqual(events, expected);
  });

  test('for one object at one time: exits before entries', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), fence(at(0, 'b', { timeout: 5000 })), fence(at(0, 'a', { entry_delay: 5000 })));
    harness.tell(1, inHall(1, HERE));
    harness.takeFenceEvents();
    harness.step(6);
    assert.deepEqual(brief(harness.takeFenceEvents()), ['exit b tag 1-6', 'entry a tag 1']);
  });
});

test('A location may cross any number of fences at once', async () => {
  const harness = await ShardHarness.open();
  const ids = Array.from({ length: 200 }, (_, i) => String(i).padStart(3, '0'));
  harness.tell(0, zone(), ...ids.toReversed().map((id) => fence(at(0, id))));
  harness.tell(1, inHall(1, HERE));
  harness.tell(2, inHall(2, HERE));
  harness.tell(3, inHall(3, THERE));
  const expected = [...ids.map((id) => `entry ${id} tag 1`), ...ids.map((id) => `exit ${id} tag 1-3`)];
  assert.deepEqual(brief(harness.takeFenceEvents()), expected);
});

test('An event has one value for each filter field of its topic', async () => {
  const harness = await open();
  harness.tell(0, trackable('x', ['tag']));
  const events = eventsOf(harness.tell(1, inHall(1, HERE)));
  assert.ok(events.length > 3);
  for (const { variant, fields } of events) {
    const { topic } = VARIANTS.find(({ id }) => id === variant) as (typeof VARIANTS)[number];
    assert.equal(fields.length, TOPICS[topic].length, topic);
  }
});
