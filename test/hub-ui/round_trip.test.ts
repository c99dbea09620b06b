import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { merge } from '../../src/entities/merge.ts';
import type { Drawing } from '../../src/hub-ui/formats/drawing.ts';
import { entitiesOfDrawing } from '../../src/hub-ui/formats/drawn_entities.ts';
import { readGeoJson } from '../../src/hub-ui/formats/geojson.ts';
import { readKml } from '../../src/hub-ui/formats/kml.ts';
import { geoJsonText, kmlText, type DrawnSite } from '../../src/hub-ui/formats/write_drawing.ts';
import type { Fence } from '../../src/model/fence.ts';
import { ZONE_TYPES, type Zone } from '../../src/model/zone.ts';

type Entity = Readonly<Record<string, unknown>>;
const FORMATS = {
  GeoJSON: { write: geoJsonText, read: readGeoJson },
  KML: { write: kmlText, read: readKml },
} as const;
const RUNS = { numRuns: 300, seed: 34 };

/** The zones and fences that a file creates in a hub with a site. */
function entitiesOf(drawing: Drawing, site: DrawnSite): { readonly zones: Entity[]; readonly fences: Entity[] } {
  const layers = drawing.layers.map(({ name }) => ({ becomes: name as 'zones' | 'fences', floor: undefined }));
  const existing = {
    zones: new Map(site.zones.map((zone) => [zone.id, zone])),
    fences: new Map(site.fences.map((fence) => [fence.id, fence])),
  };
  const { lists } = entitiesOfDrawing(drawing, { layers, plane: undefined, name: 'site', existing });
  const of = (kind: 'zones' | 'fences') => (lists.get(kind) ?? []) as unknown as Entity[];
  return { zones: of('zones'), fences: of('fences') };
}

const NOTHING: DrawnSite = { zones: [], fences: [] };

const longitude = fc.double({ min: -179, max: 179, noNaN: true }).map((x) => x + 0);
const latitude = fc.double({ min: -80, max: 80, noNaN: true }).map((x) => x + 0);
const height = fc.option(fc.double({ min: -50, max: 50, noNaN: true }).map((x) => x + 0));
const position = fc.tuple(longitude, latitude, height).map(([x, y, z]) => (z === null ? [x, y] : [x, y, z]));
const ring = fc
  .array(position, { minLength: 3, maxLength: 6 })
  .filter((all) => all.every(([x, y], i) => i === 0 || x !== all[0]?.[0] || y !== all[0]?.[1]))
  .map((all) => [...all, all[0] as number[]]);
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom(' ', '\n', '\r', '<', '&', '"', ';', '0', 'ü', '仓', '\u0001', '\uFFFE'),
    fc.string({ minLength: 1, maxLength: 1 }),
  ),
  maxLength: 8,
});
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => x + 0),
);
const key = fc.oneof(
  fc.constantFrom(
    'name',
    'floor',
    'kind',
    'type',
    'id',
    'hub',
    'properties',
    'layer',
    'Name',
    '',
    '__proto__',
    'region',
    'crew',
  ),
  text,
);
const value = fc.oneof(
  text,
  number,
  fc.boolean(),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('0012', 'true', 'null', '[1]'),
);
const properties = fc
  .array(fc.tuple(key, value), { maxLength: 5 })
  .map((entries) => Object.fromEntries(entries.map(([name, each]) => [name, JSON.parse(JSON.stringify(each))])));
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/** Entities as stored by the hub: without members that have no value. */
const set = (entity: object) => Object.fromEntries(Object.entries(entity).filter(([, each]) => each !== undefined));

const fence = fc
  .record({
    id: fc.uuid(),
    region: fc.oneof(
      fc.array(ring, { minLength: 1, maxLength: 2 }).map((coordinates) => ({ type: 'Polygon' as const, coordinates })),
      position.map((coordinates) => ({ type: 'Point' as const, coordinates })),
    ),
    ...{ name: maybe(text), foreign_id: maybe(text), zone_id: maybe(text), crs: maybe(fc.constant('EPSG:4326')) },
    ...{ radius: maybe(number), extrusion: maybe(number), floor: maybe(number), timeout: maybe(fc.integer()) },
    ...{ exit_tolerance: maybe(number), tolerance_timeout: maybe(fc.integer()), exit_delay: maybe(fc.integer()) },
    ...{ entry_delay: maybe(fc.integer()), elevation_ref: maybe(fc.constantFrom('floor', 'wgs84')) },
    properties: maybe(properties),
  })
  .map((each) => set(each) as unknown as Fence);

const rows = fc
  .array(fc.tuple(position, fc.tuple(number, number)), { maxLength: 6 })
  .map((pairs) => pairs.flatMap(([earth, own]) => [earth, [...own]]));

const zone = fc
  .record({
    id: fc.uuid(),
    type: fc.constantFrom(...ZONE_TYPES),
    position: maybe(position.map((coordinates) => ({ type: 'Point', coordinates }))),
    ground_control_points: maybe(rows),
    ...{
      name: maybe(text),
      foreign_id: maybe(text),
      site: maybe(text),
      description: maybe(text),
      radius: maybe(number),
    },
    ...{ floor: maybe(number), incomplete_configuration: maybe(fc.boolean()), easting_angle: maybe(number) },
    ...{
      anchor_ids: maybe(fc.array(text, { maxLength: 3 })),
      wgs84_height: maybe(number),
      properties: maybe(properties),
    },
  })
  .map((each) => set(each) as unknown as Zone);

const site = fc.record({
  zones: fc.uniqueArray(zone, { maxLength: 3, selector: ({ id }) => id }),
  fences: fc.uniqueArray(fence, { maxLength: 4, selector: ({ id }) => id }),
});

for (const [format, { write, read }] of Object.entries(FORMATS)) {
  test(`Importing an unchanged ${format} export changes and creates nothing`, () => {
    fc.assert(
      fc.property(site, (hub) => {
        const read_ = entitiesOf(read(write(hub)), hub);
        for (const kind of ['zones', 'fences'] as const) {
          for (const given of read_[kind]) {
            const before = hub[kind].find(({ id }) => id === given['id']) as unknown as Entity;
            const { body } = merge(before, given, { deletes: false });
            assert.deepEqual(body, before);
          }
        }
        assert.equal(read_.fences.length, hub.fences.length);
      }),
      RUNS,
    );
  });
}

/** Characters that XML cannot contain are lost in members, but not in properties. */
function isForXml(entity: object): boolean {
  const { properties: _properties, ...members } = entity as { readonly properties?: unknown };
  return !/[\\]u0001|\uFFFE/.test(JSON.stringify(members));
}

for (const [format, { write, read }] of Object.entries(FORMATS)) {
  test(`An export as ${format} has all members of fences and drawn zones for another hub`, () => {
    fc.assert(
      fc.property(site, ({ zones, fences }) => {
        const isDrawn = (each: object): boolean => format === 'GeoJSON' || isForXml(each);
        const hub = { zones: zones.filter(isDrawn), fences: fences.filter(isDrawn) };
        const made = entitiesOf(read(write(hub)), NOTHING);
        assert.deepEqual(
          made.fences,
          hub.fences.map(({ crs: _crs, ...rest }) => rest),
        );
        const drawn = hub.zones.filter(({ id }) => made.zones.some((each) => each['id'] === id));
        assert.deepEqual(made.zones, drawn);
        assert.ok(hub.zones.every((each) => each.position === undefined || drawn.includes(each)));
      }),
      RUNS,
    );
  });
}
