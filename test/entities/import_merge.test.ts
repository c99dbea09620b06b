import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fenceIn } from '../../src/core/fence/fence_view.ts';
import { publicForm } from '../../src/entities/public_form.ts';
import type { Entities } from '../../src/entities/entities.ts';
import { type DocumentProblem, LISTS, readDocument } from '../../src/entities/import_document.ts';
import { type ImportPlan, planImport } from '../../src/entities/import_plan.ts';
import type { EntityKindName } from '../../src/entities/entity_lookup.ts';
import type { StoredFence } from '../../src/model/fence.ts';
import { restoreExactNumbers } from '../../src/model/lossless_numbers.ts';
import { openEntities, point, polygon, rfidZone, UUID_A, UUID_B, UUID_C, uwbZone } from './open_entities.ts';

const DOCUMENT = { format: 'location-hub-entities', version: 1 };
const HALL = uwbZone({ id: UUID_A, foreign_id: 'hall' });
const NONE = { created: 0, changed: 0, unchanged: 0, deleted: 0 };

async function planned(entities: Entities, lists: object, { deletesMembers = false } = {}): Promise<ImportPlan> {
  const document = readDocument({ ...DOCUMENT, ...lists });
  assert.ok('entities' in document, JSON.stringify(document));
  return await planImport(entities.lists(), document, {
    replaced: new Set(),
    deletesMembers,
    shapes: entities.shapes,
    rules: [],
    defined: { alert_rules: [], views: [], sinks: [], sources: [] },
    replacesDefined: false,
    checked: async () => undefined,
  });
}

const CART = {
  id: UUID_C,
  type: 'virtual',
  name: 'Cart',
  location_providers: ['tag-1'],
  radius: 1.5,
  fence_timeout: 60_000,
  calculate_collisions: false,
  locating_rules: [{ expression: "type = 'uwb'", priority: 3 }],
  geometry: polygon(),
  properties: { crew: 'red', load_kg: 12 },
};

test('An import of some members changes these, lists them, and names other members that the hub has', async () => {
  const { entities } = openEntities();
  await entities.create('trackable', CART);
  const plan = await planned(entities, {
    trackables: [{ id: UUID_C.toUpperCase(), name: 'Cart', radius: 2.5, properties: { crew: 'blue' } }],
  });
  assert.deepEqual(plan.problems, []);
  assert.deepEqual(plan.changes[0]?.after, { ...CART, radius: 2.5, properties: { crew: 'blue', load_kg: 12 } });
  const at = { list: 'trackables', id: UUID_C };
  assert.deepEqual(plan.memberChanges, {
    count: 2,
    first: [
      { ...at, path: '/radius', before: '1.5', after: '2.5' },
      { ...at, path: '/properties/crew', before: '"red"', after: '"blue"' },
    ],
  });
  assert.deepEqual(
    plan.missing.first.map(({ path }) => path),
    [
      ...['/location_providers', '/fence_timeout', '/calculate_collisions', '/locating_rules', '/geometry'],
      '/properties/load_kg',
    ],
  );
  assert.deepEqual(plan.missing.first[1], { ...at, path: '/fence_timeout', before: '60000' });
});

test('An import deletes missing members on request, if its source supports them', async () => {
  const { entities } = openEntities();
  await entities.create('trackable', CART);
  const trackables = [{ id: UUID_C, name: 'Cart' }];
  const members = { trackables: ['/name', '/radius', '/properties/crew'] };
  const scoped = await planned(entities, { trackables, members }, { deletesMembers: true });
  const { radius: _deleted, ...rest } = CART;
  assert.deepEqual(scoped.changes[0]?.after, { ...rest, properties: { load_kg: 12 } });
  assert.deepEqual(
    [scoped.missing, scoped.memberChanges].map(({ first }) => first.map(({ path, before }) => [path, before])),
    Array(2).fill([
      ['/radius', '1.5'],
      ['/properties/crew', '"red"'],
    ]),
  );
  const whole = await planned(entities, { trackables }, { deletesMembers: true });
  assert.deepEqual(whole.changes[0]?.after, { id: UUID_C, type: 'virtual', name: 'Cart' });
});

test('An import stores carriers before the entities that they carry, if only the hub knows the parents', async () => {
  const { entities } = openEntities();
  await entities.create('trackable', { id: UUID_A, type: 'omlox' });
  await entities.create('trackable', { id: UUID_B, type: 'omlox', parent: UUID_A });
  await entities.create('zone', HALL);
  await entities.create('anchor', { id: 'anchor-1', zone_id: 'hall' });
  const plan = await planned(entities, {
    trackables: [
      { id: UUID_B, name: 'carried' },
      { id: UUID_A, name: 'carrier' },
    ],
    anchors: [{ id: 'anchor-1', name: 'North' }],
    zones: [{ id: UUID_A, name: 'Hall' }],
  });
  assert.deepEqual(plan.problems, []);
  assert.deepEqual(
    plan.changes.map(({ after }) => (after as { name?: string }).name),
    ['North', 'carrier', 'carried', 'Hall'],
  );
});

const LOCAL = { id: UUID_C, region: point(5, 5), radius: 2, crs: 'local', zone_id: 'hall' };
const EARTH = { id: UUID_B, region: polygon() };
const UTM = { id: UUID_B, region: point(480_000, 5_550_000), radius: 2, crs: 'EPSG:32632' };

test('A region in the form of the API equals the region of the hub, in any plane', async () => {
  const { entities } = openEntities();
  await entities.create('zone', HALL);
  const local = (await entities.create('fence', LOCAL)) as StoredFence;
  const utm = (await entities.create('fence', UTM)) as StoredFence;
  const zoneBy = (name: string) => entities.zoneBy(name);
  const views = [{ crs: 'EPSG:4326' }, { crs: 'local', zoneId: UUID_A }, { crs: 'EPSG:32632' }];
  for (const view of views) {
    const fences = [local, utm].flatMap((fence) => fenceIn(view, fence, zoneBy) ?? []);
    assert.equal(fences.length, 2, view.crs);
    const plan = await planned(entities, { fences });
    assert.deepEqual([plan.problems, plan.memberChanges], [[], { first: [], count: 0 }], view.crs);
  }
  const drawn = [fenceIn({ crs: 'EPSG:4326' }, local, zoneBy)].map((fence) => ({ id: UUID_C, region: fence?.region }));
  assert.equal((await planned(entities, { fences: drawn })).counts.fence?.unchanged, 1);
});

test('A region without a crs is longitude and latitude, and the fence retains its own crs', async () => {
  const { entities } = openEntities();
  await entities.create('zone', HALL);
  for (const fence of [LOCAL, UTM]) {
    const before = (await entities.create('fence', fence)) as StoredFence;
    const zoneBy = (name: string) => entities.zoneBy(name);
    const { x, y } = fence === LOCAL ? { x: 7, y: 4 } : { x: 480_010, y: 5_550_020 };
    const moved = { ...before, region: point(x, y) } as StoredFence;
    const region = fenceIn({ crs: 'EPSG:4326' }, moved, zoneBy)?.region;
    const plan = await planned(entities, { fences: [{ id: fence.id, region }] });
    assert.deepEqual(plan.changes[0]?.after, moved);
    const inDegrees = await planned(entities, { fences: [{ id: fence.id, region, crs: 'EPSG:4326' }] });
    assert.deepEqual(inDegrees.changes[0]?.after, { ...fence, region, crs: 'EPSG:4326' });
  }
  const named = await planned(entities, { fences: [{ id: UUID_C, name: 'Bay' }] });
  assert.deepEqual(named.changes[0]?.after, { ...LOCAL, name: 'Bay' });
  const malformed = await planned(entities, { fences: [{ id: UUID_C, region: 'here', crs: 7, zone_id: {} }] });
  assert.equal(malformed.problems.length, 1);
});

test('A fence whose zone was deleted retains its position when an import contains it', async () => {
  const { entities } = openEntities();
  await entities.create('zone', HALL);
  await entities.create('fence', LOCAL);
  await entities.remove('zone', UUID_A);
  const fence = entities.get('fence', UUID_C) as StoredFence;
  assert.ok(fence.former_zone);
  const { former_zone: _plane, ...shown } = fence;
  for (const given of [fence, shown, fenceIn({ crs: 'EPSG:4326' }, fence, () => undefined)]) {
    const plan = await planned(entities, { fences: [given] }, { deletesMembers: true });
    assert.deepEqual([plan.problems, plan.counts.fence], [[], { ...NONE, unchanged: 1 }]);
  }
});

test('An import with other digits is a change, but the same number in another notation is not', async () => {
  const { entities } = openEntities();
  const listed = (digits: string) => {
    const text = `{"id":"tag-1","type":"uwb","properties":{"serial":${digits}}}`;
    return restoreExactNumbers(text, JSON.parse(text)) as { readonly id: string };
  };
  await entities.create('provider', listed('723413320329068590'));
  const counts = async (digits: string) => (await planned(entities, { providers: [listed(digits)] })).counts.provider;
  assert.deepEqual(await counts('723413320329068591'), { ...NONE, changed: 1 });
  assert.deepEqual(await counts('723413320329068590.0'), { ...NONE, unchanged: 1 });
});

test('members of a document names lists of entities and JSON Pointers', () => {
  const problemsOf = (members: unknown) => {
    const problems = readDocument({ ...DOCUMENT, members }) as readonly DocumentProblem[];
    return problems.map(({ place, message }) => ({ place, message }));
  };
  assert.deepEqual(problemsOf([]), [{ place: 'members', message: 'must be an object, found []' }]);
  assert.deepEqual(problemsOf({ trackables: ['name'], carts: [] }), [
    { place: 'members.trackables', message: 'must be a list of JSON Pointers, found ["name"]' },
    { place: 'members.carts', message: 'is no list of entities' },
  ]);
});

const text = fc.oneof(fc.string({ maxLength: 20 }), fc.constantFrom('', ' ', '007', 'ä "x"', 'null'));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const maybeNull = <T>(value: fc.Arbitrary<T>) => fc.option(fc.option(value, { nil: null }), { nil: undefined });
const uuid = fc.uuid();
const meters = fc.double({ min: 0, max: 1e6, noNaN: true });
const properties = fc.dictionary(
  text.filter((name) => name !== '__proto__'),
  fc.jsonValue({ maxDepth: 2 }),
);
const described = { name: maybeNull(text), properties: maybeNull(properties) };
const timing = { fence_timeout: maybeNull(fc.nat()), exit_tolerance: maybeNull(meters), entry_delay: maybe(fc.nat()) };
const compact = <T extends object>(record: fc.Arbitrary<T>) =>
  record.map((members) => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)));

const ARBITRARY: Readonly<Record<EntityKindName, fc.Arbitrary<Record<string, unknown>>>> = {
  trackable: compact(
    fc.record({
      ...{ id: uuid, type: fc.constantFrom('omlox', 'virtual'), ...described, ...timing, radius: maybeNull(meters) },
      location_providers: maybeNull(
        fc.uniqueArray(fc.string({ minLength: 1 }), { selector: (id) => id.toLowerCase() }),
      ),
      calculate_collisions: maybe(fc.boolean()),
    }),
  ),
  provider: compact(
    fc.record({
      ...{ id: fc.string({ minLength: 1 }), type: fc.constantFrom('uwb', 'gps'), ...described, ...timing },
      sensors: maybe(fc.jsonValue({ maxDepth: 2 })),
    }),
  ),
  anchor: compact(fc.record({ id: fc.string({ minLength: 1 }), name: maybeNull(text) })),
  zone: compact(
    fc.record({ id: uuid, ...described, isRfid: fc.boolean(), floor: maybe(fc.integer({ min: -5, max: 50 })) }),
  ).map(({ isRfid, ...zone }) => ({ ...(isRfid === true ? rfidZone() : uwbZone()), ...zone })),
  fence: compact(
    fc.record({
      ...{ id: uuid, ...described, floor: maybe(fc.integer()), foreign_id: maybe(text) },
      shape: fc.constantFrom(EARTH, LOCAL, UTM),
      exit_tolerance: maybeNull(meters),
    }),
  ).map(({ shape, ...fence }) => ({ ...(shape as object), ...fence })),
};

test('Entities in the form of the API are imported without changes, even with deletion of missing members', async () => {
  const sites = fc.record({
    trackable: fc.array(ARBITRARY.trackable, { maxLength: 3 }),
    provider: fc.array(ARBITRARY.provider, { maxLength: 3 }),
    anchor: fc.array(ARBITRARY.anchor, { maxLength: 2 }),
    zone: fc.array(ARBITRARY.zone, { maxLength: 2 }),
    fence: fc.array(ARBITRARY.fence, { maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(sites, fc.boolean(), async (site, deletesMembers) => {
      const { entities } = openEntities();
      await entities.create('zone', HALL);
      for (const [, kind] of LISTS) {
        for (const entity of site[kind]) await entities.create(kind, entity).catch(() => undefined);
      }
      const zoneBy = (name: string) => entities.zoneBy(name);
      const lists = LISTS.map(([name, kind]) => {
        const shown = entities.lists()[kind].map((entity) => {
          if (kind === 'fence') return fenceIn({ crs: 'EPSG:4326' }, entity as StoredFence, zoneBy);
          return publicForm(kind, entity, entities);
        });
        return [name, JSON.parse(JSON.stringify(shown))] as const;
      });
      const plan = await planned(entities, Object.fromEntries(lists), { deletesMembers });
      assert.deepEqual([plan.problems, plan.memberChanges.first, plan.missing.first, plan.changes], [[], [], [], []]);
    }),
    { seed: 34, numRuns: 150 },
  );
});
