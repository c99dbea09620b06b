import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { inHall } from '../support/scene.ts';
import type { Event } from '../support/socket_client.ts';

/** Number of concurrent clients, and of rounds of each. Each client works on its own objects. */
const CLIENTS = 12;
const ROUNDS = 8;

let hub: TestHub;

before(async () => {
  hub = await openTestHub({ num_threads: 3 });
  await hub.post('/zones', HALL);
});
after(() => hub.close());

async function ok(method: string, path: string, body?: unknown): Promise<Event> {
  const reply = await hub.request(method, path, body);
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`);
  return reply.body;
}

function idsOf(list: Event): string[] {
  return list.map((entry: Event) => entry.id ?? entry.provider_id);
}

function trackableId(client: number): string {
  return `77777777-0000-4000-8000-${String(client).padStart(12, '0')}`;
}

/** One client, which must see every acknowledged write immediately. */
async function work(client: number): Promise<void> {
  const id = trackableId(client);
  const fence = { ...square(), id: `fence-${client}`, floor: client };
  for (let round = 0; round < ROUNDS; round++) {
    const [a, b] = [`a-${client}-${round}`, `b-${client}-${round}`];
    const at = (providerId: string, x: number) => inHall(providerId, x, 5, { floor: client });
    await ok('POST', '/fences', fence);
    await ok('PUT', `/providers/${a}/location`, at(a, 5));
    assert.equal((await ok('GET', `/providers/${a}`)).type, 'uwb');
    assert.deepEqual(idsOf(await ok('GET', `/fences/${fence.id}/providers`)), [a]);
    assert.deepEqual(idsOf(await ok('GET', `/providers/${a}/fences`)), [fence.id]);

    await ok('POST', '/trackables?force_location_update=true', { id, type: 'omlox', location_providers: [a] });
    assert.equal((await ok('GET', `/trackables/${id}/motion`)).location.provider_id, a);
    assert.deepEqual((await ok('GET', `/providers/${a}/location`)).trackables, [id]);
    assert.deepEqual(idsOf(await ok('GET', `/fences/${fence.id}/trackables`)), [id]);

    await ok('PUT', '/providers/locations', [at(b, 5), at(b, 6)]);
    // The provider may be in another shard than the trackable, and then migrates.
    await ok('PUT', `/trackables/${id}`, { type: 'omlox', location_providers: [a, b], name: `Round ${round}` });
    assert.equal((await ok('GET', `/trackables/${id}/locations`)).length, 2);
    await ok('PUT', `/providers/${b}/location`, at(b, 7));
    const motion = await ok('GET', `/trackables/${id}/motion?crs=local`);
    assert.deepEqual([motion.name, motion.location.position.coordinates], [`Round ${round}`, [7, 5]]);

    // And back again, to its own trackable.
    await ok('PUT', `/trackables/${id}`, { type: 'omlox', location_providers: [b] });
    assert.deepEqual((await ok('GET', `/providers/${a}/location`)).trackables, []);
    await ok('PUT', `/providers/${a}/location`, at(a, 50));
    assert.deepEqual(idsOf(await ok('GET', `/fences/${fence.id}/providers`)), [b]);
    assert.deepEqual(idsOf(await ok('GET', `/fences/${fence.id}/locations`)), [b]);

    await ok('DELETE', `/trackables/${id}`);
    assert.deepEqual(await ok('GET', `/fences/${fence.id}/motions`), []);
    await ok('DELETE', `/providers/${b}`);
    assert.deepEqual(await ok('GET', `/fences/${fence.id}/providers?spatial_query=true`), []);
    assert.equal((await hub.get(`/providers/${b}/location`)).status, 404);
    await ok('DELETE', `/fences/${fence.id}`);
    assert.equal((await hub.get(`/fences/${fence.id}`)).status, 404);
  }
}

describe('a reply', () => {
  test('means that reads see all acknowledged writes under concurrent load', async () => {
    const events = await hub.subscribe('fence_events');
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => work(client)));
    await hub.settle();
    assert.deepEqual(hub.logged, []);
    const { received, processed, outdated, rejected } = hub.hub.counts();
    assert.deepEqual(
      { received, processed, outdated, rejected },
      { received: 5 * CLIENTS * ROUNDS, processed: received, outdated: 0, rejected: 0 },
    );
    assertAlternating(events.events);
  });

  test('to a list of locations acknowledges all of them', async () => {
    const many = Array.from({ length: 2000 }, (_, i) => inHall(`many-${i}`, i % 100, 5));
    await ok('PUT', '/providers/locations', many);
    const list = await ok('GET', '/providers/locations');
    assert.equal(idsOf(list).filter((id) => id.startsWith('many-')).length, 2000);
    const ids = await ok('GET', '/providers');
    assert.equal(ids.filter((id: string) => id.startsWith('many-')).length, 2000);
  });
});

/** Entries and exits of a fence and an object must alternate. A deleted fence ends its memberships without events. */
function assertAlternating(events: readonly Event[]): void {
  const inside = new Map<string, boolean>();
  assert.ok(events.length >= 5 * CLIENTS * ROUNDS, `${events.length} events`);
  for (const { fence_id: fence, provider_id: provider, trackable_id: trackable, event_type: type } of events) {
    const key = `${fence} ${provider ?? trackable}`;
    assert.equal(inside.get(key) ?? false, type === 'region_exit', `${type} of ${key}`);
    inside.set(key, type === 'region_entry');
  }
}
