import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playSeeds, seedsFrom } from './simulation/play_seeds.ts';
import type { SimulationOptions } from './simulation/simulation.ts';

/** A seed with two faults, which still overlap, takes less than half the time of one with the five that the command plays. */
const SEEDS: readonly (SimulationOptions & { readonly from: number; readonly count: number })[] = [
  { from: 1, count: 20, faults: 5 },
  { from: 401, count: 30, faults: 2 },
  { from: 50_001, count: 4, faults: 2, shards: 2 },
];

const PLAIN: SimulationOptions = { isPlain: true };

/** Seeds that have failed before, and the reasons. */
const MENDED: readonly [seed: number, what: string, options?: SimulationOptions][] = [
  [8, 'a journal that could not be trimmed ended the process', PLAIN],
  [25, 'a worker replaced during a takeover evaluated changes before it had the objects', PLAIN],
  [62, 'a worker replaced during a takeover published events from an incomplete state', PLAIN],
  [9009, 'a leaving hub had stored a step without publishing its events', PLAIN],
  [310, 'a worker received a row that the failed owner had not deleted', PLAIN],
  [2510, 'an exit due to new times of a fence followed the entry into another fence, when objects arrived'],
  [4704, 'an exit due to new times of a fence followed an entry, when the objects of a failed hub were taken over'],
  [4252, 'a row of an object that a failed hub had released was mistaken for its state'],
  [9470, 'an outdated location that also went to the next owner was reported as processed twice'],
  [51, 'two collision stages ended a collision differently, with the same event id'],
  [12, 'two shards of each hub were tested first', { ...PLAIN, shards: 2 }],
  [2031, 'two shards of each hub were tested first', { ...PLAIN, shards: 2 }],
  [5336, 'an exit due to new times of a fence followed an entry, when partitions moved to another hub'],
  [4964, 'the departure of objects was stored without its step'],
  [6005, 'a failed hub had evaluated a change without effect'],
  [5196, 'a closing hub was queried as if it were serving'],
  [2004, 'a server that was stopped for a moment lost subscriptions made in the meantime'],
  [
    2987,
    'state that a hub had relayed was mistaken for state that it had released itself, although it had arrived from another hub',
  ],
  [
    3313,
    'state that a hub had relayed was mistaken for state that it had released itself, and its events were published again',
  ],
  [3587, 'state that a hub had relayed was mistaken for state that it had released itself, and its state was lost'],
  [4032, 'state that a hub had relayed was mistaken for state that it had released itself, by the next owner but one'],
  [4923, 'objects without a location were released before that was journaled, and a failure was not reported'],
  [
    7020,
    'events of an object after its return were mistaken for events before its departure, of which there were none',
  ],
  [9158, 'an event that could not be stored for seconds was considered received by all hubs'],
  [8536, 'a replaced worker did not get the row of an object that was created after its release as an unknown one'],
  [903, 'a worker replaced while objects arrived did not get their rows', { faults: 2 }],
  [1150, 'the first owner of a new cluster acknowledged locations before it stored them'],
  [244, 'an owner failed after it had announced the events of another failed owner to a hub that was cut off'],
  [650, 'a suspended owner of the collision stage logged events that its successor had logged and forgotten'],
];

const EXCHANGED = 'a hub without the state of an object seemed to have had it, because its shards had exchanged it';

const BEFORE = 'a successor redelivered events to a subscription that had begun after them';

/** Seeds of hubs with two shards that have failed before, and the reasons. */
const MENDED_SHARDS: readonly [what: string, faults: number, seeds: readonly number[]][] = [
  [BEFORE, 1, [30_045, 33_028]],
  [EXCHANGED, 2, [30_043, 30_058, 30_148]],
  [EXCHANGED, 5, [30_017, 30_052, 30_148, 30_163, 30_206, 30_213, 30_244, 30_246]],
];

/** Plays seeds. Each that fails is reported with its command, and with the reason for which it has failed before. */
async function play(
  seeds: readonly number[],
  { shards = 1, faults = 5, isPlain = false }: SimulationOptions,
  reasons: ReadonlyMap<number, string> = new Map(),
): Promise<void> {
  const wrongs: string[] = [];
  await playSeeds({
    ...{ seeds, options: { shards, faults, isPlain }, processes: 2 },
    played: ({ seed, wrongs: found }) => {
      if (found.length === 0) return;
      const command = `npm run simulate -- 1 ${seed} ${shards} ${faults}${isPlain ? ' plain' : ''}`;
      wrongs.push(`${command}: ${found[0]?.slice(0, 300)}; before: ${reasons.get(seed) ?? 'nothing'}`);
    },
  });
  assert.equal(wrongs.length, 0, wrongs.join('\n'));
}

for (const { from, count, ...options } of SEEDS) {
  const { faults, shards = 1 } = options;
  test(`Hubs of ${shards} shards act as one hub through the faults of ${count} seeds, ${faults} each`, () => {
    return play(seedsFrom(from, count), options);
  });
}

// One process plays many seeds, because its start takes as long as a seed.
const ALIKE = Map.groupBy(MENDED, ([, , { faults = 5, shards = 1, isPlain = false } = {}]) => {
  return `${shards} shards with ${faults} faults${isPlain ? ', without later additions' : ''}`;
});
for (const [what, mended] of ALIKE) {
  const [[, , options = {}] = []] = mended;
  test(`Hubs act as one hub in ${mended.length} seeds that have failed before, of ${what}`, () => {
    const reasons = new Map(mended.map(([seed, reason]) => [seed, reason]));
    return play([...reasons.keys()], options, reasons);
  });
}

for (const [what, faults, seeds] of MENDED_SHARDS) {
  test(`Hubs of two shards act as one hub in seeds with ${faults} faults in which ${what}`, () => {
    return play(seeds, { shards: 2, faults });
  });
}
