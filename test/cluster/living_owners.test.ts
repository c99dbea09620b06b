import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partitionOf } from '../../src/shards/affinity.ts';
import { located, network } from './simulation/scene.ts';

const PROVIDERS = Array.from({ length: 24 }, (_, i) => `tag ${i}`);
const PAUSE_MS = 100;
/** Longest wait for a location of an owner that is alive. On simulated time, only messages and timers take time. */
const LIVING_MS = 100;

test('When one of three hubs is killed, only locations of its own objects wait', async (context) => {
  const { clock, open } = await network(context);
  const [a, b, c] = [
    await open('a', { ownersMax: 3 }),
    await open('b', { ownersMax: 3 }),
    await open('c', { ownersMax: 3 }),
  ];
  const owners = (): readonly string[] => a.cluster.membership.map?.owners ?? [];
  const shares = (): number[] => [...Map.groupBy(owners(), (owner) => owner).values()].map(({ length }) => length);
  while (shares().length < 3 || Math.min(...shares()) < 85) await clock.wait(100);
  await clock.wait(1000);
  const ownerOf = new Map(PROVIDERS.map((id) => [id, owners()[partitionOf(id)]]));
  await a.put(PROVIDERS.map((id) => located(id, 0, clock)));

  const waits = { living: [] as number[], killed: [] as number[] };
  let isOver = false;
  const clients = PROVIDERS.map(async (id, i) => {
    const ofOwner = ownerOf.get(id) === 'c' ? waits.killed : waits.living;
    while (!isOver) {
      const fromMs = clock.nowMs;
      await [a, b][i % 2]?.put([located(id, 0, clock)]);
      ofOwner.push(clock.nowMs - fromMs);
      await clock.wait(PAUSE_MS);
    }
  });
  await clock.wait(500);
  c.kill();
  await clock.wait(4000);
  isOver = true;
  await Promise.all(clients);

  const [living, killed] = [Math.max(...waits.living), Math.max(...waits.killed)].map(Math.round) as [number, number];
  context.diagnostic(`longest wait: ${living} ms, ${killed} ms of objects of the killed hub`);
  assert.ok(waits.living.length > 400 && waits.killed.length > 50);
  assert.ok(killed > 500, 'the kill had an effect');
  assert.ok(living < LIVING_MS);
});
