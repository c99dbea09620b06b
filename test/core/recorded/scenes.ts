import { MovingFeed } from '../../../bench/load/feed.ts';
import { providerId } from '../../../bench/load/plan.ts';
import { randomFrom } from '../../../bench/load/random.ts';
import { Stamp } from '../../../bench/load/slots.ts';
import { polygonFences, roundFences, trackables } from '../../../bench/profiles/site.ts';
import type { Topic, View } from '../../../src/model/topics.ts';
import { commandsOf, type EntityCommand } from '../../../src/shards/shard_commands.ts';
import { HALL, square } from '../../support/hall.ts';
import { BODY } from '../site/steps.ts';
import type { Recording, Wish } from './recording.ts';

/** Actions of a scene. They must not depend on a clock or on chance. */
export type Scene = (recording: Recording) => void;

const MOVES: readonly Topic[] = ['location_updates', 'trackable_motions'];
const CROSSINGS: readonly Topic[] = ['location_updates', 'fence_events'];
const MEETINGS: readonly Topic[] = [...MOVES, 'fence_events', 'collision_events'];
const UTM = { crs: 'EPSG:32632' };
const VIEWS: readonly Partial<View>[] = [{}, { geojson: true }, UTM, { ...UTM, geojson: true }];
const FILTERED: readonly Wish[] = [
  { topic: 'location_updates', filter: { provider_id: [providerId(1), providerId(5)] } },
  { topic: 'location_updates', view: UTM, filter: { accuracy: 0.3, floor: 0 } },
  { topic: 'trackable_motions', filter: { name: 'person 4' } },
  { topic: 'trackable_motions', view: { geojson: true }, filter: { provider_id: providerId(2) } },
  { topic: 'fence_events', filter: { event_type: 'region_exit' } },
  { topic: 'fence_events', view: { geojson: true }, filter: { object_type: 'trackable' } },
];

function seen(topics: readonly Topic[], ...views: readonly Partial<View>[]): Wish[] {
  return views.flatMap((view) => topics.map((topic) => ({ topic, view })));
}

/** The scenes of the benchmark and scenes of features that it lacks, at a small scale. */
export const SCENES: Readonly<Record<string, Scene>> = {
  walk: (recording) => walk(recording, { wishes: seen(CROSSINGS, {}) }),
  views: (recording) => {
    walk(recording, { wishes: [...seen([...MOVES, 'fence_events'], ...VIEWS), ...FILTERED], trackable: {} });
  },
  filters: (recording) => walk(recording, { wishes: FILTERED, trackable: { radius: 0.3 } }),
  crowd: (recording) => {
    walk(recording, { wishes: seen(MEETINGS, ...VIEWS), trackable: { radius: 2 }, fences: 4, sideMeters: 100 });
  },
  heavy: (recording) => {
    walk(recording, { wishes: seen(CROSSINGS, {}), fences: 4, vertices: 1500, radiusMeters: [55, 60] });
  },
  storm,
  assigned,
  hall,
  properties,
};

interface Walk {
  readonly wishes: readonly Wish[];
  readonly fences?: number;
  readonly vertices?: number;
  readonly radiusMeters?: readonly [number, number];
  readonly sideMeters?: number;
  /** Each person is such a trackable; none by default. */
  readonly trackable?: object;
}

const PEOPLE = 100;

function walk(recording: Recording, { wishes, fences = 40, vertices = 16, trackable, ...more }: Walk): void {
  const { sideMeters = 400, radiusMeters = [15, 25] } = more;
  listen(recording, wishes);
  tell(recording, 'fence', polygonFences({ count: fences, vertices, sideMeters, radiusMeters }));
  if (trackable !== undefined) tell(recording, 'trackable', trackables(PEOPLE, trackable));
  const moving = { kind: 'walk', providers: PEOPLE, sideMeters, stepMeters: 3 } as const;
  send(recording, new MovingFeed({ ...moving, way: 'put-many', perMessage: 50, connections: 1 }), 24);
}

/** Every location is an entry or an exit. */
function storm(recording: Recording): void {
  listen(recording, seen(CROSSINGS, {}));
  const grid = { spacingMeters: 60, radiusMeters: 10 };
  tell(recording, 'fence', roundFences(PEOPLE, grid));
  const flipping = { kind: 'flip', providers: PEOPLE, spacingMeters: grid.spacingMeters } as const;
  send(recording, new MovingFeed({ ...flipping, way: 'put-many', perMessage: 50, connections: 1 }), 24);
}

/**
 * Trackables with several providers, rules and parents, timers of all kinds, late locations, and a backward clock step.
 */
function assigned(recording: Recording): void {
  const pick = picking(3);
  const more: Wish[] = [
    { topic: 'location_updates', filter: { provider_type: 'gps' } },
    { topic: 'collision_events', filter: { collision_type: 'collision_start' } },
  ];
  listen(recording, [...seen(MEETINGS, ...VIEWS), ...FILTERED, ...more]);
  recording.tell({ kind: 'rules', rules: [{ expression: 'accuracy < 1', priority: 2 }] });
  const delay = () => pick(undefined, 0, 700, 3000, -1);
  const timing = () => ({ exit_delay: delay(), entry_delay: delay(), exit_tolerance: pick(undefined, 2) });
  const fences = polygonFences({ count: 20, vertices: 7, sideMeters: 120, radiusMeters: [10, 30] });
  for (const fence of fences) {
    const own = { foreign_id: pick(undefined, 'Tor ü'), timeout: delay(), floor: pick(undefined, undefined, 0, 1) };
    tell(recording, 'fence', [{ ...fence, ...timing(), ...own, tolerance_timeout: 2000 }]);
  }
  for (let n = 0; n < 20; n++) tell(recording, 'trackable', [carried(n)]);
  function carried(n: number): object {
    const tags = [n, (n * 7) % 30, (n * 11) % 30].map(providerId);
    const shape = pick({}, { radius: 0.7, extrusion: 2 }, { radius: 4 }, { geometry: BODY });
    const parent = n > 9 && n % 3 === 0 ? `trackable ${n - 9}` : undefined;
    const name = pick(undefined, 'person 4', '名 "x"');
    return { id: `trackable ${n}`, type: 'omlox', name, location_providers: tags, parent, ...timing(), ...shape };
  }
  for (let round = 0; round < 60; round++) {
    recording.nowMs += pick(100, 300, 1000, 5000);
    if (round === 40) recording.clockSteps = [{ toMs: recording.nowMs - 3_600_000, byMs: 3_600_000 }];
    const locations = Array.from({ length: pick(1, 8, 15) }, () => ({
      provider_type: pick('uwb', 'gps'),
      provider_id: providerId(pick(...Array(30).keys())),
      source: pick('site', 'Halle 3'),
      crs: 'EPSG:4326',
      position: point(
        8.3 + pick(...Array(500).keys()) / 3e5,
        50 + pick(...Array(500).keys()) / 4.6e5,
        ...pick([], [1.5]),
      ),
      timestamp_generated: pick(
        undefined,
        ...[0, 0, 0, 20, 400, 3000, -500].map((late) => iso(recording.nowMs - late)),
      ),
      timestamp_sent: pick(undefined, undefined, '2026-03-01T13:00:01.123456+01:00'),
      accuracy: pick(undefined, 0.2, 0.3, 2),
      floor: pick(undefined, undefined, 0, 1, -0.5),
      elevation_ref: pick(undefined, undefined, 'floor', 'wgs84'),
      associated: pick(undefined, true, false),
      speed: pick(undefined, undefined, 1.25),
      course: pick(undefined, undefined, 359.9999),
      true_heading: pick(undefined, 12.5),
      properties: pick(undefined, {}, { battery: 87, ü: ['€😀', { ok: true }] }),
    }));
    recording.body(Buffer.from(JSON.stringify(locations)));
    if (round % 9 === 5) tell(recording, 'trackable', [carried(round % 20)], { force: round % 2 === 0 });
    if (round === 21) tell(recording, 'trackable', [{ id: 'trackable 2' }], { isGone: true });
    if (round === 30) tell(recording, 'fence', [{ id: 'fence-3' }], { isGone: true });
    if (round === 33) recording.tell({ kind: 'forget', id: providerId(4) });
    if (round === 36) tell(recording, 'provider', [{ id: providerId(5) }], { isGone: true });
    if (round % 3 > 0) recording.step();
  }
  recording.nowMs += 600_000;
  recording.step();
}

/** A moving zone with ground control points: coordinates in its plane, in a projection and geographic ones. */
function hall(recording: Recording): void {
  const pick = picking(5);
  const local = { crs: 'local', zoneId: HALL.id };
  const inHall = seen(MEETINGS, ...VIEWS, local, { ...local, geojson: true });
  listen(recording, [...inHall, ...seen(MOVES, { crs: 'local' })]);
  const moved = (degrees: number) => {
    const rows = HALL.ground_control_points as number[][];
    const points = rows.map(([x = 0, y = 0], i) => (i % 2 === 0 ? [x + degrees, y] : [x, y]));
    return [{ ...HALL, ground_control_points: points }];
  };
  tell(recording, 'zone', moved(0));
  const round = { region: { type: 'Point', coordinates: [30, 30] }, radius: 15, timeout: 2000 };
  tell(recording, 'fence', [square({ id: 'gate', name: 'Tör' }), { ...square({ id: 'round' }), ...round }]);
  const shapes = [{}, { radius: 0.5 }, { radius: 2, extrusion: 1.8 }];
  const carts = shapes.flatMap((shape) => [0, 1, 2].map(() => shape));
  tell(
    recording,
    'trackable',
    carts.map((shape, n) => ({ id: `cart ${n}`, type: 'omlox', location_providers: [`tag ${n}`], ...shape })),
  );
  for (let turn = 0; turn < 50; turn++) {
    recording.nowMs += pick(100, 700, 3000);
    const locations = Array.from({ length: pick(1, 5, 10) }, () => {
      const [x, y] = [pick(...Array(400).keys()) / 10, pick(...Array(400).keys()) / 10];
      const z = pick<number[]>([], [], [1.25]);
      const place = pick(
        { source: HALL.id, crs: 'local', position: point(x, y, ...z) },
        { source: 'hall', position: point(x, y, ...z) },
        { source: HALL.id, ...UTM, position: point(500_000 + x, 5_538_630 + y, ...z) },
        { source: 'hall', crs: 'EPSG:4326', position: point(9 + x / 71_695, 50 + y / 111_229, ...z) },
      );
      const more = {
        floor: pick(undefined, 0, 1),
        speed: pick(undefined, 2.5),
        properties: pick(undefined, { a: 'ü' }),
      };
      return { provider_type: 'uwb', provider_id: `tag ${pick(...Array(12).keys())}`, ...place, ...more };
    });
    recording.body(Buffer.from(JSON.stringify(locations)));
    if (turn === 20) tell(recording, 'zone', moved(1e-4));
    if (turn === 30) {
      tell(recording, 'zone', [HALL], { isGone: true });
      recording.step();
      tell(recording, 'zone', moved(0));
    }
    if (turn % 3 > 0) recording.step();
  }
  recording.nowMs += 60_000;
  recording.step();
}

const VALUES = [
  ...[
    '1',
    '1.0',
    '-0',
    '1e5',
    '1E-7',
    '12345678901234567890',
    '0.1000',
    '9007199254740993',
    'true',
    'null',
    '[]',
    '{}',
  ],
  ...[
    '"ä"',
    '"😀"',
    '"\\u00e4"',
    '"\\ud83d\\ude00"',
    '"\\n\\"\\\\\\/"',
    '"\u2028"',
    `"${'ü'.repeat(500)}"`,
    '[ 1 , "x" ]',
  ],
  ...['{"b":1,"a":2,"1":3}', '{"toJSON":1}', '{ "x" : { "y" : -0.0 } }', '",\\"timestamp_sent\\":\\"x\\""'],
];
const NAMES = ['battery', 'ä', 'b c', '1', '\\u0061', 'timestamp_sent', 'toJSON'];

/** Every kind of JSON in properties. The scanner supports half of it. */
function properties(recording: Recording): void {
  const pick = picking(7);
  listen(recording, seen(MOVES, {}, { geojson: true }));
  const owned = { type: 'omlox', location_providers: ['täg 1', 'täg 2'], properties: { n: 1, ü: 'é' } };
  tell(recording, 'trackable', [{ id: 'person', ...owned }]);
  for (let turn = 0; turn < 300; turn++) {
    recording.nowMs += 20;
    const own = Array.from({ length: pick(0, 1, 3) }, () => `"${pick(...NAMES)}": ${pick(...VALUES)}`);
    const sent = pick('', '"timestamp_sent":"2026-03-01T11:00:00.5Z",');
    const head = `"provider_id":"täg ${pick(0, 1, 2)}","provider_type":"uwb","crs":"EPSG:4326",${sent}`;
    const position = `"position":{"type":"Point","coordinates":[8.${pick(1, 25, 125)},50.${pick(10, 101)}]}`;
    recording.body(Buffer.from(`[{${head}${position},"properties":{${own.join(',')}}}]`));
    if (pick(true, false)) recording.step();
  }
  recording.step();
}

function listen(recording: Recording, wishes: readonly Wish[]): void {
  for (const wish of wishes) recording.subscribe(wish);
  recording.step();
}

interface Change {
  readonly force?: boolean;
  readonly isGone?: boolean;
}

/** Changed entities. Entities without an id get a sequential one. */
function tell(
  recording: Recording,
  kind: EntityCommand['kind'],
  entities: Iterable<object>,
  { force = false, isGone = false }: Change = {},
): void {
  let made = 0;
  for (const entity of entities) {
    const { id = `${kind}-${made++}`, ...members } = JSON.parse(JSON.stringify(entity)) as { id?: string };
    const after = isGone ? undefined : { id, ...members };
    for (const command of commandsOf([{ kind, id, after, force }])) recording.tell(command);
  }
}

/** Bodies of the benchmark, a few per step. */
function send(recording: Recording, feed: MovingFeed, bodies: number): void {
  const stamp = new Stamp();
  for (let sent = 1; sent <= bodies; sent++) {
    recording.nowMs += 500;
    stamp.set(recording.nowMs * 1000);
    const { bytes } = feed.next(0, stamp);
    recording.body(bytes.subarray(bytes.indexOf('\r\n\r\n') + 4));
    if (sent % 3 > 0) recording.step();
  }
  recording.nowMs += 60_000;
  recording.step();
}

/** Picks a value pseudorandomly and repeatably. */
function picking(seed: number): <T>(...values: readonly T[]) => T {
  const random = randomFrom(seed);
  return (...values) => values[Math.floor(random() * values.length)] as (typeof values)[number];
}

function point(...coordinates: readonly number[]) {
  return { type: 'Point', coordinates };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
