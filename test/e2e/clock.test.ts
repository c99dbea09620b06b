import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openClock } from '../../src/time/clock.ts';
import { ADMIN, withToken } from '../auth/authorized_hub.ts';
import { Issuer } from '../auth/issuer.ts';
import { gps } from '../support/hall.ts';
import { openTestHub, type TestHub, type TestSettings } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

/** The system clock is hours ahead for a moment, and is then corrected. */

const AHEAD_MS = 10 * 3_600_000;
const CARTS = ['aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002'];
const FENCE = {
  id: 'ffffffff-0000-4000-8000-000000000001',
  region: { type: 'Point', coordinates: [9.0005, 50.00003] },
  radius: 20,
  timeout: 3000,
};

/** Starts hubs with a settable clock on one folder. */
async function settable(t: TestContext, files: Readonly<Record<string, string>> = {}) {
  const set = { aheadMs: 0 };
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  let hub: TestHub | undefined;
  t.after(async () => {
    await hub?.close();
  });
  const start = async (settings: TestSettings = {}): Promise<TestHub> => {
    await hub?.close();
    const clock = openClock({ system: () => Date.now() + set.aheadMs, elapsed: () => performance.now() });
    hub = await openTestHub({ restart_event_delay: 100, ...settings }, { folder, clock });
    return hub;
  };
  return { set, start };
}

async function setUp(hub: TestHub): Promise<void> {
  assert.equal((await hub.post('/fences', FENCE)).status, 201);
  for (const [i, id] of CARTS.entries()) {
    const cart = { id, type: 'omlox', location_providers: [`tag-${i}`], radius: 1 };
    assert.equal((await hub.post('/trackables', cart)).status, 201);
  }
}

const NORTH = [9.0005, 50.01];

/** A location without a time gets that of the hub. */
async function send(hub: TestHub, provider: string, coordinates?: readonly number[]): Promise<void> {
  const position = coordinates && { position: { type: 'Point', coordinates } };
  const { status, text } = await hub.put(`/providers/${provider}/location`, { ...gps(provider), ...position });
  assert.equal(status, 204, text);
}

async function assertTaken(hub: TestHub, provider: string, coordinates: readonly number[]): Promise<void> {
  await send(hub, provider, coordinates);
  const { body } = await hub.get(`/providers/${provider}/location`);
  assert.deepEqual(body.position.coordinates, coordinates, 'the location counts as outdated');
  assertNow(body.timestamp_generated);
}

function assertNow(...times: readonly string[]): void {
  for (const time of times) assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000, `${time} is not now`);
}

test('A hub whose clock was hours ahead accepts tokens as soon as it is corrected', async (t) => {
  const issuer = await Issuer.open();
  t.after(() => issuer.close());
  const { set, start } = await settable(t, { 'permissions.yaml': ADMIN });
  const token = await issuer.token({ roles: ['admin'], expiresIn: 3600 });
  const hub = withToken(await start(issuer.settings), token);
  assert.equal((await hub.get('/zones')).status, 200);
  set.aheadMs = AHEAD_MS;
  assert.equal((await hub.get('/zones')).status, 401);
  set.aheadMs = 0;
  assert.equal((await hub.get('/zones')).status, 200);
});

test('A hub whose clock was hours ahead accepts locations, and fires timers, as soon as it is corrected', async (t) => {
  const { set, start } = await settable(t);
  const hub = await start();
  await setUp(hub);
  const events = await hub.subscribe('fence_events', { object_type: 'location_provider' });
  const collisions = await hub.subscribe('collision_events');
  const changes = await hub.subscribe('fence_changes');
  set.aheadMs = AHEAD_MS;
  for (const provider of ['tag-0', 'tag-1']) await send(hub, provider);
  await hub.settle();
  await collisions.next(({ collision_type }) => collision_type === 'collision_start');
  set.aheadMs = 0;
  await assertTaken(hub, 'tag-1', NORTH);
  const left = await events.next(({ event_type: type, provider_id: id }) => type === 'region_exit' && id === 'tag-1');
  assertNow(left.entry_time, left.exit_time);
  const ended = await collisions.next(({ collision_type }) => collision_type === 'collision_end');
  assertNow(ended.start_time, ended.end_time);
  const silent = await events.next(({ event_type: type, provider_id: id }) => type === 'region_exit' && id === 'tag-0');
  assertNow(silent.entry_time, silent.exit_time);
  assert.ok(silent.entry_time < silent.exit_time);
  const { body } = await hub.get('/health/system');
  assertNow(body.date);
  assert.ok(body.uptime < 60, `${body.uptime} s`);
  assert.equal((await hub.put(`/fences/${FENCE.id}`, FENCE)).status, 204);
  assertNow((await changes.next()).timestamp);
});

test('A hub that shuts down while its clock is ahead accepts locations, and fires timers, after a start with a correct one', async (t) => {
  const { set, start } = await settable(t);
  const wrong = await start();
  await setUp(wrong);
  set.aheadMs = AHEAD_MS;
  for (const provider of ['tag-0', 'tag-1']) await send(wrong, provider);
  await wrong.settle();
  set.aheadMs = 0;
  const hub = await start();
  const events = await hub.subscribe('fence_events', { object_type: 'location_provider' });
  await assertTaken(hub, 'tag-1', NORTH);
  for (const provider of ['tag-1', 'tag-0']) {
    const left = await events.next(
      ({ event_type: type, provider_id: id }) => type === 'region_exit' && id === provider,
    );
    assertNow(left.entry_time, left.exit_time);
  }
});

test('A worker that is replaced after a clock correction knows what its predecessor knew', async (t) => {
  const { set, start } = await settable(t);
  const hub = await start();
  await setUp(hub);
  set.aheadMs = AHEAD_MS;
  for (const provider of ['tag-0', 'tag-1']) await send(hub, provider);
  await hub.settle();
  set.aheadMs = 0;
  await assertTaken(hub, 'tag-1', NORTH);
  await Promise.all(hub.hub.shards.lanes.map((lane) => lane.kill()));
  const events = await hub.subscribe('fence_events', { object_type: 'location_provider' });
  await assertTaken(hub, 'tag-1', [9.0005, 50.02]);
  const silent = await events.next(({ event_type }) => event_type === 'region_exit');
  assert.equal(silent.provider_id, 'tag-0');
  assertNow(silent.entry_time, silent.exit_time);
});
