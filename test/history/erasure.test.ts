import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Erasure } from '../../src/history/erasure.ts';
import { HISTORY_TOPICS } from '../../src/model/history.ts';
import { EVER } from '../../src/history/queries/query.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { Bench, EVERYTHING, NOW_MS } from './recorded_places.ts';

const CHILD = new URL('./erasing_child.ts', import.meta.url).pathname;
const STRIPPED = new URL('../stripped.mjs', import.meta.url).pathname;
const HOUR_MS = 3_600_000;
/** Processes that erase at once. */
const AT_ONCE = 6;
const [ANNA, BERND] = ['anna', 'bernd'] as const;

function erasureOf(more: Partial<Erasure> = {}): Erasure {
  return { id: randomUUID(), kind: 'trackable', of: ANNA, ...EVER, ...more };
}

const fenceEvent = (object: object) =>
  JSON.stringify({ id: randomUUID(), event_type: 'region_entry', fence_id: 'f', entry_time: at(0), ...object });
const collision = (...ids: readonly string[]) =>
  JSON.stringify({
    ...{ id: randomUUID(), collision_type: 'collision_start', start_time: at(0) },
    collisions: ids.map((id) => ({ id })),
  });
const at = (ms: number) => new Date(NOW_MS + ms).toISOString();

/** Records two trackables and their tags in two hours, with their events. The first hour is in files. */
async function record(bench: Bench): Promise<void> {
  for (const hour of [0, 1]) {
    const places = Array.from({ length: 20 }, (_, i) => ({ timeMs: NOW_MS + hour * HOUR_MS + 1000 * i }));
    bench.add(...places.flatMap((place) => ['a', 'b'].map((id) => ({ ...place, id }))));
    bench.add(...places.flatMap((place) => [ANNA, BERND].map((id) => ({ ...place, id, topic: 'motions' as const }))));
    if (hour === 0) await bench.pass(5000);
  }
  bench.recorder.events('fence_events', [
    fenceEvent({ trackable_id: ANNA, provider_id: 'a' }),
    fenceEvent({ trackable_id: BERND, provider_id: 'b' }),
    fenceEvent({ provider_id: 'a', trackables: [ANNA] }),
    fenceEvent({ provider_id: 'b', trackables: ['annabel', BERND] }),
  ]);
  bench.recorder.events('collision_events', [collision(ANNA, BERND), collision(BERND, 'carl')]);
}

/** Numbers of rows by topic and object. */
async function counted(bench: Bench): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  const count = (key: string) => {
    counts[key] = (counts[key] ?? 0) + 1;
  };
  const columns = {
    locations: 'id',
    motions: 'id',
    fence_events: 'object_id',
    collision_events: 'trackable_1',
  } as const;
  for (const topic of HISTORY_TOPICS) {
    if (!existsSync(join(bench.folder, topic))) continue;
    for (const { id } of await bench.rows(topic, `${columns[topic]} AS id`)) count(`${topic} ${id}`);
  }
  return counts;
}

const OF_ALL = {
  ...{ 'locations a': 40, 'locations b': 40, 'motions anna': 40, 'motions bernd': 40 },
  ...{
    'fence_events anna': 1,
    'fence_events bernd': 1,
    'fence_events a': 1,
    'fence_events b': 1,
    'collision_events anna': 1,
    'collision_events bernd': 1,
  },
};
const WITHOUT_ANNA = {
  ...{ 'locations a': 40, 'locations b': 40, 'motions bernd': 40 },
  ...{ 'fence_events bernd': 1, 'fence_events b': 1, 'collision_events bernd': 1 },
};

test('An erasure removes the positions of a trackable and all events that name it, also unwritten ones', async (t) => {
  const bench = new Bench(t);
  await record(bench);
  const { rows, damaged } = await bench.recorder.erase(erasureOf());
  assert.deepEqual(rows, { locations: 0, motions: 40, fence_events: 2, collision_events: 1 });
  assert.equal(damaged, 0);
  assert.deepEqual(await counted(bench), WITHOUT_ANNA);
  assert.deepEqual(await bench.recorder.erase(erasureOf()).then((again) => again.rows.motions), 0);
  // Merged files have no erased rows either, and lose none of the others.
  await bench.pass(2 * HOUR_MS + 120_000);
  assert.deepEqual(await counted(bench), WITHOUT_ANNA);
});

test('An erasure of a provider removes its locations and own events in a span, and nothing of its trackable', async (t) => {
  const bench = new Bench(t);
  await record(bench);
  bench.recorder.release((await bench.recorder.files(EVERYTHING)).lease);
  assert.deepEqual(await counted(bench), OF_ALL);
  const { rows } = await bench.recorder.erase(
    erasureOf({ kind: 'provider', of: 'a', fromMs: NOW_MS, toMs: NOW_MS + 10_000 }),
  );
  assert.deepEqual(rows, { locations: 10, motions: 0, fence_events: 1, collision_events: 0 });
  const { 'fence_events a': _, ...others } = OF_ALL;
  assert.deepEqual(await counted(bench), { ...others, 'locations a': 30 });
});

test('An erasure leaves a file to a reader that uses it, and counts files that it cannot read', async (t) => {
  const bench = new Bench(t);
  await record(bench);
  const { lease, files } = await bench.recorder.files(EVERYTHING);
  const ofFirstHour = files.find(({ topic, hourMs }) => topic === 'motions' && hourMs === NOW_MS);
  const ofSecondHour = files.find(({ topic, hourMs }) => topic === 'motions' && hourMs !== NOW_MS);
  assert.ok(ofFirstHour && ofSecondHour);
  truncateSync(ofSecondHour.path, 100);
  const { rows, damaged } = await bench.recorder.erase(erasureOf());
  assert.deepEqual([rows.motions, damaged], [20, 1]);
  assert.ok(existsSync(ofFirstHour.path));
  bench.recorder.release(lease);
  assert.ok(!existsSync(ofFirstHour.path));
});

test('An erasure whose process is killed before any of its steps is done after a restart, and loses no other row', async (t) => {
  const source = new Bench(t);
  source.add(...[ANNA, BERND].map((id) => ({ id, timeMs: NOW_MS, topic: 'motions' as const })));
  source.recorder.events('collision_events', [collision(ANNA, BERND), collision(BERND, 'carl')]);
  await source.recorder.close();
  const parent = temporaryFolder();
  const erasure = erasureOf();
  let interrupted = 0;
  const isErasedAt = async (step: number): Promise<boolean> => {
    const folder = join(parent, String(step));
    cpSync(source.folder, folder, { recursive: true });
    const child = spawn(
      process.execPath,
      ['--import', STRIPPED, CHILD, folder, String(step), JSON.stringify(erasure)],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
    const [status, signal] = await once(child, 'exit');
    const isErased = status === 0;
    assert.equal(signal, isErased ? null : 'SIGKILL');
    const isStored = existsSync(join(folder, 'erasures', `${erasure.id}.json`));
    if (isStored) interrupted++;
    const bench = new Bench(t, { folder });
    await recovered(bench);
    const expected = isStored || isErased ? {} : { 'motions anna': 1, 'collision_events anna': 1 };
    assert.deepEqual(
      await counted(bench),
      { 'motions bernd': 1, 'collision_events bernd': 1, ...expected },
      `step ${step}`,
    );
    assert.equal(bench.state.damaged, 0);
    assert.deepEqual([requestsIn(folder), leftovers(folder)], [[], []], `step ${step}`);
    await bench.recorder.close();
    return isErased;
  };
  for (let first = 1, isOver = false; !isOver; first += AT_ONCE) {
    assert.ok(first < 100, 'it ends');
    const erased = await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => isErasedAt(first + i)));
    isOver = erased.includes(true);
  }
  assert.ok(interrupted > 10, `${interrupted} steps were interrupted`);
});

/** Waits until a restarted recorder has no pending request. */
async function recovered(bench: Bench): Promise<void> {
  const resumed = () => bench.notices.includes('An interrupted erasure of the history is complete');
  do await bench.done();
  while (requestsIn(bench.folder).length > 0 && !resumed());
}

function requestsIn(folder: string): readonly string[] {
  const requests = join(folder, 'erasures');
  return existsSync(requests) ? readdirSync(requests) : [];
}

function leftovers(folder: string): readonly string[] {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return all.filter((path) => path.endsWith('.writing'));
}
