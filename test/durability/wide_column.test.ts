import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { CqlProxy, OVERLOADED } from '../cassandra/cql_proxy.ts';
import { testCassandra } from '../cassandra/test_cassandra.ts';
import type { TestSettings } from '../support/running_hub.ts';
import { SocketClient } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { Findings } from './findings.ts';
import { fenceOf, HubProcess, locationOf, randomFrom } from './hub_process.ts';
import { Ledger } from './ledger.ts';

const cassandra = testCassandra();
const { skip } = cassandra;
const FENCE = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f01';
/** Age of last locations that a killed hub may lose with fast writes, with a margin for a busy machine. */
const LOST_MS = 4000;
/** Pause between two locations of a load that runs while Cassandra starts, which needs a core. */
const PAUSE_MS = 5;

/** Timeout of requests while the database hangs: the hub waits for it. */
const HANGS_MS = 8000;

/** Settings of a hub with its own keyspace, whose creation takes a while on a busy machine. */
function settingsOf(more: TestSettings = {}): TestSettings {
  const { port, keyspace, username, password } = cassandra.settings();
  return {
    db_type: 'widecolumn',
    widecolumn_port: port,
    widecolumn_keyspace: keyspace,
    widecolumn_username: username ?? '',
    cassandra_password: password ?? '',
    widecolumn_connect_timeout: 20_000,
    widecolumn_request_timeout: 30_000,
    ...more,
  };
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + 90_000;
  while (!(await isSo())) {
    assert.ok(performance.now() < untilMs, `${what} within a minute and a half`);
    await delay(50);
  }
}

/** A sample of the hub's metrics. */
async function measured(hub: HubProcess, name: string): Promise<number> {
  const text = await (await fetch(`${new URL(hub.base).origin}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

const isFailing = async (hub: HubProcess) => (await measured(hub, 'hub_store_failing')) === 1;
const isWritten = async (hub: HubProcess) => (await measured(hub, 'hub_store_pending_rows')) === 0;
const accuracyOf = async (hub: HubProcess, tag: string) =>
  (await hub.get(`/providers/${tag}/location`))?.body?.accuracy;

test('A hub on Cassandra has all acknowledged writes after crashes and a stop', { skip }, async () => {
  const folder = temporaryFolder();
  const settings = settingsOf();
  const ledger = new Ledger();
  const findings = new Findings();
  const random = randomFrom(17);
  let left = { crashedAtMs: 0, lostMs: 0 };
  for (const isFast of [false, true]) {
    const hub = await HubProcess.start(folder, { ...settings, db_fast_writes: isFast });
    await ledger.check(hub, findings, left);
    let requests = 60;
    let ending: ReturnType<HubProcess['crash']> | undefined;
    const clients = ['a', 'b', 'c'].map(async (own) => {
      while (await ledger.ask(hub, own, random)) {
        if (--requests > 0 || ending !== undefined) continue;
        left = { crashedAtMs: performance.now(), lostMs: isFast ? LOST_MS : 0 };
        ending = hub.crash();
      }
    });
    await Promise.all(clients);
    await ending;
  }
  const stopped = await HubProcess.start(folder, settings);
  await ledger.check(stopped, findings, left);
  await stopped.put('/providers/last/location', locationOf('last', 1, { accuracy: 7 }));
  const { code, stderr } = await stopped.stop();
  assert.deepEqual([code, stderr], [0, '']);
  const hub = await HubProcess.start(folder, settings);
  await ledger.check(hub, findings, { crashedAtMs: 0, lostMs: 0 });
  assert.equal(await accuracyOf(hub, 'last'), 7);
  assert.deepEqual(findings.wrongs, []);
  assert.ok((findings.counts.get('entities acknowledged') ?? 0) > 20, JSON.stringify([...findings.counts]));
  await hub.crash();
});

test('The audit log on Cassandra has an entry for each acknowledged change, also after a crash', { skip }, async () => {
  const folder = temporaryFolder();
  const settings = settingsOf();
  const first = await HubProcess.start(folder, settings);
  const acknowledged: string[] = [];
  const zone = { type: 'rfid', position: { type: 'Point', coordinates: [9, 50] }, radius: 5 };
  const change = async (): Promise<void> => {
    for (;;) {
      const id = randomUUID();
      const created = await first.post('/zones', { ...zone, id });
      if (created === undefined) return;
      assert.equal(created.status, 201);
      acknowledged.push(id);
    }
  };
  const changing = ['a', 'b'].map(change);
  await until('zones are created', async () => acknowledged.length >= 40);
  await first.crash();
  await Promise.all(changing);
  const second = await HubProcess.start(folder, settings);
  const zones = (await second.get('/zones/summary'))?.body as readonly { readonly id: string }[];
  const { entries, has_more: hasMore } = (await second.get('/audit?kind=zone&limit=1000'))?.body ?? {};
  assert.equal(hasMore, false);
  const audited = (entries as readonly { readonly id: string; readonly action: string }[]).map(({ id }) => id);
  assert.equal(new Set(audited).size, audited.length);
  for (const id of acknowledged) assert.ok(audited.includes(id), `zone ${id} has an entry`);
  for (const { id } of zones) assert.ok(audited.includes(id), `stored zone ${id} has an entry`);
  // An entry is stored before its change, so at most those of the requests in flight have no change.
  assert.ok(audited.length - zones.length <= changing.length, `${audited.length} entries, ${zones.length} zones`);
  await second.put(`/zones/${acknowledged[0]}`, { ...zone, id: acknowledged[0], name: 'Renamed' });
  const { entries: ofOne } = (await second.get(`/audit?id=${acknowledged[0]}`))?.body ?? {};
  assert.deepEqual(
    ofOne.map(({ action }: { readonly action: string }) => action),
    ['create', 'update'],
  );
  assert.deepEqual((await second.stop()).code, 0);
});

test('With fast writes a hub continues while Cassandra hangs, reports that, and catches up', { skip }, async () => {
  const settings = settingsOf({ widecolumn_request_timeout: HANGS_MS });
  const hub = await HubProcess.start(temporaryFolder(), settings);
  const socket = await SocketClient.open(`${hub.base.replace('http', 'ws')}/ws/socket`);
  const events = await socket.subscribe('fence_events');
  await hub.post('/fences', fenceOf(FENCE));
  for (const tag of ['a', 'b']) await hub.put(`/providers/${tag}/location`, locationOf(tag, 500));
  await until('the rows are written', () => isWritten(hub));

  cassandra.process.pause();
  const zoneId = randomUUID();
  const zone = { id: zoneId, type: 'rfid', position: { type: 'Point', coordinates: [9, 50] }, radius: 5 };
  for (let count = 1; count <= 50; count++) {
    const answered = await hub.put('/providers/a/location', locationOf('a', 0, { accuracy: count }));
    assert.equal(answered?.status, 204);
  }
  await events.next((event) => event.event_type === 'region_entry' && event.provider_id === 'a', 30_000);
  await until('the hub reports that its database fails', () => isFailing(hub));
  assert.equal(await accuracyOf(hub, 'a'), 50);
  assert.equal((await hub.post('/zones', zone))?.status, 503);
  assert.equal((await hub.get(`/zones/${zoneId}`))?.status, 404);
  // No request waits for the database any more.
  await hub.put('/providers/b/location', locationOf('b', 0, { accuracy: 3 }));
  await events.next((event) => event.event_type === 'region_entry' && event.provider_id === 'b');
  cassandra.process.resume();

  await until('the hub has caught up', async () => !(await isFailing(hub)) && (await isWritten(hub)));
  assert.ok((await measured(hub, 'hub_store_attempts_failed_total')) >= 1);
  assert.equal((await hub.post('/zones', zone))?.status, 201);
  await hub.crash();
  await socket.close();
  const next = await HubProcess.start(temporaryFolder(), settings);
  assert.deepEqual([await accuracyOf(next, 'a'), await accuracyOf(next, 'b')], [50, 3]);
  assert.equal((await next.get(`/zones/${zoneId}`))?.status, 200);
  assert.deepEqual(
    (await next.get('/providers/a/fences'))?.body.map(({ id }: { id: string }) => id),
    [FENCE],
  );
  const { events: logged } = (await next.get('/events?topic=fence_events'))?.body ?? {};
  const entries = logged.map(({ payload }: { payload: { provider_id: string } }) => payload.provider_id);
  assert.deepEqual(entries.sort(), ['a', 'b']);
  await next.crash();
});

test('A hub loses nothing when Cassandra is killed under load and comes back', { skip }, async (t) => {
  const settings = settingsOf();
  const fast = await HubProcess.start(temporaryFolder(), settings);
  const slow = await HubProcess.start(temporaryFolder(), {
    ...settings,
    db_fast_writes: false,
    widecolumn_keyspace: 'slow',
  });
  const acknowledged = { fast: new Map<string, number>(), slow: new Map<string, number>() };
  let isOver = false;
  // Whatever the result of this test, the next one finds a Cassandra.
  t.after(() => {
    isOver = true;
    return cassandra.process.start();
  });
  const load = async (hub: HubProcess, kept: Map<string, number>): Promise<void> => {
    for (let count = 1; !isOver; count++) {
      const tag = `tag-${count % 7}`;
      const answered = await hub.put(`/providers/${tag}/location`, locationOf(tag, count % 50, { accuracy: count }));
      if (answered?.status === 204) kept.set(tag, count);
      else assert.equal(answered?.status, 503);
      await delay(PAUSE_MS);
    }
  };
  const loads = Promise.all([load(fast, acknowledged.fast), load(slow, acknowledged.slow)]);
  await until('both hubs have written', async () => acknowledged.slow.size === 7 && acknowledged.fast.size === 7);
  await cassandra.process.kill();
  await until('both hubs report it', async () => (await isFailing(fast)) && (await isFailing(slow)));

  // Without fast writes, a change that cannot be stored is rejected. A change that arrives while the hub tries to write
  // is processed before it is rejected.
  let accuracy = 0;
  await until('the slow hub refuses a location at once', async () => {
    const lost = await slow.put('/providers/late/location', locationOf('late', 20, { accuracy: ++accuracy }));
    assert.equal(lost?.status, 503);
    if (/^Cannot keep data: the database does not take writes/.test(lost?.body.message)) return false;
    assert.match(lost?.body.message, /^Cannot accept locations: the database does not take writes/);
    return true;
  });
  assert.notEqual(await accuracyOf(slow, 'late'), accuracy);
  const acceptedBefore = Math.max(...acknowledged.fast.values());
  await until('the fast hub continues', async () => Math.max(...acknowledged.fast.values()) > acceptedBefore + 20);

  await cassandra.process.start();
  await until('both hubs have caught up', async () => !(await isFailing(fast)) && !(await isFailing(slow)));
  const refusedUntil = Math.max(...acknowledged.slow.values());
  await until('the slow hub accepts locations', async () => Math.max(...acknowledged.slow.values()) > refusedUntil);
  isOver = true;
  await loads;
  // A crash loses the data that the fast hub has not flushed yet.
  await Promise.all([fast.stop(), slow.crash()]);
  for (const [own, kept] of [
    [settings, acknowledged.fast],
    [{ ...settings, widecolumn_keyspace: 'slow' }, acknowledged.slow],
  ] as const) {
    const next = await HubProcess.start(temporaryFolder(), own);
    for (const [tag, count] of kept) assert.ok((await accuracyOf(next, tag)) >= count, `${tag} has location ${count}`);
    await next.crash();
  }
});

test('The rate of writes is limited, and the newest row of each object waits for it', { skip }, async () => {
  const settings = settingsOf({ widecolumn_rate: 20, widecolumn_burst_size: 20, db_flush_interval: 20 });
  const hub = await HubProcess.start(temporaryFolder(), settings);
  const startMs = performance.now();
  for (let count = 1; count <= 100; count++) {
    const locations = Array.from({ length: 20 }, (_, tag) => locationOf(`tag-${tag}`, count, { accuracy: count }));
    assert.equal((await hub.put('/providers/locations', locations))?.status, 204);
  }
  assert.equal((await hub.stop()).code, 0);
  const tookMs = performance.now() - startMs;
  const next = await HubProcess.start(temporaryFolder(), settings);
  const locations = (await next.get('/providers/locations'))?.body as { accuracy: number }[];
  assert.deepEqual(
    locations.map(({ accuracy }) => accuracy),
    Array.from({ length: 20 }, () => 100),
  );
  // 2000 rows of some 400 bytes would take 40 seconds.
  assert.ok(tookMs < 30_000, `${tookMs} ms`);
  await next.crash();
});

test('A database that limits the rate causes 503 with an error, is counted, and blocks nothing permanently', {
  skip,
}, async (t) => {
  const proxy = await CqlProxy.open(cassandra.process.port);
  t.after(() => proxy.close());
  const settings = settingsOf({ widecolumn_port: proxy.port, db_fast_writes: false });
  const hub = await HubProcess.start(temporaryFolder(), settings);
  const zone = { id: 'reader', type: 'rfid', position: { type: 'Point', coordinates: [9, 50] } };
  proxy.fate = ({ text }) => (/reader|hasty/.test(text) ? { refuse: OVERLOADED } : 'pass');
  for (const refused of [
    await hub.post('/zones', zone),
    await hub.put('/providers/hasty/location', locationOf('hasty', 0)),
  ]) {
    assert.deepEqual([refused?.status, refused?.body.code], [503, 503]);
    assert.match(refused?.body.message, /^Cannot /);
  }
  assert.equal((await hub.get('/zones/reader'))?.status, 404);
  assert.ok((await measured(hub, 'hub_store_attempts_failed_total')) > 1);
  proxy.fate = () => 'pass';
  assert.equal((await hub.post('/zones', zone))?.status, 201);
  await until('locations are accepted again', async () => {
    return (await hub.put('/providers/hasty/location', locationOf('hasty', 0)))?.status === 204;
  });
  await hub.crash();
});

test('A hub whose wide-column database is unavailable at startup says so in one line and exits with 1', async () => {
  const hub = new HubProcess(temporaryFolder(), {
    db_type: 'cassandra',
    cassandra_hosts: '127.0.0.1',
    cassandra_port: 1,
  });
  const { code, stdout, stderr } = await hub.ended;
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^Cannot use the wide-column database at 127\.0\.0\.1:1: no host answers: .*ECONNREFUSED.*\n$/);
});
