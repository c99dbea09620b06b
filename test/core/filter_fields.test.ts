import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type FilterFields, TOPICS, type Topic } from '../../src/model/topics.ts';
import { square } from '../support/hall.ts';
import { deleted, fence, inHall, ShardHarness, trackable, VARIANTS, zone } from '../support/shard_harness.ts';

/** Fields of all events of a topic so far, by name. */
function fieldsOf(harness: ShardHarness, topic: Topic): Record<string, FilterFields[number]>[] {
  const variant = VARIANTS.find((candidate) => candidate.topic === topic)?.id;
  return harness.events
    .filter((event) => event.variant === variant)
    .map(({ fields }) => Object.fromEntries(TOPICS[topic].map((name, i) => [name, fields[i]])));
}

/** Removes the positions of fields, which must be in the hall. */
function withoutPosition({ lon, lat, ...rest }: Record<string, FilterFields[number]>): object {
  const [x, y] = [Number(lon), Number(lat)];
  assert.ok(Math.abs(x - 9) < 0.01 && Math.abs(y - 50) < 0.01, `${x}, ${y}`);
  return rest;
}

async function open(): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square({ id: 'dock', foreign_id: 'gate' })));
  harness.tell(0, trackable('cart', ['tag', 'other'], { name: 'Cart' }));
  return harness;
}

describe('filter fields of', () => {
  test('location_updates are those of the location, with its effective floor', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, [5, 5], { associated: false, accuracy: 0.5, provider_type: 'uwb' }));
    harness.tell(2, inHall(2, [5, 5], { source: 'hall', floor: 3 }));
    assert.deepEqual(fieldsOf(harness, 'location_updates').map(withoutPosition), [
      {
        provider_id: 'tag',
        source: '6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b11',
        provider_type: 'uwb',
        associated: false,
        accuracy: 0.5,
        floor: 0,
      },
      {
        provider_id: 'tag',
        source: 'hall',
        provider_type: 'uwb',
        associated: undefined,
        accuracy: undefined,
        floor: 3,
      },
    ]);
  });

  test('trackable_motions are those of the trackable and of its location', async () => {
    const harness = await open();
    harness.tell(0, trackable('box', ['tag']));
    harness.tell(1, inHall(1, [5, 5], { accuracy: 2, floor: -1 }));
    assert.deepEqual(fieldsOf(harness, 'trackable_motions').map(withoutPosition), [
      { id: 'box', provider_id: 'tag', name: undefined, accuracy: 2, floor: -1 },
      { id: 'cart', provider_id: 'tag', name: 'Cart', accuracy: 2, floor: -1 },
    ]);
  });

  test('fence_events name the provider that caused the event, even if the event does not', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, [5, 5]));
    harness.tell(2, inHall(2, [50, 5], { provider_id: 'other' }));
    assert.ok(
      harness.observed.fenceEvents.every(({ trackable_id: id, provider_id: of }) => (id === null) !== (of === null)),
    );
    const common = { fence_id: 'dock', foreign_id: 'gate' };
    assert.deepEqual(fieldsOf(harness, 'fence_events'), [
      {
        ...common,
        provider_id: 'tag',
        trackable_id: undefined,
        event_type: 'region_entry',
        object_type: 'location_provider',
      },
      { ...common, provider_id: 'tag', trackable_id: 'cart', event_type: 'region_entry', object_type: 'trackable' },
      { ...common, provider_id: 'other', trackable_id: 'cart', event_type: 'region_exit', object_type: 'trackable' },
    ]);
  });

  test('fence_events of timers and deletions name the last provider of the trackable', async () => {
    const harness = await open();
    harness.tell(0, fence(square({ id: 'dock', timeout: 1000 })));
    harness.tell(1, inHall(1, [5, 5]));
    harness.step(5);
    harness.tell(6, inHall(6, [5, 5]), deleted('trackable', 'cart'));
    const exits = fieldsOf(harness, 'fence_events').filter(({ event_type: type }) => type === 'region_exit');
    assert.deepEqual(
      exits.map(({ provider_id: of, trackable_id: id, foreign_id: foreign }) => [of, id, foreign]),
      [
        ['tag', undefined, undefined],
        ['tag', 'cart', undefined],
        ['tag', 'cart', undefined],
      ],
    );
  });
});
