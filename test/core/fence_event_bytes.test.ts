import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { type FenceChange, fenceEventBytesMax, writeFenceEvent } from '../../src/core/fence/fence_event.ts';
import type { FenceState } from '../../src/core/state.ts';
import { formatTime } from '../../src/model/time.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';

const ID = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
/** Short and long, with quotes, control characters, unpaired surrogates, and characters of one to four bytes. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.string({
    unit: fc.constantFrom('a', '"', '\\', '\u0000', '\u001f', '\u007f', 'ü', '🚂', '\ud800'),
    maxLength: 70,
  }),
);
const optional = fc.option(text, { nil: undefined });
const time = fc.integer({ min: 0, max: 4_000_000_000_000 }).map((units) => units / 2);

const changes = fc.record({
  fenceId: text,
  foreignId: optional,
  properties: fc.option(fc.dictionary(text, text, { maxKeys: 3 }), { nil: undefined }),
  type: fc.constantFrom('region_entry' as const, 'region_exit' as const),
  entryMs: time,
  exitMs: fc.option(time, { nil: undefined }),
  trackableId: optional,
  providerId: optional,
  trackables: fc.array(text, { maxLength: 4 }),
  mark: fc.constantFrom(undefined, 'crossed', 'left', 'right' as const),
  nameProvider: fc.boolean(),
});

it('writes fence events as JSON.stringify does', () => {
  fc.assert(
    fc.property(changes, ({ fenceId, foreignId, properties, nameProvider, mark, ...rest }) => {
      const entity = { id: fenceId, foreign_id: foreignId, properties };
      const change = { ...rest, mark, fence: { id: fenceId, entity, json: undefined } as unknown as FenceState };
      const buffer = newRecordBuffer(1 + fenceEventBytesMax(change as FenceChange));
      const end = writeFenceEvent(buffer, 1, change as FenceChange, ID, { nameProvider });
      assert.ok(end <= buffer.bytes.length, 'within the bound');
      const isNamed = rest.trackableId === undefined || nameProvider;
      const expected = JSON.stringify({
        id: ID,
        fence_id: fenceId,
        event_type: rest.type,
        provider_id: isNamed ? (rest.providerId ?? null) : null,
        trackable_id: rest.trackableId ?? null,
        trackables: rest.trackables,
        foreign_id: foreignId,
        entry_time: formatTime(rest.entryMs),
        exit_time: rest.exitMs === undefined ? undefined : formatTime(rest.exitMs),
        properties: mark === undefined ? properties : { ...properties, ...MARKS[mark] },
      });
      assert.equal(buffer.bytes.toString('utf8', 1, end), expected);
    }),
    { seed: 20_260_414, numRuns: 1000 },
  );
});

const MARKS = {
  crossed: { 'hub.crossed': true },
  left: { 'hub.direction': 'left' },
  right: { 'hub.direction': 'right' },
} as const;
