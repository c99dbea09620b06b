import fc from 'fast-check';
import type { Filter } from '../../../src/model/filter.ts';
import type { Fence } from '../../../src/model/fence.ts';
import type { Polygon } from '../../../src/model/geojson.ts';
import type { LocationProvider } from '../../../src/model/provider.ts';
import type { LocatingRule } from '../../../src/model/rule.ts';
import type { Trackable } from '../../../src/model/trackable.ts';
import { HALL } from '../../support/hall.ts';
import { uniform } from '../../support/uniform.ts';

/** Possible actions on a random site: a few providers, trackables and fences in a hall, with fixed ids. */
export const PROVIDERS = ['p0', 'p1', 'p2', 'p3'] as const;
export const TRACKABLES = ['t0', 't1', 't2'] as const;
export const FENCES = ['f0', 'f1', 'f2', 'f3'] as const;

type ProviderId = (typeof PROVIDERS)[number];

/** One action, some time after the previous one. Walks continue from the provider's position. */
export type Step = { readonly afterMs: number } & (
  | {
      readonly does: 'walk' | 'jump';
      readonly id: ProviderId;
      readonly x: number;
      readonly y: number;
      readonly how: How;
    }
  | { readonly does: 'forget'; readonly id: ProviderId }
  | { readonly does: 'provider'; readonly id: ProviderId; readonly entity: LocationProvider | undefined }
  | { readonly does: 'fence'; readonly id: string; readonly entity: Fence | undefined }
  | { readonly does: 'trackable'; readonly id: string; readonly entity: Trackable | undefined; readonly force: boolean }
  /** Moves the hall east; undefined removes it. */
  | { readonly does: 'zone'; readonly eastMeters: number | undefined }
  | { readonly does: 'rules'; readonly rules: LocatingRule[] }
  | { readonly does: 'wait' }
);

/** Format of a location. */
export interface How {
  /** Age at receipt; negative for a clock ahead. */
  readonly lagMs: number;
  readonly floor: number | undefined;
  readonly z: number | undefined;
  readonly accuracy: number;
}

const durations = fc.constantFrom(undefined, undefined, null, 0, 700, 2000, 5000, -1);
const tolerances = fc.constantFrom(undefined, undefined, null, 0, 1.3, 4.1);
const place = uniform(0, 35);

const timing = {
  exit_tolerance: tolerances,
  tolerance_timeout: durations,
  entry_tolerance_timeout: durations,
  exit_delay: durations,
  entry_delay: durations,
};

/** Omits undefined members. */
function entity<T extends { id: string }>(members: fc.Arbitrary<object>): fc.Arbitrary<T> {
  return members.map((found) => {
    return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as unknown as T;
  });
}

/** An irregular ring around a position in the hall, with the given reach. */
const ring = fc
  .tuple(place, place, uniform(6, 18), fc.array(uniform(0.5, 1), { minLength: 3, maxLength: 7 }))
  .map(([x, y, reach, radii]) => {
    const corners = radii.map((share, i) => {
      const angle = (2 * Math.PI * i) / radii.length;
      return [x + reach * share * Math.cos(angle), y + reach * share * Math.sin(angle)];
    });
    return [...corners, corners[0] as number[]];
  });

const regions = fc.oneof(
  ring.map((exterior) => ({ region: { type: 'Polygon', coordinates: [exterior] } })),
  fc.tuple(place, place, uniform(4, 16)).map(([x, y, radius]) => ({
    region: { type: 'Point', coordinates: [x, y] },
    radius,
  })),
);

function fence(id: string): fc.Arbitrary<Fence> {
  const rest = fc.record({
    id: fc.constant(id),
    crs: fc.constant('local'),
    zone_id: fc.constantFrom(HALL.id, 'hall'),
    timeout: durations,
    entry_tolerance: fc.constantFrom(undefined, undefined, undefined, 1.1),
    floor: fc.constantFrom(undefined, undefined, 0, 1),
    extrusion: fc.constantFrom(undefined, undefined, 2),
    foreign_id: fc.constantFrom(undefined, `${id} abroad`),
    ...timing,
  });
  return entity(fc.tuple(rest, regions).map(([members, region]) => ({ ...members, ...region })));
}

function provider(id: string): fc.Arbitrary<LocationProvider> {
  return entity(fc.record({ id: fc.constant(id), type: fc.constant('uwb'), fence_timeout: durations, ...timing }));
}

export const BODY: Polygon = {
  type: 'Polygon',
  coordinates: [
    [
      [-1, -2],
      [1, -2],
      [1, 2],
      [-1, 2],
      [-1, -2],
    ],
  ],
};

const rules = fc.constantFrom<LocatingRule[]>(
  [],
  [{ expression: 'timestamp_diff < 3000', priority: 2 }],
  [{ expression: 'accuracy < 1', priority: 1 }],
  [
    { expression: "provider_id = 'p0' AND timestamp_diff < 5000", priority: 3 },
    { expression: 'floor = 1', priority: 2 },
  ],
);

/** Parents have smaller numbers, so that no trackable carries itself. */
function trackable(id: string): fc.Arbitrary<Trackable> {
  const parents = TRACKABLES.filter((other) => other < id);
  const members = fc.record({
    id: fc.constant(id),
    type: fc.constant('omlox'),
    location_providers: fc.subarray([...PROVIDERS]),
    parent: parents.length === 0 ? fc.constant(undefined) : fc.constantFrom(undefined, undefined, ...parents),
    radius: fc.constantFrom(undefined, undefined, 0.7, 3.2),
    geometry: fc.constantFrom(undefined, undefined, BODY),
    calculate_collisions: fc.constantFrom(undefined, true, false),
    fence_timeout: durations,
    locating_rules: fc.oneof(fc.constant(undefined), rules),
    ...timing,
  });
  return entity(members);
}

const how = fc.record({
  lagMs: fc.constantFrom(0, 0, 0, 0, 400, 3000, -5000),
  floor: fc.constantFrom(undefined, undefined, undefined, 0, 1),
  z: fc.constantFrom(undefined, undefined, 0.5, 2.5),
  accuracy: fc.constantFrom(0.5, 2),
});

const actions: fc.Arbitrary<object> = fc.oneof(
  step('walk', 24, { id: fc.constantFrom(...PROVIDERS), x: uniform(-9, 9), y: uniform(-9, 9), how }),
  step('jump', 8, { id: fc.constantFrom(...PROVIDERS), x: place, y: place, how }),
  step('wait', 3, {}),
  step('forget', 1, { id: fc.constantFrom(...PROVIDERS) }),
  changes('provider', PROVIDERS, provider),
  changes('fence', FENCES, fence),
  changes('trackable', TRACKABLES, trackable),
  step('zone', 1, { eastMeters: fc.constantFrom(undefined, 0, 0, 20) }),
  step('rules', 1, { rules }),
);

function step(does: Step['does'], weight: number, members: Record<string, fc.Arbitrary<unknown>>) {
  return { weight, arbitrary: fc.record({ does: fc.constant(does), ...members }) };
}

function changes(does: Step['does'], ids: readonly string[], make: (id: string) => fc.Arbitrary<unknown>) {
  const arbitrary = fc.constantFrom(...ids).chain((id) =>
    fc.record({
      does: fc.constant(does),
      id: fc.constant(id),
      entity: fc.oneof({ weight: 1, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: make(id) }),
      force: fc.boolean(),
    }),
  );
  return { weight: 2, arbitrary };
}

const afterMs = fc.constantFrom(0, 0, 250, 700, 1000, 1300, 4000);

/** Initial entities of the site: the hall, all fences, providers and trackables. */
const setup = fc
  .tuple(
    fc.tuple(...FENCES.map((id) => fence(id))),
    fc.tuple(...PROVIDERS.map((id) => provider(id))),
    fc.tuple(...TRACKABLES.map((id) => trackable(id))),
  )
  .map(([fences, providers, trackables]): Step[] => {
    const at = { afterMs: 0 };
    return [
      { ...at, does: 'zone', eastMeters: 0 },
      ...fences.map((made) => ({ ...at, does: 'fence' as const, id: made.id, entity: made })),
      ...providers.map((made) => ({ ...at, does: 'provider' as const, id: made.id as ProviderId, entity: made })),
      ...trackables.map((made) => ({ ...at, does: 'trackable' as const, id: made.id, entity: made, force: false })),
    ];
  });

/** Filters that accept most walks, or reject many locations, or hold floors; half of the objects have none. */
const FILTERS: readonly Filter[] = [
  { kind: 'cv' },
  { kind: 'cv', max_speed: 8, reset_after: 2, floor_hold: 700 },
  { kind: 'cv', fuse: true, max_gap: 20_000, gate: 100 },
  { kind: 'cv', fuse: true, max_gap: 2000, process_noise: 5 },
  { kind: 'none' },
];

/** Sets filters of providers and trackables, which depend on nothing but their position in the list. */
function filtered(steps: readonly Step[]): Step[] {
  return steps.map((one, i) => {
    const choice = (7 * i + 3 * steps.length) % (2 * FILTERS.length);
    const filter = FILTERS[choice];
    if ((one.does !== 'provider' && one.does !== 'trackable') || one.entity === undefined || !filter) return one;
    return { ...one, entity: { ...one.entity, filter } } as Step;
  });
}

/** A site and a limited number of actions on it. */
export function randomSite(maxLength: number): fc.Arbitrary<Step[]> {
  const timedActions = fc.tuple(afterMs, actions).map(([after, what]) => ({ ...what, afterMs: after }) as Step);
  return fc
    .tuple(setup, fc.array(timedActions, { minLength: maxLength / 2, maxLength }))
    .map(([first, later]) => filtered([...first, ...later]));
}
