import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkNewNames } from '../../src/auth/reference_check.ts';
import type { ReferenceSource } from '../../src/auth/names.ts';
import { OwnedEntities } from '../../src/auth/ownership.ts';
import { Readable } from '../../src/auth/readable.ts';
import { redactor, withHidden } from '../../src/auth/redaction.ts';
import { Visibility, type EntityIndex } from '../../src/auth/visibility.ts';
import { FOLLOWED } from '../../src/core/zone/following.ts';
import { HubError } from '../../src/errors.ts';
import { replacedIn } from '../../src/model/json_text.ts';
import type { Resource } from '../../src/model/permission.ts';
import type { Zone } from '../../src/model/zone.ts';

const MINE = OwnedEntities.from({
  provider_ids: ['p1', 'p2'],
  trackable_ids: ['t1', 't2'],
  zone_ids: ['z1'],
  anchor_ids: ['a1'],
});
/** Objects of the tenant and of other owners. */
const THERE: Readonly<Partial<Record<Resource, readonly string[]>>> = {
  trackable_id: ['t1', 't2', 't8', 'both'],
  zone_id: ['z1', 'z8', 'both'],
  provider_id: ['p1', 'p8'],
};
/** A zone of another owner that follows a trackable of that owner, and fences. */
const MOBILE: Zone = { id: 'z9', type: 'rfid', parent: 't8' };
const ZONES: readonly Zone[] = [{ id: 'z1', type: 'rfid' }, { id: 'z8', type: 'rfid' }, MOBILE];
const site: EntityIndex = {
  exists: (resource, id) => THERE[resource]?.includes(id) === true,
  zoneBy: (name) => ZONES.find(({ id }) => id === name),
  zoneOfFence: (id) => (id === 'f9' ? 'z9' : undefined),
};
const seeing = (whole: readonly Resource[] = []): Visibility =>
  new Visibility(new Readable(MINE, new Set(whole)), site);
const visibility = seeing();

function refusal(naming: ReferenceSource, before: object | undefined, after: object, what = visibility): string {
  try {
    checkNewNames(naming, { before, after }, what);
    return '';
  } catch (error) {
    assert.ok(error instanceof HubError && error.code === 'HUB_NOT_AUTHORIZED', String(error));
    return error.message;
  }
}

const may = 'that the access token may read';
const still = 'must name a zone that follows nothing but what the access token may read';
const REFUSED: readonly [naming: ReferenceSource, after: object, message: string, before?: object][] = [
  ['trackable', { location_providers: ['p1', 'p8'] }, `location_providers[1]: must name a provider ${may}, found "p8"`],
  ['trackable', { location_providers: ['new'] }, `location_providers[0]: must name a provider ${may}, found "new"`],
  ['trackable', { parent: 't8' }, `parent: must name a trackable ${may}, found "t8"`],
  ['trackable', { parent: 't8' }, `parent: must name a trackable ${may}, found "t8"`, { parent: 't7' }],
  // A reference is new in a member that did not contain it, even if another member did.
  ['trackable', { parent: 't8' }, `parent: must name a trackable ${may}, found "t8"`, { location_providers: ['t8'] }],
  ['zone', { parent: 't8' }, `parent: must name a trackable or a zone ${may}, found "t8"`],
  ['zone', { parent: 'z8' }, `parent: must name a trackable or a zone ${may}, found "z8"`],
  [
    'zone',
    { properties: { [FOLLOWED.trackables]: ['t1', 't8'] } },
    `properties.${FOLLOWED.trackables}[1]: must name a trackable or a zone ${may}, found "t8"`,
  ],
  [
    'zone',
    { properties: { [FOLLOWED.providers]: [7, 'p8'] } },
    `properties.${FOLLOWED.providers}[1]: must name a provider ${may}, found "p8"`,
    { properties: { [FOLLOWED.trackables]: ['p8'] } },
  ],
  ['zone', { anchor_ids: ['a1', 'a8'] }, `anchor_ids[1]: must name an anchor ${may}, found "a8"`],
  // Every client may use a hall, but not a zone that follows a vehicle of another owner.
  ['fence', { zone_id: 'z9' }, `zone_id: ${still}, found "z9"`],
  ['anchor', { zone_id: 'z9' }, `zone_id: ${still}, found "z9"`],
  ['location', { source: 'z9', provider_id: 'p1' }, `source: ${still}, found "z9"`],
  ['proximity', { source: 'z9' }, `source: ${still}, found "z9"`],
  ['fence_event', { provider_id: 'p8' }, `provider_id: must name a provider ${may}, found "p8"`],
  ['fence_event', { trackable_id: 't8' }, `trackable_id: must name a trackable ${may}, found "t8"`],
  ['fence_event', { provider_id: 'p1', trackables: ['t8'] }, `trackables[0]: must name a trackable ${may}, found "t8"`],
];

for (const [naming, after, message, before] of REFUSED) {
  test(`checkNewNames rejects a ${naming} ${JSON.stringify(after)} after ${JSON.stringify(before ?? null)}`, () => {
    assert.equal(refusal(naming, before, after), message);
  });
}

const ADMITTED: readonly [naming: ReferenceSource, after: object, before?: object][] = [
  ['trackable', { location_providers: ['p1', 'p2'], parent: 't2' }],
  ['trackable', { location_providers: ['p8', 'p1'], parent: 't8' }, { location_providers: ['p8'], parent: 't8' }],
  ['trackable', { location_providers: null, parent: '' }],
  // The check of the entity rejects values that are not lists of ids.
  ['trackable', { location_providers: 'p8', parent: 8 }],
  ['zone', { parent: 't1' }],
  ['zone', { parent: 'z1', properties: { [FOLLOWED.providers]: ['p1'], other: ['p8'] } }],
  ['zone', { properties: 'x', anchor_ids: ['a1'] }],
  ['fence', { zone_id: 'z8', properties: { trackables: ['t8'] } }],
  ['fence_event', { provider_id: null, trackable_id: 't1', trackables: ['t1', 't2'] }],
];

for (const [naming, after, before] of ADMITTED) {
  test(`checkNewNames permits a ${naming} ${JSON.stringify(after)} after ${JSON.stringify(before ?? null)}`, () => {
    assert.equal(refusal(naming, before, after), '');
  });
}

test('checkNewNames permits everything of a kind that another role may read, and nothing else for it', () => {
  const trackables = seeing(['trackable_id']);
  assert.equal(refusal('trackable', undefined, { parent: 't8' }, trackables), '');
  assert.notEqual(refusal('trackable', undefined, { location_providers: ['p8'] }, trackables), '');
  // A client that may read all trackables must not attach a zone to a zone of another owner.
  assert.notEqual(refusal('zone', undefined, { parent: 'z8' }, trackables), '');
  assert.notEqual(refusal('zone', undefined, { parent: 'both' }, trackables), '');
  assert.equal(refusal('zone', undefined, { parent: 't8' }, trackables), '');
});

const json = fc.jsonValue({ maxDepth: 3 });
/** Strings that look like the searched reference, in other members. */
const confusing = fc.constantFrom('trackables', '"trackables":["t8"]', '\\', '"]}', 'location', '😀', 't8', 't1', 'p1');
const properties = fc.dictionary(
  fc.oneof(confusing, fc.string()),
  fc.oneof(json, confusing, fc.constant({ trackables: ['t8'] })),
);
const named = fc.array(fc.constantFrom('t1', 'T1', 't2', 't8', 't9'), { maxLength: 5 });
const location = fc.record({ properties, provider_id: confusing, trackables: named, crs: confusing });
const motion = fc.record({ name: confusing, location, properties });
const fenceEvent = fc.record({ trackable_id: confusing, trackables: named, properties });
const KEPT = ['t1', 't2'];
interface Cuttable {
  trackables: string[];
  trackable_id?: string | null;
  provider_id?: string | null;
  properties: unknown;
}

/** Each form with its list, so that a reference can be removed from the parsed value. */
const FORMS = {
  plain: (value: object) => value,
  feature: (value: object) => ({ geometry: { trackables: ['t8'] }, properties: value }),
  collection: (value: object) => ({ features: [{ geometry: { trackables: ['t8'] }, properties: value }] }),
} as const;

const SHOWN = { location, motion, fence_event: fenceEvent } as const;

for (const naming of ['location', 'motion', 'fence_event'] as const) {
  test(`cutTo reduces the list of a ${naming} to readable ids, and changes nothing else`, () => {
    const value: fc.Arbitrary<object> = SHOWN[naming];
    const form = fc.constantFrom('plain', 'feature', 'collection' as const);
    fc.assert(
      fc.property(value, form, fc.constantFrom(0, 1), (shown, form, indent) => {
        const text = JSON.stringify(FORMS[form](shown), undefined, indent);
        const cut = redactor(visibility, naming, form)?.(text) ?? assert.fail('nothing is cut');
        const inner = (naming === 'motion' ? (shown as { location: object }).location : shown) as Cuttable;
        inner.trackables = inner.trackables.filter((id) => KEPT.includes(id));
        if (inner.trackable_id !== undefined && !KEPT.includes(inner.trackable_id ?? '')) inner.trackable_id = null;
        // Data of a provider is hidden with its name; the location belongs to the trackable.
        if (inner.provider_id !== undefined && inner.provider_id !== 'p1') {
          inner.provider_id = null;
          inner.properties = null;
        }
        assert.deepEqual(JSON.parse(cut), JSON.parse(JSON.stringify(FORMS[form](shown))));
      }),
      { seed: 97, numRuns: 300 },
    );
  });
}

const CUT: readonly [naming: ReferenceSource, whole: object, cut: object][] = [
  ['provider', { id: 'p8', sensors: { trackables: ['t8'] } }, { id: 'p8', sensors: { trackables: ['t8'] } }],
  [
    'trackable',
    { location_providers: ['p1', 'p8'], parent: 't8', children: ['t1', 't8'], name: 'p8' },
    { location_providers: ['p1'], parent: null, children: ['t1'], name: 'p8' },
  ],
  [
    'zone',
    { position: [1], floor: 2, parent: 't1', anchor_ids: ['a1', 'a8'] },
    { position: [1], floor: 2, parent: 't1', anchor_ids: ['a1'] },
  ],
  // Its position reveals theirs.
  ['zone', { position: [1], floor: 2, parent: 't8' }, { position: null, floor: null, parent: null }],
  [
    'zone',
    { ground_control_points: [1], properties: { x: 't8', [FOLLOWED.trackables]: ['t1', 't8'] } },
    { ground_control_points: null, properties: { x: 't8', [FOLLOWED.trackables]: ['t1'] } },
  ],
  [
    'collision',
    {
      collisions: [
        { id: 't1', position: 1 },
        { id: 't8', object_type: 'trackable', position: 2 },
      ],
      collision_area: 3,
    },
    {
      collisions: [
        { id: 't1', position: 1 },
        { id: '', object_type: 'trackable' },
      ],
      collision_area: null,
    },
  ],
  [
    'collision',
    { collisions: [{ id: 't1' }, { id: 't2' }], collision_area: 3 },
    { collisions: [{ id: 't1' }, { id: 't2' }], collision_area: 3 },
  ],
];

for (const [naming, whole, cut] of CUT) {
  test(`A hidden name also hides the values derived from it: a ${naming} ${JSON.stringify(whole)}`, () => {
    const shown = (text: string): string => redactor(visibility, naming, 'plain')?.(text) ?? text;
    assert.deepEqual(JSON.parse(shown(JSON.stringify(whole))), cut);
    const change = (text: string): string => redactor(visibility, naming, 'change')?.(text) ?? text;
    assert.deepEqual(JSON.parse(change(JSON.stringify({ id: 't8', object: whole }))), { id: 't8', object: cut });
  });
  if (naming === 'collision') continue;
  test(`Hidden values of a ${naming} ${JSON.stringify(whole)} persist when the visible form is sent back`, () => {
    const { children: _ours, ...kept } = whole as { readonly children?: unknown };
    const sorted = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value), (_name, each) => (Array.isArray(each) ? each.sort() : each));
    assert.deepEqual(
      sorted({ ...(withHidden(naming, kept, cut, visibility) as object), children: 0 }),
      sorted({ ...kept, children: 0 }),
    );
  });
}

test('A value sent instead of a hidden one replaces it', () => {
  assert.deepEqual(withHidden('zone', { parent: 't8', position: 1 }, { parent: 't1' }, visibility), { parent: 't1' });
  assert.deepEqual(withHidden('trackable', { parent: 't8' }, { parent: 't2' }, visibility), { parent: 't2' });
  assert.deepEqual(withHidden('zone', { parent: 't8', position: 1 }, { position: 2 }, visibility), {
    parent: 't8',
    position: 2,
  });
  for (const odd of [null, 7, 'x', []]) assert.equal(withHidden('zone', { parent: 't8' }, odd, visibility), odd);
  assert.deepEqual(withHidden('trackable', { location_providers: ['p8'] }, { location_providers: 7 }, visibility), {
    location_providers: 7,
  });
});

test('A fence that moves with a zone of another owner has no geometry in a Feature', () => {
  const text = (fence_id: string) => JSON.stringify({ features: [{ geometry: 1, properties: { fence_id } }] });
  const cut =
    redactor(seeing(['trackable_id', 'provider_id']), 'fence_event', 'collection') ?? assert.fail('nothing is cut');
  assert.equal(cut(text('f1')), text('f1'));
  const hidden = redactor(visibility, 'fence_event', 'collection')?.(text('f9'));
  assert.equal(hidden, text('f9').replace('"geometry":1', '"geometry":null'));
});

test('cutTo removes nothing if all trackables, or all objects, are readable', () => {
  assert.equal(redactor(undefined, 'location', 'plain'), undefined);
  assert.equal(redactor(seeing(['trackable_id', 'provider_id']), 'motion', 'feature'), undefined);
});

test('replacedIn leaves digits, spaces and escapes next to the replaced value unchanged', () => {
  const text =
    '{ "a" : 12345678901234567890.10 , "b":{"c":[1.50,{"d":"\\u0041\\""}] }, "\\u0062": {"c": [ -0, "x" ]} , "e":true}';
  assert.equal(
    replacedIn(text, ['b', 'c', '*'], (value) => `<${value}>`),
    '{ "a" : 12345678901234567890.10 , "b":{"c":[<1.50>,<{"d":"\\u0041\\""}>] }, "\\u0062": {"c": [ <-0>, <"x"> ]} , "e":true}',
  );
  assert.equal(
    replacedIn('[[1,2],[],{"x":3},[ 4 ]]', ['*', '*'], (value) => `${value}0`),
    '[[10,20],[],{"x":3},[ 40 ]]',
  );
});
