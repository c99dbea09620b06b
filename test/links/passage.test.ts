import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NewestItems } from '../../src/links/newest_items.ts';
import { Passage, type PassageSettings, type PassedItem } from '../../src/links/passage.ts';
import { formatTime } from '../../src/model/time.ts';
import { location } from './linked_hubs.ts';

const SETTINGS: PassageSettings = { hubId: 'here', peerId: 'peer', idPrefix: '', sources: {}, minIntervalMs: 0 };

function passage(settings: Partial<PassageSettings> = {}, newest = new NewestItems()): Passage {
  return new Passage({ ...SETTINGS, ...settings }, newest);
}

function take(from: Passage, ...items: readonly unknown[]): readonly PassedItem[] {
  return from.take('location_updates', items, 0);
}

const via = (...hubs: readonly unknown[]) => ({ properties: { 'hub.origin': hubs } });

test('An item that has passed this hub or the other one before is looped', () => {
  for (const [hubs, outcome] of [
    [[], 'passes'],
    [['first'], 'passes'],
    [['here'], 'looped'],
    [['first', 'here', 'second'], 'looped'],
    [['first', 'peer', 'second'], 'looped'],
    [Array.from({ length: 32 }, (_, i) => `hub-${i}`), 'looped'],
    [[7, null, 'first'], 'passes'],
  ] as const) {
    const from = passage();
    const [passed] = take(from, location('tag', 1, via(...hubs)));
    assert.equal(from.counts.looped, outcome === 'looped' ? 1 : 0, JSON.stringify(hubs));
    const known = hubs.filter((hub) => typeof hub === 'string');
    const expected = outcome === 'looped' ? undefined : [...known, 'peer'];
    const value = passed?.value as { properties: Record<string, unknown> } | undefined;
    assert.deepEqual(value?.properties['hub.origin'], expected);
  }
});

test('An item passes once, whichever of two links brings it first', () => {
  const newest = new NewestItems();
  const [direct, detour] = [passage({ peerId: 'a' }, newest), passage({ peerId: 'b' }, newest)];
  assert.equal(take(direct, location('tag', 1)).length, 1);
  assert.equal(take(detour, location('tag', 1, via('a'))).length, 0);
  assert.equal(take(detour, location('tag', 2, via('a'))).length, 1);
  assert.equal(take(direct, location('tag', 2), location('tag', 1)).length, 0);
  assert.deepEqual([direct.counts.duplicates, detour.counts.duplicates], [2, 1]);
  assert.deepEqual([direct.counts.originChanges, detour.counts.originChanges], [0, 0]);
  // The same id at another hub of origin.
  assert.equal(take(detour, location('tag', 3)).length, 1);
  assert.equal(detour.counts.originChanges, 1);
});

test('Items without an id are malformed; items without a valid time pass, for the check of the hub', () => {
  const from = passage();
  const { timestamp_generated: _none, ...timeless } = location('tag') as Record<string, unknown>;
  const strange = [7, null, [], {}, { provider_id: '' }, { provider_id: 7 }];
  assert.equal(take(from, ...strange, timeless, timeless, { ...timeless, timestamp_generated: 'x' }).length, 3);
  assert.deepEqual([from.counts.malformed, from.counts.received], [strange.length, 3]);
});

test('For any arrivals, an interval limits the items of each object, and the newest one arrives', () => {
  const arrival = fc.record({ object: fc.nat(3), waitMs: fc.nat(300), stepMs: fc.integer({ min: -50, max: 200 }) });
  fc.assert(
    fc.property(fc.array(arrival, { maxLength: 80 }), (arrivals) => {
      const minIntervalMs = 250;
      const from = passage({ minIntervalMs });
      const passed = new Map<string, { atMs: number; time: string }[]>();
      const sent = new Map<string, number>();
      const note = (items: readonly PassedItem[], nowMs: number) => {
        for (const { key, value } of items) {
          const time = (value as { timestamp_generated: string }).timestamp_generated;
          passed.set(key, [...(passed.get(key) ?? []), { atMs: nowMs, time }]);
        }
      };
      let nowMs = 0;
      const run = (untilMs: number) => {
        for (let atMs = from.dueMs; atMs <= untilMs; atMs = from.dueMs) note(from.release(atMs), atMs);
        nowMs = untilMs;
      };
      for (const { object, waitMs, stepMs } of arrivals) {
        run(nowMs + waitMs);
        const key = `location_updates tag-${object}`;
        const timeMs = 1_000_000 + nowMs + stepMs;
        sent.set(key, Math.max(sent.get(key) ?? 0, timeMs));
        const item = location(`tag-${object}`, 0, { timestamp_generated: formatTime(timeMs) });
        note(from.take('location_updates', [item], nowMs), nowMs);
      }
      run(nowMs + 2 * minIntervalMs);
      assert.equal(from.held, 0);
      let count = 0;
      for (const [key, times] of passed) {
        count += times.length;
        for (const [i, { atMs }] of times.entries())
          assert.ok(i === 0 || atMs - (times[i - 1]?.atMs ?? 0) >= minIntervalMs);
        assert.equal(times.at(-1)?.time, formatTime(sent.get(key) ?? 0));
      }
      const { received, duplicates, looped, superseded } = from.counts;
      assert.equal(received, count + duplicates + looped + superseded);
    }),
  );
});
