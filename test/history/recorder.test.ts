import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as later } from 'node:timers/promises';
import { Bench, EVERYTHING, inBlock, NOW_MS, openPlaceWriter, type Place, placeBytes } from './recorded_places.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A retention that nothing exceeds. */
const FOREVER = { retentionMs: Number.POSITIVE_INFINITY };

/** Positions of some objects, a second apart. */
function walk(rows: number, { startMs = NOW_MS, objects = 10 } = {}): readonly Place[] {
  return Array.from({ length: rows }, (_, i) => ({ id: `tag ${i % objects}`, timeMs: startMs + 1000 * i }));
}

function entry(fence: string, entryTime: string): string {
  return JSON.stringify({
    id: randomUUID(),
    event_type: 'region_entry',
    fence_id: fence,
    provider_id: 'a',
    entry_time: entryTime,
  });
}

/** Files below the folder of a history, relative to it. */
function filesIn({ folder }: { readonly folder: string }): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map((found) => join(found.parentPath, found.name).slice(folder.length + 1))
    .sort();
}

test('Recorder retains rows that arrive while it writes', async (t) => {
  const bench = new Bench(t);
  await bench.done();
  let added = 20_000;
  bench.add(...walk(added));
  bench.recorder.events('fence_events', [entry('gate', '2026-03-01T10:00:00Z')]);
  let isWriting = true;
  const writing = bench.recorder.files(EVERYTHING).then(() => {
    isWriting = false;
  });
  let turns = 0;
  for (; isWriting; turns++) {
    bench.add(...walk(10, { startMs: NOW_MS + 1e6 + turns }));
    bench.recorder.events('fence_events', [entry('gate', '2026-03-01T10:00:01Z')]);
    added += 10;
    await later();
  }
  await writing;
  assert.ok(turns > 2, 'nothing arrived while it wrote');
  await bench.recorder.files(EVERYTHING);
  assert.equal((await bench.rows('locations')).length, added);
  assert.equal((await bench.rows('fence_events')).length, 1 + turns);
  assert.equal(bench.state.topics.locations.recorded, added);
});

test('Recorder writes locations and motions by the hour, in the order of ids and times, with all known fields', async (t) => {
  const bench = new Bench(t, { withProperties: true });
  const before = NOW_MS - 1;
  bench.add(
    { id: 'b', timeMs: NOW_MS + 5 },
    { id: 'b', timeMs: NOW_MS + 0.25, zoneId: 'hall 1' },
    { id: "a'ß", timeMs: before, members: '"provider_id":"x","properties":{"n":1}' },
    { id: 'cart', timeMs: NOW_MS, topic: 'motions' },
  );
  await bench.pass(5000);
  assert.deepEqual(filesIn(bench), [
    'locations/date=2026-03-01/hour=09/part-1.parquet',
    'locations/date=2026-03-01/hour=10/part-1.parquet',
    'motions/date=2026-03-01/hour=10/part-1.parquet',
  ]);
  const rows = await bench.rows(
    'locations',
    'time, id, provider_id, zone_id, x, z, accuracy, speed, properties, received',
  );
  const known = { zone_id: null, x: null, z: null, accuracy: 0.5, speed: null, properties: null };
  assert.deepEqual(rows, [
    {
      ...known,
      time: '2026-03-01 09:59:59.999+00',
      id: "a'ß",
      provider_id: "a'ß",
      properties: '{"n":1}',
      received: '2026-03-01 10:00:00+00',
    },
    {
      ...known,
      time: '2026-03-01 10:00:00.00025+00',
      id: 'b',
      provider_id: 'b',
      zone_id: 'hall 1',
      x: 1,
      received: '2026-03-01 10:00:00.00125+00',
    },
    { ...known, time: '2026-03-01 10:00:00.005+00', id: 'b', provider_id: 'b', received: '2026-03-01 10:00:00.006+00' },
  ]);
  assert.deepEqual(await bench.rows('motions', 'id, provider_id'), [{ id: 'cart', provider_id: 'tag' }]);
});

test('Recorder writes a few positions of many objects in the order of ids and times', async (t) => {
  const bench = new Bench(t);
  const names = Array.from({ length: 200 }, (_, i) => `${(7 * i) % 200}`.padStart(3, '0'));
  bench.add(...names.map((id) => ({ id, timeMs: NOW_MS, source: `s${id}`, zoneId: `z${id}` })));
  await bench.pass(5000);
  const ids = (await bench.rows('locations', 'id')).map(({ id }) => id);
  assert.deepEqual(ids, names.toSorted());
});

test('Recorder loses no positions when shards restart their numbering, except those with names that it has not received', async (t) => {
  const bench = new Bench(t);
  const shards = [openPlaceWriter(), openPlaceWriter()] as const;
  let timeMs = NOW_MS;
  const step = (shard: 0 | 1, ...ids: readonly string[]): Uint8Array => {
    return inBlock(
      shard,
      placeBytes(
        ids.map((id) => ({ id, timeMs: timeMs++, source: `of ${shard}` })),
        shards[shard],
      ),
    );
  };
  // Both have names with the same numbers, and one name in common.
  bench.recorder.places(step(0, 'a', 'b'));
  bench.recorder.places(step(1, 'b', 'c'));
  shards[0].resetNames();
  bench.recorder.places(step(0, 'b', 'a', 'd'));
  step(0, 'lost', 'a');
  bench.recorder.places(step(0, 'a', 'lost'));
  bench.recorder.places(step(1, 'c', 'd'));
  bench.recorder.places(step(0, 'a'));
  const missing = bench.said.filter(({ say }) => say === 'namesMissing');
  assert.deepEqual(missing, [
    { say: 'namesMissing', shard: 0 },
    { say: 'namesMissing', shard: 0 },
  ]);
  shards[0].resetNames();
  bench.recorder.places(step(0, 'lost', 'a'));
  await bench.pass(5000);
  const rows = await bench.rows('locations', 'epoch_us(time)::DOUBLE AS us, id, source');
  const inTime = rows.toSorted((x, y) => Number(x['us']) - Number(y['us']));
  assert.equal(
    inTime.map(({ id, source }) => `${id}${String(source).at(-1)}`).join(' '),
    'a0 b0 b1 c1 b0 a0 d0 c1 d1 lost0 a0',
  );
  assert.equal(bench.state.topics.locations.dropped, 3);
});

test('Recorder never uses ids as file names', async (t) => {
  const bench = new Bench(t);
  const ids = [
    '../../etc/passwd',
    '/tmp/x',
    "'; DROP TABLE locations; --",
    'a\0b',
    '💡',
    'x'.repeat(500),
    'part-1.parquet',
  ];
  bench.add(...ids.map((id) => ({ id, timeMs: NOW_MS })));
  await bench.pass(5000);
  assert.deepEqual((await bench.rows('locations', 'id')).map(({ id }) => id).toSorted(), ids.toSorted());
  assert.deepEqual(filesIn(bench), ['locations/date=2026-03-01/hour=10/part-1.parquet']);
});

test('Recorder merges the files of an hour after its last row, and retains each row', async (t) => {
  const bench = new Bench(t, FOREVER);
  for (let part = 0; part < 3; part++) {
    bench.add(...walk(100, { startMs: NOW_MS + 100_000 * part }));
    await bench.pass(5000);
  }
  const before = await bench.rows('locations', 'id, time');
  await bench.pass(30_000);
  assert.equal(filesIn(bench).length, 3);
  bench.nowMs = Date.now() + HOUR_MS;
  await bench.pass(30_000);
  assert.deepEqual(filesIn(bench), ['locations/date=2026-03-01/hour=10/part-1-3.parquet']);
  const after = await bench.rows('locations', 'id, time');
  const order = (rows: readonly Record<string, unknown>[]) => rows.map(({ id, time }) => `${id} ${time}`);
  assert.deepEqual(order(after), order(before).toSorted());
});

test('Recorder merges the small files of the current hour when there are many', async (t) => {
  const bench = new Bench(t);
  for (let part = 0; part < 24; part++) {
    bench.add({ id: 'a', timeMs: NOW_MS + part });
    await bench.pass(5000);
  }
  await bench.pass(30_000);
  assert.deepEqual(filesIn(bench), ['locations/date=2026-03-01/hour=10/part-1-24.parquet']);
  bench.add({ id: 'a', timeMs: NOW_MS + 24 });
  await bench.pass(5000);
  assert.equal(filesIn(bench).at(-1), 'locations/date=2026-03-01/hour=10/part-25.parquet');
});

test('Recorder does not remove leased files', async (t) => {
  const bench = new Bench(t, { bytesMax: 1 });
  bench.add(...walk(10));
  const { files, lease } = await bench.recorder.files(EVERYTHING);
  await bench.pass(30_000);
  assert.equal(bench.state.topics.locations.files, 0);
  assert.ok(existsSync(files[0]?.path ?? ''));
  // Another file of the same hour does not replace one that is being read.
  bench.add(...walk(10));
  const others = await bench.recorder.files(EVERYTHING);
  assert.notEqual(others.files[0]?.path, files[0]?.path);
  bench.recorder.release(lease);
  assert.ok(!existsSync(files[0]?.path ?? ''));
  assert.ok(existsSync(others.files[0]?.path ?? ''));
});

test('Recorder releases leases after ten minutes', async (t) => {
  const bench = new Bench(t, { bytesMax: 1 });
  bench.add(...walk(10));
  const { files } = await bench.recorder.files(EVERYTHING);
  await bench.pass(30_000);
  assert.ok(existsSync(files[0]?.path ?? ''));
  await bench.pass(600_000);
  assert.ok(!existsSync(files[0]?.path ?? ''));
});

test('Recorder removes whole hours that are too old, and empty folders', async (t) => {
  const bench = new Bench(t, { retentionMs: DAY_MS });
  bench.nowMs -= 2 * HOUR_MS;
  bench.add(
    { id: 'a', timeMs: NOW_MS - DAY_MS - 1 },
    { id: 'a', timeMs: NOW_MS - DAY_MS + 60_000 },
    { id: 'a', timeMs: NOW_MS },
  );
  bench.recorder.events('fence_events', [entry('gate', '2026-02-28T09:00:00Z')]);
  await bench.pass(30_000);
  assert.equal(filesIn(bench).length, 4);
  await bench.pass(2 * HOUR_MS);
  assert.deepEqual(filesIn(bench), [
    'locations/date=2026-02-28/hour=10/part-1.parquet',
    'locations/date=2026-03-01/hour=10/part-1.parquet',
  ]);
  assert.deepEqual(readdirSync(join(bench.folder, 'locations/date=2026-02-28')), ['hour=10']);
});

test('Recorder removes the earliest hours when its files exceed their bound', async (t) => {
  const bench = new Bench(t, { bytesMax: 6000 });
  for (let hour = 0; hour < 4; hour++) bench.add({ id: 'a', timeMs: NOW_MS + hour * HOUR_MS });
  await bench.pass(30_000);
  await bench.pass(30_000);
  const left = filesIn(bench);
  assert.ok(left.length >= 1 && left.length < 4, left.join());
  assert.equal(left.at(-1), 'locations/date=2026-03-01/hour=13/part-1.parquet');
  const { bytes } = bench.state.topics.locations;
  assert.ok(bytes > 0 && bytes <= 6000, `${bytes}`);
});

test('Recorder removes nothing by its age for a day after a large forward clock step', async (t) => {
  const bench = new Bench(t);
  bench.add(...walk(10));
  await bench.pass(30_000);
  bench.nowMs += 400 * DAY_MS;
  await bench.pass(30_000);
  await bench.pass(HOUR_MS);
  assert.equal(filesIn(bench).length, 1);
  assert.deepEqual(bench.notices, ['The clock was set ahead: the history removes nothing by its age for a day']);
  await bench.pass(DAY_MS);
  assert.deepEqual(filesIn(bench), []);
});

test('Recorder continues after a backward clock step', async (t) => {
  const bench = new Bench(t, { minIntervalMs: 1000 });
  bench.add({ id: 'a', timeMs: NOW_MS });
  bench.nowMs -= 2 * HOUR_MS;
  bench.add({ id: 'a', timeMs: NOW_MS - 2 * HOUR_MS });
  await bench.pass(30_000);
  assert.equal((await bench.rows('locations')).length, 2);
});

for (const [settings, seconds, recorded] of [
  [{ minIntervalMs: 2000 }, [0, 1, 1.9, 2, 3, 4.5], [0, 2, 4.5]],
  [{ minDistanceMeters: 2 }, [0, 1, 1.9, 2.1, 3, 4.5], [0, 2.1, 4.5]],
  [{ minIntervalMs: 2000, minDistanceMeters: 4 }, [0, 2, 4.1, 6.1, 8.3], [0, 4.1, 8.3]],
] as const) {
  test(`Recorder omits positions with ${JSON.stringify(settings)}, for each object separately`, async (t) => {
    const bench = new Bench(t, settings);
    // A meter per second to the north.
    const of = (id: string) => seconds.map((s) => ({ id, timeMs: NOW_MS + 1000 * s, lat: 50 + s / 111_229 }));
    bench.add(...of('a'), ...of('b'));
    await bench.pass(5000);
    const expected = recorded.map((s) => NOW_MS + 1000 * s);
    const rows = await bench.rows('locations', 'id, epoch_ms(time)::DOUBLE AS ms');
    for (const id of ['a', 'b']) {
      assert.deepEqual(
        rows.filter((row) => row.id === id).map(({ ms }) => ms),
        expected,
      );
    }
  });
}

test('Recorder removes incomplete and duplicate files of a failed hub', async (t) => {
  const first = new Bench(t, FOREVER);
  for (let part = 0; part < 2; part++) {
    first.add(...walk(10));
    await first.pass(5000);
  }
  const hour = join(first.folder, 'locations/date=2026-03-01/hour=10');
  const [one] = (await first.recorder.files(EVERYTHING)).files;
  first.nowMs = Date.now() + HOUR_MS;
  await first.pass(30_000);
  // It died before it had removed the file that it had merged.
  assert.ok(existsSync(one?.path ?? ''));
  writeFileSync(join(hour, 'part-3.parquet.writing'), 'PAR1');
  mkdirSync(join(first.folder, '.spill'), { recursive: true });
  writeFileSync(join(first.folder, '.spill/duckdb_temp_block-1.block'), 'x');
  writeFileSync(join(first.folder, 'notes.txt'), 'of the user');
  const second = new Bench(t, { ...FOREVER, folder: first.folder });
  await second.done();
  assert.deepEqual(filesIn(second), ['locations/date=2026-03-01/hour=10/part-1-2.parquet', 'notes.txt']);
  assert.equal(second.state.topics.locations.rows, 20);
});

for (const [what, damage] of [
  ['empty', (path: string) => truncateSync(path)],
  ['half of it', (path: string) => truncateSync(path, statSync(path).size / 2)],
  ['something else', (path: string) => writeFileSync(path, 'no Parquet at all')],
] as const) {
  test(`Recorder ignores a file that is ${what}, warns once, and counts it`, async (t) => {
    const first = new Bench(t, FOREVER);
    for (let part = 0; part < 2; part++) {
      first.add(...walk(10));
      await first.pass(5000);
    }
    const path = join(first.folder, 'locations/date=2026-03-01/hour=10/part-1.parquet');
    damage(path);
    const second = new Bench(t, { ...FOREVER, folder: first.folder });
    await second.done();
    assert.deepEqual(second.notices, ['A file of the history cannot be read, and is left out']);
    assert.equal(second.state.damaged, 1);
    const { files, damaged } = await second.recorder.files(EVERYTHING);
    assert.deepEqual([files.length, damaged], [1, 1]);
    second.add(...walk(10));
    await second.pass(5000);
    second.nowMs = Date.now() + HOUR_MS;
    await second.pass(30_000);
    assert.equal(second.state.topics.locations.rows, 20);
    assert.equal(second.notices.length, 1);
    // It is removed with its hour.
    const third = new Bench(t, { folder: first.folder });
    third.nowMs += 31 * DAY_MS;
    await third.pass(30_000);
    assert.deepEqual(filesIn(third), []);
    assert.equal(third.state.damaged, 0);
  });
}

test('Recorder detects a damaged file when it merges, omits it, and merges the others', async (t) => {
  const bench = new Bench(t, FOREVER);
  for (let part = 0; part < 4; part++) {
    bench.add(...walk(1000));
    await bench.pass(5000);
  }
  const path = join(bench.folder, 'locations/date=2026-03-01/hour=10/part-1.parquet');
  // Its footer with the metadata is unchanged.
  writeFileSync(path, Buffer.alloc(1000, 'x'), { flag: 'r+' });
  bench.nowMs = Date.now() + HOUR_MS;
  await bench.pass(30_000);
  await bench.pass(30_000);
  await bench.pass(30_000);
  assert.deepEqual(bench.notices, ['A file of the history cannot be read, and is left out']);
  assert.equal(bench.state.damaged, 1);
  assert.deepEqual(filesIn(bench), [
    'locations/date=2026-03-01/hour=10/part-1.parquet',
    'locations/date=2026-03-01/hour=10/part-2-4.parquet',
  ]);
});

test('Recorder reports an unusable folder before it has rows to write, and starts when the folder is usable', async (t) => {
  const first = new Bench(t);
  await first.recorder.close();
  rmSync(first.folder, { recursive: true });
  // Root may write everywhere. A file instead of a folder blocks every user.
  writeFileSync(first.folder, '');
  const bench = new Bench(t, { folder: join(first.folder, 'history') });
  await bench.done();
  assert.match(bench.state.problem ?? '', /ENOTDIR/);
  bench.add(...walk(10));
  await bench.pass(5000);
  await assert.rejects(bench.recorder.files(EVERYTHING), /ENOTDIR/);
  assert.deepEqual(bench.notices, ['The history cannot be written']);
  assert.equal(bench.state.topics.locations.waiting, 10);
  rmSync(first.folder);
  await bench.pass(5000);
  assert.equal(bench.state.problem, undefined);
  assert.equal((await bench.rows('locations')).length, 10);
  assert.deepEqual(bench.notices, ['The history cannot be written', 'The history is written again']);
});

test('Recorder retains unwritten rows up to a bound, drops and counts the rest, and writes them when it can', async (t) => {
  const bench = new Bench(t, { waitingBytesMax: 1 << 20 });
  await bench.done();
  // The folder of the hour cannot be created.
  const blocking = join(bench.folder, 'locations');
  writeFileSync(blocking, '');
  const bytes = inBlock(0, placeBytes(walk(1000)));
  for (let i = 0; i < 20; i++) bench.recorder.places(bytes);
  await bench.pass(5000);
  const { waiting, dropped } = bench.state.topics.locations;
  assert.equal(waiting + dropped, 20_000);
  assert.ok(dropped > 1000 && waiting > 5000, `${waiting} wait, ${dropped} are dropped`);
  rmSync(blocking);
  await bench.pass(5000);
  const after = bench.state.topics.locations;
  assert.deepEqual([after.recorded, after.waiting, after.dropped, after.rows], [waiting, 0, dropped, waiting]);
});

test('Recorder makes its files readable for its own user only', async (t) => {
  const bench = new Bench(t);
  bench.add(...walk(10));
  await bench.pass(5000);
  const [path] = filesIn(bench) as [string];
  assert.equal(statSync(join(bench.folder, path)).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(join(bench.folder, path))).mode & 0o777, 0o700);
});

test('Recorder records stationary objects every 30 seconds in spite of a minimum distance', async (t) => {
  const bench = new Bench(t, { minDistanceMeters: 5 });
  // Stationary and located every second for 20 minutes, then far away.
  for (let second = 0; second <= 1200; second++) bench.add({ id: 'a', timeMs: NOW_MS + 1000 * second });
  bench.add({ id: 'a', timeMs: NOW_MS + 1_201_000, lon: 9 });
  await bench.pass(5000);
  const times = (await bench.rows('locations', 'epoch_ms(time) AS ms')).map(({ ms }) => (Number(ms) - NOW_MS) / 1000);
  assert.deepEqual(times, [...Array.from({ length: 41 }, (_, i) => 30 * i), 1201]);
});

test('Recorder only uses the minimum interval if it is longer than that', async (t) => {
  const bench = new Bench(t, { minDistanceMeters: 5, minIntervalMs: 60_000 });
  for (let second = 0; second <= 180; second++) bench.add({ id: 'a', timeMs: NOW_MS + 1000 * second });
  await bench.pass(5000);
  const times = (await bench.rows('locations', 'epoch_ms(time) AS ms')).map(({ ms }) => (Number(ms) - NOW_MS) / 1000);
  assert.deepEqual(times, [0, 60, 120, 180]);
});
