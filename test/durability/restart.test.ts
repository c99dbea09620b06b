import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Event, type Recorder, SocketClient } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { fenceOf, HubProcess, locationOf } from './hub_process.ts';

/** Longer than a start on a slow machine. */
const DELAY_MS = 3000;
const SETTINGS = { restart_event_delay: DELAY_MS, num_threads: 2 };
const CART = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f01';
const FOREVER = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f02';
const SHORT = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f03';
const LONGER = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f04';

const sockets: SocketClient[] = [];
after(() => Promise.all(sockets.map((socket) => socket.close())));

async function subscribe(hub: HubProcess): Promise<Recorder> {
  const socket = await SocketClient.open(`${hub.base.replace('http', 'ws')}/ws/socket`);
  sockets.push(socket);
  return socket.subscribe('fence_events');
}

function crossingsOf(recorder: Recorder): string[] {
  return recorder.events.map((event: Event) => {
    const object = event.trackable_id ?? event.provider_id;
    return `${event.event_type} ${object} ${event.fence_id}`;
  });
}

test('After a crash, members are still inside, and timeouts that expired in the meantime are published once, after a delay', async () => {
  const folder = temporaryFolder();
  const first = await HubProcess.start(folder, SETTINGS);
  const before = await subscribe(first);
  await first.post('/trackables', { id: CART, type: 'omlox', name: 'Cart', location_providers: ['still'] });
  await first.post('/fences', fenceOf(FOREVER));
  await first.post('/fences', fenceOf(SHORT, { timeout: 300 }));
  await first.post('/fences', fenceOf(LONGER, { timeout: 30_000 }));
  const sentAtMs = Date.now();
  await first.put('/providers/still/location', locationOf('still', 0));
  const answeredAtMs = Date.now();
  await before.next((event) => event.fence_id === LONGER && event.trackable_id === CART);
  await first.crash();

  const second = await HubProcess.start(folder, SETTINGS);
  const listensAtMs = Date.now();
  const after = await subscribe(second);
  const motions = await second.get('/trackables/motions');
  assert.deepEqual(
    motions?.body.map(({ id, location }: Event) => [id, location.position.coordinates]),
    [[CART, [9, 50]]],
  );
  const inside = await second.get(`/trackables/${CART}/fences`);
  const members = inside?.body.map(({ id }: Event) => id);
  assert.ok(members.includes(FOREVER) && members.includes(LONGER), JSON.stringify(members));

  const exit = await after.next((event) => event.fence_id === SHORT && event.provider_id === 'still', 10_000);
  const waitedMs = Date.now() - listensAtMs;
  assert.ok(waitedMs > DELAY_MS / 2, `published ${waitedMs} ms after the start`);
  const exitAtMs = Date.parse(exit.exit_time);
  assert.ok(exitAtMs >= sentAtMs + 300 && exitAtMs <= answeredAtMs + 300, `${exit.exit_time} is the deadline`);
  await after.next((event) => event.fence_id === SHORT && event.trackable_id === CART);

  // Back into the fence that it has left; it is still in the others.
  await second.put('/providers/still/location', locationOf('still', 1));
  await after.next((event) => event.event_type === 'region_entry' && event.trackable_id === CART);
  await second.put('/providers/still/location', locationOf('still', 500));
  await after.next((event) => event.event_type === 'region_exit' && event.fence_id === LONGER && event.trackable_id);
  assert.deepEqual(crossingsOf(after), [
    `region_exit still ${SHORT}`,
    `region_exit ${CART} ${SHORT}`,
    `region_entry still ${SHORT}`,
    `region_entry ${CART} ${SHORT}`,
    ...['still', CART].flatMap((object) => [FOREVER, SHORT, LONGER].map((fence) => `region_exit ${object} ${fence}`)),
  ]);
  await second.crash();

  const third = await HubProcess.start(folder, SETTINGS);
  const last = await subscribe(third);
  assert.deepEqual((await third.get(`/trackables/${CART}/fences`))?.body, []);
  await third.put('/providers/still/location', locationOf('still', 0));
  await last.next((event) => event.trackable_id === CART && event.fence_id === LONGER);
  assert.ok(
    last.events.every(({ event_type: type }) => type === 'region_entry'),
    'no exit is published twice',
  );
  await third.crash();
});
