import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { Bus } from '../../src/cluster/bus.ts';
import { BlockPacker, FrameFormatError, FrameWriter, readFrame } from '../../src/cluster/event_frame.ts';
import type { AnnouncedEvent } from '../../src/cluster/fan_out_message.ts';
import { packAnnounced } from '../../src/cluster/fan_out_message.ts';
import { FramesIn } from '../../src/cluster/frames_in.ts';
import { FramesOut } from '../../src/cluster/frames_out.ts';
import { Batch } from '../../src/fanout/batch.ts';
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
  return new Batch(look(bytes), ends).texts;
}

const variant = (id: number): Variant => ({ id, topic: 'location_updates', crs: 'local' });

/** What b gets of the frames that a sends; its variant is 7. */
async function pair(context: TestContext) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const cluster = new SimulatedCluster({ clock, seed: 1 });
  const [a, b]: [Bus, Bus] = [cluster.bus('a'), cluster.bus('b')];
  const sizes: number[] = [];
  const sending: Pick<Bus, 'publish'> = {
    publish(subject, bytes) {
      sizes.push(bytes.length);
      return a.publish(subject, bytes);
    },
  };
  const got: string[] = [];
  const announced: AnnouncedEvent[] = [];
  const lost: string[] = [];
  const misfits: unknown[] = [];
  const out = new FramesOut({ bus: sending, name: 'hub', self: 'a' });
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
    misfit: (error) => misfits.push(error),
    schedule: clock.schedule,
  });
  await Promise.all([up(a), into.ready()]);
  out.joined('b');
  into.joined('a', { isNew: false });
  into.heard('a', out.sentTo('b'));
  const send = (...texts: string[]): void => out.forward(batchOf(texts), new Map([['b', variant(7)]]));
  return { clock, cluster, a, out, into, send, sizes, got, announced, lost, misfits };
}

const FIELD = fc.oneof(
  fc.string(),
  fc.double({ noNaN: true }).map((value) => value + 0),
  fc.boolean(),
  fc.constant(undefined),
);
const EVENTS = fc.array(fc.tuple(fc.string({ minLength: 1, unit: 'grapheme' }), fc.array(FIELD)), { minLength: 1 });

test('FrameWriter and readFrame carry events of any variants, with fields and without', () => {
  const packer = new BlockPacker();
  const writer = new FrameWriter('a hub');
  const blocks = fc.array(fc.tuple(EVENTS, fc.boolean(), fc.nat()), { maxLength: 5 });
  fc.assert(
    fc.property(blocks, fc.nat(), fc.nat(), (given, number, after) => {
      const batches = given.map(([events, hasFields, id]) => {
        const texts = events.map(([text]) => text);
        return batchOf(texts, hasFields ? events.map(([, fields]) => fields) : undefined, id);
      });
      for (const batch of batches) {
        // In two parts, where it has two events.
        const cut = batch.ends.length >> 1;
        if (cut > 0) writer.add(batch.variant, packer.pack(batch, 0, cut));
        writer.add(batch.variant, packer.pack(batch, cut, batch.ends.length));
      }
      const frame = readFrame(lend(Buffer.from(writer.take({ number, announced: 3, after, isLast: number === 2 }))));
      assert.deepEqual([frame.from, frame.number, frame.announced, frame.after], ['a hub', number, 3, after]);
      assert.deepEqual(frame.blocks.flatMap(textsOf), batches.flatMap(textsOf));
      const fieldsOf = (all: readonly EventBatch[]) =>
        all.flatMap(({ fields, ends }) => fields ?? [...ends].map(() => 0));
      assert.deepEqual(fieldsOf(frame.blocks), fieldsOf(batches));
    }),
    { seed: 3, numRuns: 300 },
  );
});

test('readFrame refuses what is no frame, and nothing else happens', () => {
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
  const frame = Buffer.from(writer.take({ number: 1, announced: 0, after: 0, isLast: false }));
  for (let length = 0; length < frame.length; length++) {
    assert.throws(() => readFrame(lend(frame.subarray(0, length))), FrameFormatError);
  }
  const dice = diceOf(5);
  for (let i = 0; i < 20_000; i++) {
    const broken = Buffer.from(frame);
    for (let flips = 1 + dice(3); flips > 0; flips--) broken[dice(broken.length)] = dice(256);
    try {
      for (const block of readFrame(lend(broken)).blocks) assert.equal(textsOf(block).length, block.ends.length);
    } catch (error) {
      assert.ok(error instanceof FrameFormatError, String(error));
    }
  }
});

test('FramesOut cuts what is large into messages of a megabyte, at the ends of events', async (context) => {
  const { clock, send, sizes, got, lost } = await pair(context);
  const texts = Array.from({ length: 30_000 }, (_, i) => `{"n":${i},"more":"${'x'.repeat(i % 300)}"}`);
  send(...texts);
  send('{"n":"last"}');
  await clock.wait(100);
  assert.deepEqual([got.length, lost], [30_001, []]);
  assert.deepEqual(got, [...texts, '{"n":"last"}']);
  assert.ok(sizes.length >= 5 && Math.max(...sizes) < 1.3 * 2 ** 20, sizes.join());
});

test('FramesOut sends in one message what is published in one turn', async (context) => {
  const { clock, send, sizes, got } = await pair(context);
  for (let i = 0; i < 10; i++) send(`${i}`);
  await clock.wait(10);
  assert.deepEqual([sizes.length, got.join('')], [1, '0123456789']);
});

test('FramesIn tells of an event that is too large to be sent', async (context) => {
  const { clock, send, got, lost } = await pair(context);
  send('x'.repeat(9_000_000));
  await clock.wait(10);
  send('{}');
  await clock.wait(10);
  assert.deepEqual([got, lost], [['{}'], ['rendered']]);
});

test('FramesIn tells of the last message too when it is missing, once the sender beats', async (context) => {
  const { cluster, clock, out, send, lost, got, announced } = await pair(context);
  send('1');
  out.announce('proximity', 'p');
  await clock.wait(10);
  cluster.mishaps.dropped = 1000;
  send('2');
  await clock.wait(10);
  cluster.mishaps.dropped = 0;
  out.beat();
  await clock.wait(10);
  assert.deepEqual(lost, ['rendered']);
  cluster.mishaps.dropped = 1000;
  out.announce('fenceEvent', 'f');
  await clock.wait(10);
  cluster.mishaps.dropped = 0;
  out.beat();
  out.beat();
  await clock.wait(10);
  assert.deepEqual(lost, ['rendered', 'announced']);
  assert.deepEqual([got, announced], [['1'], [['proximity', 'p']]]);
});

test('FramesIn tells of what a sender says to have sent when it answers, and of what could not be sent', async (context) => {
  const { cluster, clock, out, into, send, lost } = await pair(context);
  cluster.isolate('a');
  await clock.wait(10);
  send('1');
  await clock.wait(10);
  assert.deepEqual(lost, []);
  into.heard('a', out.sentTo('b'));
  assert.deepEqual(lost, ['rendered']);
});

test('FramesIn takes each message once', async (context) => {
  const { clock, a, got, announced, lost } = await pair(context);
  const writer = new FrameWriter('a');
  writer.add(7, new BlockPacker().pack(batchOf(['1']), 0, 1));
  const frame = writer.take({ number: 1, announced: 0, after: 0, isLast: false });
  const message = packAnnounced({ from: 'a', number: 1, events: [['proximity', 'p']] });
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

test('FramesIn drops what comes of who is gone, and tells if that was an owner', async (context) => {
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
  assert.deepEqual([got, lost], [['1'], ['rendered']]);
});

test('FramesIn passes over messages that do not fit, and goes on', async (context) => {
  const { clock, a, send, got, misfits, lost } = await pair(context);
  for (const bytes of [
    utf8(''),
    utf8('what?'),
    utf8('x'.repeat(100)),
    packAnnounced({ from: 'a', number: 1, events: [] }),
  ]) {
    a.publish('hub.e.b', bytes);
  }
  for (const bytes of [utf8(''), utf8('what?'), utf8('["a"]')]) a.publish('hub.f', bytes);
  send('1');
  await clock.wait(10);
  assert.deepEqual([got, misfits.length, lost], [['1'], 7, []]);
  assert.ok(misfits.every((error) => error instanceof FrameFormatError));
});
