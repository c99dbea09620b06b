import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { OutgoingMessage } from '../../src/mqtt/messages.ts';
import { PublishQueue } from '../../src/mqtt/publish_queue.ts';

const message = (topic: string, text: string, more: Partial<OutgoingMessage> = {}): OutgoingMessage => {
  const plain = {
    qos: 0,
    isRetained: false,
    minIntervalMs: 0,
    motionAs: undefined,
    lifeMs: 0,
    sentAs: undefined,
  } as const;
  return { topic, payload: Buffer.from(text), ...plain, ...more };
};
const EVENT = { qos: 1 } as const;

function taken(queue: PublishQueue): string[] {
  const texts: string[] = [];
  for (;;) {
    const next = queue.takeNewest();
    if (next === undefined) return texts;
    texts.push(`${next.topic} ${Buffer.from(next.payload).toString()}`);
  }
}

function takenEvents(queue: PublishQueue): OutgoingMessage[] {
  const events: OutgoingMessage[] = [];
  for (let next = queue.takeEvent(0); next !== undefined; next = queue.takeEvent(0)) events.push(next);
  return events;
}

const textsOf = (events: readonly OutgoingMessage[]): string[] =>
  events.map(({ payload }) => Buffer.from(payload).toString());

describe('PublishQueue', () => {
  test('retains the newest message of QoS 0 per topic, at the position of the first, and counts replaced ones', () => {
    const queue = new PublishQueue(1e6);
    for (const [topic, text] of [
      ['a', '1'],
      ['b', '1'],
      ['a', '2'],
    ] as const)
      queue.offer(message(topic, text), 0);
    assert.equal(queue.replaced, 1);
    assert.deepEqual(taken(queue), ['a 2', 'b 1']);
    assert.equal(queue.bytes, 0);
  });

  test('retains all messages of QoS 1 in order, also those of a closed connection', () => {
    const queue = new PublishQueue(1e6);
    for (const text of ['1', '2', '3']) queue.offer(message('a', text, EVENT), 0);
    const [first, second] = [queue.takeEvent(0), queue.takeEvent(0)] as [OutgoingMessage, OutgoingMessage];
    queue.ended(first);
    queue.disconnected([second]);
    const events = takenEvents(queue);
    assert.deepEqual(textsOf(events), ['2', '3']);
    for (const event of events) queue.ended(event);
    assert.equal(queue.bytes, 0);
  });

  test('drops expired messages, and messages of a closed connection', () => {
    const queue = new PublishQueue(1e6);
    const offer = (text: string, lifeMs: number): void => queue.offer(message('a', text, { ...EVENT, lifeMs }), 1000);
    for (const [text, lifeMs] of [
      ['1', 10],
      ['2', 100],
      ['3', 0],
      ['4', 100],
      ['5', 0],
    ] as const)
      offer(text, lifeMs);
    const underWay = [queue.takeEvent(1010), queue.takeEvent(1010)] as [OutgoingMessage, OutgoingMessage];
    assert.deepEqual(
      underWay.map(({ payload, lifeMs }) => [Buffer.from(payload).toString(), lifeMs]),
      [
        ['2', 90],
        ['3', 0],
      ],
    );
    queue.disconnected(underWay);
    const events = takenEvents(queue);
    assert.deepEqual(textsOf(events), ['3', '5']);
    for (const event of events) queue.ended(event);
    assert.deepEqual([queue.dropped, queue.bytes], [3, 0]);
  });

  test('passes one message of a topic per interval, then the newest', () => {
    const queue = new PublishQueue(1e6);
    const every = { minIntervalMs: 1000 };
    for (const [ms, text] of [
      [0, '1'],
      [100, '2'],
      [900, '3'],
    ] as const) {
      queue.due(ms);
      queue.offer(message('a', text, every), ms);
    }
    assert.deepEqual(taken(queue), ['a 1']);
    queue.due(999);
    assert.deepEqual(taken(queue), []);
    queue.due(1000);
    assert.deepEqual(taken(queue), ['a 3']);
    queue.offer(message('a', '4', every), 1500);
    queue.due(1999);
    assert.deepEqual(taken(queue), []);
    queue.due(2000);
    assert.deepEqual(taken(queue), ['a 4']);
    queue.due(3000);
    queue.offer(message('a', '5', every), 3000);
    assert.deepEqual(taken(queue), ['a 5']);
  });

  test('drops delayed messages when an urgent one arrives', () => {
    const queue = new PublishQueue(1e6);
    const place = { ...EVENT, minIntervalMs: 1000, isRetained: true };
    queue.offer(message('a', '1', place), 0);
    queue.offer(message('a', '2', place), 1);
    queue.offer(message('a', '', { ...EVENT, isRetained: true }), 2);
    queue.due(5000);
    assert.deepEqual(textsOf(takenEvents(queue)), ['1', '']);
  });

  test('drops the oldest of QoS 0, then of QoS 1, and counts them', () => {
    const queue = new PublishQueue(350);
    queue.offer(message('e', '1', EVENT), 0);
    queue.offer(message('a', '1'), 0);
    queue.offer(message('b', '1'), 0);
    assert.equal(queue.dropped, 0);
    queue.offer(message('e', '2', EVENT), 0);
    assert.equal(queue.dropped, 1);
    for (const text of ['3', '4']) queue.offer(message('e', text, EVENT), 0);
    assert.deepEqual(taken(queue), []);
    assert.deepEqual(textsOf(takenEvents(queue)), ['2', '3', '4']);
    assert.equal(queue.dropped, 3);
  });

  test('drops the oldest delayed messages, too', () => {
    const queue = new PublishQueue(350);
    const every = { minIntervalMs: 1000 };
    const topics = ['a', 'b', 'c', 'd'];
    for (const topic of topics) {
      queue.offer(message(topic, '1', every), 0);
      taken(queue);
    }
    for (const topic of topics) queue.offer(message(topic, '2', every), 1);
    assert.ok(queue.bytes <= 350);
    assert.equal(queue.dropped, 1);
    queue.due(1000);
    assert.deepEqual(taken(queue), ['b 2', 'c 2', 'd 2']);
  });

  test('accounts for every message, and never holds more than its bound', () => {
    const offers = fc.array(
      fc.record({
        topic: fc.constantFrom('a', 'b', 'c'),
        qos: fc.constantFrom<0 | 1>(0, 1),
        minIntervalMs: fc.constantFrom(0, 0, 10, 20),
        lifeMs: fc.constantFrom(0, 0, 5, 30),
        size: fc.integer({ min: 0, max: 200 }),
        afterMs: fc.integer({ min: 0, max: 15 }),
        takes: fc.integer({ min: 0, max: 2 }),
      }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(offers, (all) => {
        const queue = new PublishQueue(700);
        let [nowMs, out] = [0, 0];
        for (const { topic, qos, minIntervalMs, lifeMs, size, afterMs, takes } of all) {
          nowMs += afterMs;
          queue.due(nowMs);
          // Each topic retains its kind, as in the hub.
          const kind = { qos, minIntervalMs, lifeMs };
          queue.offer(message(`${topic}${qos}${minIntervalMs}`, 'x'.repeat(size), kind), nowMs);
          assert.ok(queue.bytes <= 700);
          for (let n = 0; n < takes; n++) {
            if (queue.takeNewest() !== undefined) out++;
            const event = queue.takeEvent(nowMs);
            if (event === undefined) continue;
            queue.ended(event);
            out++;
          }
        }
        assert.equal(out + queue.waiting + queue.dropped + queue.replaced, all.length);
        queue.due(Number.POSITIVE_INFINITY);
        for (const event of takenEvents(queue)) queue.ended(event);
        taken(queue);
        assert.deepEqual([queue.waiting, queue.bytes], [0, 0]);
      }),
    );
  });
});
