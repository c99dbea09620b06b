import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Event, SocketClient } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { fenceOf, HubProcess, locationOf } from './hub_process.ts';

const FENCE = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f0a';
const TIMEOUT_MS = 1500;
const STOPPED_MS = 2 * TIMEOUT_MS;
const TAGS = Array.from({ length: 20 }, (_, n) => `tag-${n}`);

const sockets: SocketClient[] = [];
after(() => Promise.all(sockets.map((socket) => socket.close())));

test('After a restart, objects that keep sending publish no exit, and silent ones exit after the delay', async () => {
  const hub = await HubProcess.start(temporaryFolder());
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
    // Messages sent while the hub is suspended wait in the network.
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

test('A hub that was suspended publishes the times of its clients as they were sent', async () => {
  const hub = await HubProcess.start(temporaryFolder());
  await hub.post('/fences', fenceOf(FENCE, { timeout: TIMEOUT_MS }));
  const socket = await SocketClient.open(`${hub.base.replace('http', 'ws')}/ws/socket`);
  sockets.push(socket);
  const events = await socket.subscribe('fence_events');
  const updates = await socket.subscribe('location_updates');
  const outside = { position: { type: 'Point', coordinates: [8, 50] } };
  const drive = async (id: string, more: object): Promise<string> => {
    const sentAt = new Date().toISOString();
    const answered = await hub.put(`/providers/${id}/location`, {
      ...locationOf(id, 0),
      ...more,
      timestamp_generated: sentAt,
    });
    assert.equal(answered?.status, 204);
    return sentAt;
  };
  const next = (id: string, type: string) => {
    return events.next((event: Event) => event.provider_id === id && event.event_type === type);
  };

  const silentAt = await drive('silent', {});
  const enteredAt = await drive('tag', {});
  for (const id of ['silent', 'tag']) await next(id, 'region_entry');
  process.kill(hub.pid, 'SIGSTOP');
  const stoppedMs = Date.now();
  await delay(STOPPED_MS / 3);
  // The hub reads these after the standstill, in any order of its connections, so they are of different providers.
  const [during, leaving] = [drive('late', {}), drive('tag', outside)];
  await delay((2 * STOPPED_MS) / 3);
  const stoodMs = Date.now() - stoppedMs;
  process.kill(hub.pid, 'SIGCONT');
  const [lateAt, leftAt] = await Promise.all([during, leaving]);

  assert.equal((await next('late', 'region_entry')).entry_time, lateAt);
  const left = await next('tag', 'region_exit');
  assert.deepEqual([left.entry_time, left.exit_time], [enteredAt, leftAt]);
  const silent = await next('silent', 'region_exit');
  assert.equal(silent.entry_time, silentAt);
  // The hub counts a standstill from its last clock read, and resumes before it detects the standstill.
  const silentMs = Date.parse(silent.exit_time) - Date.parse(silentAt);
  assert.ok(silentMs >= TIMEOUT_MS + stoodMs - 500, `exit after ${silentMs} ms`);
  assert.ok(Date.parse(silent.exit_time) <= Date.now());
  const generated = updates.events.map((update: Event) => `${update.provider_id} ${update.timestamp_generated}`);
  assert.deepEqual(
    generated.toSorted(),
    [`late ${lateAt}`, `silent ${silentAt}`, `tag ${enteredAt}`, `tag ${leftAt}`].toSorted(),
  );
  const { stderr } = await hub.stop();
  assert.match(stderr, /The hub stood still; its timeouts fire later by as much/);
});
