import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HubProcess, newFolder, randomFrom } from './hub_process.ts';
import { Ledger } from './ledger.ts';

/** Clients that send one request after the other. */
const CLIENTS = ['a', 'b', 'c', 'd'];

/** With fast writes: what a busy hub may lose of last locations. */
const LOST_MS = 2000;

interface Round {
  readonly isFast: boolean;
  /** At least this long, with one client; else with all, and a random number of requests. */
  readonly forMs?: number;
  readonly end: 'crash' | 'stop';
}

/** Each starts the hub on what the one before has left. */
const ROUNDS: readonly Round[] = [
  { isFast: true, forMs: LOST_MS + 300, end: 'crash' },
  { isFast: false, end: 'crash' },
  { isFast: true, end: 'crash' },
  { isFast: false, end: 'crash' },
  { isFast: true, end: 'crash' },
  { isFast: true, end: 'stop' },
];

test('Whatever was acknowledged is there after crashes in the middle of requests, and after an orderly stop', async () => {
  const folder = newFolder();
  const ledger = new Ledger();
  const random = randomFrom(11);
  let left = { crashedAtMs: 0, lostMs: 0 };
  for (const { isFast, forMs = 0, end } of ROUNDS) {
    const hub = await HubProcess.start(folder, { db_fast_writes: isFast });
    await ledger.check(hub, left);
    const untilMs = performance.now() + forMs;
    let requests = 40 + Math.floor(random() * 80);
    let ending: ReturnType<HubProcess['crash']> | undefined;
    const clients = CLIENTS.slice(0, forMs > 0 ? 1 : CLIENTS.length).map(async (own) => {
      while (await ledger.ask(hub, own, random)) {
        requests--;
        if (ending !== undefined || requests > 0 || performance.now() < untilMs) continue;
        // In the middle of what the others have under way.
        left = { crashedAtMs: end === 'stop' ? Infinity : performance.now(), lostMs: isFast ? LOST_MS : 0 };
        ending = end === 'stop' ? hub.stop() : hub.crash();
      }
    });
    await Promise.all(clients);
    const { code, stderr } = (await ending) ?? {};
    assert.deepEqual([code, stderr], [end === 'stop' ? 0 : null, '']);
  }
  const hub = await HubProcess.start(folder);
  await ledger.check(hub, left);
  await hub.crash();
  assert.ok(ledger.size > 50, `${ledger.size} entities`);
});
