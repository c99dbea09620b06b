import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { Channel } from '../../src/cluster/channel/channel.ts';
import { KINDS, type Kind, MessageWriter, readMessage } from '../../src/cluster/channel/channel_message.ts';
import { MessageError } from '../../src/cluster/messages/codec.ts';
import { ProtocolErrors } from '../../src/cluster/messages/protocol_errors.ts';
import type { Bus } from '../../src/cluster/nats/bus.ts';
import { lend, look } from '../../src/model/borrowed.ts';
import { diceOf } from '../support/dice.ts';
import { textOf, up, utf8 } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

/** Channels of hubs that are all members, and what b has received of each kind. */
async function opened(context: TestContext, names: readonly string[] = ['a', 'b']) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const sizes: number[] = [];
  const lines: string[] = [];
  const channels = new Map<string, Channel>();
  const buses = new Map<string, Bus>();
  for (const name of names) {
    const bus = cluster.bus(name);
    buses.set(name, bus);
    const publish = (subject: string, bytes: Uint8Array): boolean => {
      if (name === 'a') sizes.push(bytes.length);
      return bus.publish(subject, bytes);
    };
    const channel = new Channel({
      bus: {
        publish,
        subscribe: (...args) => bus.subscribe(...args),
        request: (...args) => bus.request(...args),
        watch: (...args) => bus.watch(...args),
      },
      ...{ name: 'hub', incarnation: name, malformed: new ProtocolErrors('events', (line) => lines.push(line)) },
      schedule: (delayMs, callback) => cluster.schedule(name, delayMs, callback),
    });
    channels.set(name, channel);
    await Promise.all([up(bus), channel.ready()]);
  }
  for (const channel of channels.values()) for (const name of names) channel.joined(name);
  const [a, b] = names.map((name) => channels.get(name) as Channel) as [Channel, Channel];
  const c = channels.get('c') as Channel;
  const got: string[] = [];
  const lost: Kind[] = [];
  for (const kind of KINDS) {
    b.serve(kind, {
      take: ({ about, bytes }) => {
        assert.equal(about, 7);
        const text = textOf(look(bytes));
        if (text === 'bad') throw new MessageError('This is bad');
        got.push(kind === 'events' ? text : `${kind} ${text}`);
      },
      lost: () => lost.push(kind),
    });
  }
  const send = (text: string, from = a, kind: Kind = 'events'): void => from.send('b', kind, 7, utf8(text));
  /** Messages that are sent then are lost. */
  const losing = async (act: () => void): Promise<void> => {
    cluster.mishaps.dropped = 1000;
    act();
    await clock.wait(5);
    cluster.mishaps.dropped = 0;
  };
  return { clock, cluster, a, b, c, bus: buses.get('a') as Bus, send, losing, sizes, got, lost, lines };
}

const PART = fc.tuple(fc.constantFrom(...KINDS), fc.nat(), fc.uint8Array({ maxLength: 300 }));

test('readMessage reads the messages of MessageWriter', () => {
  const writer = new MessageWriter('a hub');
  fc.assert(
    fc.property(fc.array(PART, { maxLength: 5 }), fc.nat(), fc.nat(), (given, number, after) => {
      for (const [kind, about, bytes] of given) writer.add(kind, about, bytes);
      const head = { number, after, isLast: number === 2, lastOf: [number, 3, 2 ** 40] };
      const { from, parts, ...read } = readMessage(lend(Buffer.from(writer.take(head))));
      assert.deepEqual([from, read], ['a hub', head]);
      assert.deepEqual(
        parts.map(({ kind, about, bytes }) => [kind, about, [...look(bytes)]]),
        given.map(([kind, about, bytes]) => [kind, about, [...bytes]]),
      );
    }),
    { seed: 3, numRuns: 300 },
  );
});

test('readMessage rejects malformed messages with a MessageError', () => {
  const writer = new MessageWriter('a');
  writer.add('events', 1, utf8('some events'));
  writer.add('motions', 0, utf8(''));
  const head = { number: 1, after: 0, isLast: false, lastOf: [1, 0, 1] };
  const message = Buffer.from(writer.take(head));
  for (let length = 0; length < message.length; length++) {
    assert.throws(() => readMessage(lend(message.subarray(0, length))), MessageError);
  }
  const dice = diceOf(5);
  for (let i = 0; i < 20_000; i++) {
    const broken = Buffer.from(message);
    for (let flips = 1 + dice(3); flips > 0; flips--) broken[dice(broken.length)] = dice(256);
    try {
      for (const { bytes } of readMessage(lend(broken)).parts) assert.ok(look(bytes).length <= message.length);
    } catch (error) {
      assert.ok(error instanceof MessageError, String(error));
    }
  }
});

test('Parts of one turn leave in one message, in order, whatever their kinds', async (context) => {
  const { clock, send, a, sizes, got } = await opened(context);
  for (let i = 0; i < 10; i++) send(`${i}`, a, KINDS[i % 3]);
  await clock.wait(10);
  assert.deepEqual(
    got,
    Array.from({ length: 10 }, (_, i) => (i % 3 === 0 ? `${i}` : `${KINDS[i % 3]} ${i}`)),
  );
  assert.equal(sizes.length, 1);
});

test('Many parts are split into messages of a megabyte', async (context) => {
  const { clock, send, sizes, got, lost } = await opened(context);
  const texts = Array.from({ length: 600 }, (_, i) => `${i}`.padEnd(10_000, 'x'));
  for (const text of texts) send(text);
  await clock.wait(100);
  assert.deepEqual([got, lost], [texts, []]);
  assert.ok(sizes.length >= 5 && Math.max(...sizes) <= 2 ** 20, sizes.join());
});

test('A part that is too large to be sent is lost, and later ones are not', async (context) => {
  const { clock, send, got, lost } = await opened(context);
  send('x'.repeat(9_000_000));
  await clock.wait(10);
  send('1');
  await clock.wait(100);
  assert.deepEqual([got, lost], [['1'], ['events']]);
});

test('Missing messages are requested again, and delivered in order', async (context) => {
  const { clock, a, b, send, losing, got, lost } = await opened(context);
  const all: string[] = [];
  for (let i = 1; i < 30; i++) {
    const text = `${i}`;
    all.push(text, `announced ${text}`);
    const both = (): void => {
      send(text);
      a.sendToAll('announced', 7, utf8(text));
    };
    if (i % 3 > 0) await losing(both);
    else both();
    // In one turn all is one message.
    await clock.wait(5);
    if (i === 20) await clock.wait(500);
  }
  // The last ones are missed with the next heartbeat.
  await clock.wait(1500);
  assert.deepEqual([got, lost], [all, []]);
  assert.ok(b.repairs >= 8, `${b.repairs}`);
});

test('Requests are repeated when messages that are sent again are lost as well', async (context) => {
  const { clock, cluster, send, losing, got, lost } = await opened(context);
  await losing(() => send('1'));
  cluster.mishaps.dropped = 300;
  for (let i = 2; i < 12; i++) {
    send(`${i}`);
    await clock.wait(10);
  }
  await clock.wait(400);
  cluster.mishaps.dropped = 0;
  await clock.wait(1500);
  assert.deepEqual([got.join(), lost], ['1,2,3,4,5,6,7,8,9,10,11', []]);
});

test('Hundreds of gaps are filled while the sender retains the messages', async (context) => {
  const { clock, send, losing, got, lost } = await opened(context);
  for (let i = 0; i < 150; i++) {
    await losing(() => send(`${2 * i}`));
    send(`${2 * i + 1}`);
    await clock.wait(1);
  }
  await clock.wait(3000);
  assert.deepEqual([got.map(Number), lost], [Array.from({ length: 300 }, (_, i) => i), []]);
});

test('Messages after a gap are held for a second, then all are given up, of the concerned kinds only', async (context) => {
  const { clock, cluster, a, send, losing, got, lost } = await opened(context);
  await losing(() => send('1', a, 'motions'));
  cluster.deafen('a');
  send('2', a, 'motions');
  await clock.wait(900);
  assert.deepEqual([got, lost], [[], []]);
  await clock.wait(400);
  assert.deepEqual([got, lost], [[], ['motions']]);
  cluster.restore('a');
  await clock.wait(500);
  send('3');
  await clock.wait(50);
  assert.deepEqual([got, lost], [['3'], ['motions']]);
});

test('The last request for a missing message is awaited before it is given up', async (context) => {
  const { clock, cluster, send, losing, got, lost } = await opened(context);
  await losing(() => send('1'));
  send('2');
  await clock.wait(5);
  // This process is stopped: when it continues, its deadline is over, and the answer is there unread.
  cluster.stop('b');
  await clock.wait(1500);
  cluster.resume('b');
  await clock.wait(300);
  assert.deepEqual([got, lost], [['1', '2'], []]);
});

test('8 MiB are held after a gap', async (context) => {
  const { clock, cluster, send, losing, got, lost } = await opened(context);
  await losing(() => send('1'));
  cluster.deafen('a');
  for (let i = 0; i < 9; i++) {
    send(`${i}`.padEnd(1_000_000, 'x'));
    await clock.wait(10);
  }
  assert.deepEqual([got.length, lost], [0, ['events']]);
});

test('The receiver learns at once which messages can no longer be sent again', async (context) => {
  const { clock, cluster, send, losing, got, lost } = await opened(context);
  await losing(() => {
    send('1');
    send('f', undefined, 'announced');
  });
  cluster.isolate('b');
  await clock.wait(4000);
  cluster.restore('b');
  await clock.wait(100);
  send('2');
  await clock.wait(400);
  assert.deepEqual([got.at(-1), lost], ['2', ['events', 'announced']]);
});

test('What a sender reports as sent is requested, even if it could not be sent', async (context) => {
  const { cluster, clock, a, b, send, got, lost } = await opened(context);
  cluster.isolate('a');
  await clock.wait(10);
  send('1');
  await clock.wait(10);
  b.sentUpTo('a', a.sentTo('b'));
  await clock.wait(100);
  cluster.restore('a');
  await clock.wait(500);
  assert.deepEqual([got, lost], [['1'], []]);
});

test('receivedUpTo waits for missing messages of a member, until they are delivered or lost, or it is removed', async (context) => {
  const { cluster, clock, a, b, c, send, losing, got, lost } = await opened(context, ['a', 'b', 'c']);
  assert.equal(b.receivedUpTo('a', 0), undefined);
  await losing(() => send('1'));
  const { number } = a.sentTo('b');
  const received = b.receivedUpTo('a', number);
  b.sentUpTo('a', a.sentTo('b'));
  await received;
  assert.deepEqual([got, b.receivedUpTo('a', number)], [['1'], undefined]);
  const next = b.receivedUpTo('a', number + 1);
  cluster.isolate('a');
  send('2');
  b.sentUpTo('a', a.sentTo('b'));
  await Promise.all([next, clock.wait(4000)]);
  assert.deepEqual([got, lost], [['1'], ['events']]);
  const never = b.receivedUpTo('c', 1);
  send('of c', c);
  cluster.isolate('c');
  b.gone('c');
  await never;
});

test('What is reported as sent includes what is sent with this turn', async (context) => {
  const { a, send } = await opened(context);
  send('1');
  assert.equal(a.sentTo('b').number, 1);
});

test('Each message is delivered once', async (context) => {
  const { clock, bus, got, lost } = await opened(context);
  const writer = new MessageWriter('a');
  writer.add('events', 7, utf8('1'));
  const message = Buffer.from(writer.take({ number: 1, after: 0, isLast: false, lastOf: [1, 0, 0] }));
  for (let i = 0; i < 3; i++) bus.publish('hub.e.b', message);
  await clock.wait(10);
  assert.deepEqual([got, lost], [['1'], []]);
});

test('Messages of a hub whose join is not applied yet are requested again after that', async (context) => {
  const { clock, a, b, send, got, lost } = await opened(context);
  b.gone('a');
  a.gone('b');
  a.joined('b');
  send('1');
  await clock.wait(10);
  b.joined('a');
  send('2');
  await clock.wait(100);
  assert.deepEqual([got, lost], [['1', '2'], []]);
});

test('Messages of a new owner are held until the record is applied that made it one', async (context) => {
  const { clock, a, b, send, got, lost } = await opened(context);
  b.applied(4);
  send('1');
  a.tookAfter(5);
  send('2');
  await clock.wait(500);
  send('3');
  await clock.wait(10);
  assert.deepEqual(got, ['1']);
  b.applied(5);
  assert.deepEqual(got, ['1', '2', '3']);
  send('4');
  await clock.wait(2000);
  assert.deepEqual([got, lost], [['1', '2', '3', '4'], []]);
});

test('Messages wait for a second at most, and 8 MiB of them', async (context) => {
  const { clock, a, b, send, got, lost } = await opened(context);
  a.tookAfter(5);
  send('1');
  await clock.wait(990);
  assert.deepEqual(lost, []);
  await clock.wait(30);
  assert.deepEqual(lost, ['events']);
  for (let i = 0; i < 9; i++) send('x'.repeat(1_000_000));
  await clock.wait(100);
  assert.deepEqual(lost, ['events', 'events']);
  b.applied(5);
  send('2');
  await clock.wait(10);
  assert.deepEqual([got.filter((text) => text.length === 1), lost.length], [['2'], 2]);
});

const THREE = ['a', 'b', 'c'];

test('A sender knows when each member has delivered its messages', async (context) => {
  const { clock, a, c, send, losing, got, lost } = await opened(context, THREE);
  await a.delivered();
  send('1');
  a.send('c', 'events', 7, utf8('1'));
  await a.delivered();
  assert.deepEqual(got, ['1']);
  await losing(() => send('2'));
  await a.delivered();
  assert.deepEqual([got, lost], [['1', '2'], []], 'it was requested');
  a.tookAfter(5);
  send('3');
  const begunMs = clock.nowMs;
  await a.delivered();
  assert.ok(clock.nowMs - begunMs >= 999, 'it waits, until it is reported as lost');
  assert.deepEqual([got, lost], [['1', '2'], ['events']]);
  await c.delivered();
});

test('A sender awaits no delivery at a removed member', async (context) => {
  const { clock, cluster, a, send, got } = await opened(context);
  cluster.isolate('b');
  send('1');
  let isOver = false;
  const delivered = a.delivered().then(() => {
    isOver = true;
  });
  await clock.wait(5000);
  assert.equal(isOver, false, 'a member that cannot be reached may have subscriptions');
  a.gone('b');
  await clock.wait(300);
  await delivered;
  assert.deepEqual(got, []);
});

test('Messages of a removed sender are dropped, and the kinds of its missing parts are known', async (context) => {
  const { clock, a, b, send, losing, got } = await opened(context);
  send('1');
  await clock.wait(10);
  await losing(() => send('2'));
  await losing(() => send('3', a, 'motions'));
  b.sentUpTo('a', a.sentTo('b'));
  assert.deepEqual(b.gone('a'), { isOver: false, lost: ['events', 'motions'] });
  send('4');
  await clock.wait(2000);
  assert.deepEqual(got, ['1']);
  b.joined('a');
  assert.deepEqual(b.gone('a'), { isOver: false, lost: [] });
  assert.deepEqual(b.gone('nobody'), { isOver: true, lost: [] });
});

test('A hub that leaves says so with its last message', async (context) => {
  const { clock, a, b, send, got } = await opened(context);
  send('1');
  a.leaving();
  await clock.wait(10);
  assert.deepEqual([got, b.gone('a')], [['1'], { isOver: true, lost: [] }]);
});

test('Malformed messages and parts are skipped and counted, and the first one is logged', async (context) => {
  const { clock, b, bus, send, got, lost, lines } = await opened(context);
  for (const bytes of [utf8(''), utf8('what?'), utf8('x'.repeat(100))]) bus.publish('hub.e.b', bytes);
  send('1');
  send('bad');
  send('2');
  await clock.wait(10);
  assert.deepEqual([got, b.malformed.count, lost], [['1', '2'], 4, ['events']]);
  assert.match(lines.join('\n'), /^Skipped a malformed message about events: A message of a channel has 0 bytes$/);
});
