import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { Bus } from '../../src/cluster/nats/bus.ts';
import { BlockPacker, FrameWriter, readFrame } from '../../src/cluster/fanout/event_frame.ts';
import { MessageError } from '../../src/cluster/messages/codec.ts';
import { ANNOUNCED, type AnnouncedEvent } from '../../src/cluster/messages/messages.ts';
import { FramesIn } from '../../src/cluster/fanout/frames_in.ts';
import { FramesOut } from '../../src/cluster/fanout/frames_out.ts';
import { DeliveryBatch } from '../../src/fanout/batch.ts';
import { lend, look } from '../../src/model/borrowed.ts';
import { type EventBatch, joined } from '../../src/model/event_batch.ts';
import type { FilterFields, Variant } from '../../src/model/topics.ts';
import { diceOf } from '../support/dice.ts';
import { up, utf8 } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

function batchOf(texts: readonly string[], fields?: readonly FilterFields[], variant = 1): EventBatch {
  const { bytes, ends } = joined(texts);
  return { variant, bytes: lend(bytes), ends, fields };
}

function textsOf({ bytes, ends }: EventBatch): string[] {
  return new DeliveryBatch(look(bytes), ends).strings;
}

const variant = (id: number): Variant => ({ id, topic: 'location_updates', crs: 'local' });

/** Frames that b receives from a; its variant is 7. */
async function pair(context: TestContext) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const [a, b]: [Bus, Bus] = [cluster.bus('a'), cluster.bus('b')];
  const sizes: number[] = [];
  const sending: Pick<Bus, 'publish' | 'subscribe'> = {
    subscribe: (subject, take) => a.subscribe(subject, take),
    publish(subject, bytes) {
      sizes.push(bytes.length);
      return a.publish(subject, bytes);
    },
  };
  const got: string[] = [];
  const announced: AnnouncedEvent[] = [];
  const lost: string[] = [];
  const protocolErrors: unknown[] = [];
  const malformed = (error: unknown): void => void protocolErrors.push(error);
  const out = new FramesOut({ bus: sending, name: 'hub', self: 'a', malformed, schedule: clock.schedule });
  const into = new FramesIn({
    bus: b,
    name: 'hub',
    self: 'b',
    receive(events) {
      assert.equal(events.variant, 7);
      got.push(...textsOf(events));
    },
    announced: (event) => announced.push(event),
    lost: (what) => lost.push(what),
    malformed,
    schedule: clock.schedule,
  });
  await Promise.all([up(a), into.ready(), out.ready]);
  out.joined('b');
  into.joined('a', { isNew: false });
  into.sentUpTo('a', out.sentTo('b'));
  const send = (...texts: string[]): void => out.forward(batchOf(texts), new Map([['b', variant(7)]]));
  return { clock, cluster, a, out, into, send, sizes, got, announced, lost, protocolErrors };
}

const FIELD = fc.oneof(
  fc.string(),
  fc.double({ noNaN: true }).map((value) => value + 0),
  fc.boolean(),
  fc.constant(undefined),
);
const BEHIND = fc.array(fc.tuple(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.nat()), { maxLength: 3 });
const EVENTS = fc.array(fc.tuple(fc.string({ minLength: 1, unit: 'grapheme' }), fc.array(FIELD)), { minLength: 1 });

test('FrameWriter and readFrame carry events of any variants, with fields and positions and without', () => {
  const packer = new BlockPacker();
  const writer = new FrameWriter('a hub');
  const blocks = fc.array(fc.tuple(EVENTS, fc.boolean(), fc.nat(), fc.boolean()), { maxLength: 5 });
  fc.assert(
    fc.property(blocks, fc.nat(), fc.nat(), BEHIND, (given, number, after, behind) => {
      const batches = given.map(([events, hasFields, id, isRecorded]) => {
        const texts = events.map(([text]) => text);
        const batch = batchOf(texts, hasFields ? events.map(([, fields]) => fields) : undefined, id);
        const positions = { shard: id % 7, step: 2 ** 33 + id, indices: Uint32Array.from(texts, (_, i) => 2 * i) };
        return isRecorded ? { ...batch, positions } : batch;
      });
      for (const batch of batches) {
        // In two parts, where it has two events.
        const cut = batch.ends.length >> 1;
        if (cut > 0) writer.add(batch.variant, packer.pack(batch, 0, cut));
        writer.add(batch.variant, packer.pack(batch, cut, batch.ends.length));
      }
      const head = { number, announced: 3, after, isLast: number === 2, behind };
      const bytes = Buffer.from(writer.take(head));
      const { from, blocks: _, ...read } = readFrame(lend(bytes));
      const frame = readFrame(lend(bytes));
      assert.deepEqual([from, read], ['a hub', head]);
      assert.deepEqual(frame.blocks.flatMap(textsOf), batches.flatMap(textsOf));
      const fieldsOf = (all: readonly EventBatch[]) =>
        all.flatMap(({ fields, ends }) => fields ?? [...ends].map(() => 0));
      assert.deepEqual(fieldsOf(frame.blocks), fieldsOf(batches));
      const positionsOf = (all: readonly EventBatch[]) =>
        all.flatMap(({ positions, ends }) =>
          [...ends].map((_, i) => positions && [positions.shard, positions.step, positions.indices[i]]),
        );
      assert.deepEqual(positionsOf(frame.blocks), positionsOf(batches));
    }),
    { seed: 3, numRuns: 300 },
  );
});

test('readFrame rejects malformed frames with a MessageError', () => {
  const writer = new FrameWriter('a');
  writer.add(
    1,
    new BlockPacker().pack(
      batchOf(
        ['{"a":1}', '{"b":2}'],
        [
          ['a', 1],
          ['b', undefined],
        ],
      ),
      0,
      2,
    ),
  );
  const frame = Buffer.from(writer.take({ number: 1, announced: 0, after: 0, isLast: false, behind: [['b', 3]] }));
  for (let length = 0; length < frame.length; length++) {
    assert.throws(() => readFrame(lend(frame.subarray(0, length))), MessageError);
  }
  const dice = diceOf(5);
  for (let i = 0; i < 20_000; i++) {
    const broken = Buffer.from(frame);
    for (let flips = 1 + dice(3); flips > 0; flips--) broken[dice(broken.length)] = dice(256);
    try {
      for (const block of readFrame(lend(broken)).blocks) assert.equal(textsOf(block).length, block.ends.length);
    } catch (error) {
      assert.ok(error instanceof MessageError, String(error));
    }
  }
});

test('FramesOut splits large batches into messages of a megabyte, between events', async (context) => {
  const { clock, send, sizes, got, lost } = await pair(context);
  const texts = Array.from({ length: 30_000 }, (_, i) => `{"n":${i},"more":"${'x'.repeat(i % 300)}"}`);
  send(...texts);
  send('{"n":"last"}');
  await clock.wait(100);
  assert.deepEqual([got.length, lost], [30_001, []]);
  assert.deepEqual(got, [...texts, '{"n":"last"}']);
  assert.ok(sizes.length >= 5 && Math.max(...sizes) < 1.3 * 2 ** 20, sizes.join());
});

test('FramesOut combines the events of one turn in one message', async (context) => {
  const { clock, send, sizes, got } = await pair(context);
  for (let i = 0; i < 10; i++) send(`${i}`);
  await clock.wait(10);
  assert.deepEqual([sizes.length, got.join('')], [1, '0123456789']);
});

test('FramesIn reports an event that is too large to be sent', async (context) => {
  const { clock, send, got, lost } = await pair(context);
  send('x'.repeat(9_000_000));
  await clock.wait(10);
  send('{}');
  await clock.wait(10);
  assert.deepEqual([got, lost], [['{}'], ['rendered']]);
});

/** Messages that are sent then are lost. */
async function losing(
  { cluster, clock }: Pick<Awaited<ReturnType<typeof pair>>, 'cluster' | 'clock'>,
  send: () => void,
) {
  cluster.mishaps.dropped = 1000;
  send();
  await clock.wait(10);
  cluster.mishaps.dropped = 0;
}

test('FramesIn requests missing frames again, and delivers them in order', async (context) => {
  const hub = await pair(context);
  const { clock, out, into, send, got, announced, lost } = hub;
  send('1');
  out.announce('proximity', '1');
  await clock.wait(10);
  for (let i = 2; i < 30; i++) {
    const events = (): void => {
      send(`${i}`);
      out.announce('proximity', `${i}`);
    };
    if (i % 3 > 0) await losing(hub, events);
    else events();
    if (i === 20) await clock.wait(500);
    // In one turn all is one message.
    await clock.wait(5);
  }
  await clock.wait(500);
  const all = Array.from({ length: 27 }, (_, i) => `${i + 1}`);
  assert.deepEqual([got, announced.map(([, text]) => text)], [all, all]);
  out.beat();
  await clock.wait(100);
  assert.deepEqual([got.slice(27), announced.length, lost], [['28', '29'], 29, []]);
  assert.ok(into.repaired >= 10, `${into.repaired}`);
});

test('FramesIn repeats its requests when retransmitted frames are lost as well', async (context) => {
  const hub = await pair(context);
  const { clock, cluster, out, send, got, lost } = hub;
  await losing(hub, () => send('1'));
  cluster.mishaps.dropped = 300;
  for (let i = 2; i < 12; i++) {
    send(`${i}`);
    await clock.wait(10);
  }
  out.beat();
  await clock.wait(400);
  cluster.mishaps.dropped = 0;
  out.beat();
  await clock.wait(100);
  assert.deepEqual([got.join(), lost], ['1,2,3,4,5,6,7,8,9,10,11', []]);
});

test('FramesIn holds frames after a gap for a second, then reports a loss and continues', async (context) => {
  const hub = await pair(context);
  const { clock, cluster, send, got, lost } = hub;
  await losing(hub, () => send('1'));
  send('2');
  await clock.wait(5);
  cluster.isolate('a');
  await clock.wait(900);
  assert.deepEqual([got, lost], [[], []]);
  await clock.wait(200);
  assert.deepEqual([got, lost], [['2'], ['rendered']]);
  cluster.restore('a');
  await clock.wait(500);
  send('3');
  await clock.wait(50);
  assert.deepEqual([got, lost], [['2', '3'], ['rendered']]);
});

test('FramesIn holds 8 MiB after a gap', async (context) => {
  const hub = await pair(context);
  const { clock, cluster, send, got, lost } = hub;
  await losing(hub, () => send('1'));
  cluster.deafen('a');
  for (let i = 0; i < 9; i++) {
    send(`${i}`.padEnd(1_000_000, 'x'));
    await clock.wait(10);
  }
  assert.deepEqual([got.length, lost], [9, ['rendered']]);
});

test('FramesIn learns at once which messages can no longer be sent again', async (context) => {
  const hub = await pair(context);
  const { clock, out, send, got, lost } = hub;
  await losing(hub, () => {
    send('1');
    out.announce('fenceEvent', 'f');
  });
  for (let i = 0; i < 4; i++) out.age();
  send('2');
  await clock.wait(20);
  assert.deepEqual([got, lost], [['2'], ['announced', 'rendered']]);
});

test('FramesIn also notices a missing last message, by the next heartbeat of its sender', async (context) => {
  const hub = await pair(context);
  const { clock, out, send, lost, got, announced } = hub;
  await losing(hub, () => send('1'));
  out.beat();
  await clock.wait(100);
  await losing(hub, () => out.announce('fenceEvent', 'f'));
  out.beat();
  out.beat();
  await clock.wait(100);
  assert.deepEqual([got, announced, lost], [['1'], [['fenceEvent', 'f']], []]);
});

test('FramesIn requests all frames again that a sender reports as sent, even if they could not be sent', async (context) => {
  const { cluster, clock, out, into, send, got, lost } = await pair(context);
  cluster.isolate('a');
  await clock.wait(10);
  send('1');
  await clock.wait(10);
  into.sentUpTo('a', out.sentTo('b'));
  await clock.wait(100);
  cluster.restore('a');
  await clock.wait(500);
  assert.deepEqual([got, lost], [['1'], []]);
});

test('FramesIn holds frames until earlier announced events have arrived', async (context) => {
  const hub = await pair(context);
  const { clock, out, send, got, announced } = hub;
  await losing(hub, () => out.announce('proximity', 'p'));
  hub.cluster.deafen('a');
  send('1');
  await clock.wait(20);
  assert.deepEqual([got, announced], [[], []]);
  hub.cluster.restore('a');
  await clock.wait(500);
  assert.deepEqual([got, announced.length], [['1'], 1]);
});

test('FramesIn delivers each message once', async (context) => {
  const { clock, a, got, announced, lost } = await pair(context);
  const writer = new FrameWriter('a');
  writer.add(7, new BlockPacker().pack(batchOf(['1']), 0, 1));
  const frame = writer.take({ number: 1, announced: 0, after: 0, isLast: false, behind: [] });
  const message = ANNOUNCED.pack({ from: 'a', number: 1, events: [['proximity', 'p']], after: 0 });
  for (let i = 0; i < 3; i++) {
    a.publish('hub.e.b', frame);
    a.publish('hub.f', message);
  }
  await clock.wait(10);
  assert.deepEqual([got, announced.length, lost], [['1'], 1, []]);
});

test('FramesIn holds frames of a new owner until the record is applied that made it one', async (context) => {
  const { clock, out, into, send, got, lost } = await pair(context);
  into.applied(4);
  send('1');
  out.tookAfter(5);
  send('2');
  await clock.wait(500);
  send('3');
  await clock.wait(10);
  assert.deepEqual(got, ['1']);
  into.applied(5);
  assert.deepEqual(got, ['1', '2', '3']);
  send('4');
  await clock.wait(2000);
  assert.deepEqual([got, lost], [['1', '2', '3', '4'], []]);
});

test('FramesIn holds frames for a second at most, and 8 MiB', async (context) => {
  const { clock, out, into, send, got, lost } = await pair(context);
  out.tookAfter(5);
  send('1');
  await clock.wait(990);
  assert.deepEqual(lost, []);
  await clock.wait(30);
  assert.deepEqual(lost, ['rendered']);
  for (let i = 0; i < 9; i++) send('x'.repeat(1_000_000));
  await clock.wait(100);
  assert.deepEqual(lost, ['rendered', 'rendered']);
  into.applied(5);
  send('2');
  await clock.wait(10);
  assert.deepEqual([got.filter((text) => text.length === 1), lost.length], [['2'], 2]);
});

/** As pair, with a second sender, c. */
async function three(context: TestContext) {
  const hub = await pair(context);
  const { clock, cluster, into, protocolErrors } = hub;
  const bus = cluster.bus('c');
  const malformed = (error: unknown): void => void protocolErrors.push(error);
  const other = new FramesOut({ bus, name: 'hub', self: 'c', malformed, schedule: clock.schedule });
  await Promise.all([up(bus), other.ready]);
  other.joined('b');
  other.joined('a');
  into.joined('c', { isNew: false });
  into.sentUpTo('c', other.sentTo('b'));
  const sendOther = (text: string): void => other.forward(batchOf([text]), new Map([['b', variant(7)]]));
  return { ...hub, other, sendOther };
}

test('FramesIn holds frames until preceding frames of another sender have arrived', async (context) => {
  const hub = await three(context);
  const { clock, out, other, into, send, sendOther, got, lost } = hub;
  send('1');
  const sent = out.sentToAll();
  assert.deepEqual(sent, { b: 1 });
  await clock.wait(10);
  await losing(hub, () => send('2'));
  other.tookBehind('a', out.sentToAll());
  sendOther('3');
  await clock.wait(20);
  assert.deepEqual(got, ['1']);
  const reached = into.reachedFrom('a', 2).then(() => got.push('reached'));
  await clock.wait(200);
  assert.deepEqual(got, ['1', '2', '3', 'reached'], 'it was asked for');
  await reached;
  await clock.wait(5000);
  send('4');
  await clock.wait(10);
  await losing(hub, () => send('5'));
  sendOther('6');
  await clock.wait(20);
  assert.deepEqual([got.slice(4), lost], [['4', '6'], []]);
  await into.reachedFrom('a', 1);
  await into.reachedFrom('nobody', 7);
});

test('FramesIn reports lost frames of another sender before it delivers later ones', async (context) => {
  const hub = await three(context);
  const { clock, cluster, out, into, send, sendOther, got, lost } = hub;
  send('1');
  await clock.wait(10);
  await losing(hub, () => send('2'));
  const sent = out.sentToAll();
  cluster.isolate('a');
  const begunMs = clock.nowMs;
  await into.reachedFrom('a', sent.b ?? 0);
  assert.deepEqual([got, lost], [['1'], ['rendered']]);
  assert.ok(clock.nowMs - begunMs >= 999);
  cluster.restore('a');
  await clock.wait(2000);
  assert.deepEqual(got, ['1'], 'it does not come late');
  // The same for frames that arrive, and wait for those of others.
  out.tookBehind('c', { b: 1 });
  send('3');
  await into.reachedFrom('a', 3);
  assert.deepEqual([got, lost.length], [['1'], 2]);
  sendOther('4');
  await clock.wait(2000);
  assert.deepEqual(got, ['1', '4']);
});

test('FramesIn holds frames for no removed sender, and for none longer than a second', async (context) => {
  const { clock, other, into, sendOther, got, lost } = await three(context);
  other.tookBehind('a', { b: 3 });
  sendOther('1');
  const begunMs = clock.nowMs;
  await into.reachedFrom('a', 3);
  assert.ok(clock.nowMs - begunMs <= 1001);
  assert.deepEqual([got, lost], [['1'], ['rendered']], 'after the frames that are reported as lost');
  other.tookBehind('a', { b: 9 });
  sendOther('2');
  await clock.wait(50);
  const reached = into.reachedFrom('a', 9);
  into.gone('a');
  await reached;
  assert.deepEqual(got, ['1', '2']);
});

test('FramesIn drops frames of a removed sender, and reports a loss if that was an owner', async (context) => {
  const { clock, into, send, got, lost } = await pair(context);
  send('1');
  await clock.wait(10);
  into.gone('a');
  assert.deepEqual(lost, []);
  into.joined('a2', { isNew: false });
  into.owners(['a2']);
  into.gone('a2');
  send('2');
  await clock.wait(10);
  assert.deepEqual([got, lost], [['1'], ['ofGone']]);
});

test('FramesIn skips malformed messages, and continues', async (context) => {
  const { clock, a, send, got, protocolErrors, lost } = await pair(context);
  for (const bytes of [
    utf8(''),
    utf8('what?'),
    utf8('x'.repeat(100)),
    ANNOUNCED.pack({ from: 'a', number: 1, events: [], after: 0 }),
  ]) {
    a.publish('hub.e.b', bytes);
  }
  for (const bytes of [utf8(''), utf8('what?'), utf8('["a"]')]) a.publish('hub.f', bytes);
  send('1');
  await clock.wait(10);
  assert.deepEqual([got, protocolErrors.length, lost], [['1'], 7, []]);
  assert.ok(protocolErrors.every((error) => error instanceof MessageError));
});
