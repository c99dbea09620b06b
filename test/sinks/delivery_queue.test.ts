import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Batch,
  DeliveryQueue,
  type Outcome,
  type QueuedEvent,
  type QueueLimits,
  RETRY_DELAYS_MS,
} from '../../src/sinks/delivery_queue.ts';
import { randomFrom } from '../../bench/load/random.ts';

const LIMITS: QueueLimits = {
  batchMax: 1,
  batchBytes: 1 << 20,
  concurrency: 2,
  gatherMs: 0,
  isolates: true,
  eventsMax: 100,
  bytesMax: 1 << 20,
  overflow: 'newest_per_object',
};
const DELIVERED: Outcome = { what: 'delivered' };
const FAILED: Outcome = { what: 'failed', why: 'it answered 500' };

function logged(n: number, key: string): QueuedEvent {
  return { id: `e${n}`, topic: 'fence_events', key, timeMs: n, json: `{"n":${n}}`, cursor: `c${n}` };
}

function live(n: number, key: string): QueuedEvent {
  return { id: `l${n}`, topic: 'location_updates', key, timeMs: n, json: '{}' };
}

/** A queue with events of these keys, numbered from 1. */
function queueOf(keys: readonly string[], limits: Partial<QueueLimits> = {}): DeliveryQueue {
  const queue = new DeliveryQueue({ ...LIMITS, ...limits }, 'c0');
  queue.addLogged(
    keys.map((key, i) => logged(i + 1, key)),
    { next: `c${keys.length}`, nowMs: 0 },
  );
  return queue;
}

const idsOf = (send: readonly Batch[]): readonly string[] =>
  send.map(({ events }) => events.map(({ id }) => id).join());
const at = (nowMs: number) => ({ nowMs, jitter: 0 });

test('Events of one key are sent one after the other, those of other keys at the same time', () => {
  const queue = queueOf(['a', 'a', 'b', 'c']);
  assert.deepEqual(idsOf(queue.step(0).send), ['e1', 'e3']);
  queue.settle(2, DELIVERED, at(1));
  assert.deepEqual(idsOf(queue.step(1).send), ['e4']);
  queue.settle(1, DELIVERED, at(2));
  assert.deepEqual(idsOf(queue.step(2).send), ['e2']);
});

test('The cursor stays before the oldest event that is not delivered', () => {
  const queue = queueOf(['a', 'b', 'c'], { concurrency: 3 });
  assert.equal(queue.cursor, 'c0');
  assert.equal(queue.step(0).send.length, 3);
  queue.settle(2, DELIVERED, at(1));
  assert.equal(queue.cursor, 'c0');
  queue.settle(1, DELIVERED, at(1));
  assert.equal(queue.cursor, 'c2');
  queue.settle(3, DELIVERED, at(1));
  assert.equal(queue.cursor, 'c3');
});

test('A dead sink is tried at the times of Standard Webhooks, with one probe each, and then disabled', () => {
  const queue = queueOf(['a']);
  const times: number[] = [];
  let nowMs = 0;
  while (queue.phase !== 'disabled') {
    const { send, wakeAtMs } = queue.step(nowMs);
    if (send.length === 0) {
      nowMs = wakeAtMs;
      continue;
    }
    times.push(nowMs);
    assert.equal(send.length, 1);
    queue.settle((send[0] as Batch).number, FAILED, at(nowMs));
  }
  const waits = times.map((time, i) => time - (times[i - 1] ?? 0));
  assert.deepEqual(waits, RETRY_DELAYS_MS);
  assert.match(queue.failure?.why ?? '', /event e1 failed 10 times: it answered 500|it answered 500/);
  assert.equal(queue.cursor, 'c0');
  assert.deepEqual(queue.step(nowMs + 1e9), { send: [], wakeAtMs: Infinity });
  queue.resume();
  assert.deepEqual(idsOf(queue.step(nowMs).send), ['e1']);
});

test('With a schedule whose last delay repeats, a dead sink is tried indefinitely, and the newest events are sent', () => {
  const retries = { delaysMs: [0, 100, 200], repeatsLast: true };
  const queue = queueOf([], { retries, batchMax: 10, overflow: 'newest_per_object' });
  const sentAt: number[] = [];
  for (let nowMs = 0, n = 1; nowMs < 2000; nowMs += 50, n++) {
    queue.addLive(live(n, 'a'), nowMs);
    for (const { number, events } of queue.step(nowMs).send) {
      sentAt.push(nowMs);
      assert.deepEqual(
        events.map(({ id }) => id),
        [`l${n}`],
      );
      queue.settle(number, FAILED, at(nowMs));
    }
  }
  assert.deepEqual(sentAt.slice(0, 4), [0, 100, 300, 500]);
  assert.equal(queue.phase, 'failing');
  const { added, dropped } = queue.counts;
  assert.equal(added, dropped + queue.waiting);
});

test('Jitter extends a delay by up to a fifth, and Retry-After extends it further', () => {
  for (const [jitter, retryAfterMs, wakeAtMs] of [
    [0, undefined, 5_000],
    [1, undefined, 6_000],
    [0, 1_000, 5_000],
    [0, 90_000, 90_000],
    [0, 1e12, 86_400_000],
  ] as const) {
    const queue = queueOf(['a']);
    queue.step(0);
    queue.settle(1, { what: 'failed', why: '429', ...(retryAfterMs && { retryAfterMs }) }, { nowMs: 0, jitter });
    assert.equal(queue.step(0).wakeAtMs, wakeAtMs);
  }
});

test('An event that always fails delays only its own key', () => {
  const queue = queueOf(['bad', 'bad', ...Array.from({ length: 50 }, (_, i) => `k${i}`)]);
  const received: string[] = [];
  let nowMs = 0;
  for (let i = 0; i < 400 && received.length < 50; i++) {
    const { send, wakeAtMs } = queue.step(nowMs);
    for (const { number, events } of send) {
      const isBad = events[0]?.key === 'bad';
      if (!isBad) received.push(String(events[0]?.key));
      queue.settle(number, isBad ? FAILED : DELIVERED, at(nowMs));
    }
    if (send.length === 0) nowMs = wakeAtMs;
  }
  assert.equal(received.length, 50);
  assert.ok(nowMs <= 10_000, `it took ${nowMs} ms`);
  assert.deepEqual([queue.waiting, queue.cursor], [2, 'c0']);
});

test('Failures of batches in flight at the same time advance the schedule once', () => {
  const queue = queueOf(['a', 'b'], { concurrency: 2 });
  queue.step(0);
  queue.settle(1, FAILED, at(0));
  queue.settle(2, FAILED, at(0));
  assert.equal(queue.step(0).wakeAtMs, 5_000);
  const { send } = queue.step(5_000);
  assert.equal(send.length, 1);
  queue.settle(3, DELIVERED, at(5_000));
  assert.deepEqual([queue.phase, queue.step(5_000).send.length], ['active', 1]);
});

test('410 disables a sink, and an event that is too large is rejected alone', () => {
  const gone = queueOf(['a', 'b']);
  gone.step(0);
  gone.settle(1, { what: 'gone', why: '410' }, at(0));
  assert.deepEqual([gone.phase, gone.failure?.why, gone.step(1).send], ['disabled', '410', []]);

  const large = queueOf(['a', 'b', 'c'], { batchMax: 10, concurrency: 1 });
  assert.deepEqual(idsOf(large.step(0).send), ['e1,e2,e3']);
  large.settle(1, { what: 'rejected', why: '413' }, at(0));
  const sent: string[] = [];
  for (let number = 2; number < 5; number++) {
    sent.push(...idsOf(large.step(0).send));
    large.settle(number, number === 3 ? { what: 'rejected', why: '413' } : DELIVERED, at(0));
  }
  assert.deepEqual(sent, ['e1', 'e2', 'e3']);
  assert.deepEqual([large.counts.delivered, large.counts.rejected, large.cursor], [2, 1, 'c3']);
});

test('Batches are full, or wait for gatherMs, and never exceed their bytes', () => {
  const gathering = queueOf(['a', 'a', 'b'], { batchMax: 10, gatherMs: 60_000 });
  assert.deepEqual(gathering.step(0), { send: [], wakeAtMs: 60_000 });
  assert.deepEqual(idsOf(gathering.step(60_000).send), ['e1,e2,e3']);
  const small = queueOf(['a', 'b', 'c'], { batchMax: 10, batchBytes: 500, concurrency: 5 });
  assert.deepEqual(idsOf(small.step(0).send), ['e1,e2', 'e3']);
});

test('Of live events the newest per object stays, or the oldest is dropped; drops are counted', () => {
  const newest = new DeliveryQueue({ ...LIMITS, concurrency: 1 }, undefined);
  for (let n = 0; n < 5000; n++) newest.addLive(live(n, `k${n % 3}`), n);
  assert.deepEqual([newest.waiting, newest.counts.dropped], [3, 4997]);
  assert.deepEqual(idsOf(newest.step(0).send), ['l4997']);
  const oldest = new DeliveryQueue({ ...LIMITS, overflow: 'drop_oldest' }, undefined);
  for (let n = 0; n < 5000; n++) oldest.addLive(live(n, 'k'), n);
  assert.deepEqual([oldest.waiting, oldest.counts.dropped], [100, 4900]);
  assert.deepEqual(idsOf(oldest.step(0).send), ['l4900']);
});

test('Logged and live events do not starve each other', () => {
  const queue = queueOf(
    Array.from({ length: 10 }, (_, i) => `k${i}`),
    { concurrency: 1 },
  );
  for (let n = 0; n < 10; n++) queue.addLive(live(n, `k${n}`), 0);
  const kinds: string[] = [];
  for (let number = 1; number <= 6; number++) {
    kinds.push(...idsOf(queue.step(0).send).map((id) => id.charAt(0)));
    queue.settle(number, DELIVERED, at(0));
  }
  assert.equal(kinds.toSorted().join(''), 'eeelll');
});

test('A replay discards what waits, and waits for batches in flight of the same key', () => {
  const queue = queueOf(['a', 'a'], { concurrency: 5 });
  queue.step(0);
  queue.replay('c0');
  queue.addLogged([logged(1, 'a'), logged(2, 'a')], { next: 'c2', nowMs: 1 });
  assert.deepEqual([queue.step(1).send, queue.cursor], [[], 'c0']);
  queue.settle(1, DELIVERED, at(2));
  assert.deepEqual(idsOf(queue.step(2).send), ['e1']);
  assert.equal(queue.counts.replayed, 2);
});

test('With random keys, failures, restarts and pauses nothing is lost, skipped or out of order', () => {
  for (let seed = 1; seed <= 150; seed++) play(seed);
});

/** Plays one random history, and checks the promises at each step. */
function play(seed: number): void {
  const random = randomFrom(seed);
  const many = 20 + Math.floor(random() * 150);
  const log = Array.from({ length: many }, (_, i) => logged(i + 1, `k${Math.floor(random() * 8)}`));
  const limits: QueueLimits = {
    ...LIMITS,
    batchMax: random() < 0.5 ? 1 : 7,
    concurrency: 1 + Math.floor(random() * 4),
    eventsMax: 20,
    isolates: random() < 0.7,
  };
  let queue = new DeliveryQueue(limits, 'c0');
  let nowMs = 0;
  const failing = random() * 0.4;
  const delivered = new Set<string>();
  const inFlight: Batch[] = [];
  for (let round = 0; delivered.size < many; round++) {
    assert.ok(round < 100_000, `seed ${seed}: the delivery does not end`);
    if (queue.hasRoom) {
      const from = Number((queue.readCursor ?? 'c0').slice(1));
      const page = log.slice(from, from + 5);
      queue.addLogged(page, { next: `c${from + page.length}`, nowMs });
    }
    const { send, wakeAtMs } = queue.step(nowMs);
    inFlight.push(...send);
    for (const { events } of send) for (const event of events) checkOrder(event);
    if (inFlight.length > 0 && random() < 0.8) {
      const [batch] = inFlight.splice(Math.floor(random() * inFlight.length), 1);
      const isDelivered = random() >= failing;
      // A failed batch may have been received, too.
      if (isDelivered || random() < 0.2) for (const { id } of batch?.events ?? []) delivered.add(id);
      queue.settle(batch?.number ?? 0, isDelivered ? DELIVERED : FAILED, { nowMs, jitter: random() });
    } else if (send.length === 0 && inFlight.length === 0) nowMs = wakeAtMs === Infinity ? nowMs + 1000 : wakeAtMs;
    nowMs += Math.floor(random() * 100);
    const { added, ...rest } = queue.counts;
    const { delivered: done, rejected, dropped, replayed } = rest;
    assert.equal(
      added,
      done + rejected + dropped + replayed + queue.waiting,
      `seed ${seed}: the counts do not balance`,
    );
    assert.ok(queue.waiting <= limits.eventsMax + 5, `seed ${seed}: ${queue.waiting} events wait`);
    checkCursor();
    if (random() < 0.01) {
      queue = new DeliveryQueue(limits, queue.cursor);
      inFlight.length = 0;
    }
    if (queue.phase === 'disabled' || random() < 0.01) queue.resume();
    if (random() < 0.01) {
      queue.pause();
      assert.deepEqual(queue.step(nowMs).send, []);
      queue.resume();
    }
  }

  function checkOrder(event: QueuedEvent): void {
    const earlier = log.slice(0, Number(event.id.slice(1)) - 1).filter(({ key }) => key === event.key);
    const batch = inFlight.find(({ events }) => events.includes(event))?.events ?? [];
    for (const each of earlier) {
      assert.ok(delivered.has(each.id) || batch.includes(each), `seed ${seed}: ${event.id} was sent before ${each.id}`);
    }
  }

  function checkCursor(): void {
    const reached = Number((queue.cursor ?? 'c0').slice(1));
    for (const { id } of log.slice(0, reached)) {
      assert.ok(delivered.has(id), `seed ${seed}: the cursor skips ${id}`);
    }
  }
}
