import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { packApplied, packHeartbeat, unpackApplied, unpackHeartbeat } from '../../src/cluster/membership/heartbeat.ts';
import { lend } from '../../src/model/borrowed.ts';

const number = fc.double({ min: 0.001, max: 1e15, noNaN: true });
const fields = {
  incarnation: fc.string(),
  applied: fc.nat(),
  clockMs: fc.integer(),
  room: number,
  loads: fc.array(fc.tuple(fc.nat(255), number)).map((pairs) => new Map(pairs)),
};
const beats = fc.record(fields, { noNullPrototype: true });

test('Heartbeats and applied sequences are read as they were written', () => {
  fc.assert(
    fc.property(beats, fc.nat(), (beat, sequence) => {
      assert.deepEqual(unpackHeartbeat(lend(packHeartbeat(beat))), beat);
      const applied = { incarnation: beat.incarnation, sequence };
      assert.deepEqual(unpackApplied(lend(packApplied(applied))), applied);
    }),
    { seed: 31, numRuns: 200 },
  );
});

test('A heartbeat leaves out invalid measurements, so that it arrives nevertheless', () => {
  const loads = new Map([
    [1, NaN],
    [2, 5],
    [3, -1],
    [4, Infinity],
  ]);
  const beat = { incarnation: 'x', applied: 1, clockMs: 1, room: -Infinity, loads };
  assert.deepEqual(unpackHeartbeat(lend(packHeartbeat(beat))), { ...beat, room: 0, loads: new Map([[2, 5]]) });
});

const BAD: readonly [what: string, value: unknown, message: string][] = [
  ['another version', [2, 'x', 1, 1, 1, []], 'version does not fit, found 2'],
  ['no list', { 0: 1 }, 'it is not a list'],
  ['no incarnation', [1, 7, 1, 1, 1, []], 'incarnation does not fit, found 7'],
  ['half a record', [1, 'x', 1.5, 1, 1, []], 'applied does not fit, found 1.5'],
  ['no time', [1, 'x', 1, NaN, 1, []], 'clockMs does not fit, found null'],
  ['negative room', [1, 'x', 1, 1, -1, []], 'room does not fit, found -1'],
  ['no loads', [1, 'x', 1, 1, 1], 'loads does not fit, found nothing'],
  ['a partition without a load', [1, 'x', 1, 1, 1, [3]], 'loads does not fit, found [3]'],
  ['a partition that there is not', [1, 'x', 1, 1, 1, [256, 5]], 'loads does not fit, found [256,5]'],
];

for (const [what, value, message] of BAD) {
  test(`A heartbeat with ${what} is rejected, and the error names it`, () => {
    const bytes = lend(new Packr({ useRecords: false }).pack(value));
    assert.throws(() => unpackHeartbeat(bytes), { name: 'BeatError', message: `Cannot read a beat: ${message}` });
  });
}

test('An applied sequence cannot be read from a truncated message', () => {
  assert.throws(() => unpackApplied(lend(Uint8Array.of(0x93, 1))), {
    name: 'BeatError',
    message: 'Cannot read what a member has applied: 2 bytes are not msgpack',
  });
});
