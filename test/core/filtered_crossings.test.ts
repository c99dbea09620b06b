import assert from 'node:assert/strict';
import { test } from 'node:test';
import { square } from '../support/hall.ts';
import { fence, inHall, provider, ShardHarness, T0, trackable, zone } from '../support/shard_harness.ts';

test('An outlier between two good locations crosses nothing, and the way between these does', async () => {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square({ id: 'dock', crossing: 'segment' })));
  harness.tell(0, provider('tag', { filter: { kind: 'cv', max_speed: 20 } }), trackable('cart', ['tag']));
  // 12 m/s along y = 5 m: the locations before and after the outlier are on both sides of the dock.
  for (const second of [1, 2, 3, 4]) harness.tell(second, inHall(second, [12 * second - 55, 5], { accuracy: 0.1 }));
  assert.deepEqual(harness.takeFenceEvents(), []);
  harness.tell(5, inHall(5, [5, 900], { accuracy: 0.1 }));
  assert.deepEqual(harness.takeFenceEvents(), []);
  harness.tell(6, inHall(6, [17, 5], { accuracy: 0.1 }));
  const events = harness.takeFenceEvents();
  assert.deepEqual(
    events.map(({ event_type: type, trackable_id: cart }) => `${type} ${cart ?? 'tag'}`),
    ['region_entry tag', 'region_exit tag', 'region_entry cart', 'region_exit cart'],
  );
  for (const { event_type: type, entry_time: entry, exit_time: exit, properties } of events) {
    assert.equal(properties?.['hub.crossed'], true);
    // From -7 m at second 4 to 17 m at second 6.
    const [seconds, expected] = type === 'region_entry' ? [entry, 4.58] : [exit, 5.42];
    assert.ok(Math.abs((Date.parse(seconds as string) - T0) / 1000 - expected) < 0.06, `${type} at ${seconds}`);
  }
});
