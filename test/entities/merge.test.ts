import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type MergeOptions, memberChanges, merge } from '../../src/entities/merge.ts';
import { ExactNumber } from '../../src/model/lossless_numbers.ts';

type Members = Readonly<Record<string, unknown>>;

const CART = { id: 'a', type: 'virtual', name: 'Cart', radius: 1.5, location_providers: ['tag-1'] };
const CREW = { ...CART, properties: { crew: 'red', load: 12 } };

const CASES: readonly [what: string, before: Members, given: Members, after: Members, missing: readonly string[]][] = [
  [
    'changes the members in the document',
    CART,
    { radius: 2 },
    { ...CART, radius: 2 },
    ['/name', '/location_providers'],
  ],
  [
    'treats null as an absent value',
    CART,
    { radius: null, name: 'B', location_providers: ['x'] },
    { ...CART, name: 'B', location_providers: ['x'] },
    ['/radius'],
  ],
  ['retains existing nulls', { id: 'a', name: null }, { name: null }, { id: 'a', name: null }, []],
  ['adds no null', { id: 'a' }, { name: null }, { id: 'a' }, []],
  [
    'considers nothing missing if the hub has an empty value',
    { id: 'a', name: '', location_providers: [] },
    {},
    { id: 'a', name: '', location_providers: [] },
    [],
  ],
  [
    'merges properties by name, null being a value there',
    CREW,
    { ...CART, properties: { crew: null, dock: 7 } },
    { ...CART, properties: { crew: null, load: 12, dock: 7 } },
    ['/properties/load'],
  ],
  [
    'replaces a value inside a property as a whole',
    { id: 'a', properties: { p: { x: 1, y: 2 } } },
    { properties: { p: { x: 3 } } },
    { id: 'a', properties: { p: { x: 3 } } },
    [],
  ],
  [
    'escapes names in pointers',
    { id: 'a', properties: { 'a/b~c': 1 } },
    {},
    { id: 'a', properties: { 'a/b~c': 1 } },
    ['/properties/a~1b~0c'],
  ],
  [
    'never considers a required member missing',
    { id: 'a', type: 'omlox', region: {} },
    {},
    { id: 'a', type: 'omlox', region: {} },
    [],
  ],
  [
    'retains the plane of a region that is not in the document',
    { id: 'a', region: 1, crs: 'local', zone_id: 'z' },
    {},
    { id: 'a', region: 1, crs: 'local', zone_id: 'z' },
    [],
  ],
];

for (const [what, before, given, after, missing] of CASES) {
  test(`merge ${what}`, () => {
    assert.deepEqual(merge(before, given, { deletes: false }), { body: after, missing });
  });
}

test('merge deletes missing members on request, within the scope of the document', () => {
  const given = { radius: 2, properties: { crew: 'blue' } };
  const run = (options: MergeOptions) => merge(CREW, given, options);
  assert.deepEqual(run({ deletes: true }), {
    body: { id: 'a', type: 'virtual', radius: 2, properties: { crew: 'blue' } },
    missing: ['/name', '/location_providers', '/properties/load'],
  });
  const scope = new Set(['/name', '/radius', '/properties/crew']);
  const { name: _deleted, ...rest } = CREW;
  assert.deepEqual(run({ deletes: true, scope }), {
    body: { ...rest, radius: 2, properties: { crew: 'blue', load: 12 } },
    missing: ['/name'],
  });
  assert.deepEqual(merge({ id: 'a', properties: { crew: 1 } }, {}, { deletes: true }).body, { id: 'a' });
});

const json = fc.jsonValue({ maxDepth: 2 });
const name = fc.oneof(fc.constantFrom('id', 'name', 'radius', 'region', 'crs', 'properties', 'a/b'), fc.string());
const entity = fc
  .record({ members: fc.dictionary(name, json), properties: fc.dictionary(fc.string(), json) })
  .map(({ members, properties }) => ({ ...members, id: 'a', properties }));
const options = fc.record({ deletes: fc.boolean() });

test('merge of an entity with itself, or with any part of itself, changes nothing unless it deletes', () => {
  fc.assert(
    fc.property(entity, fc.func(fc.boolean()), options, (before, isGiven, { deletes }) => {
      assert.deepEqual(merge(before, before, { deletes }).body, before);
      const part = Object.fromEntries(Object.entries(before).filter(([each]) => isGiven(each)));
      assert.deepEqual(merge(before, part, { deletes: false }).body, before);
    }),
    { seed: 128, numRuns: 500 },
  );
});

test('merge with deletion returns the values of the document, and members that are not missing', () => {
  fc.assert(
    fc.property(entity, entity, (before, given) => {
      const { body, missing } = merge(before, given, { deletes: true });
      for (const change of memberChanges(body, given)) {
        // Members missing from the document are null, empty, or required.
        if (change.after !== undefined) assert.equal(change.after, 'null', JSON.stringify(change));
      }
      for (const pointer of missing) assert.ok(!memberChanges({}, body).some(({ path }) => path === pointer), pointer);
    }),
    { seed: 129, numRuns: 500 },
  );
});

test('memberChanges lists members and properties with their values, digit by digit', () => {
  const before = {
    id: 'a',
    radius: 1,
    name: 'A',
    properties: { n: new ExactNumber('1.50'), m: new ExactNumber('723413320329068590') },
  };
  const after = { id: 'a', radius: 2, properties: { n: 1.5, m: new ExactNumber('723413320329068591'), k: null } };
  assert.deepEqual(memberChanges(before, after), [
    { path: '/radius', before: '1', after: '2' },
    { path: '/name', before: '"A"' },
    { path: '/properties/m', before: '723413320329068590', after: '723413320329068591' },
    { path: '/properties/k', after: 'null' },
  ]);
  assert.deepEqual(memberChanges(undefined, { id: 'a' }), [{ path: '/id', after: '"a"' }]);
});
