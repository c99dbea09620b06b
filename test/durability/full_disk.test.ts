import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { reportOn } from '../../src/store/report.ts';
import { SocketClient } from '../support/socket_client.ts';
import { type Disk, limitedDisk, smallDisk } from './full_disk.ts';
import { fenceOf, HubProcess, locationOf } from './hub_process.ts';

const NO_WAY = 'there is no way to fill a disk here: no mount, no prlimit';
const FENCE = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f0f';

test('With db_fast_writes, a hub on a full disk still accepts locations, reports the problem, and recovers without loss', async (context) => {
  const disk = smallDisk(context) ?? limitedDisk();
  if (disk === undefined) context.skip(NO_WAY);
  else await outlive(disk, true);
});

test('Without db_fast_writes, a hub whose files cannot grow rejects locations, reports the problem, and recovers without loss', async (context) => {
  const disk = limitedDisk() ?? smallDisk(context);
  if (disk === undefined) context.skip(NO_WAY);
  else await outlive(disk, false);
});

async function outlive(disk: Disk, isFast: boolean): Promise<void> {
  const { folder } = disk;
  const settings = { db_fast_writes: isFast, restart_event_delay: 0 };
  const hub = await HubProcess.start(folder, settings);
  const before = await create(hub);
  await hub.post('/fences', fenceOf(FENCE));
  const socket = await SocketClient.open(`${hub.base.replace('http', 'ws')}/ws/socket`);
  const events = await socket.subscribe('fence_events');
  await hub.put('/providers/early/location', locationOf('early', 100));
  assert.deepEqual((await databaseOf(hub)).state, 'ok');

  disk.fill(hub);
  // A row that fits into the last page is still accepted.
  const taken = await createUntilRefused(hub);
  const refused = await create(hub, 503);
  assert.equal((await hub.get(`/trackables/${refused}`))?.status, 404);
  const answers: string[] = [];
  for (let east = 1; east <= 20; east++) {
    // Longer each time: a value that is no longer than before may still fit.
    const properties = { note: 'x'.repeat(1000 * east) };
    const answered = await hub.put('/providers/early/location', locationOf('early', east / 10, { properties }));
    answers.push(`${answered?.status}`);
  }
  // From the first one that does not fit on, none is accepted.
  assert.match(answers.join(' '), isFast ? /^(204 ?){20}$/ : /^(204 ){0,5}(503 ?)+$/);
  const database = await failing(hub);
  assert.match(database.error ?? '', disk.says);
  assert.ok((database.pending_rows ?? 0) > 0 && Date.parse(database.failing_since ?? '') > 0, JSON.stringify(database));
  // A subscriber must not miss any event.
  await events.next((event) => event.event_type === 'region_entry' && event.provider_id === 'early');
  assert.equal((await hub.get('/health'))?.status, 200);

  disk.free(hub);
  while ((await databaseOf(hub)).state === 'failing') await new Promise((resolve) => setTimeout(resolve, 50));
  const after = await create(hub);
  await hub.put('/providers/early/location', locationOf('early', 3));
  await socket.close();
  const { code } = await hub.stop();
  assert.equal(code, 0);

  const report = reportOn(join(folder, 'data.dat'));
  assert.deepEqual([report.problems, report.notes], [[], []]);
  const second = await HubProcess.start(folder, settings);
  for (const id of [before, ...taken, after]) assert.equal((await second.get(`/trackables/${id}`))?.status, 200);
  assert.equal((await second.get(`/trackables/${refused}`))?.status, 404);
  const location = (await second.get('/providers/early/location'))?.body;
  assert.equal(location.position.coordinates[0], locationOf('early', 3).position.coordinates[0]);
  assert.equal((await second.get(`/fences/${FENCE}/providers`))?.body.length, 1);
  // Each event is in the log once, if and only if its cause was accepted.
  const { events: logged, has_more: hasMore } = (await second.get('/events?limit=1000'))?.body ?? {};
  const idsOf = (topic: string, id: string): string[] =>
    logged.filter((event: Logged) => event.topic === topic).map(({ payload }: Logged) => payload[id]);
  assert.deepEqual([idsOf('fence_events', 'provider_id'), hasMore], [['early'], false]);
  assert.deepEqual(idsOf('trackable_changes', 'id'), [before, ...taken, after]);
  await second.crash();
}

interface Logged {
  readonly topic: string;
  readonly payload: Readonly<Record<string, string>>;
}

async function create(hub: HubProcess, expected = 201): Promise<string> {
  const id = randomUUID();
  const answered = await hub.post('/trackables', { id, type: 'omlox', properties: { text: 'x'.repeat(3000) } });
  assert.equal(answered?.status, expected, JSON.stringify(answered?.body));
  if (expected === 503) assert.match(answered?.body.message, /^Cannot keep data: the database does not take writes/);
  return id;
}

async function createUntilRefused(hub: HubProcess): Promise<string[]> {
  const taken: string[] = [];
  for (;;) {
    const id = randomUUID();
    const answered = await hub.post('/trackables', { id, type: 'omlox', properties: { text: 'x'.repeat(3000) } });
    if (answered?.status !== 201) return taken;
    taken.push(id);
    assert.ok(taken.length < 50, 'the disk accepts everything');
  }
}

interface Database {
  readonly state: string;
  readonly pending_rows?: number;
  readonly failing_since?: string;
  readonly error?: string;
}

async function databaseOf(hub: HubProcess): Promise<Database> {
  return (await hub.get('/health/system'))?.body.database;
}

/** Health of the database after a failure: rows are written a moment after they were accepted. */
async function failing(hub: HubProcess): Promise<Database> {
  for (;;) {
    const database = await databaseOf(hub);
    if (database.state === 'failing') return database;
    await delay(20);
  }
}

test('A hub that is stopped while its disk is full reports the lost rows, and the rest is intact', async (context: TestContext) => {
  const disk = smallDisk(context) ?? limitedDisk();
  if (disk === undefined) {
    context.skip(NO_WAY);
    return;
  }
  const hub = await HubProcess.start(disk.folder);
  const id = await create(hub);
  disk.fill(hub);
  await createUntilRefused(hub);
  // A small row might still fit.
  const location = { ...locationOf('late', 1), properties: { text: 'x'.repeat(30_000) } };
  assert.equal((await hub.put('/providers/late/location', location))?.status, 204);
  const { code, stderr } = await hub.stop();
  assert.match(stderr, /The database took no more writes: last locations are lost/);
  assert.equal(code, 0);
  disk.free(hub);
  const second = await HubProcess.start(disk.folder);
  assert.equal((await second.get(`/trackables/${id}`))?.status, 200);
  await second.crash();
});
