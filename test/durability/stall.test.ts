import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Event, SocketClient } from '../support/socket_client.ts';
import { fenceOf, HubProcess, locationOf, newFolder } from './hub_process.ts';

const FENCE = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f0a';
const TIMEOUT_MS = 1500;
const STOPPED_MS = 2 * TIMEOUT_MS;
const TAGS = Array.from({ length: 20 }, (_, n) => `tag-${n}`);

const sockets: SocketClient[] = [];
after(() => Promise.all(sockets.map((socket) => socket.close())));

test('A hub that was stopped tells no exit of what has gone on sending, and later that of what has not', async () => {
  const hub = await HubProcess.start(newFolder());
  await hub.post('/fences', fenceOf(FENCE, { timeout: TIMEOUT_MS }));
  const socket = await SocketClient.open(`${hub.base.replace('http', 'ws')}/ws/socket`);
  sockets.push(socket);
  const events = await socket.subscribe('fence_events');
  const entered = (id: string) => events.next((event: Event) => event.provider_id === id);
  const drive = (id: string) => hub.put(`/providers/${id}/location`, locationOf(id, 0));
  await Promise.all([...TAGS, 'silent'].map(drive));
  await Promise.all([...TAGS, 'silent'].map(entered));

  let isSending = true;
  const senders = TAGS.map(async (id) => {
    // What is sent while the hub stands still waits in the network.
    while (isSending) await Promise.all([drive(id), delay(TIMEOUT_MS / 5)]);
  });
  process.kill(hub.pid, 'SIGSTOP');
  await delay(STOPPED_MS);
  process.kill(hub.pid, 'SIGCONT');
  const resumedMs = Date.now();
  const exit = await events.next((event: Event) => event.event_type === 'region_exit');
  assert.equal(exit.provider_id, 'silent');
  assert.ok(Date.now() - resumedMs < TIMEOUT_MS + 5000);
  assert.ok(Math.abs(Date.parse(exit.exit_time) - Date.now()) < 5000, exit.exit_time);
  await delay(TIMEOUT_MS / 2);
  isSending = false;
  await Promise.all(senders);
  assert.deepEqual(
    events.events.slice(TAGS.length + 1).map(({ provider_id: id, event_type: type }) => `${type} ${id}`),
    ['region_exit silent'],
  );
  const { stderr } = await hub.stop();
  assert.match(stderr, /The hub stood still/);
});
