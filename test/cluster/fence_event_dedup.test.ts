import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packFenceEvents, readFenceEvents } from '../../src/cluster/fanout/fanout_message.ts';
import { lastFenceEvents, type RecoveredStep } from '../../src/cluster/journal/journal_recovery.ts';
import { eventIdOf, FenceEventDedup } from '../../src/cluster/fanout/fence_event_dedup.ts';
import { EffectWriter } from '../../src/core/effects.ts';
import type { FenceEventJson } from '../../src/core/outcome.ts';
import { copied, lend } from '../../src/model/borrowed.ts';
import { joined } from '../../src/model/event_batch.ts';
import { fenceEventsOf, withFenceEvents } from '../../src/wire/fence_events.ts';
import { packStep, unpackJournalRecord } from '../../src/wire/journal_record.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';

const textOf = (id: string): string => `{"id":"${id}","fence_id":"fé"}`;
const featureOf = (id: string): string =>
  `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":${textOf(id)}}]}`;
const EVENTS: FenceEventJson[] = [
  [['f', undefined, 'p', undefined, 'region_entry', 'location_provider'], textOf('1')],
  [['f', 'foreign', 'p', 't', 'region_exit', 'trackable'], textOf('2')],
];
const NOTHING = lend(new Uint8Array(0));

function stepOf(text: string): Uint8Array {
  const effects = lend(new TextEncoder().encode(text));
  return packStep({ nowMs: 5, config: 3, setBacks: [{ toMs: 1, byMs: 2 }], batch: NOTHING, effects });
}

test('FenceEventDedup identifies the events of each variant by their ids, in JSON and in GeoJSON', () => {
  const published = new FenceEventDedup();
  for (const [variant, texts] of [
    [1, ['a', 'b', 'é'].map(textOf)],
    [2, ['a'].map(featureOf)],
  ] as const) {
    const { bytes, ends } = joined(texts);
    published.noteAll('x', { variant, bytes: lend(bytes), ends, fields: undefined });
  }
  const has = (variant: number, text: string): boolean => published.has(variant, eventIdOf(text));
  assert.deepEqual([has(1, textOf('a')), has(1, textOf('b')), has(2, featureOf('a'))], [true, true, true]);
  assert.deepEqual([has(2, featureOf('b')), has(1, textOf('c')), has(3, textOf('a'))], [false, false, false]);
});

test('FenceEventDedup forgets old events of a sender, and a sender a minute after its removal', () => {
  const published = new FenceEventDedup();
  const pass = (seconds: number): void => {
    for (let i = 0; i < seconds; i++) published.beat();
  };
  published.note('x', 1, 'a');
  pass(100);
  assert.equal(published.has(1, 'a'), true, 'it was the last one');
  published.note('x', 1, 'b');
  assert.equal(published.has(1, 'a'), false);
  published.gone('x');
  pass(59);
  assert.equal(published.has(1, 'b'), true);
  pass(2);
  assert.equal(published.has(1, 'b'), false);
});

test('FenceEventDedup remembers 100,000 events of a sender', () => {
  const published = new FenceEventDedup();
  for (let i = 0; i < 100_001; i++) published.note('x', 1, `${i}`);
  assert.deepEqual([published.has(1, '0'), published.has(1, '1')], [false, true]);
});

test('withFenceEvents keeps the events of a step with its record', () => {
  const record = stepOf('effects');
  assert.equal(withFenceEvents(record, []), record);
  const published = withFenceEvents(record, EVENTS);
  const [read, plain] = [unpackJournalRecord(published), unpackJournalRecord(record)];
  assert.ok(read.kind === 'step' && plain.kind === 'step');
  assert.deepEqual(read.fenceEvents, EVENTS);
  assert.deepEqual([read.endMs, read.config, Buffer.from(read.step.effects).toString()], [3, 3, 'effects']);
  assert.deepEqual([plain.fenceEvents, read.step.setBacks], [undefined, plain.step.setBacks]);
  for (let length = 0; length < published.length - record.length; length++) {
    assert.throws(() => unpackJournalRecord(published.subarray(0, length)), { name: 'JournalRecordError' });
  }
  assert.equal(fenceEventsOf(record), undefined);
});

test('lastFenceEvents are those that were stored in the last five seconds of a journal, in order', () => {
  const step = { batch: new Uint8Array(0), effects: new Uint8Array(0) };
  const stepAt = (endMs: number, keptByMs = endMs): RecoveredStep => {
    return { endMs, keptByMs, step, fenceEvents: [[['f'], `${endMs}`]] };
  };
  const last = { endMs: 9000, keptByMs: Infinity, step };
  const published = (earlier: readonly RecoveredStep[], steps: readonly RecoveredStep[]) => {
    const events = lastFenceEvents('a1', { earlier, steps, released: [] }, () => false);
    return events.map(({ event: [, text], recordedMs }) => [text, recordedMs]);
  };
  assert.deepEqual(published([stepAt(1000), stepAt(4000)], [stepAt(6000), last]), [
    ['4000', 4000],
    ['6000', 6000],
  ]);
  // A step that ended long before it could be stored was not published earlier.
  assert.deepEqual(published([stepAt(1000), stepAt(2000, 4000)], [last]), [['2000', 2000]]);
  assert.deepEqual(published([], []), []);
});

test('lastFenceEvents are without those of objects that had left, and arrived elsewhere, since', () => {
  const eventOf = (id: string, endMs: number): FenceEventJson => {
    return [['f', undefined, id, undefined, 'region_entry', 'location_provider'], `${id} ${endMs}`];
  };
  const stepAt = (endMs: number, ...ids: string[]): RecoveredStep => ({
    endMs,
    keptByMs: endMs,
    step: { batch: new Uint8Array(0), effects: new Uint8Array(0) },
    fenceEvents: ids.map((id) => eventOf(id, endMs)),
  });
  const effects = new EffectWriter(newRecordBuffer);
  const nowhere = { kind: 'provider', id: 'p', fix: undefined, members: [], suppressUntilMs: 0, changes: 0 };
  effects.write(nowhere as never, { withMembers: true, isLocated: false, hasZone: () => false, shared: -1 });
  const step = { batch: new Uint8Array(0), effects: copied(effects.take()) };
  const common = { kind: 'released' as const, keptByMs: 3, config: 1, sequence: 7, isRelayed: false, step };
  const published = (isPending: boolean, { isRelayed = false, endMs = 3 } = {}): readonly string[] => {
    const record = { ...common, isRelayed, endMs };
    // A release precedes the step that it belongs to.
    const steps = [stepAt(1, 'p', 'q'), record, stepAt(3, 'p', 'q'), stepAt(5, 'p', 'q')];
    const left = { earlier: [], steps, released: [record] };
    return lastFenceEvents('a1', left, () => isPending).map(({ event: [, text] }) => text);
  };
  assert.deepEqual(published(false), ['q 1', 'q 3', 'p 5', 'q 5']);
  assert.deepEqual(published(true), ['p 1', 'q 1', 'p 3', 'q 3', 'p 5', 'q 5']);
  // It has left with a step without effects: the next one is of its return.
  assert.deepEqual(published(false, { endMs: 2 }), ['q 1', 'p 3', 'q 3', 'p 5', 'q 5']);
  // Relayed state of a previous owner says nothing about this one's published events.
  assert.deepEqual(published(false, { isRelayed: true }), ['p 1', 'q 1', 'p 3', 'q 3', 'p 5', 'q 5']);
});

test('readFenceEvents reads the output of packFenceEvents, and nothing else', () => {
  const events = EVENTS.map((event, i) => ({ event, recordedMs: i, of: 'a1' }));
  assert.deepEqual(readFenceEvents(packFenceEvents(events)), events);
  for (const text of ['', '{}', '[1]', '[[["f"]]]', '[[1,"text",2]]', '[[["f"],"text"]]']) {
    assert.throws(() => readFenceEvents(text), { name: 'FrameFormatError' });
  }
});
