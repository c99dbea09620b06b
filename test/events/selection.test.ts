import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventTopic, selectionOf } from '../../src/events/selection.ts';
import { EVENT_TOPICS } from '../../src/model/logged_event.ts';

test('without topics all topics of the log are selected, otherwise those alone', () => {
  assert.deepEqual([...selectionOf({ topics: [], filters: {} }).keys()], [...EVENT_TOPICS]);
  assert.deepEqual([...selectionOf({ topics: ['fence_events'], filters: {} }).keys()], ['fence_events']);
});

test('a filter applies to the topics that have it', () => {
  const selected = selectionOf({ topics: ['fence_events', 'zone_changes'], filters: { fence_id: 'dock' } });
  const passes = (topic: 'fence_events' | 'zone_changes', id: string) => selected.get(topic)?.filter?.([id]) ?? 'all';
  assert.deepEqual([passes('fence_events', 'dock'), passes('fence_events', 'gate')], [true, false]);
  assert.equal(passes('zone_changes', 'hall'), 'all');
});

for (const [filters, name] of [
  [{ event_type: 'arrival' }, 'event_type'],
  [{ floor: 'first' }, 'floor'],
] as const) {
  test(`the error of an invalid filter names ${name}`, () => {
    assert.throws(() => selectionOf({ topics: ['fence_events', 'collision_events'], filters }), {
      code: 'HUB_BAD_REQUEST',
      message: new RegExp(name),
    });
  });
}

test('a topic that is not in the log is rejected, and the error lists those that are', () => {
  assert.equal(eventTopic('fence_events', 'topic'), 'fence_events');
  for (const found of ['location_updates', 'fence_events:geojson', '', 7]) {
    assert.throws(() => eventTopic(found, 'topic'), { code: 'HUB_BAD_REQUEST', message: /fence_events/ });
  }
});

test('filters do not apply to unfiltered topics, even if they would be invalid there', () => {
  const filters = { event_type: 'region_entry' };
  const selected = selectionOf({ topics: ['fence_events'], filters, unfiltered: ['alert_changes'] });
  assert.deepEqual([...selected.keys()], ['fence_events', 'alert_changes']);
  assert.equal(selected.get('alert_changes')?.filter, undefined);
  assert.deepEqual([...selectionOf({ topics: [], filters, unfiltered: ['alert_changes'] }).keys()], ['alert_changes']);
});
