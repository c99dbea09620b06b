import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openShapeChecks } from '../../src/fence_index/shape_checks.ts';
import { diceOf } from '../support/dice.ts';
import { SimulatedClock } from './simulated_clock.ts';
import { SimulatedHub } from './simulation/hub.ts';
import { type Heard, Listener } from './simulation/listener.ts';
import { simulate } from './simulation/simulation.ts';
import { WitnessedCluster } from './simulation/witness.ts';

const SEEDS = 6;
/** Seeds that have failed once, and over what. */
const MENDED: readonly [seed: number, what: string][] = [
  [8, 'a journal that could not be trimmed ended the process'],
  [62, 'a worker that was replaced during a takeover told events of a state that was not whole'],
  [77, 'the owner forgot an expelled front door, and took its request again'],
];

async function play(seed: number, shards = 1): Promise<void> {
  const { wrongs, log } = await simulate(seed, { shards });
  const again = `node src/launch.mjs test/cluster/simulation_command.ts 1 ${seed} ${shards}`;
  assert.equal(wrongs.length, 0, `${wrongs.join('\n')}\n${log.join('\n')}\nOnce more: ${again}`);
}

for (let seed = 1; seed <= SEEDS; seed++) {
  if (MENDED.every(([mended]) => mended !== seed))
    test(`Hubs are one hub through the faults of seed ${seed}`, () => play(seed));
}

for (const [seed, what] of MENDED) test(`Hubs are one hub through seed ${seed}, where ${what}`, () => play(seed));

for (const seed of [11, 12]) test(`Hubs with two shards are one hub through seed ${seed}`, () => play(seed, 2));

test('A subscription at a hub that has joined behind the last map ends with the owner', async (context) => {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const network = new WitnessedCluster({ clock, seed: 1 });
  const shapes = await openShapeChecks();
  const open = (incarnation: string): Promise<SimulatedHub> => {
    const place = { network, dice: diceOf(1), shapes, hubName: incarnation, incarnation, shards: 1, aheadMs: 0 };
    return SimulatedHub.open({ ...place, ran: () => undefined, wrong: (what) => assert.fail(what) });
  };
  const owner = await open('a');
  await clock.wait(2000);
  const late = await open('b');
  const heard: Heard[] = [];
  new Listener(late, 'location_updates', heard);
  await clock.wait(500);
  assert.deepEqual(
    heard.map(({ endedMs }) => endedMs),
    [Infinity],
  );
  owner.kill();
  await clock.wait(5000);
  assert.ok((heard[0]?.endedMs ?? Infinity) < clock.nowMs);
});
