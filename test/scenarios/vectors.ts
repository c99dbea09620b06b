import type { Fence } from '../../src/model/fence.ts';
import type { LocationProvider } from '../../src/model/provider.ts';
import type { Trackable } from '../../src/model/trackable.ts';

/**
 * Test vectors of a fence: setups, observations of an object and the expected events. The fence is a square of 10 m.
 * Times are seconds from the start of the vector. Positions are meters east of the fence's eastern edge; negative
 * inside. The last observation is followed by silence.
 */
export interface Vector {
  readonly name: string;
  readonly fence?: Partial<Fence>;
  /** Whether the provider is on this trackable. */
  readonly trackable?: Partial<Trackable>;
  readonly provider?: Partial<LocationProvider>;
  readonly seen: readonly (readonly [second: number, metersEast: number])[];
  /** Events of the provider, in order. */
  readonly events: readonly Expected[];
  /** Events of the trackable; the same if absent. */
  readonly trackableEvents?: readonly Expected[];
}

export type Expected =
  | { readonly entry: number; readonly entryTime?: number }
  | { readonly exit: number; readonly exitTime?: number };

const IN = -5;
const AWAY = 50;
const INFINITE = -1;

export const VECTORS: readonly Vector[] = [
  {
    name: 'without settings, entry and exit come at once',
    seen: [
      [0, AWAY],
      [1, IN],
      [2, AWAY],
    ],
    events: [{ entry: 1 }, { exit: 2 }],
  },
  {
    name: 'the edge belongs to the fence',
    seen: [
      [1, 0],
      [2, 0.01],
    ],
    events: [{ entry: 1 }, { exit: 2 }],
  },
  {
    name: 'a fence timeout ends a silent membership at its deadline',
    fence: { timeout: 5000 },
    seen: [[1, IN]],
    events: [{ entry: 1 }, { exit: 6 }],
  },
  {
    name: 'every location postpones the fence timeout',
    fence: { timeout: 5000 },
    seen: [
      [1, IN],
      [4, IN],
      [8, IN],
    ],
    events: [{ entry: 1 }, { exit: 13 }],
  },
  { name: 'a fence timeout of 0 is infinite', fence: { timeout: 0 }, seen: [[1, IN]], events: [{ entry: 1 }] },
  { name: 'a fence timeout of null is infinite', fence: { timeout: null }, seen: [[1, IN]], events: [{ entry: 1 }] },
  { name: 'a fence timeout of -1 is infinite', fence: { timeout: INFINITE }, seen: [[1, IN]], events: [{ entry: 1 }] },
  {
    name: 'the tolerance timeout is not restarted within the tolerance',
    fence: { exit_tolerance: 2, tolerance_timeout: 3000 },
    seen: [
      [1, IN],
      [2, 1],
      [3, 1],
    ],
    events: [{ entry: 1 }, { exit: 5 }],
  },
  {
    name: 'coming back inside stops the tolerance timeout',
    fence: { exit_tolerance: 2, tolerance_timeout: 3000 },
    seen: [
      [1, IN],
      [2, 1],
      [4, IN],
      [6, 1],
    ],
    events: [{ entry: 1 }, { exit: 9 }],
  },
  {
    name: 'without any timeout an object may stay in the tolerance forever',
    fence: { exit_tolerance: 2 },
    seen: [
      [1, IN],
      [2, 1],
      [3, 1.5],
    ],
    events: [{ entry: 1 }],
  },
  {
    name: 'an unset tolerance timeout is the fence timeout',
    fence: { exit_tolerance: 2, timeout: 3000 },
    seen: [
      [1, IN],
      [2, 1],
      [4, 1],
    ],
    events: [{ entry: 1 }, { exit: 5 }],
  },
  {
    name: 'leaving the tolerance ends the membership at once',
    fence: { exit_tolerance: 2, tolerance_timeout: 3000, exit_delay: 0 },
    seen: [
      [1, IN],
      [2, 1],
      [3, 5],
    ],
    events: [{ entry: 1 }, { exit: 3 }],
  },
  {
    name: 'an exit delay runs from the first location outside',
    fence: { exit_delay: 1000 },
    seen: [
      [1, IN],
      [2, 5],
      [2.5, 6],
    ],
    events: [{ entry: 1 }, { exit: 3 }],
  },
  {
    name: 'coming back inside stops the exit delay',
    fence: { exit_delay: 1000 },
    seen: [
      [1, IN],
      [2, 5],
      [2.5, IN],
    ],
    events: [{ entry: 1 }],
  },
  {
    name: 'a tolerance timeout shorter than the exit delay ends the membership first',
    fence: { exit_delay: 5000, tolerance_timeout: 2000, exit_tolerance: 1 },
    seen: [
      [1, IN],
      [2, 5],
    ],
    events: [{ entry: 1 }, { exit: 4 }],
  },
  {
    name: 'an exit delay works without a tolerance timeout',
    fence: { exit_delay: 2000, timeout: INFINITE },
    seen: [
      [1, IN],
      [2, 5],
    ],
    events: [{ entry: 1 }, { exit: 4 }],
  },
  {
    name: "a trackable's fence timeout overrides the fence's, for its provider too",
    fence: { timeout: 10_000 },
    trackable: { fence_timeout: 2000 },
    seen: [[1, IN]],
    events: [{ entry: 1 }, { exit: 3 }],
  },
  {
    name: "a provider's exit delay overrides its trackable's and the fence's",
    fence: { exit_delay: 9000 },
    trackable: { exit_delay: 5000 },
    provider: { exit_delay: 0 },
    seen: [
      [1, IN],
      [2, 5],
    ],
    events: [{ entry: 1 }, { exit: 2 }],
  },
  {
    name: 'an object in the entry tolerance has not entered; its entry time is when it was first inside',
    fence: { entry_tolerance: 1 },
    seen: [
      [1, -0.5],
      [5, -0.5],
      [9, -0.5],
      [10, -2],
    ],
    events: [{ entry: 10, entryTime: 1 }],
  },
  {
    name: 'an entry tolerance timeout makes an object enter, and is restarted by a location outside',
    fence: { entry_tolerance: 1, entry_tolerance_timeout: 3000 },
    seen: [
      [1, -0.5],
      [2, AWAY],
      [3, -0.5],
    ],
    events: [{ entry: 6, entryTime: 3 }],
  },
  {
    name: 'a passer-by does not enter within the entry delay',
    fence: { entry_delay: 2000 },
    seen: [
      [1, IN],
      [2, AWAY],
    ],
    events: [],
  },
  {
    name: 'an entry delay ends in an entry',
    fence: { entry_delay: 2000 },
    seen: [
      [1, IN],
      [2, IN],
    ],
    events: [{ entry: 3, entryTime: 1 }],
  },
  {
    name: 'after a silent exit the next location inside is a new entry',
    fence: { timeout: 2000 },
    seen: [
      [1, IN],
      [5, IN],
    ],
    events: [{ entry: 1 }, { exit: 3 }, { entry: 5 }, { exit: 7 }],
  },
  {
    name: 'a round trackable is inside when it touches, its provider is not',
    trackable: { radius: 2 },
    seen: [
      [0, AWAY],
      [1, 1.9],
      [2, 2.1],
    ],
    events: [],
    trackableEvents: [{ entry: 1 }, { exit: 2 }],
  },
];
