import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Peer } from '../../src/exchange.ts';
import { DeliveryBatch, FRAME_MAX_BYTES } from '../../src/fanout/batch.ts';
import { SendQueue } from '../../src/fanout/send_queue.ts';
import { type Borrowed, look } from '../../src/model/borrowed.ts';

/** A network that accepts a set number of bytes. */
class SlowNetwork implements Peer {
  readonly path = '/v2/ws/socket';
  readonly userAgent = '';
  readonly authorization = undefined;
  readonly isKnown = true;
  readonly query = '';
  readonly frames: string[] = [];
  closedWith: readonly [number, string] | undefined;
  #buffered = 0;
  #takes: number;

  constructor(takes: number) {
    this.#takes = takes;
  }

  send(text: string | Borrowed): void {
    const bytes = typeof text === 'string' ? Buffer.from(text) : Buffer.from(look(text));
    this.frames.push(bytes.toString());
    this.#buffered += bytes.length;
    this.take(0);
  }

  take(bytes: number): void {
    this.#takes += bytes;
    const taken = Math.min(this.#takes, this.#buffered);
    this.#buffered -= taken;
    this.#takes -= taken;
  }

  bufferedBytes(): number {
    return this.#buffered;
  }

  close(code: number, reason: string): void {
    this.closedWith ??= [code, reason];
  }
}

function queueOn(peer: Peer, options: { queueMaxBytes?: number; networkMaxBytes?: number } = {}) {
  const overflows: number[] = [];
  const sendQueue = new SendQueue(peer, {
    queueMaxBytes: options.queueMaxBytes ?? 1e9,
    networkMaxBytes: options.networkMaxBytes ?? 1000,
    overflowed: (bytes) => overflows.push(bytes),
  });
  sendQueue.open(1, { topic: 'location_updates', echoId: true });
  sendQueue.open(2, { topic: 'fence_events', echoId: false });
  return { sendQueue, overflows };
}

const element = fc.oneof(
  fc.string({ maxLength: 40, unit: 'grapheme' }),
  fc.integer({ min: 0, max: 40_000 }).map((length) => 'ü'.repeat(length)),
  fc.integer({ min: 0, max: 9_000 }).map((length) => '🦊'.repeat(length)),
);

test('SendQueue sends every element once, in order, in frames of at most 32,768 bytes', () => {
  fc.assert(
    fc.property(fc.array(fc.array(element, { maxLength: 12 }), { maxLength: 6 }), fc.boolean(), (batches, isSlow) => {
      const peer = new SlowNetwork(isSlow ? 0 : Number.MAX_SAFE_INTEGER);
      const { sendQueue } = queueOn(peer);
      for (const texts of batches) sendQueue.deliver(1, DeliveryBatch.of(texts.map((text) => JSON.stringify(text))));
      peer.take(Number.MAX_SAFE_INTEGER / 2);
      sendQueue.drained();
      for (const frame of peer.frames) {
        const isSingle = JSON.parse(frame).payload.length === 1;
        assert.ok(isSingle || Buffer.byteLength(frame) <= FRAME_MAX_BYTES, `${Buffer.byteLength(frame)} bytes`);
      }
      assert.deepEqual(
        peer.frames.flatMap((frame) => JSON.parse(frame).payload),
        batches.flat(),
      );
      assert.equal(sendQueue.waitingBytes(), 0);
    }),
    { seed: 11, numRuns: 60 },
  );
});

test('SendQueue preserves the order of all frames of a connection under any backpressure', () => {
  const step = fc.oneof(
    fc.record({ deliver: fc.constantFrom(1, 2) }),
    fc.record({ take: fc.integer({ min: 1, max: 3000 }) }),
    fc.constant({ reply: true }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const peer = new SlowNetwork(0);
      const { sendQueue } = queueOn(peer, { networkMaxBytes: 300 });
      const expected: string[] = [];
      for (const [index, now] of steps.entries()) {
        if ('take' in now) {
          peer.take(now.take);
          sendQueue.drained();
        } else if ('reply' in now) {
          sendQueue.reply(JSON.stringify({ event: 'error', payload: [index] }));
          expected.push(`error ${index}`);
        } else {
          sendQueue.deliver(now.deliver, DeliveryBatch.of([String(index)]));
          expected.push(`${now.deliver === 1 ? 'location_updates' : 'fence_events'} ${index}`);
        }
      }
      peer.take(1e6);
      sendQueue.drained();
      const sent = peer.frames.flatMap((frame) => {
        const { event, topic, payload } = JSON.parse(frame);
        return payload.map((index: number) => `${topic ?? event} ${index}`);
      });
      assert.deepEqual(sent, expected);
    }),
    { seed: 5, numRuns: 200 },
  );
});

test('SendQueue writes the frame of a message', () => {
  const peer = new SlowNetwork(1e6);
  const { sendQueue } = queueOn(peer);
  sendQueue.deliver(1, DeliveryBatch.of(['{"a":1}', '{"a":2}']));
  sendQueue.deliver(2, DeliveryBatch.of(['{"b":1}']));
  sendQueue.deliver(3, DeliveryBatch.of(['{"c":1}']));
  assert.deepEqual(peer.frames, [
    '{"event":"message","topic":"location_updates","subscription_id":1,"payload":[{"a":1},{"a":2}]}',
    '{"event":"message","topic":"fence_events","payload":[{"b":1}]}',
  ]);
});

test('SendQueue joins waiting events of one subscription into one frame', () => {
  const peer = new SlowNetwork(0);
  const { sendQueue } = queueOn(peer, { networkMaxBytes: 1 });
  for (let i = 0; i < 5; i++) sendQueue.deliver(1, DeliveryBatch.of([String(i)]));
  peer.take(1e6);
  sendQueue.drained();
  assert.deepEqual(
    peer.frames.map((frame) => JSON.parse(frame).payload),
    [[0], [1, 2, 3, 4]],
  );
});

test('SendQueue closes with 1013 and frees queued frames beyond its bound', () => {
  const peer = new SlowNetwork(0);
  const { sendQueue, overflows } = queueOn(peer, { networkMaxBytes: 500, queueMaxBytes: 5000 });
  const event = JSON.stringify('x'.repeat(400));
  for (let i = 0; i < 100; i++) sendQueue.deliver(1, DeliveryBatch.of([event]));
  assert.equal(peer.closedWith?.[0], 1013);
  assert.match(peer.closedWith?.[1] ?? '', /^Too slow: \d+ bytes wait, 5000 may$/);
  assert.equal(overflows.length, 1);
  assert.equal(sendQueue.waitingBytes(), 0);
  const sent = peer.frames.length;
  peer.take(1e6);
  sendQueue.drained();
  sendQueue.reply('late');
  sendQueue.deliver(1, DeliveryBatch.of([event, event]));
  assert.equal(peer.frames.length, sent);
});

test('SendQueue sends a payload of any size to a peer without backpressure', () => {
  const peer = new SlowNetwork(Number.MAX_SAFE_INTEGER);
  const { sendQueue, overflows } = queueOn(peer, { queueMaxBytes: 1000 });
  sendQueue.deliver(1, DeliveryBatch.of(Array.from({ length: 5000 }, () => JSON.stringify('x'.repeat(100)))));
  assert.equal(overflows.length, 0);
  assert.ok(peer.frames.length > 10);
});

test('SendQueue closes with 1013 when an acknowledged subscription has missed an event', () => {
  const peer = new SlowNetwork(0);
  const { sendQueue, overflows } = queueOn(peer, { networkMaxBytes: 1 });
  for (let i = 0; i < 3; i++) sendQueue.deliver(1, DeliveryBatch.of(['1']));
  sendQueue.missed(3, 'Events were lost');
  assert.equal(peer.closedWith, undefined);
  sendQueue.missed(2, 'Events were lost');
  assert.deepEqual([peer.closedWith, overflows, sendQueue.waitingBytes()], [[1013, 'Events were lost'], [], 0]);
  peer.take(1e6);
  sendQueue.drained();
  sendQueue.deliver(1, DeliveryBatch.of(['2']));
  assert.equal(peer.frames.length, 1);
});
