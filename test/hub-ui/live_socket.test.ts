import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';
import { LiveSocket, type SocketState } from '../../src/hub-ui/hub/live_socket.ts';
import { openLine } from '../support/line.ts';
import { openTestHub } from '../support/running_hub.ts';

/** A manual clock with its timers. */
function handClock() {
  let nowMs = 0;
  const timers: { atMs: number; run: () => void }[] = [];
  return {
    now: () => nowMs,
    random: () => 1,
    after(milliseconds: number, run: () => void) {
      const timer = { atMs: nowMs + milliseconds, run };
      timers.push(timer);
      return () => {
        if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
      };
    },
    /** Advances the clock, and fires timers in order. */
    pass(milliseconds: number) {
      const untilMs = nowMs + milliseconds;
      for (;;) {
        const [next] = timers.filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
        if (next === undefined) break;
        timers.splice(timers.indexOf(next), 1);
        nowMs = next.atMs;
        next.run();
      }
      nowMs = untilMs;
    },
  };
}

/** A socket with awaitable events. */
function watched(t: TestContext, port: number) {
  const clock = handClock();
  const states: SocketState[] = [];
  const messages: unknown[] = [];
  const taken: number[] = [];
  const refusals: string[] = [];
  let beats = 0;
  let wake: () => void = () => undefined;
  const note = <A extends unknown[]>(run: (...args: A) => void) => {
    return (...args: A): void => {
      run(...args);
      wake();
    };
  };
  const socket = new LiveSocket(
    `ws://127.0.0.1:${port}/hub/v2/ws/socket`,
    {
      state: note((state: SocketState) => states.push(state)),
      message: note((_key: number, payload: readonly unknown[]) => messages.push(...payload)),
      subscribed: note((key: number) => taken.push(key)),
      rejected: note((_key: number, { message }: { readonly message: string }) => refusals.push(message)),
      heartbeat: note(() => beats++),
      received: () => undefined,
    },
    clock,
  );
  t.after(() => socket.close());
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { socket, clock, states, messages, taken, refusals, until, beats: () => beats };
}

test('LiveSocket delivers messages of its subscriptions, and resubscribes after a reconnect', {
  timeout: 60_000,
}, async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  const line = await openLine(t, hub.hub.port);
  const { socket, clock, states, messages, taken, until } = watched(t, line.port);
  socket.subscribe(7, 'provider_changes', {});
  socket.open();
  await until(() => taken.length === 1);
  await hub.post('/providers', { id: 'tag-1', type: 'uwb' });
  await until(() => messages.length === 1);

  line.cut();
  await until(() => states.at(-1) === 'reconnecting');
  clock.pass(500);
  await until(() => taken.length === 2);
  await hub.post('/providers', { id: 'tag-2', type: 'uwb' });
  await until(() => messages.length === 2);
  assert.deepEqual(states, ['connecting', 'connected', 'reconnecting', 'connected']);
  assert.deepEqual(taken, [7, 7]);
});

test('LiveSocket is stale without responses, and drops such a connection', { timeout: 60_000 }, async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  const line = await openLine(t, hub.hub.port);
  const { socket, clock, states, until, beats } = watched(t, line.port);
  socket.open();
  await until(() => beats() === 1);
  clock.pass(5_000);
  await until(() => beats() === 2);
  assert.equal(states.at(-1), 'connected');

  line.mute();
  clock.pass(9_000);
  assert.equal(states.at(-1), 'stale');
  clock.pass(8_000);
  assert.equal(states.at(-1), 'reconnecting');
  clock.pass(500);
  await until(() => states.at(-1) === 'connected');
});

test('LiveSocket reports why the hub rejected a subscription, and keeps the others', {
  timeout: 60_000,
}, async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  const { socket, refusals, taken, until } = watched(t, hub.hub.port);
  socket.subscribe(1, 'no_such_topic', {});
  socket.subscribe(2, 'zone_changes', {});
  socket.open();
  await until(() => taken.length === 1 && refusals.length === 1);
  assert.deepEqual(taken, [2]);
  assert.match(refusals[0] ?? '', /no_such_topic/);
});

/** Opens a server that simulates rare behavior of a hub. Returns its port. */
async function openOddHub(t: TestContext, meet: (client: WebSocket) => void): Promise<number> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  t.after(() => server.close());
  server.on('connection', meet);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('LiveSocket reconnects after 1001 and 1013, with increasing delays while it is rejected at once', {
  timeout: 60_000,
}, async (t) => {
  const closings = [1001, 1013, 1013];
  const port = await openOddHub(t, (client) => {
    const code = closings.shift();
    if (code !== undefined) client.close(code);
  });
  const { socket, clock, states, until } = watched(t, port);
  const lost = () => states.filter((state) => state === 'reconnecting').length;
  socket.open();
  for (const [times, waitMs] of [500, 1_000, 2_000].entries()) {
    await until(() => lost() === times + 1);
    clock.pass(waitMs - 1);
    assert.equal(closings.length, 2 - times, 'the pause is not over');
    clock.pass(1);
  }
  await until(() => states.at(-1) === 'connected');
});

test('LiveSocket does not wait out its backoff when the page is visible or online again', {
  timeout: 60_000,
}, async (t) => {
  const closings = [1013, 1013];
  let connections = 0;
  const port = await openOddHub(t, (client) => {
    connections++;
    const code = closings.shift();
    if (code !== undefined) client.close(code);
  });
  const { socket, states, until } = watched(t, port);
  const lost = () => states.filter((state) => state === 'reconnecting').length;
  socket.open();
  await until(() => lost() === 1);
  socket.retryIfWaiting();
  await until(() => lost() === 2);
  socket.retryIfWaiting();
  await until(() => connections === 3 && states.at(-1) === 'connected');
  const before = states.length;
  socket.retryIfWaiting();
  assert.equal(states.length, before, 'an open connection is not replaced');
  socket.retryNow();
  await until(() => connections === 4 && states.at(-1) === 'connected' && states.length > before);
});

test('LiveSocket retries subscriptions after temporary errors, not after permanent ones', {
  timeout: 60_000,
}, async (t) => {
  const asked: string[] = [];
  const port = await openOddHub(t, (client) => {
    client.on('message', (text) => {
      const { topic } = JSON.parse(String(text)) as { readonly topic: string };
      if (topic !== 'anchor_changes') asked.push(topic);
      const isTaken = topic === 'zone_changes' && asked.filter((each) => each === topic).length === 3;
      const code = topic === 'zone_changes' ? 10002 : 10004;
      const answer = isTaken ? { event: 'subscribed', subscription_id: 1, topic } : { event: 'error', code };
      client.send(JSON.stringify(answer));
    });
  });
  const { socket, clock, taken, refusals, until } = watched(t, port);
  socket.subscribe(1, 'zone_changes', {});
  socket.subscribe(2, 'fence_changes', {});
  socket.open();
  await until(() => refusals.length === 2);
  clock.pass(500);
  await until(() => refusals.length === 3);
  clock.pass(999);
  assert.equal(taken.length, 0);
  clock.pass(1);
  await until(() => taken.length === 1);
  assert.deepEqual(asked, ['zone_changes', 'fence_changes', 'zone_changes', 'zone_changes']);
});

test('LiveSocket unsubscribes if a subscription was canceled before the hub confirmed it', {
  timeout: 60_000,
}, async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  const { socket, messages, taken, until } = watched(t, hub.hub.port);
  socket.open();
  await until(() => true);
  socket.subscribe(1, 'provider_changes', {});
  socket.unsubscribe(1);
  socket.subscribe(2, 'zone_changes', {});
  await until(() => taken.includes(2));
  await hub.post('/providers', { id: 'tag-1', type: 'uwb' });
  await hub.post('/zones', { type: 'rfid', position: { type: 'Point', coordinates: [8, 50] }, radius: 1 });
  await until(() => messages.length === 1);
  assert.match(JSON.stringify(messages), /rfid/);
});
