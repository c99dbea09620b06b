import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Event, type Recorder, SocketClient } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { fenceOf, HubProcess, locationOf } from './hub_process.ts';

const DELAY_MS = 200;
const SETTINGS = { restart_event_delay: DELAY_MS, num_threads: 2 };
const IDS = ['a', 'b'].map((name) => `0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a600${name}`);

const sockets: SocketClient[] = [];
after(() => Promise.all(sockets.map((socket) => socket.close())));

async function subscribe(hub: HubProcess): Promise<Recorder> {
  const socket = await SocketClient.open(`${hub.base.replace('http', 'ws')}/ws/socket`);
  sockets.push(socket);
  return socket.subscribe('collision_events');
}

async function configure(hub: HubProcess): Promise<void> {
  for (const id of IDS) {
    await hub.post('/trackables', { id, type: 'omlox', location_providers: [`tag ${id.at(-1)}`], radius: 1 });
  }
}

async function drive(hub: HubProcess, name: string, east: number): Promise<void> {
  const answered = await hub.put(`/providers/tag%20${name}/location`, locationOf(`tag ${name}`, east));
  assert.equal(answered?.status, 204);
}

/** Waits until the hub has run for longer than restart_event_delay. */
async function passDelay(hub: HubProcess): Promise<void> {
  const socket = await SocketClient.open(`${hub.base.replace('http', 'ws')}/ws/socket`);
  sockets.push(socket);
  const crossings = await socket.subscribe('fence_events');
  await hub.post('/fences', fenceOf('0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6fff', { timeout: 2 * DELAY_MS }));
  await drive(hub, 'c', 0);
  await crossings.next(({ event_type: type, provider_id: by }: Event) => type === 'region_exit' && by === 'tag c');
}

/** Formats published events: `start b a` means that b has collided with a. */
function published({ events }: Recorder): string[] {
  return events.map(({ collision_type: type, collisions }: Event) => {
    const [mover, other] = collisions.map(({ id }: Event) => id.at(-1));
    return `${type.replace('collision_', '')} ${mover} ${other}`;
  });
}

const isOf =
  (type: string) =>
  ({ collision_type: actual }: Event): boolean =>
    actual === type;

test('Two parked trackables touch after a crash, without a second start, and their collision ends once when they separate', async () => {
  const folder = temporaryFolder();
  const first = await HubProcess.start(folder, SETTINGS);
  await configure(first);
  const before = await subscribe(first);
  await drive(first, 'a', 0);
  await drive(first, 'b', 1.5);
  const { start_time: startTime } = await before.next(isOf('collision_start'));
  await first.crash();

  const second = await HubProcess.start(folder, SETTINGS);
  const between = await subscribe(second);
  await drive(second, 'a', 0.1);
  await between.next(isOf('colliding'));
  assert.deepEqual(published(between), ['colliding a b']);
  await second.crash();

  const third = await HubProcess.start(folder, SETTINGS);
  const last = await subscribe(third);
  await drive(third, 'b', 9);
  const end = await last.next(isOf('collision_end'));
  assert.equal(end.start_time, startTime);
  assert.deepEqual(published(last), ['end b a']);
  await third.crash();

  const fourth = await HubProcess.start(folder, SETTINGS);
  const none = await subscribe(fourth);
  // Each crash may have happened before a position was written.
  await drive(fourth, 'b', 9);
  await drive(fourth, 'a', 0);
  await drive(fourth, 'b', 0.5);
  await none.next(isOf('collision_start'));
  assert.deepEqual(published(none), ['start b a'], 'its end was published once');
  await fourth.stop();
});

test('A published start is not repeated, although the crash loses the location that caused it', async () => {
  const folder = temporaryFolder();
  // Longer than the second run normally lives, so that nothing is written because of its age.
  const settings = { ...SETTINGS, db_flush_interval: 2000 };
  const first = await HubProcess.start(folder, settings);
  await configure(first);
  await drive(first, 'b', 0);
  await first.stop();

  const second = await HubProcess.start(folder, settings);
  const before = await subscribe(second);
  await drive(second, 'a', 30);
  await drive(second, 'a', 1.5);
  const { start_time: startTime } = await before.next(isOf('collision_start'));
  await second.crash();

  const third = await HubProcess.start(folder, settings);
  const last = await subscribe(third);
  // It has parked and sends nothing during the delay. The exit of another object by its timeout shows that the delay
  // has passed.
  await passDelay(third);
  await drive(third, 'b', 0.1);
  await last.next(isOf('colliding'));
  await drive(third, 'a', 1.4);
  await drive(third, 'a', 9);
  const end = await last.next(isOf('collision_end'));
  assert.equal(end.start_time, startTime);
  assert.deepEqual(published(last), ['colliding b a', 'colliding a b', 'end a b']);
  await third.stop();
});
