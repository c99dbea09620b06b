import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LiveSocket, type SocketState } from '../../src/hub-ui/hub/live_socket.ts';
import { openLine } from '../support/line.ts';
import { openTestHub } from '../support/running_hub.ts';

/** A clock that is set by hand, with the timers that hang on it. */
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
    /** Lets time pass, timer by timer. */
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

/** A socket whose events are waited for. */
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
      refused: note((_key: number, description: string) => refusals.push(description)),
      beat: note(() => beats++),
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

test('LiveSocket delivers what it subscribed to, and subscribes again after the connection was lost', {
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

  line.drop();
  await until(() => states.at(-1) === 'reconnecting');
  clock.pass(500);
  await until(() => taken.length === 2);
  await hub.post('/providers', { id: 'tag-2', type: 'uwb' });
  await until(() => messages.length === 2);
  assert.deepEqual(states, ['connecting', 'connected', 'reconnecting', 'connected']);
  assert.deepEqual(taken, [7, 7]);
});

test('LiveSocket is stale when nothing comes back, and gives such a connection up', { timeout: 60_000 }, async (t) => {
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

test('LiveSocket tells why the hub has refused a subscription, and keeps the others', {
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

test('LiveSocket ends a subscription that was given up before the hub had taken it', { timeout: 60_000 }, async (t) => {
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
