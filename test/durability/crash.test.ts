import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HubProcess, newFolder, randomFrom } from './hub_process.ts';
import { Ledger } from './ledger.ts';

/** Clients that send one request after the other. */
const CLIENTS = ['a', 'b', 'c', 'd'];
const ROUNDS = 5;

/** With fast writes: what a busy hub may lose of last locations. */
const LOST_MS = 2000;

test('Whatever was acknowledged is there after a crash, round after round', async () => {
  const folder = newFolder();
  const ledger = new Ledger();
  const random = randomFrom(11);
  let crashedAtMs = 0;
  for (let round = 0; round <= ROUNDS; round++) {
    const isFast = round % 2 === 0;
    const hub = await HubProcess.start(folder, { db_fast_writes: isFast });
    await ledger.check(hub, { crashedAtMs, lostMs: isFast ? 0 : LOST_MS });
    if (round === ROUNDS) {
      await hub.crash();
      break;
    }
    let requests = 40 + Math.floor(random() * 80);
    const clients = CLIENTS.map(async (own) => {
      while (await ledger.ask(hub, own, random)) {
        if (--requests !== 0) continue;
        // In the middle of what the others have under way.
        crashedAtMs = performance.now();
        await hub.crash();
      }
    });
    await Promise.all(clients);
  }
  assert.ok(ledger.size > 50, `${ledger.size} entities`);
});

test('With fast writes a crash loses no location that was acknowledged two seconds before', async () => {
  const folder = newFolder();
  const ledger = new Ledger();
  const random = randomFrom(5);
  const hub = await HubProcess.start(folder);
  const startedAtMs = performance.now();
  let crashedAtMs = 0;
  const clients = CLIENTS.map(async (own) => {
    while (await ledger.ask(hub, own, random)) {
      if (crashedAtMs !== 0 || performance.now() < startedAtMs + LOST_MS + 500) continue;
      crashedAtMs = performance.now();
      await hub.crash();
    }
  });
  await Promise.all(clients);
  const again = await HubProcess.start(folder);
  await ledger.check(again, { crashedAtMs, lostMs: LOST_MS });
  await again.crash();
});

test('A stop during load keeps all that was acknowledged, and exits with 0', async () => {
  const folder = newFolder();
  const ledger = new Ledger();
  const random = randomFrom(3);
  const hub = await HubProcess.start(folder);
  let requests = 150;
  let ended: ReturnType<HubProcess['stop']> | undefined;
  const clients = CLIENTS.map(async (own) => {
    while (await ledger.ask(hub, own, random)) {
      if (--requests === 0) ended = hub.stop();
    }
  });
  await Promise.all(clients);
  const { code, stderr } = (await ended) ?? {};
  assert.deepEqual([code, stderr], [0, '']);
  const again = await HubProcess.start(folder);
  await ledger.check(again, { crashedAtMs: Number.POSITIVE_INFINITY, lostMs: 0 });
  await again.crash();
});
