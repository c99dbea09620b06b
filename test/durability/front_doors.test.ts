import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { ThreadStore } from '../../src/store/open.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { assertConsistent } from './consistent.ts';
import { fenceOf, locationOf, randomFrom } from './hub_process.ts';

const SETTINGS = { num_threads: 2, db_flush_interval: 20 };
const TAGS = 40;

/**
 * Sends locations of many tags, inside and outside fences, until it is canceled. Resolves with the number of accepted
 * ones.
 */
function stream(hub: TestHub, seed: number): { stop(): Promise<number> } {
  const random = randomFrom(seed);
  let isRunning = true;
  const clients = Array.from({ length: 3 }, async () => {
    let accepted = 0;
    while (isRunning) {
      const locations = Array.from({ length: 10 }, () => {
        const east = random() < 0.5 ? random() * 8 : 100 + random() * 20;
        return locationOf(`tag ${Math.floor(random() * TAGS)}`, east);
      });
      const { status } = await hub.put('/providers/locations', locations);
      assert.ok(status === 204 || status === 503, String(status));
      if (status === 204) accepted += locations.length;
    }
    return accepted;
  });
  return {
    async stop() {
      isRunning = false;
      return (await Promise.all(clients)).reduce((sum, accepted) => sum + accepted, 0);
    },
  };
}

async function populate(hub: TestHub): Promise<void> {
  const made: Promise<{ status: number }>[] = [];
  for (let number = 0; number < 8; number++) made.push(hub.post('/fences', fenceOf(randomUUID())));
  for (let number = 0; number < TAGS; number++) {
    const location_providers = [`tag ${number}`, `tag ${(number + 1) % 7}`];
    made.push(hub.post('/trackables', { id: randomUUID(), type: 'omlox', location_providers }));
  }
  made.push(hub.post('/zones', { type: 'rfid', position: { type: 'Point', coordinates: [9, 50] }, radius: 5 }));
  for (const { status } of await Promise.all(made)) assert.equal(status, 201);
}

function storeOf(hub: TestHub): ThreadStore {
  const { store } = hub.hub;
  return store instanceof ThreadStore ? store : assert.fail('the store has no thread');
}

function assertBalanced(hub: TestHub, accepted: number): void {
  const { received, processed, outdated, rejected } = hub.hub.counts();
  assert.equal(processed + outdated + rejected, received);
  assert.equal(processed + outdated, accepted);
}

test('Everything is deleted repeatedly while locations arrive: memory, shards and disk agree', async (t) => {
  const hub = await openTestHub(SETTINGS);
  t.after(hub.close);
  const streaming = stream(hub, 1);
  for (let round = 0; round < 6; round++) {
    await populate(hub);
    const paths = ['/trackables', '/fences', '/zones', '/providers', '/providers/locations'];
    // In one order, in another, and all at once.
    if (round % 3 === 0) for (const path of paths) assert.equal((await hub.delete(path)).status, 204, path);
    if (round % 3 === 1) for (const path of paths.reverse()) assert.equal((await hub.delete(path)).status, 204, path);
    if (round % 3 === 2) await Promise.all(paths.map((path) => hub.delete(path)));
  }
  await populate(hub);
  const accepted = await streaming.stop();
  await hub.settle();
  assertBalanced(hub, accepted);
  const { trackables, locations } = await assertConsistent(hub, SETTINGS);
  assert.ok((trackables?.length ?? 0) >= TAGS && (locations?.length ?? 0) > 0);
});

test('When everything is deleted after the last location, nothing is left anywhere', async (t) => {
  const hub = await openTestHub(SETTINGS);
  t.after(hub.close);
  await populate(hub);
  const streaming = stream(hub, 2);
  while (hub.hub.counts().processed < 2000) await hub.get('/health');
  await streaming.stop();
  for (const path of ['/providers', '/trackables', '/fences', '/zones']) await hub.delete(path);
  const state = await assertConsistent(hub, SETTINGS);
  for (const [what, list] of Object.entries(state)) assert.deepEqual(Object.keys(list), [], what);
});

test('The store thread and the shard workers are killed under load: nothing accepted is lost, and no event is repeated', async (t) => {
  const hub = await openTestHub(SETTINGS);
  t.after(hub.close);
  await populate(hub);
  const events = await hub.subscribe('fence_events');
  const streaming = stream(hub, 3);
  const created: string[] = [];
  for (let round = 0; round < 4; round++) {
    const { processed } = hub.hub.counts();
    const id = randomUUID();
    // The commit during which the thread dies, and requests that arrive in the meantime.
    const [kept] = await Promise.all([
      hub.post('/trackables', { id, type: 'omlox' }),
      round % 3 === 0 ? undefined : storeOf(hub).kill(),
      round % 3 === 1 ? undefined : hub.hub.shards.lanes[round % 2]?.kill(),
    ]);
    assert.equal(kept.status, 201);
    created.push(id);
    while (hub.hub.counts().processed < processed + 200) await hub.get('/health');
  }
  const accepted = await streaming.stop();
  await hub.settle();
  assertBalanced(hub, accepted);
  assert.ok(hub.hub.counts().workerRestarts >= 2);
  assertInTurn(events.events);
  const { trackables } = await assertConsistent(hub, SETTINGS);
  const ids = new Set((trackables as { id: string }[]).map(({ id }) => id));
  assert.deepEqual(
    created.filter((id) => !ids.has(id)),
    [],
  );
});

test('Without persist_locations, killed workers and deletions lose nothing in memory, and the disk has only entities', async (t) => {
  const settings = { ...SETTINGS, persist_locations: false };
  const hub = await openTestHub(settings);
  t.after(hub.close);
  await populate(hub);
  const events = await hub.subscribe('fence_events');
  const streaming = stream(hub, 4);
  for (let round = 0; round < 3; round++) {
    const { processed } = hub.hub.counts();
    await Promise.all([storeOf(hub).kill(), hub.hub.shards.lanes[round % 2]?.kill()]);
    if (round === 1) assert.equal((await hub.delete('/zones')).status, 204);
    while (hub.hub.counts().processed < processed + 200) await hub.get('/health');
  }
  const accepted = await streaming.stop();
  await hub.settle();
  assertBalanced(hub, accepted);
  assertInTurn(events.events);
  const locations = (await hub.get('/providers/locations')).body;
  assert.equal(locations.length, TAGS);
  assert.equal((await hub.get('/trackables/motions')).body.length, TAGS);
  await hub.hub.close();
  const second = await openTestHub(settings, { folder: hub.folder });
  t.after(second.close);
  assert.deepEqual((await second.get('/providers/locations')).body, []);
  assert.equal((await second.get('/providers')).body.length, TAGS);
  assert.deepEqual((await second.get('/zones')).body, []);
});

/** Entries and exits alternate for each fence and object, and none is published twice. */
function assertInTurn(events: readonly { [member: string]: string }[]): void {
  const inside = new Set<string>();
  assert.ok(events.length > 100, `${events.length} events`);
  for (const { event_type: type, fence_id: fence, trackable_id: trackable, provider_id: provider } of events) {
    const pair = `${fence} ${trackable ?? provider}`;
    assert.equal(inside.has(pair), type === 'region_exit', `${type} ${pair}`);
    if (type === 'region_exit') inside.delete(pair);
    else inside.add(pair);
  }
}
