import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MqttConnectionHandlers } from '../../src/mqtt/broker_connection.ts';
import { type FromMqttThread, MessageWriter, type OutgoingMessage, readArrived } from '../../src/mqtt/messages.ts';
import { MqttThread } from '../../src/mqtt/mqtt_thread.ts';
import type { ReceivedPublish } from '../../src/mqtt/packet_reader.ts';
import { SESSION_TAKEN_OVER } from '../../src/mqtt/session.ts';
import { received } from './received.ts';

interface Call {
  readonly atMs: number;
  readonly callback: () => void;
}

const SOURCES = '/omlox/json/location_updates/pub/';

/** A thread in isolation, with a simulated clock and connections of the test. */
class World {
  nowMs = 0;
  readonly posted: FromMqttThread[] = [];
  /** In order, with the bytes written to them, and QoS 1 messages with their callbacks. */
  readonly connections: {
    readonly watch: MqttConnectionHandlers;
    readonly written: number[];
    readonly published: {
      readonly topic: string;
      readonly text: string;
      readonly lifeMs: number;
      readonly done: (refused?: string) => void;
    }[];
    up(inFlightMax: number): void;
    hasRoom: boolean;
    hasEnded: boolean;
    isReading: boolean;
  }[] = [];
  readonly thread: MqttThread;
  #calls: Call[] = [];

  constructor(queueBytesMax = 1e6) {
    const schedule = (delayMs: number, callback: () => void) => {
      const call = { atMs: this.nowMs + delayMs, callback };
      this.#calls.push(call);
      return () => {
        this.#calls = this.#calls.filter((each) => each !== call);
      };
    };
    const every = (intervalMs: number, callback: () => void): (() => void) => {
      let stop = schedule(intervalMs, function again() {
        callback();
        stop = schedule(intervalMs, again);
      });
      return () => stop();
    };
    this.thread = new MqttThread(
      {
        ...{ subscriptions: [], statusTopics: ['status'], keepsSession: true, queueBytesMax },
        after: { batch: 0, connection: 0, connections: 0 },
      },
      {
        connect: (_, watch) => this.#connect(watch),
        post: (message) => void this.posted.push(message),
        ...{ schedule, every, nowMs: () => this.nowMs, random: () => 0.5 },
        afterReading: (callback) => void schedule(0, callback),
      },
    );
    this.thread.start();
  }

  get last() {
    return this.connections.at(-1) as World['connections'][number];
  }

  /** Advances the time, and runs due timers in order. */
  pass(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (;;) {
      const [next] = this.#calls.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
      if (next === undefined) break;
      this.#calls = this.#calls.filter((each) => each !== next);
      this.nowMs = next.atMs;
      next.callback();
    }
    this.nowMs = untilMs;
  }

  /** Receives a message of a source, on a topic with its name at the end. */
  receive(name: string, packetId: number, more: Partial<ReceivedPublish> = {}): void {
    this.last.watch.message(received(`${SOURCES}${name}`, '{}', { packetId, ...more }));
  }

  publish(...all: readonly Partial<OutgoingMessage>[]): void {
    const writer = new MessageWriter();
    for (const each of all) {
      const plain = {
        topic: 't',
        payload: Buffer.from('x'),
        qos: 0,
        isRetained: false,
        minIntervalMs: 0,
        motionAs: undefined,
        lifeMs: 0,
        sentAs: undefined,
      };
      writer.addPublishing({ ...plain, ...each } as OutgoingMessage);
    }
    this.thread.take({ say: 'publish', packed: writer.take() });
  }

  /** Names of the sources in the batches that the hub received. */
  batches(): readonly (readonly string[])[] {
    return this.posted.flatMap((each) =>
      each.say === 'arrived' ? [readArrived(each.packed).map(({ topic }) => topic.slice(SOURCES.length))] : [],
    );
  }

  counts() {
    this.pass(1000);
    const all = this.posted.flatMap((each) => (each.say === 'counts' ? [each.counts] : []));
    return all.at(-1) as (typeof all)[number];
  }

  #connect(watch: MqttConnectionHandlers) {
    const connection: World['connections'][number] = {
      watch,
      up: (inFlightMax) => watch.up({ inFlightMax, packetBytesMax: PACKET_BYTES_MAX }),
      written: [],
      published: [],
      hasRoom: true,
      hasEnded: false,
      isReading: true,
    };
    this.connections.push(connection);
    return {
      get hasRoom() {
        return connection.hasRoom;
      },
      write: (packets: Uint8Array) => void connection.written.push(...packets),
      publish: (
        { topic, payload, lifeMs }: { topic: string; payload: Uint8Array; lifeMs: number },
        done: (refused: string | undefined) => void,
      ) => {
        const text = Buffer.from(payload).toString();
        connection.published.push({ topic, text, lifeMs, done: (why) => done(why) });
      },
      read: (isWanted: boolean) => {
        connection.isReading = isWanted;
      },
      end: async () => {
        connection.hasEnded = true;
        watch.down('ended');
      },
    };
  }
}

/** Limits of the broker. */
const PACKET_BYTES_MAX = 1000;
/** Reason codes with which a broker closes a connection. */
const [MALFORMED, SHUTTING_DOWN] = [0x81, 0x8b] as const;
const PUBACK = (id: number): readonly number[] => [0x40, 2, 0, id];

describe('MqttThread', () => {
  test('passes on simultaneous messages as one batch, and acknowledges it when the hub has accepted it', () => {
    const world = new World();
    world.last.up(10);
    world.receive('a', 1);
    world.receive('b', 0);
    world.receive('c', 2);
    world.pass(0);
    assert.deepEqual(world.batches(), [['a', 'b', 'c']]);
    assert.deepEqual(world.last.written, []);
    world.thread.take({ say: 'taken', batch: 1, refused: [] });
    assert.deepEqual(world.last.written, [...PUBACK(1), ...PUBACK(2)]);
  });

  test('reconnects indefinitely, with growing delays until a connection has lasted', () => {
    const world = new World();
    const pauseMs = (reasonCode?: number): number => {
      const [begunMs, before] = [world.nowMs, world.connections.length];
      world.last.watch.down('closed', reasonCode);
      while (world.connections.length === before) world.pass(10);
      return world.nowMs - begunMs;
    };
    const pauses = Array.from({ length: 9 }, () => pauseMs());
    assert.deepEqual(pauses, [500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    world.last.up(10);
    world.pass(29_999);
    assert.equal(pauseMs(), 30_000);
    world.last.up(10);
    world.pass(30_000);
    assert.equal(pauseMs(), 500);
    world.last.up(10);
    assert.equal(pauseMs(), 1000);
    world.last.up(10);
    world.pass(30_000);
    assert.equal(pauseMs(SESSION_TAKEN_OVER), 30_000);
  });

  test('publishes messages that were in flight one at a time, and drops one that has closed the connection twice', () => {
    const world = new World();
    const texts = () => world.last.published.map(({ text }) => text);
    const again = (reasonCode?: number): void => {
      const before = world.connections.length;
      world.last.watch.down('malformed packet', reasonCode);
      while (world.connections.length === before) world.pass(500);
      world.last.up(10);
    };
    const event = (topic: string) => ({ topic, qos: 1 as const, payload: Buffer.from(topic) });
    world.publish(event('good'), event('bad'), event('other'));
    world.last.up(10);
    again(MALFORMED);
    assert.deepEqual(texts(), ['good']);
    world.last.published[0]?.done();
    assert.deepEqual(texts(), ['good', 'bad']);
    again(MALFORMED);
    assert.deepEqual(texts(), ['bad']);
    again(MALFORMED);
    assert.deepEqual(texts(), ['other']);
    for (const { done } of world.last.published) done();
    assert.ok(texts().length > 1 && !texts().includes('bad'));
    world.publish(event('bad'), event('good'));
    for (const { done } of world.last.published) done();
    assert.equal(texts().at(-1), 'good');
    const { refused, waiting, waitingBytes } = world.counts();
    assert.deepEqual([refused, waiting, waitingBytes], [2, 0, 0]);
    const topics = world.posted.flatMap((each) => (each.say === 'notice' ? [each.topic] : []));
    assert.deepEqual(topics, ['bad']);
  });

  test('drops no message if a connection closes for another reason, and blocks no topic without a reason code of the broker', () => {
    const world = new World();
    const again = (reasonCode?: number): void => {
      const before = world.connections.length;
      world.last.watch.down('closed', reasonCode);
      while (world.connections.length === before) world.pass(500);
      world.last.up(10);
    };
    const event = { topic: 'e', qos: 1 as const };
    world.last.up(10);
    world.last.published[0]?.done();
    world.publish(event);
    for (let times = 0; times < 3; times++) again(SHUTTING_DOWN);
    assert.equal(world.last.published[0]?.topic, 'e');
    for (let times = 0; times < 3; times++) again();
    assert.equal(world.counts().refused, 1);
    for (const { done } of world.last.published) done();
    world.publish(event);
    assert.equal(world.last.published.at(-1)?.topic, 'e');
  });

  test('acknowledges a message only on its own connection', () => {
    const world = new World();
    world.last.up(10);
    world.receive('a', 1);
    world.pass(0);
    world.last.watch.down('closed');
    world.pass(500);
    world.last.up(10);
    world.receive('a', 1, { isRedelivered: true });
    world.thread.take({ say: 'taken', batch: 1, refused: [] });
    assert.deepEqual(world.last.written, []);
    world.pass(0);
    world.thread.take({ say: 'taken', batch: 2, refused: [] });
    assert.deepEqual(world.last.written, PUBACK(1));
    assert.equal(world.counts().redelivered, 1);
  });

  test('drops and counts messages of QoS 0 when too many wait for the hub', () => {
    const world = new World();
    world.last.up(10);
    for (let n = 0; n < 20_005; n++) world.receive('a', 0);
    world.receive('a', 7);
    world.pass(0);
    assert.equal(world.batches()[0]?.length, 20_001);
    world.thread.take({ say: 'taken', batch: 1, refused: [] });
    world.receive('a', 0);
    world.pass(0);
    assert.equal(world.batches()[1]?.length, 1);
    const { received, lost } = world.counts();
    assert.deepEqual([received, lost], [20_007, 5]);
  });

  test('stops reading from a broker that exceeds its bound, until the hub has accepted some', () => {
    const world = new World();
    world.last.up(10);
    for (let n = 1; n < 25_000; n++) world.receive('a', 1 + (n % 60_000));
    assert.equal(world.last.isReading, true);
    world.receive('a', 60_001);
    assert.equal(world.last.isReading, false);
    world.pass(0);
    world.receive('a', 60_002);
    world.pass(0);
    assert.equal(world.counts().lost, 0);
    world.thread.take({ say: 'taken', batch: 1, refused: [] });
    assert.equal(world.last.isReading, true);
  });

  test('resets the count of waiting messages when the hub requests redelivery, until the connection is closed', () => {
    const world = new World();
    for (let times = 1; times <= 3; times++) {
      world.last.up(10);
      for (let n = 1; n <= 24_000; n++) world.receive('a', n);
      world.pass(0);
      world.receive('a', 30_000);
      const before = world.batches().length;
      world.thread.take({ say: 'again', connection: times });
      assert.equal(world.batches().length, before);
      world.pass(1000);
      assert.equal(world.connections.length, times + 1);
    }
    world.last.up(10);
    world.receive('a', 0);
    world.pass(0);
    assert.equal(world.last.isReading, true);
    assert.equal(world.counts().lost, 0);
    assert.deepEqual(world.batches().at(-1), ['a']);
  });

  test('drops messages that are too large for the broker, and keeps the connection', () => {
    const world = new World();
    world.last.up(10);
    world.last.published[0]?.done();
    const payload = Buffer.alloc(PACKET_BYTES_MAX);
    world.publish({ topic: 'a', payload }, { topic: 'b' }, { topic: 'e', qos: 1, payload }, { topic: 'f', qos: 1 });
    assert.equal(world.last.written.length, 7);
    assert.deepEqual(
      world.last.published.slice(1).map(({ topic }) => topic),
      ['f'],
    );
    world.last.published[1]?.done();
    const { refused, waiting, waitingBytes } = world.counts();
    assert.deepEqual([refused, waiting, waitingBytes], [2, 0, 0]);
    const topics = world.posted.flatMap((each) => (each.say === 'notice' ? [each.topic] : []));
    assert.deepEqual(topics, ['a', 'e']);
  });

  test('passes remote procedure calls on outside of batches, and drops them when too many wait for the hub', () => {
    const world = new World();
    world.last.up(10);
    const topic = '/omlox/jsonrpc/rpc/m/request';
    world.receive('a', 1);
    world.last.watch.message(received(topic, '{}'));
    world.pass(0);
    assert.deepEqual(world.batches(), [['a']]);
    const rpc = () => world.posted.flatMap((each) => (each.say === 'rpc' ? readArrived(each.packed) : []));
    assert.deepEqual(
      rpc().map((each) => each.topic),
      [topic],
    );
    for (let n = 0; n < 40; n++) world.last.watch.message(received(topic, Buffer.alloc(256 << 10)));
    world.pass(0);
    assert.equal(world.counts().lost, 41 - rpc().length);
    assert.ok(rpc().length <= 33);
    world.thread.take({ say: 'rpcTaken', bytes: 16 << 20 });
    world.last.watch.message(received(topic, '{}'));
    world.pass(0);
    assert.equal(rpc().at(-1)?.payload.length, 2);
  });

  test('publishes messages of a connection only on that one, with their remaining lifetime', () => {
    const world = new World();
    const request = (text: string) => ({ topic: 'r', qos: 1 as const, payload: Buffer.from(text), lifeMs: 1000 });
    world.publish(request('too early'));
    world.last.up(1);
    const [online] = world.last.published;
    world.publish(request('first'), request('second'));
    world.pass(600);
    online?.done();
    assert.deepEqual(
      world.last.published.slice(1).map(({ text, lifeMs }) => [text, lifeMs]),
      [['first', 400]],
    );
    world.last.watch.down('closed');
    world.pass(500);
    world.last.up(10);
    assert.deepEqual(
      world.last.published.map(({ text }) => text),
      ['{"status":"online"}'],
    );
    assert.equal(world.counts().dropped, 3);
  });

  test('republishes messages from before the connection, and unacknowledged events', () => {
    const world = new World();
    world.publish({ topic: 'e', qos: 1, payload: Buffer.from('1') }, { topic: 'e', qos: 1, payload: Buffer.from('2') });
    world.last.up(10);
    const texts = () => world.last.published.map(({ text }) => text);
    assert.deepEqual(texts(), ['1', '2', '{"status":"online"}']);
    world.last.published[0]?.done();
    world.last.watch.down('closed');
    world.pass(500);
    world.last.up(10);
    for (let n = 0; n < 3; n++) world.last.published[n]?.done();
    assert.deepEqual(texts(), ['2', '{"status":"online"}', '{"status":"online"}']);
    const { published, waiting, waitingBytes } = world.counts();
    assert.deepEqual([published, waiting, waitingBytes], [4, 0, 0]);
  });

  test('has no more events in flight than the broker accepts', () => {
    const world = new World();
    world.last.up(2);
    world.last.published[0]?.done();
    world.publish(...['1', '2', '3'].map((text) => ({ topic: 'e', qos: 1 as const, payload: Buffer.from(text) })));
    assert.equal(world.last.published.length, 3);
    world.last.published[1]?.done('not authorized');
    assert.equal(world.last.published.length, 4);
    assert.equal(world.counts().refused, 1);
    assert.ok(world.posted.some((each) => each.say === 'notice' && each.topic === 'e'));
  });

  test('retains the newest message of each topic while the broker is blocked, and sends messages of QoS 0 in order', () => {
    const world = new World();
    world.last.up(10);
    world.publish({ topic: 'a' }, { topic: 'a' }, { topic: 'a' });
    assert.equal(world.last.written.length, 3 * 7);
    world.last.hasRoom = false;
    world.publish({ topic: 'a' }, { topic: 'a' }, { topic: 'b' });
    assert.equal(world.last.written.length, 3 * 7);
    world.last.hasRoom = true;
    world.last.watch.room();
    assert.equal(world.last.written.length, 5 * 7);
    assert.equal(world.counts().replaced, 1);
  });

  test('publishes the offline status after all messages, and closes the connection', async () => {
    const world = new World();
    world.last.up(10);
    world.publish({ topic: 'held', minIntervalMs: 5000 }, { topic: 'held', minIntervalMs: 5000 });
    world.thread.take({ say: 'close' });
    assert.equal(world.last.published.at(-1)?.text, '{"status":"offline"}');
    assert.equal(world.last.hasEnded, false);
    for (const { done } of world.last.published) done();
    await new Promise(setImmediate);
    assert.equal(world.last.hasEnded, true);
    assert.equal(world.posted.at(-1)?.say, 'closed');
    assert.equal(world.last.written.length, 2 * 10);
    const before = world.connections.length;
    world.pass(60_000);
    assert.equal(world.connections.length, before);
  });

  test('closes after a few seconds, even if the broker is blocked', async () => {
    const world = new World();
    world.last.up(10);
    world.thread.take({ say: 'close' });
    world.pass(3000);
    await new Promise(setImmediate);
    assert.equal(world.posted.at(-1)?.say, 'closed');
  });
});
