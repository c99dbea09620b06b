import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventCounter, MARKS, type Marks } from '../../bench/listen/counter.ts';
import { openTestHub } from '../support/running_hub.ts';
import type { Recorder } from '../support/socket_client.ts';

const NOW_US = 1_800_000_000_500_000;

function frameOf(...payload: readonly object[]): Buffer {
  return Buffer.from(JSON.stringify({ event: 'message', topic: 'location_updates', subscription_id: 1, payload }));
}

function counter(): EventCounter {
  return new EventCounter(MARKS['location_updates'] as Marks, () => NOW_US);
}

test('EventCounter counts events, and measures the age of the first of a frame to the microsecond', () => {
  const counted = counter();
  const location = { provider_type: 'uwb', timestamp_generated: '2027-01-15T08:00:00.498765Z' };
  counted.frame(frameOf(location, { ...location, timestamp_generated: '2027-01-15T08:00:00.100000Z' }));
  counted.frame(Buffer.from('{"event":"subscribed"}'));
  assert.deepEqual([counted.objects, counted.frames], [2, 1]);
  const { count, p50 } = counted.latencies.percentiles();
  assert.equal(count, 1);
  assert.ok(Math.abs(p50 - 1.235) < 0.01, `${p50} ms`);
});

test('EventCounter uses the time of the first event, even if a later one has a better time', () => {
  const counted = new EventCounter(MARKS['fence_events'] as Marks, () => NOW_US);
  const entry = { id: 'a', fence_id: 'f', entry_time: '2027-01-15T08:00:00.400Z' };
  counted.frame(frameOf(entry, { ...entry, exit_time: '2027-01-15T08:00:00.490Z' }));
  assert.ok(Math.abs(counted.latencies.percentiles().p50 - 100) < 1);
});

test('EventCounter measures exits by themselves as well', () => {
  const counted = new EventCounter(MARKS['fence_events'] as Marks, () => NOW_US, { agesOfAll: true });
  const entry = { id: 'a', fence_id: 'f', entry_time: '2027-01-15T08:00:00.400Z' };
  counted.frame(frameOf(entry, { ...entry, exit_time: '2027-01-15T08:00:00.490Z' }));
  assert.equal(counted.latencies.percentiles().count, 2);
  const { count, p50 } = counted.latenciesApart.percentiles();
  assert.equal(count, 1);
  assert.ok(Math.abs(p50 - 10) < 0.1, `${p50} ms`);
});

test('EventCounter parses times with a fraction of any length', () => {
  for (const [fraction, ms] of [
    ['.4985', 1.5],
    ['.4', 100],
    ['', 500],
  ] as const) {
    const counted = counter();
    counted.frame(frameOf({ provider_type: 'uwb', timestamp_generated: `2027-01-15T08:00:00${fraction}Z` }));
    assert.ok(Math.abs(counted.latencies.percentiles().p50 - ms) < ms / 100, fraction);
  }
});

test('EventCounter fails if a mark is not in each event exactly once', () => {
  assert.throws(() => counter().frame(frameOf({ provider_type: 'uwb' }, {})), /marks 1 of the 2 events/);
});

test('The marks match the events of the hub', async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  for (const provider of ['first', 'second']) {
    await hub.post('/trackables', { type: 'omlox', name: provider, location_providers: [provider], radius: 1 });
  }
  await hub.post('/fences', { region: { type: 'Point', coordinates: [9, 50] }, radius: 5 });
  const client = await hub.socket();
  const recorders: Recorder[] = [];
  for (const topic of Object.keys(MARKS)) recorders.push(await client.subscribe(topic));
  for (const [provider, longitude] of [
    ['first', 9],
    ['second', 9],
    ['first', 9.1],
  ]) {
    const position = { type: 'Point', coordinates: [longitude, 50] };
    const location = { provider_type: 'uwb', crs: 'EPSG:4326', position };
    assert.equal((await hub.put(`/providers/${provider}/location`, location)).status, 204);
  }
  await Promise.all(recorders.map((recorder) => recorder.next()));
  for (const [topic, marks] of Object.entries(MARKS)) {
    const counted = new EventCounter(marks, () => Date.now() * 1000);
    const frames = client.frames.filter((frame) => frame.event === 'message' && frame.topic === topic);
    for (const frame of frames) counted.frame(Buffer.from(JSON.stringify(frame)));
    assert.ok(counted.objects >= 1, `${topic}: ${counted.objects} events`);
    assert.equal(counted.latencies.percentiles().count, frames.length, topic);
  }
});
