import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HubCounts } from '../../src/operation/counts.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { locationOf } from './hub_process.ts';

const BATCH = 20;

function assertBalanced(counts: HubCounts, received: number): void {
  const { processed, outdated, rejected } = counts;
  assert.equal(counts.received, received);
  assert.equal(processed + outdated + rejected, received, JSON.stringify(counts));
}

/** A request with locations of providers that occur in no other request. */
function send(hub: TestHub, index: number) {
  const locations = Array.from({ length: BATCH }, (_, place) => locationOf(`tag ${index}.${place}`, index));
  return hub.put('/providers/locations', locations);
}

test('A full hub answers 503 with Retry-After, applies nothing of the request, and keeps its counters balanced', async (t) => {
  const hub = await openTestHub({ lane_capacity: 3 * BATCH, num_threads: 1 });
  t.after(hub.close);
  // Until there is a new worker, everything waits.
  await hub.hub.shards.lanes[0]?.kill();
  const replies = await Promise.all(Array.from({ length: 16 }, (_, index) => send(hub, index)));
  const statuses = replies.map(({ status }) => status);
  const accepted = statuses.filter((status) => status === 204).length;
  assert.ok(accepted >= 1 && accepted < 16, String(statuses));
  for (const { status, headers, body } of replies) {
    if (status === 204) continue;
    assert.equal(status, 503);
    assert.match(String(headers['retry-after']), /^\d+$/);
    assert.equal(body.type, 'com.flowcate.http.unavailable');
  }
  await hub.settle();
  const counts = hub.hub.counts();
  assertBalanced(counts, 16 * BATCH);
  assert.deepEqual([counts.processed, counts.outdated], [accepted * BATCH, 0]);
  const providers = (await hub.get('/providers')).body as readonly string[];
  const locations = (await hub.get('/providers/locations')).body as readonly { provider_id: string }[];
  const expected = statuses.flatMap((status, index) => {
    return status === 204 ? Array.from({ length: BATCH }, (_, place) => `tag ${index}.${place}`) : [];
  });
  assert.deepEqual([...providers].sort(), expected.sort());
  assert.deepEqual(locations.map(({ provider_id: id }) => id).sort(), expected);
  assert.equal((await send(hub, 99)).status, 204, 'there is room again');

  const many = Array.from({ length: 3 * BATCH + 1 }, (_, index) => locationOf(`socket ${index}`, index));
  const socket = await hub.socket();
  const [error] = await socket.ask({ event: 'message', topic: 'location_updates', payload: many });
  assert.equal(error?.code, 10005);
  await hub.settle();
  assert.equal((await hub.get('/providers')).body.length, expected.length + BATCH);
  assertBalanced(hub.hub.counts(), 17 * BATCH + many.length);
});

test('A hub that is closed under load finishes all accepted requests', async () => {
  const hub = await openTestHub({ num_threads: 1 });
  let sent = 0;
  let accepted = 0;
  let isClosing = false;
  const clients = Array.from({ length: 4 }, async () => {
    for (;;) {
      const reply = await send(hub, sent++).catch(() => undefined);
      if (reply?.status !== 204) return;
      accepted += BATCH;
      if (sent > 60 && !isClosing) {
        isClosing = true;
        void hub.hub.close();
      }
    }
  });
  await Promise.all(clients);
  await hub.close();
  const counts = hub.hub.counts();
  assertBalanced(counts, counts.received);
  assert.ok(counts.processed >= accepted && accepted > 0, `${accepted} of ${JSON.stringify(counts)}`);
  assert.deepEqual(hub.logged, []);
});

test('A hub that is closed retains the providers that its last locations have created', async (t) => {
  const first = await openTestHub({ num_threads: 1 });
  t.after(first.close);
  const locations = Array.from({ length: 4000 }, (_, index) => locationOf(`tag ${index}`, index % 100));
  assert.equal((await first.put('/providers/locations', locations)).status, 204);
  await first.hub.close();
  const second = await openTestHub({ num_threads: 1 }, { folder: first.folder });
  t.after(second.close);
  const ids = (await second.get('/providers')).body as readonly string[];
  assert.equal(ids.length, locations.length);
  assert.equal((await second.get('/providers/locations')).body.length, locations.length);
});

test('Without persist_locations, entities survive a restart and locations do not', async (t) => {
  const first = await openTestHub({ persist_locations: false, num_threads: 1 });
  t.after(first.close);
  await first.post('/trackables', {
    id: '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f01',
    type: 'omlox',
    location_providers: ['tag'],
  });
  await first.put('/providers/tag/location', locationOf('tag', 0));
  // A new worker has it; a new hub does not.
  for (const shard of first.hub.shards.lanes) await shard.kill();
  assert.equal((await first.get('/providers/tag/location')).status, 200);
  await first.hub.close();
  for (const persist of [false, true]) {
    const hub = await openTestHub({ persist_locations: persist, num_threads: 1 }, { folder: first.folder });
    assert.equal((await hub.get('/providers/tag/location')).status, 404);
    assert.equal((await hub.get('/trackables')).body.length, 1);
    assert.deepEqual((await hub.get('/trackables/motions')).body, []);
    await hub.close();
  }
});
