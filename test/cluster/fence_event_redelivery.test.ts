import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { journaledFenceEvents, type RecoveredStep } from '../../src/cluster/journal/journal_recovery.ts';
import { FenceEventWatermarks } from '../../src/cluster/fanout/fence_event_watermarks.ts';
import { EffectWriter } from '../../src/core/effects.ts';
import type { FenceEventJson } from '../../src/core/outcome.ts';
import { copied, lend } from '../../src/model/borrowed.ts';
import {
  type FailedFenceEvent,
  fenceEventsOf,
  type RecordedFenceEvent,
  readRows,
  rowOf,
  withFailedFenceEvents,
  withFenceEvents,
} from '../../src/wire/fence_events.ts';
import { packStep, unpackJournalRecord } from '../../src/wire/journal_record.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';

const textOf = (id: string): string => `{"id":"${id}","fence_id":"fé"}`;
const EVENTS: FenceEventJson[] = [
  [['f', undefined, 'p', undefined, 'region_entry', 'location_provider'], textOf('1')],
  [['f', 'foreign', 'p', 't', 'region_exit', 'trackable'], textOf('2')],
];
const FAILED: FailedFenceEvent[] = EVENTS.map((event, index) => {
  return { event, recordedMs: index, of: 'a1', shard: 1, step: 5, index };
});
const NOTHING = lend(new Uint8Array(0));

/** An event as in the journal of its own member. */
function recorded(event: FenceEventJson, index: number): RecordedFenceEvent {
  return { event, shard: 0, step: 0, index, of: undefined, recordedMs: undefined };
}

function stepOf(text: string): Uint8Array {
  const effects = lend(new TextEncoder().encode(text));
  return packStep({ nowMs: 5, config: 3, clockSteps: [{ toMs: 1, byMs: 2 }], batch: NOTHING, effects });
}

const positions = (step: number, indices: readonly number[], shard = 0) => {
  return { shard, step, indices: Uint32Array.from(indices) };
};

test('FenceEventWatermarks know what each variant has received of the last step of each shard', () => {
  const watermarks = new FenceEventWatermarks();
  watermarks.note('x', 1, positions(7, [0, 2]));
  watermarks.note('x', 2, positions(7, [1]));
  for (const member of ['x', 'y']) watermarks.gone(member, 1);
  const isNew = (variant: number, step: number, index: number, { of = 'x', shard = 0 } = {}): boolean =>
    watermarks.redeliver(of, variant, { shard, step, index });
  assert.deepEqual(
    [0, 1, 2, 3].map((index) => [isNew(1, 7, index), isNew(2, 7, index), isNew(3, 7, index)]),
    [
      [false, false, true],
      [false, false, true],
      [false, true, true],
      [true, true, true],
    ],
  );
  assert.deepEqual([isNew(3, 6, 9), isNew(1, 8, 0)], [false, true]);
  assert.deepEqual([isNew(1, 6, 9, { of: 'y' }), isNew(1, 6, 9, { shard: 1 })], [true, true], 'not the same events');
});

test('FenceEventWatermarks know which interest a removed member had acknowledged, and none of other members', () => {
  const watermarks = new FenceEventWatermarks();
  watermarks.note('x', 1, positions(7, [0]));
  watermarks.gone('x', 3);
  assert.deepEqual([watermarks.acknowledgedBy('x'), watermarks.acknowledgedBy('from before this hub')], [3, -1]);
});

test('Steps before those that an acknowledgement names are received, in each shard', () => {
  const watermarks = new FenceEventWatermarks();
  watermarks.note('x', 1, positions(7, [0]));
  watermarks.reach('x', [7, 4]);
  watermarks.reach('x', [5, 3]);
  watermarks.gone('x', 1);
  const isNew = (shard: number, step: number, index: number): boolean =>
    watermarks.redeliver('x', 1, { shard, step, index });
  assert.deepEqual(
    [isNew(0, 6, 9), isNew(0, 7, 0), isNew(0, 7, 1), isNew(1, 3, 9), isNew(1, 4, 0), isNew(2, 0, 0)],
    [false, false, true, false, true, true],
  );
});

test('Subscribers receive each fence event of a failed hub exactly once, wherever it fails', () => {
  const steps = fc.array(fc.array(fc.subarray([1, 2, 3]), { minLength: 1, maxLength: 4 }), { maxLength: 5 });
  fc.assert(
    fc.property(steps, fc.nat(), fc.array(fc.nat(), { maxLength: 3 }), (made, cut, orders) => {
      const watermarks = new FenceEventWatermarks();
      const received: string[] = [];
      // Variants of each event of each step; a variant gets its events of a step in one or two blocks.
      const all = made.flatMap((events, step) => {
        return events.flatMap((variants, index) => variants.map((variant) => ({ variant, shard: 0, step, index })));
      });
      const blocks = made.flatMap((events, step) =>
        [1, 2, 3].flatMap((variant) => {
          const own = events.flatMap((variants, index) => (variants.includes(variant) ? [index] : []));
          return [own.slice(0, 1), own.slice(1)]
            .filter(({ length }) => length > 0)
            .map((part) => ({ variant, step, part }));
        }),
      );
      for (const { variant, step, part } of blocks.slice(0, cut % (blocks.length + 1))) {
        watermarks.note('x', variant, positions(step, part));
        received.push(...part.map((index) => `${variant} ${step} ${index}`));
      }
      watermarks.gone('x', 1);
      // Several successors redeliver it, in any order, and some of them again.
      for (const order of [0, ...orders]) {
        const rotated = [...all.slice(order % (all.length + 1)), ...all.slice(0, order % (all.length + 1))];
        for (const { variant, ...position } of rotated) {
          if (!watermarks.redeliver('x', variant, position)) continue;
          received.push(`${variant} ${position.step} ${position.index}`);
        }
      }
      assert.deepEqual(
        received.toSorted(),
        all.map(({ variant, step, index }) => `${variant} ${step} ${index}`).toSorted(),
      );
    }),
    { seed: 36 },
  );
});

test('FenceEventWatermarks of the last hundred removed members remain', () => {
  const watermarks = new FenceEventWatermarks();
  const next = { shard: 0, step: 1, index: 0 };
  for (let i = 0; i <= 100; i++) {
    watermarks.note(`m${i}`, 1, positions(0, [0]));
    watermarks.gone(`m${i}`, 1);
  }
  assert.deepEqual([watermarks.acknowledgedBy('m1'), watermarks.acknowledgedBy('m0')], [1, -1]);
  assert.equal(watermarks.redeliver('m1', 1, { ...next, step: 0 }), false);
});

test('withFenceEvents keeps the events of a step with its record', () => {
  const record = stepOf('effects');
  const position = { shard: 2, step: 9 };
  assert.equal(withFenceEvents(record, { ...position, events: [] }), record);
  const published = withFenceEvents(record, { ...position, events: EVENTS });
  const [read, plain] = [unpackJournalRecord(published), unpackJournalRecord(record)];
  assert.ok(read.kind === 'step' && plain.kind === 'step');
  assert.deepEqual(
    read.fenceEvents,
    EVENTS.map((event, index) => ({ event, ...position, index, of: undefined, recordedMs: undefined })),
  );
  assert.deepEqual([read.endMs, read.config, Buffer.from(read.step.effects).toString()], [3, 3, 'effects']);
  assert.deepEqual([plain.fenceEvents, read.step.clockSteps], [undefined, plain.step.clockSteps]);
  for (let length = 0; length < published.length - record.length; length++) {
    assert.throws(() => unpackJournalRecord(published.subarray(0, length)), { name: 'JournalRecordError' });
  }
  assert.equal(fenceEventsOf(record), undefined);
});

test('withFailedFenceEvents keeps the members, times and positions of events', () => {
  const read = unpackJournalRecord(withFailedFenceEvents(stepOf(''), FAILED));
  assert.ok(read.kind === 'step');
  assert.deepEqual(read.fenceEvents, FAILED);
});

test('journaledFenceEvents are those of all steps, in order, with their member and time', () => {
  const step = { batch: new Uint8Array(0), effects: new Uint8Array(0) };
  const own = recorded([['f'], 'own'], 4);
  const earlier = [{ endMs: 1000, step, fenceEvents: [own] }];
  const steps = [
    { endMs: 6000, step, fenceEvents: FAILED },
    { endMs: 9000, step },
  ];
  assert.deepEqual(
    journaledFenceEvents('b1', { earlier, steps, released: [], delivered: new Set() }, () => false),
    [{ ...own, of: 'b1', recordedMs: 1000 }, ...FAILED],
  );
});

test('journaledFenceEvents are without those of objects that had left, and arrived elsewhere, since', () => {
  const eventOf = (id: string, endMs: number): FenceEventJson => {
    return [['f', undefined, id, undefined, 'region_entry', 'location_provider'], `${id} ${endMs}`];
  };
  const stepAt = (endMs: number, ...ids: string[]): RecoveredStep => ({
    endMs,
    step: { batch: new Uint8Array(0), effects: new Uint8Array(0) },
    fenceEvents: ids.map((id, index) => recorded(eventOf(id, endMs), index)),
  });
  const effects = new EffectWriter(newRecordBuffer);
  const nowhere = { kind: 'provider', id: 'p', fix: undefined, members: [], suppressUntilMs: 0, changes: 0 };
  effects.write(nowhere as never, { withMembers: true, isLocated: false, hasZone: () => false, shared: -1 });
  const step = { batch: new Uint8Array(0), effects: copied(effects.take()) };
  const common = { kind: 'released' as const, config: 1, sequence: 7, step };
  const published = (isPending: boolean, { endMs = 3, isDelivered = false } = {}): readonly string[] => {
    const record = { ...common, endMs };
    // A release precedes the step that it belongs to.
    const steps = [stepAt(1, 'p', 'q'), record, stepAt(3, 'p', 'q'), stepAt(5, 'p', 'q')];
    const left = { earlier: [], steps, released: [record], delivered: new Set(isDelivered ? [record] : []) };
    return journaledFenceEvents('a1', left, () => isPending).map(({ event: [, text] }) => text);
  };
  assert.deepEqual(published(false), ['q 1', 'q 3', 'p 5', 'q 5']);
  assert.deepEqual(published(true), ['p 1', 'q 1', 'p 3', 'q 3', 'p 5', 'q 5']);
  // Its next owner may have published events before it appended that it has the object.
  assert.deepEqual(published(true, { isDelivered: true }), ['q 1', 'q 3', 'p 5', 'q 5']);
  // It has left with a step without effects: the next one is of its return.
  assert.deepEqual(published(false, { endMs: 2 }), ['q 1', 'p 3', 'q 3', 'p 5', 'q 5']);
});

test('Rows of fence events are read as they were written, and nothing else is', () => {
  assert.deepEqual(readRows(JSON.parse(JSON.stringify(FAILED.map(rowOf)))), FAILED);
  for (const text of [
    '1',
    '{}',
    '[1]',
    '[[["f"]]]',
    '[[1,"text",2]]',
    '[[["f"],"text"]]',
    '[[["f"],"text",1,"a1",0,0,-1]]',
  ]) {
    assert.equal(readRows(JSON.parse(text)), undefined);
  }
});
