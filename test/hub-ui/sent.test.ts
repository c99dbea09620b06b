import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentOf } from '../../src/hub-ui/operations/metrics.ts';
import type { SocketHealth } from '../../src/model/health.ts';

/** Topic counters of hubs: subscriptions, and delivered events. */
function healthOf(hubs: Readonly<Record<string, readonly [subscriptions: number, delivered: number]>>) {
  return {
    hubs: Object.entries(hubs).map(([hub, [subscriptions, delivered]]) => {
      const topics = [{ topic: 'fence_events', subscriptions, delivered }] as const;
      return { hub, number_of_clients: 0, waiting_bytes: 0, topics };
    }),
  } as unknown as SocketHealth;
}

for (const [what, before, now, expected] of [
  ['an unknown previous state', undefined, { a: [1, 10], b: [2, 20] }, [3, null, 30]],
  ['both have answered before', { a: [1, 4], b: [1, 16] }, { a: [1, 10], b: [2, 20] }, [3, 5, 30]],
  ['one is new', { a: [1, 4] }, { a: [1, 10], b: [2, 20] }, [3, 3, 30]],
  ['one was restarted', { a: [1, 4], b: [1, 50] }, { a: [1, 10], b: [2, 20] }, [3, 3, 30]],
  ['one is gone', { a: [1, 4], b: [1, 50] }, { a: [1, 10] }, [1, 3, 10]],
  ['nothing was sent', { a: [0, 4] }, { a: [0, 4] }, [0, 0, 4]],
] as const) {
  test(`sentOf sums the sent events of hubs, for ${what}`, () => {
    const earlier = before && { value: healthOf(before), atMs: 1_000 };
    const [sent] = sentOf({ value: healthOf(now), atMs: 3_000, before: earlier });
    assert.deepEqual([sent?.subscriptions, sent?.perSecond, sent?.total], expected);
  });
}

test('sentOf is empty for a single hub', () => {
  assert.deepEqual(sentOf({ value: {} as SocketHealth, atMs: 1, before: undefined }), []);
});
