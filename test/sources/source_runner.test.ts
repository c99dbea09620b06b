import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Source } from '../../src/model/source.ts';
import type { ConnectorEvents } from '../../src/sources/connector.ts';
import { Intake } from '../../src/sources/intake.ts';
import { retryDelayMs, SourceRunner } from '../../src/sources/source_runner.ts';

const SOURCE: Source = {
  id: 's',
  name: 'S',
  kind: 'tcp',
  url: 'tcp://gnss.example.com:4001',
  format: 'json',
  map: { provider_id: '/id', x: '/x', y: '/y' },
};

/** A runner on simulated time, with connectors that the test plays. */
function openRunner() {
  const opened: ConnectorEvents[] = [];
  const logged: string[] = [];
  let [nowMs, closed] = [0, 0];
  const timers = new Set<{ atMs: number; run: () => void }>();
  const intake = new Intake(SOURCE, { now: () => nowMs, deliver: () => ({ problems: [], committed: undefined }) });
  const unused = () => assert.fail('not used');
  const runner = new SourceRunner(SOURCE, {
    intake,
    deps: {
      now: () => nowMs,
      random: () => 1,
      schedule(delayMs, run) {
        const timer = { atMs: nowMs + delayMs, run };
        timers.add(timer);
        return () => void timers.delete(timer);
      },
      warn: (message) => void logged.push(message),
      info: (message) => void logged.push(message),
      resolve: unused,
      whyNotHost: unused,
      fetch: unused,
      openSocket: unused,
      async open(_source, events) {
        opened.push(events);
        return { close: () => void closed++ };
      },
    },
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    runner,
    intake,
    opened,
    logged,
    closed: () => closed,
    timers,
    async pass(ms: number) {
      nowMs += ms;
      for (const timer of timers) {
        if (timer.atMs > nowMs) continue;
        timers.delete(timer);
        timer.run();
      }
      await turn();
    },
  };
}

test('A server that goes away is called at growing intervals, with one warning, until a payload arrives', async () => {
  const { runner, opened, logged, pass } = openRunner();
  await pass(0);
  opened[0]?.opened();
  assert.equal(runner.status().state, 'receiving');
  const delays = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000];
  for (const [index, delayMs] of delays.entries()) {
    opened[index]?.failed('refused');
    assert.deepEqual([runner.status().state, runner.status().error], ['failing', 'refused']);
    await pass(delayMs - 1);
    assert.equal(opened.length, index + 1);
    await pass(1);
    assert.equal(opened.length, index + 2);
    // A server that accepts connections and closes them is no better.
    opened[index + 1]?.opened();
  }
  assert.equal(runner.status().failures, delays.length);
  opened.at(-1)?.received({ content: '{"id":1,"x":1,"y":2}' });
  assert.deepEqual([runner.status().state, runner.status().error], ['receiving', undefined]);
  opened.at(-1)?.failed('refused');
  await pass(1000);
  assert.equal(opened.length, delays.length + 2);
  assert.equal(logged.filter((message) => message === 'A source cannot be reached').length, 2);
});

test('A closed source closes its connection, and ignores what comes later', async () => {
  const { runner, intake, opened, closed, timers, pass } = openRunner();
  await pass(0);
  runner.close();
  assert.equal(closed(), 1);
  opened[0]?.received({ content: '{}' });
  opened[0]?.failed('late');
  assert.deepEqual([intake.status().received, timers.size], [0, 0]);
});

test('The delay is between half of and all of the doubled one', () => {
  assert.deepEqual([retryDelayMs(1, 0), retryDelayMs(3, 0.5), retryDelayMs(1000, 0.999)], [500, 3000, 59_970]);
});
