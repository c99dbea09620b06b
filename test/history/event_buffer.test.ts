import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventBuffer } from '../../src/history/event_buffer.ts';

const EVENT = { id: 'e', event_type: 'region_entry', fence_id: 'f', entry_time: '2026-01-01T00:00:00Z' };

test('An event buffer holds 32 Mi characters of events, and rejects more', () => {
  const buffer = new EventBuffer('fence_events');
  const heavy = JSON.stringify({ ...EVENT, properties: { text: 'p'.repeat(900_000) } });
  const outcomes = Array.from({ length: 100 }, () => buffer.add(heavy, undefined, 0));
  // Each is stored twice: as the event, and as its properties.
  const fits = Math.ceil((32 << 20) / (2 * 900_000));
  assert.deepEqual(
    outcomes,
    outcomes.map((_, i) => (i < fits ? 'added' : 'full')),
  );
  assert.equal(buffer.waiting, fits);
});

test('An event buffer rejects events before the time of its history', () => {
  const buffer = new EventBuffer('fence_events');
  const sinceMs = Date.parse(EVENT.entry_time);
  assert.equal(buffer.add(JSON.stringify(EVENT), undefined, sinceMs + 1), 'tooOld');
  assert.equal(buffer.add(JSON.stringify(EVENT), undefined, sinceMs), 'added');
  assert.equal(buffer.waiting, 1);
});
