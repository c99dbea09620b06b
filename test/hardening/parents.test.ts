import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Motion } from '../../src/core/motion/motion.ts';
import { carriedAlong } from '../../src/entities/moved_zones.ts';
import { State } from '../../src/entities/state.ts';
import type { Zone } from '../../src/model/zone.ts';
import { locationAt, type ShardCommand, ShardHarness } from '../support/shard_harness.ts';

/**
 * Chains of parents in data from before they were bounded. Objects deeper than 32 levels are not moved. With 2,000
 * levels one location took 13 s, since each trackable looked up all of its ancestors.
 */
const LEVELS = 2000;
/** CPU time, which excludes other processes. A garbage collection may affect one attempt, but not all of them. */
const CPU_MS_MAX = 50;
const TRIES_MAX = 3;
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

test('A chain of 2,000 trackables moves 32 levels of them, and lists as many ancestors, in little time', async () => {
  const harness = await ShardHarness.open();
  const chain = Array.from({ length: LEVELS }, (_, n): ShardCommand => {
    const carrier = n === 0 ? { location_providers: ['tag'] } : { parent: uuid(n - 1) };
    return { kind: 'trackable', id: uuid(n), entity: { id: uuid(n), type: 'omlox', ...carrier } };
  });
  harness.tell(0, ...chain);
  const tookMs: number[] = [];
  let deepest: Motion | undefined;
  do {
    const second = tookMs.length + 1;
    harness.takeMotions();
    const before = process.cpuUsage();
    const { motions } = harness.tell(second, locationAt(second, 8, 50, { provider_id: 'tag' }));
    const { user, system } = process.cpuUsage(before);
    tookMs.push((user + system) / 1000);
    deepest = motions.at(-1);
  } while (Math.min(...tookMs) >= CPU_MS_MAX && tookMs.length < TRIES_MAX);
  assert.ok(Math.min(...tookMs) < CPU_MS_MAX, `${tookMs.join(', ')} ms of CPU time`);
  assert.deepEqual(
    harness.takeMotions().map(({ id }) => id),
    Array.from({ length: 33 }, (_, n) => uuid(n)),
  );
  assert.equal(deepest?.kind === 'moved' && deepest.ancestors.length, 32);
});

test('A chain of 2,000 zones is moved for 32 levels', () => {
  const state = new State();
  const zones = Array.from({ length: LEVELS }, (_, n): Zone => {
    const position = { type: 'Point' as const, coordinates: [8, 50] };
    return { id: `z${n}`, type: 'rfid', position, ...(n > 0 && { parent: `z${n - 1}` }) };
  });
  for (const zone of zones) state.set('zone', zone.id, zone);
  const [top] = zones as [Zone];
  const after: Zone = { ...top, position: { type: 'Point', coordinates: [9, 50] } };
  const moved = [...carriedAlong(top, after, { state, levelsMax: 32 })];
  assert.deepEqual(
    moved.map(({ id }) => id),
    Array.from({ length: 32 }, (_, n) => `z${n + 1}`),
  );
});
