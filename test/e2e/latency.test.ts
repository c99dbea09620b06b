import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { openTestHub } from '../support/running_hub.ts';
import { createScene, FENCE, inHall } from '../support/scene.ts';

const ENTRIES = 50;
const MEDIAN_MAX_MS = 20;
const ROUNDS_MAX = 5;

test('a subscriber in another process reads an entry within 20 ms of the PUT', async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  await createScene(hub);
  const url = `ws://127.0.0.1:${hub.hub.port}/hub/v2/ws/socket`;
  const params = { fence_id: FENCE.id, event_type: 'region_entry', object_type: 'location_provider' };
  const subscriber = fork(new URL('latency_subscriber.ts', import.meta.url), [url, JSON.stringify(params)]);
  t.after(() => subscriber.kill());
  const started = await once(subscriber, 'message');
  assert.equal(started[0], 'subscribed');

  const put = async (x: number) => {
    const { status } = await hub.put('/providers/runner/location', inHall('runner', x, 5));
    assert.equal(status, 204);
  };
  const round = async (): Promise<number[]> => {
    const latenciesMs: number[] = [];
    for (let entry = 0; entry < ENTRIES; entry++) {
      await put(50);
      const read = once(subscriber, 'message');
      const sentNs = process.hrtime.bigint();
      await put(5);
      const [{ readNs }] = await read;
      latenciesMs.push(Number(BigInt(readNs) - sentNs) / 1e6);
    }
    return latenciesMs.sort((a, b) => a - b);
  };

  // Other work on the machine can only slow a round down, so the best round counts.
  let best = Number.POSITIVE_INFINITY;
  for (let rounds = 0; rounds < ROUNDS_MAX && best >= MEDIAN_MAX_MS; rounds++) {
    const latenciesMs = await round();
    const at = (share: number) => latenciesMs[Math.floor(share * (ENTRIES - 1))] as number;
    best = Math.min(best, at(0.5));
    const text = [0, 0.5, 0.9, 1].map((share) => at(share).toFixed(2)).join(', ');
    t.diagnostic(`From PUT to the subscriber: minimum, median, 90th percentile, maximum: ${text} ms`);
  }
  assert.ok(best < MEDIAN_MAX_MS, `the median is ${best} ms`);
});
