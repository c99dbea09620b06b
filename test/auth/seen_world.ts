import fc from 'fast-check';
import { FOLLOWED } from '../../src/core/zone/following.ts';
import { RESOURCES, type Resource } from '../../src/model/permission.ts';
import { HALL } from '../support/hall.ts';
import type { TestHub } from '../support/running_hub.ts';

/**
 * Random sites for the property of seen.test.ts: entities of several owners with every kind of reference, each marked
 * by unique strings and positions.
 */

export const KINDS = ['zone', 'trackable', 'provider', 'fence', 'anchor'] as const;
export type Kind = (typeof KINDS)[number];
const COUNTS: Readonly<Record<Kind, number>> = { zone: 6, trackable: 4, provider: 5, fence: 3, anchor: 3 };

const nat = fc.nat({ max: 11 });
const some = (kind: Kind) => fc.subarray([...Array(COUNTS[kind]).keys()]);
const siteArbitrary = fc.record({
  trackables: fc.array(fc.record({ providers: some('provider'), parent: fc.option(nat) }), {
    minLength: 4,
    maxLength: 4,
  }),
  zones: fc.array(
    fc.record({
      carrier: fc.constantFrom('none', 'trackable', 'zone', 'lists'),
      by: nat,
      providers: some('provider'),
      trackables: some('trackable'),
    }),
    { minLength: 4, maxLength: 4 },
  ),
  planes: fc.array(fc.record({ providers: some('provider'), trackables: some('trackable') }), {
    minLength: 2,
    maxLength: 2,
  }),
  fences: fc.array(fc.option(nat, { freq: 1 }), { minLength: 3, maxLength: 3 }),
  anchors: fc.array(fc.option(nat), { minLength: 3, maxLength: 3 }),
  anchored: fc.boolean(),
});
const rightsArbitrary = fc.record({
  owned: fc.record({
    zone: some('zone'),
    trackable: some('trackable'),
    provider: some('provider'),
    fence: some('fence'),
    anchor: some('anchor'),
  }),
  /** Kinds that the token may read completely. */
  whole: fc.subarray([...KINDS], { maxLength: 2 }),
});
export interface Rights {
  readonly owned: Readonly<Record<Kind, readonly number[]>>;
  readonly whole: readonly Kind[];
}

export const worldArbitrary = fc.record({
  site: siteArbitrary,
  tokens: fc.tuple(rightsArbitrary, rightsArbitrary),
  /** Target of each attack: an object of the tenant or of any owner. */
  attacks: fc.array(fc.tuple(nat, nat), { minLength: 120, maxLength: 120 }),
});
type Of<A> = A extends fc.Arbitrary<infer T> ? T : never;
export type Site = Of<typeof siteArbitrary>;
export type World = Of<typeof worldArbitrary>;

const pad = (n: number, length: number): string => String(n).padStart(length, '0');

/** Ids and marks of one run. */
export class Marks {
  readonly #run: number;

  constructor(run: number) {
    this.#run = run;
  }

  id(kind: Kind, i: number): string {
    if (kind === 'trackable') return `aaaaaaaa-${pad(this.#run, 4)}-4000-8000-${pad(i, 12)}`;
    if (kind === 'fence') return `ffffffff-${pad(this.#run, 4)}-4000-8000-${pad(i, 12)}`;
    return `${kind}-${this.#run}-${i}-id`;
  }

  ids(kind: Kind): readonly string[] {
    return [...Array(COUNTS[kind]).keys()].map((i) => this.id(kind, i));
  }

  mark(kind: Kind, i: number): string {
    return `secret-${kind}-${this.#run}-${i}.`;
  }

  /** Unique longitudes and latitudes within 3 m of each other. The last digits are spare. */
  at(kind: Kind, i: number, step = 0): [number, number] {
    const n = KINDS.indexOf(kind) * 60 + i * 6 + step;
    return [
      Number(`9.00050${pad(n, 3).slice(-2)}${(n * 7) % 10}5`),
      Number(`50.00030${pad(n * 3, 3).slice(-2)}${(n * 3) % 7}5`),
    ];
  }
}

const TIES = [FOLLOWED.providers, FOLLOWED.trackables] as const;
type Body = Readonly<Record<string, unknown>> & { readonly id: string };

/** Entities of a site, in an order in which they can be created. */
export function bodiesOf(site: Site, marks: Marks): readonly (readonly [Kind, Body])[] {
  const common = (kind: Kind, i: number) => ({
    id: marks.id(kind, i),
    name: marks.mark(kind, i),
    properties: { of: marks.mark(kind, i) },
  });
  const all: (readonly [Kind, Body])[] = [];
  const point = (kind: Kind, i: number) => ({ type: 'Point', coordinates: marks.at(kind, i) });
  for (const i of Array(COUNTS.provider).keys()) {
    all.push(['provider', { ...common('provider', i), type: 'uwb', sensors: { of: marks.mark('provider', i) } }]);
  }
  site.trackables.forEach(({ providers, parent }, i) => {
    const carrier = parent === null || i === 0 ? {} : { parent: marks.id('trackable', parent % i) };
    all.push([
      'trackable',
      {
        ...common('trackable', i),
        ...carrier,
        type: 'omlox',
        radius: 3,
        location_providers: providers.map((p) => marks.id('provider', p)),
      },
    ]);
  });
  const ties = ({
    providers,
    trackables,
  }: {
    readonly providers: readonly number[];
    readonly trackables: readonly number[];
  }) => ({
    [TIES[0]]: providers.map((p) => marks.id('provider', p)),
    [TIES[1]]: trackables.map((t) => marks.id('trackable', t)),
  });
  site.zones.forEach((zone, i) => {
    const { properties, ...rest } = {
      ...common('zone', i),
      type: 'rfid',
      radius: 2,
      position: point('zone', i),
      foreign_id: `foreign-${marks.mark('zone', i)}`,
    };
    const isCarried = zone.carrier === 'trackable' || (zone.carrier === 'zone' && i > 0);
    const parent =
      zone.carrier === 'trackable'
        ? marks.id('trackable', zone.by % COUNTS.trackable)
        : marks.id('zone', zone.by % Math.max(i, 1));
    all.push([
      'zone',
      {
        ...rest,
        ...(isCarried && { parent }),
        properties: { ...properties, ...(zone.carrier === 'lists' && ties(zone)) },
      },
    ]);
  });
  site.planes.forEach((plane, n) => {
    const i = 4 + n;
    const [lon, lat] = marks.at('zone', i);
    // Two control points are matched exactly, so the origin is the zone's position to the last digit.
    const rows = (HALL.ground_control_points ?? [])
      .slice(0, 4)
      .map(([x = 0, y = 0], row) => (row % 2 === 0 ? [x - 9 + lon, y - 50 + lat] : [x, y]));
    const { properties, ...rest } = common('zone', i);
    all.push([
      'zone',
      {
        ...rest,
        type: 'uwb',
        position: point('zone', i),
        ground_control_points: rows,
        properties: { ...properties, ...ties(plane) },
      },
    ]);
  });
  site.fences.forEach((zone, i) => {
    const region =
      zone === null
        ? { region: point('fence', i) }
        : { region: { type: 'Point', coordinates: [0, 0] }, crs: 'local', zone_id: marks.id('zone', 4 + (zone % 2)) };
    all.push(['fence', { ...common('fence', i), ...region, radius: 40 }]);
  });
  site.anchors.forEach((zone, i) => {
    const local =
      zone === null
        ? {}
        : { zone_id: marks.id('zone', 4 + (zone % 2)), local_position: { type: 'Point', coordinates: [0, 0] } };
    all.push(['anchor', { ...common('anchor', i), georeferenced_position: point('anchor', i), ...local }]);
  });
  if (site.anchored) {
    const [first] = all.filter(([kind, { type }]) => kind === 'zone' && type === 'uwb');
    if (first !== undefined) all.push(['zone', { ...first[1], anchor_ids: marks.ids('anchor') }]);
  }
  return all;
}

/** Creates the entities, or replaces existing ones. */
export async function build(admin: TestHub, bodies: ReturnType<typeof bodiesOf>): Promise<void> {
  const made = new Set<string>();
  for (const [kind, body] of bodies) {
    const isNew = !made.has(body.id);
    made.add(body.id);
    const path = isNew ? `/${kind}s` : `/${kind}s/${body.id}`;
    const { status, text } = await admin.request(isNew ? 'POST' : 'PUT', path, body);
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
  }
}

export const RESOURCE_OF = Object.fromEntries(KINDS.map((kind) => [kind, `${kind}_id`])) as Readonly<
  Record<Kind, Resource>
>;

/** Ids of the objects that the claim of a token grants. */
export function claimOf({ owned }: Rights, marks: Marks): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(KINDS.map((kind) => [`${kind}_ids`, owned[kind].map((i) => marks.id(kind, i))]));
}

export const KIND_OF = (resource: string): Kind | undefined =>
  KINDS.find((kind) => RESOURCE_OF[kind] === resource && RESOURCES.includes(RESOURCE_OF[kind]));
