import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { copyTo, POSITION_COLUMNS } from '../../src/history/columns.ts';
import { Duck } from '../../src/history/duck.ts';
import { History, type HistoryDeps } from '../../src/history/history.ts';
import { QueryPool } from '../../src/history/queries/query_pool.ts';
import type { HistoryQuery } from '../../src/history/queries/query.ts';
import { lend } from '../../src/model/borrowed.ts';
import { HISTORY_TOPICS, type HistoryHealth } from '../../src/model/history.ts';
import { schedule } from '../../src/time/clock.ts';
import { smallDisk } from '../durability/full_disk.ts';
import { HubProcess, locationOf, randomFrom } from '../durability/hub_process.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { EVERYTHING, NOW_MS, placeBytes, rowsBelow } from './recorded_places.ts';

/** Timeout of the conditions that a test waits for. */
const PATIENCE_MS = 20_000;
const LOOK_MS = 50;

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    assert.ok(performance.now() < endMs, 'it has not happened');
    await delay(LOOK_MS);
  }
}

async function healthOf(hub: HubProcess): Promise<HistoryHealth> {
  return (await hub.get('/health/history'))?.body;
}

function recordedIn({ topics = [] }: HistoryHealth): number {
  return topics.find(({ topic }) => topic === 'locations')?.recorded ?? 0;
}

/** Sends numbered rounds of locations of a hundred providers until the hub has exited. Returns the number of accepted rounds. */
async function sendUntilGone(hub: HubProcess, first: number): Promise<number> {
  for (let round = first; ; round++) {
    const locations = Array.from({ length: 100 }, (_, i) => locationOf(`p${i}`, i, { properties: { round } }));
    if ((await hub.put('/providers/locations', locations)) === undefined) return round - first;
  }
}

test('A hub that dies while it writes its history leaves complete files, with all rows except the last ones', async () => {
  const folder = temporaryFolder();
  const settings = { history: true, history_properties: true, history_flush_interval: 100 };
  const random = randomFrom(18);
  let first = 0;
  for (let crash = 1; crash <= 3; crash++) {
    const hub = await HubProcess.start(folder, settings);
    const sending = sendUntilGone(hub, first);
    let recorded = 0;
    await until(async () => {
      recorded = recordedIn(await healthOf(hub));
      return recorded > 2000 + 3000 * random();
    });
    await hub.crash();
    const accepted = await sending;
    const found = new Map<number, number>();
    for (const { properties } of await rowsBelow(join(folder, 'history'), 'locations', 'properties')) {
      const { round } = JSON.parse(String(properties));
      found.set(round, (found.get(round) ?? 0) + 1);
    }
    // Only unwritten rows are lost, none is duplicated, and none is missing in between.
    const rounds = [...found.keys()].filter((round) => round >= first).toSorted((a, b) => a - b);
    assert.ok(
      100 * rounds.length >= recorded,
      `${rounds.length} rounds were found, ${recorded} positions were written`,
    );
    assert.ok(rounds.length <= accepted + 1);
    assert.deepEqual(
      rounds,
      Array.from(rounds, (_, i) => first + i),
    );
    for (const round of rounds.slice(0, -1)) assert.equal(found.get(round), 100, `round ${round}`);
    assert.ok((found.get(rounds.at(-1) ?? 0) ?? 0) <= 100);
    first += accepted + 1;
  }
  const hub = await HubProcess.start(folder, settings);
  await until(async () => (await healthOf(hub)).topics !== undefined && (await healthOf(hub)).oldest !== undefined);
  const { damaged_files, state } = await healthOf(hub);
  assert.deepEqual({ damaged_files, state }, { damaged_files: 0, state: 'ok' });
  const left = readdirSync(join(folder, 'history'), { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    left.filter((path) => /writing|tmp_/.test(path)),
    [],
  );
  await hub.stop();
});

test('A hub continues when its history is full, warns once, and records everything when there is space', async (context) => {
  const disk = smallDisk(context);
  if (disk === undefined) {
    context.skip('no file system can be mounted here');
    return;
  }
  const history = join(disk.folder, 'history');
  const hub = await HubProcess.start(temporaryFolder(), {
    history: true,
    history_path: history,
    history_flush_interval: 200,
  });
  await hub.put('/providers/a/location', locationOf('a', 0));
  await until(async () => recordedIn(await healthOf(hub)) === 1);
  disk.fill(hub);
  for (let east = 1; east <= 50; east++) {
    assert.equal((await hub.put('/providers/a/location', locationOf('a', east)))?.status, 204);
  }
  await until(async () => (await healthOf(hub)).state === 'failing');
  await until(async () => ((await healthOf(hub)).topics?.[0]?.waiting ?? 0) > 0);
  const failing = await healthOf(hub);
  assert.match(failing.problem ?? '', /No space left|ENOSPC/);
  assert.equal((await hub.get('/health'))?.status, 200);
  disk.free(hub);
  await until(async () => (await healthOf(hub)).state === 'ok');
  await until(async () => recordedIn(await healthOf(hub)) === 51);
  const { stderr } = await hub.stop();
  assert.equal(stderr.match(/The history cannot be written/g)?.length, 1, stderr);
  assert.equal((await rowsBelow(history, 'locations')).length, 51);
});

test('A hub continues with a warning if a file has the path of its history folder', async (t) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'taken'), '');
  const hub = await openTestHub({ history: true, history_path: join(folder, 'taken') });
  t.after(hub.close);
  await until(async () => (await hub.get('/health/history')).body.state === 'failing');
  assert.match((await hub.get('/health/history')).body.problem, /EEXIST|ENOTDIR/);
  assert.equal((await hub.put('/providers/a/location', locationOf('a', 0))).status, 204);
  await hub.settle();
  assert.equal((await hub.get('/providers/a/history')).status, 503);
  assert.equal(hub.logged.filter(({ message }) => message === 'The history cannot be written').length, 1);
  assert.match((await hub.request('GET', `${hub.origin}/metrics`)).text, /^hub_history_failing 1$/m);
});

/** A history without a hub, and its log. */
function openHistory(
  context: TestContext,
  more: Partial<HistoryDeps> = {},
): { history: History; logged: string[]; folder: string } {
  const folder = temporaryFolder();
  const logged: string[] = [];
  const log = { info: (text: string) => void logged.push(text), warn: (text: string) => void logged.push(text) };
  const history = new History(
    {
      ...{ folder: join(folder, 'history'), topics: HISTORY_TOPICS, withProperties: false, flushMs: 600_000 },
      ...{ retentionMs: 1e13, bytesMax: Number.POSITIVE_INFINITY, minIntervalMs: 0, minDistanceMeters: 0 },
    },
    {
      ...{ fanout: { listen: () => () => undefined }, announces: () => true, forgetNames: () => undefined },
      ...{ schedule, log, now: Date.now, fenceProperties: () => undefined, ...more },
    },
  );
  history.start();
  context.after(async () => {
    await history.close();
  });
  return { history, logged, folder: join(folder, 'history') };
}

test('History restarts a failed thread, and continues its counts', async (context) => {
  const { history, logged } = openHistory(context);
  const take = (bytes: Uint8Array, locations: number): void =>
    history.take(0, { bytes: lend(bytes), counts: { locations, motions: 0 } });
  const places = (...ids: readonly string[]) => placeBytes(ids.map((id) => ({ id, timeMs: NOW_MS })));
  take(places('a', 'b'), 2);
  await history.files(EVERYTHING);
  take(places('c', 'd', 'e'), 3);
  // An unknown topic, after the names.
  const broken = places('f');
  broken[24] = 9;
  take(broken, 1);
  await assert.rejects(history.files(EVERYTHING), /has failed/);
  assert.equal(history.health().state, 'failing');
  assert.deepEqual(logged, ['The thread of the history has failed']);
  await until(() => history.health().state === 'ok');
  take(places('g'), 1);
  const { files } = await history.files(EVERYTHING);
  assert.deepEqual(
    files.map(({ rows }) => rows),
    [2, 1],
  );
  const { recorded, dropped } = history.counts('locations');
  assert.deepEqual({ recorded, dropped }, { recorded: 3, dropped: 4 });
});

test('History that is closed while its thread writes waits for it, and has written all rows afterwards', async (context) => {
  const { history, folder } = openHistory(context);
  const ids = Array.from({ length: 20_000 }, (_, i) => ({ id: `tag ${i}`, timeMs: NOW_MS }));
  history.take(0, { bytes: lend(placeBytes(ids)), counts: { locations: ids.length, motions: 0 } });
  const asked = history.files(EVERYTHING);
  await history.close();
  await asked;
  assert.equal((await rowsBelow(folder, 'locations', 'id')).length, 20_000);
});

test('A pool that is closed during a query, even an overlong one, does not keep the process alive', async (context) => {
  const folder = temporaryFolder();
  const path = join(folder, 'part-1.parquet');
  const duck = await Duck.open({ memoryMb: 256, spillFolder: undefined });
  const columns = Object.entries(POSITION_COLUMNS).map(([name, type]) => {
    if (name === 'time') return `make_timestamptz(${1000 * NOW_MS} + i) AS time`;
    return name === 'id' ? "'tag ' || (i % 1000) AS id" : `NULL::${type} AS ${name}`;
  });
  await duck.run(copyTo(path, `SELECT ${columns.join()} FROM range(3000000) t(i)`));
  duck.close();
  const hourMs = NOW_MS;
  const file = {
    topic: 'locations',
    hourMs,
    first: 1,
    last: 1,
    path,
    rows: 3_000_000,
    bytes: 0,
    writtenMs: 0,
  } as const;
  const released: number[] = [];
  const deps = {
    ...{
      schedule,
      damaged: () => assert.fail('nothing is damaged'),
      release: (lease: number) => void released.push(lease),
      log: { warn: () => undefined },
    },
    files: async () => ({ lease: 1, files: [file], damaged: 0 }),
  };
  const question = {
    ...{ ask: 'tracks', whose: 'locations', fromMs: NOW_MS, toMs: NOW_MS + 3_600_000, stepMs: 1, limit: 100_000 },
    ...{ bbox: undefined, floor: undefined, cursor: undefined, owned: undefined },
  } as unknown as HistoryQuery;
  const slow = new QueryPool({ processes: 1, memoryMb: 512, timeoutMs: 100 }, deps);
  context.after(() => slow.close());
  await assert.rejects(slow.ask(question), /takes more than 100 ms/);
  // A thread that has not started is waited for no longer than that, and releases its files when it is done.
  await until(() => released.length === 1);
  const prepared = Promise.withResolvers<void>();
  const files: typeof deps.files = () => {
    prepared.resolve();
    return deps.files();
  };
  const pool = new QueryPool({ processes: 1, memoryMb: 512, timeoutMs: 60_000 }, { ...deps, files });
  context.after(() => pool.close());
  const asked = pool.ask(question);
  asked.catch(() => undefined);
  await prepared.promise;
  // The files are available now, and a thread receives the query.
  await new Promise((resolve) => setImmediate(resolve));
  await pool.close();
  await assert.rejects(asked, /this hub is closing/);
});

test('History that is closed after the exit of its thread starts no other', async (context) => {
  let restart: (() => void) | undefined;
  const { history } = openHistory(context, {
    schedule: (delayMs, callback) => {
      if (delayMs !== 1000) return schedule(delayMs, callback);
      restart = callback;
      return () => {
        restart = undefined;
      };
    },
  });
  const broken = placeBytes([{ id: 'a', timeMs: NOW_MS }]);
  broken[24] = 9;
  history.take(0, { bytes: lend(broken), counts: { locations: 1, motions: 0 } });
  await assert.rejects(history.files(EVERYTHING), /has failed/);
  assert.ok(restart !== undefined);
  await history.close();
  assert.equal(restart, undefined);
});
