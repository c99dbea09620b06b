import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { COLUMNS, copyTo } from '../../src/history/columns.ts';
import { Duck } from '../../src/history/duck.ts';
import type { FilesWanted, HistoryFile, LeasedFiles } from '../../src/history/files.ts';
import { HOUR_MS, pathOf } from '../../src/history/layout.ts';
import { IDLE_MS, type PoolDeps, type PoolSettings, QueryPool } from '../../src/history/queries/query_pool.ts';
import type { HistoryQuery } from '../../src/history/queries/query.ts';
import { schedule } from '../../src/time/clock.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { NOW_MS } from './recorded_places.ts';

const VISITS = 20_000;
const PART = { topic: 'fence_events', hourMs: NOW_MS, first: 1, last: 1 } as const;
const SPAN = { fromMs: NOW_MS, toMs: NOW_MS + HOUR_MS } as const;
const QUICK: HistoryQuery = {
  ...{ ask: 'dwell', ...SPAN, fenceIds: undefined, counted: 'object' },
  timeouts: { fences: new Map(), trackables: new Map(), providers: new Map() },
};
/**
 * Points on a circle whose radius separates each from only the opposite one. Any algorithm needs hundreds of
 * comparisons per point in JavaScript, without a statement that DuckDB could interrupt.
 */
const [PLACES, ROUND, DIAMETER_METERS] = [200_000, 1000, 4] as const;
const CIRCLE = '00000000-0000-4000-8000-0000000000c1';
const SLOW: HistoryQuery = {
  ...{ ask: 'trips', ...SPAN, id: CIRCLE, radiusMeters: DIAMETER_METERS * (1 - 2e-6) },
  ...{ minStopMs: HOUR_MS / 2, maxGapMs: HOUR_MS },
};
/** 80 MB of strings. */
const LARGE: HistoryQuery = {
  ...{ ask: 'events', topic: 'fence_events', ...SPAN, limit: 100_000, cursor: undefined },
  ...{ fenceIds: undefined, trackableIds: undefined, providerIds: undefined, eventType: undefined },
};
const SETTINGS: PoolSettings = { processes: 1, memoryMb: 512, timeoutMs: 600_000 };
/** Time in which an idle process answers, much shorter than a slow query. */
const SOON_MS = 90_000;

/** Visits of one fence that take the whole hour. */
async function writeVisits(folder: string): Promise<HistoryFile> {
  const path = join(folder, pathOf(PART));
  const values: Readonly<Record<string, string>> = {
    ...{ time: `make_timestamptz(${1000 * (NOW_MS + HOUR_MS - 1)})`, id: "'event ' || i", event_type: "'region_exit'" },
    ...{ fence_id: "'gate'", object_type: "'trackable'", object_id: "'tag ' || i" },
    ...{
      entry_time: `make_timestamptz(${1000 * NOW_MS} + i)`,
      exit_time: `make_timestamptz(${1000 * (NOW_MS + HOUR_MS - 1)})`,
      event: "repeat('x', 4000)",
    },
  };
  const columns = Object.entries(COLUMNS.fence_events).map(
    ([name, type]) => `${values[name] ?? `NULL::${type}`} AS ${name}`,
  );
  const duck = await Duck.open({ memoryMb: 128, spillFolder: undefined });
  mkdirSync(dirname(path), { recursive: true });
  await duck.run(copyTo(path, `SELECT ${columns} FROM range(${VISITS}) t(i)`));
  duck.close();
  return { ...PART, path, rows: VISITS, bytes: 0, writtenMs: 0 };
}

/** One object that circles the equator for an hour. */
async function writeCircle(folder: string): Promise<HistoryFile> {
  const part = { ...PART, topic: 'motions' } as const;
  const path = join(folder, pathOf(part));
  // Radii of curvature of WGS 84 on the equator.
  const [across, along] = [6_378_137, 6_335_439.327];
  const angle = `2 * pi() * (i % ${ROUND}) / ${ROUND}`;
  const values: Readonly<Record<string, string>> = {
    ...{ time: `make_timestamptz(${1000 * NOW_MS} + i * ${Math.floor((1000 * HOUR_MS) / PLACES)})`, id: `'${CIRCLE}'` },
    longitude: `degrees(${DIAMETER_METERS / 2} * cos(${angle}) / ${across})`,
    latitude: `degrees(${DIAMETER_METERS / 2} * sin(${angle}) / ${along})`,
  };
  const columns = Object.entries(COLUMNS.motions).map(
    ([name, type]) => `${values[name] ?? `NULL::${type}`} AS ${name}`,
  );
  const duck = await Duck.open({ memoryMb: 128, spillFolder: undefined });
  mkdirSync(dirname(path), { recursive: true });
  await duck.run(copyTo(path, `SELECT ${columns} FROM range(${PLACES}) t(i) ORDER BY time`));
  duck.close();
  return { ...part, path, rows: PLACES, bytes: 0, writtenMs: 0 };
}

/** Resolves when all files have been released, as they are when a process exits. */
async function areReleased(leases: ReadonlySet<number>): Promise<void> {
  while (leases.size > 0) await delay(20);
}

/** Fails if it does not happen in time. */
function soon<Result>(promise: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const callOff = schedule(SOON_MS, () => reject(new Error('it has not happened')));
    promise.then(resolve, reject).finally(callOff);
  });
}

describe('Queries of history', () => {
  let folder: string;
  let file: HistoryFile;
  let circle: HistoryFile;
  before(async () => {
    folder = temporaryFolder();
    file = await writeVisits(folder);
    circle = await writeCircle(folder);
  });

  /** A pool, and the leases that it still holds. */
  function openPool(context: TestContext, settings: Partial<PoolSettings> = {}, more: Partial<PoolDeps> = {}) {
    const leases = new Set<number>();
    let last = 0;
    const files = async ({ topics }: FilesWanted): Promise<LeasedFiles> => {
      leases.add(++last);
      return { lease: last, files: [topics.includes('fence_events') ? file : circle], damaged: 0 };
    };
    const pool = new QueryPool(
      { ...SETTINGS, ...settings },
      {
        ...{ schedule, files, release: (lease) => void leases.delete(lease), damaged: () => undefined },
        ...{ log: { warn: () => undefined }, ...more },
      },
    );
    context.after(() => pool.close());
    return { pool, leases, files };
  }

  test('are each answered or rejected, regardless of their number and of other failures', async (context) => {
    let asked = 0;
    const opened = openPool(
      context,
      { processes: 2, timeoutMs: 5000 },
      {
        files: (wanted): Promise<LeasedFiles> => {
          // The thread of the recorder has failed, files were removed, or nothing is wrong.
          if (++asked % 5 === 0) return Promise.reject(new Error('no files'));
          return opened.files(wanted).then((leased) => (asked % 7 === 0 ? { ...leased, files: [gone] } : leased));
        },
      },
    );
    const gone = { ...file, path: `${file.path}.gone` };
    const { pool, leases } = opened;
    for (let round = 0; round < 2; round++) {
      const all = Array.from({ length: 20 }, (_, i) => {
        const isLeft = i % 6 === 5;
        const leaving = new AbortController();
        const answered = pool.ask(i % 8 === 3 ? SLOW : QUICK, leaving.signal);
        if (isLeft) setImmediate(() => leaving.abort());
        return answered;
      });
      const settled = await soon(Promise.allSettled(all));
      assert.ok(settled.some(({ status }) => status === 'fulfilled'));
      assert.ok(
        settled.some(
          (each) =>
            each.status === 'rejected' &&
            /takes more than 5,000 ms|no process was free for 10,000 ms/.test(each.reason),
        ),
      );
      assert.ok(settled.some((each) => each.status === 'rejected' && /its files cannot be had/.test(each.reason)));
      assert.ok(settled.some((each) => each.status === 'rejected' && /client no longer waits/.test(each.reason)));
    }
    assert.match(Buffer.from((await soon(untilAnswered(pool))).bytes).toString(), /"visits":20000/);
    await soon(areReleased(leases));
  });

  test('are canceled when their client disconnects: in the queue, while preparing and in the process', async (context) => {
    const { pool, leases } = openPool(context);
    const leaving = Array.from({ length: 3 }, () => new AbortController());
    const [underWay, waiting, preparing] = leaving.map(({ signal }) => pool.ask(SLOW, signal)) as [never, never, never];
    const isRefused = [underWay, waiting, preparing].map((each) => assert.rejects(each, /client no longer waits/));
    // The first is sent to the process before this one, which is queued after the others.
    const quick = pool.ask(QUICK);
    for (const each of leaving) {
      await new Promise(setImmediate);
      each.abort();
    }
    await soon(Promise.all(isRefused));
    await soon(quick);
    await soon(areReleased(leases));
    await assert.rejects(pool.ask(QUICK, AbortSignal.abort()), /client no longer waits/);
  });

  test('time out even if JavaScript is busy with one, whose process is replaced', async (context) => {
    const { pool, leases } = openPool(context, { timeoutMs: 3000 });
    await assert.rejects(pool.ask(SLOW), /takes more than 3,000 ms/);
    assert.match(Buffer.from((await soon(untilAnswered(pool))).bytes).toString(), /"visits":20000/);
    await soon(areReleased(leases));
  });

  test('wait for a process no longer than their timeout', async (context) => {
    const due: (() => void)[] = [];
    const { pool } = openPool(
      context,
      {},
      {
        schedule: (_, callback) => {
          due.push(callback);
          return () => undefined;
        },
        files: () => new Promise(() => undefined),
      },
    );
    const asked = [pool.ask(QUICK), pool.ask(QUICK), pool.ask(QUICK)];
    for (const callback of due) callback();
    for (const each of asked)
      await assert.rejects(each, { status: 503, message: /no process was free for 1,200,000 ms/ });
  });

  test('leave no idle process behind, and are later answered by a new one', async (context) => {
    const ends: (() => void)[] = [];
    const { pool } = openPool(
      context,
      {},
      {
        schedule: (delayMs, callback) => {
          if (delayMs !== IDLE_MS) return schedule(delayMs, callback);
          ends.push(callback);
          return () => void ends.splice(ends.indexOf(callback), 1);
        },
      },
    );
    for (let round = 0; round < 2; round++) {
      assert.ok((await pool.ask(QUICK)).bytes.length > 0);
      assert.equal(pool.processes, 1);
      assert.equal(ends.length, 1);
      ends[0]?.();
      assert.equal(pool.processes, 0);
      assert.equal(ends.length, 0);
    }
  });

  test('are rejected without the SQL of a statement when DuckDB fails', async (context) => {
    const logged: object[] = [];
    const { pool } = openPool(
      context,
      {},
      {
        files: async () => ({ lease: 1, files: [{ ...circle, topic: 'fence_events' }], damaged: 0 }),
        log: { warn: (_, facts) => void logged.push(facts ?? {}) },
      },
    );
    await assert.rejects(pool.ask(QUICK), {
      status: 500,
      message: 'Cannot look into the past: the query has failed, see the log of the hub',
    });
    assert.match(JSON.stringify(logged), /Binder Error/);
  });

  test('are answered by another process when one has run out of memory', async (context) => {
    const { pool, leases } = openPool(context, { heapMb: 40 });
    const [dying, ...others] = [LARGE, ...Array.from({ length: 5 }, () => QUICK)].map((each) => soon(pool.ask(each)));
    await assert.rejects(dying as Promise<unknown>, /Cannot look into the past: .*memory/);
    await Promise.all(others);
    await soon(areReleased(leases));
  });

  test('end when the connection of their client has closed', async (context) => {
    const settings = {
      history: true,
      history_path: folder,
      history_query_timeout: 600_000,
      history_retention_days: 36_500,
    };
    const hub = await openTestHub(settings);
    context.after(hub.close);
    const span = `from=${new Date(SPAN.fromMs).toISOString()}&to=${new Date(SPAN.toMs).toISOString()}`;
    const client = connect(Number(new URL(hub.origin).port), '127.0.0.1');
    const request = (path: string): boolean => client.write(`GET /hub/${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    // Otherwise the hub looks for the id in the history first, and the other query overtakes this one.
    assert.equal((await hub.post('/trackables', { id: CIRCLE, type: 'omlox' })).status, 201);
    // The hub accepts a connection in one turn and reads it in later ones, so this one is in use before the long query.
    request('version');
    await once(client, 'data');
    request(`v2/analytics/trips?trackable_id=${CIRCLE}&${span}&radius=3.999992&min_stop=1800000`);
    await hub.get('/version');
    // Answered after it, by the same process.
    const quick = hub.get(`/analytics/dwell?${span}`);
    const isFirst = await Promise.race([quick, new Promise((resolve) => setTimeout(resolve, 500, 'waits'))]);
    assert.equal(isFirst, 'waits');
    client.destroy();
    assert.equal((await soon(quick)).body.fences[0].visits, VISITS);
  });
});

/** The result of a short query, repeated until there are files for it. */
async function untilAnswered(pool: QueryPool) {
  for (;;) {
    const [answered] = await Promise.allSettled([pool.ask(QUICK)]);
    if (answered.status === 'fulfilled') return answered.value;
  }
}
