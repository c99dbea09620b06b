import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EntityBody } from '../../src/entities/body.ts';
import type { Entities } from '../../src/entities/entities.ts';
import { readDocument } from '../../src/entities/import_document.ts';
import { type ImportPlan, planImport } from '../../src/entities/import_plan.ts';
import { csvText, readCsv, type Table } from '../../src/hub-ui/formats/csv.ts';
import { decodeText } from '../../src/hub-ui/formats/decode_text.ts';
import { bodyOf, type HubDocument, type HubEntities } from '../../src/hub-ui/formats/entity_document.ts';
import { stableId } from '../../src/hub-ui/formats/stable_id.ts';
import { idsOf, textOfIds } from '../../src/hub-ui/formats/table_cells.ts';
import { guessKind, guessMeanings, type TableKind } from '../../src/hub-ui/formats/table_columns.ts';
import { entitiesCsv, entitiesOfTable, signOf, whyNoMatch } from '../../src/hub-ui/formats/table_entities.ts';
import { warningsOf } from '../../src/hub-ui/lists/import_warnings.ts';
import { idKey } from '../../src/model/id.ts';
import { parseStoredJson } from '../../src/model/json.ts';
import { ExactNumber } from '../../src/model/lossless_numbers.ts';
import type { Trackable } from '../../src/model/trackable.ts';
import { openEntities, polygon, UUID_A, UUID_B, UUID_C } from '../entities/open_entities.ts';

const file = (name: string): Promise<Buffer> => readFile(new URL(`files/${name}`, import.meta.url));

/** The default import of a table, without user choices. */
function documentOf(table: Table, name = 'carts.csv'): HubDocument & { readonly kind: TableKind } {
  const kind = guessKind(table);
  const meanings = guessMeanings(table.columns, kind);
  const { sign } = signOf(table, { kind, meanings });
  return { kind, ...entitiesOfTable(table, { kind, meanings, sign, name }) };
}

function trackablesOf(text: string): readonly Record<string, unknown>[] {
  return (documentOf(readCsv(text)).lists.get('trackables') ?? []) as never;
}

const notesOf = ({ notes = [] }: HubDocument): readonly string[] => notes.map(({ where, what }) => `${where}: ${what}`);

test('A table of carts becomes trackables; columns that map to no member become properties', async () => {
  const document = documentOf(readCsv(decodeText(await file('carts.csv')).text));
  const properties = (cost: string) => ({ properties: { 'Cost centre': cost } });
  assert.deepEqual(document.lists.get('trackables'), [
    {
      ...{ id: '33333333-0000-4000-8000-000000000001', name: 'Cart 1', radius: 1.5 },
      ...{ location_providers: ['tag-1', 'tag-2'], ...properties('4711') },
    },
    {
      ...{ id: '33333333-0000-4000-8000-000000000002', name: 'Cart "2"; blue' },
      ...{ location_providers: ['tag-3'], ...properties('4712') },
    },
    {
      ...{ id: stableId('trackable no-uuid'), name: 'Cart 3' },
      properties: { 'Cost centre': '4713', Radius: 'wide', id: 'no-uuid' },
    },
    { id: stableId('carts.csv Cart 4'), name: 'Cart 4', radius: 2, location_providers: ['tag-4'] },
  ]);
  assert.deepEqual(notesOf(document), [
    'Row 4, Cart 3: Radius cannot be "wide": it becomes the property Radius.',
    'Row 4, Cart 3: The id "no-uuid" is not a UUID. A UUID is derived from it, and the id becomes a property.',
  ]);
  assert.deepEqual(document.scopes?.get('trackables'), [
    ...['/id', '/name', '/location_providers', '/radius', '/properties/Cost centre'],
  ]);
});

const TEXT = 'id;name;Abteilung\r\n1;Süd;Gießerei\r\n2;Öfen – "Nord";\r\n'.replace(
  'Öfen – "Nord"',
  '"Öfen – ""Nord"""',
);
const ROWS = [
  ['1', 'Süd', 'Gießerei'],
  ['2', 'Öfen – "Nord"', ''],
];
const windows1252 = Buffer.from([...TEXT].map((char) => (char === '–' ? 0x96 : char.charCodeAt(0))));

for (const [what, bytes] of [
  ['UTF-8', Buffer.from(TEXT)],
  ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${TEXT}`)],
  ['Windows-1252', windows1252],
  ['UTF-16 with tabs', Buffer.from(`\ufeff${TEXT.replaceAll(';', '\t')}`, 'utf16le')],
  ['bars', Buffer.from(TEXT.replaceAll(';', '|'))],
  ['LF', Buffer.from(TEXT.replaceAll('\r\n', '\n'))],
  ['CR, as in files of old Macs', Buffer.from(TEXT.replaceAll('\r\n', '\r'))],
  ['a line sep=;', Buffer.from(`sep=;\r\n${TEXT}`)],
  ['a line sep=, that declares another separator than it seems', Buffer.from(`sep=,\n${TEXT.replaceAll(';', ',')}`)],
  ['blank lines and empty fields at the end', Buffer.from(`\r\n${TEXT.replaceAll('\r\n', ';;\r\n\r\n')}`)],
  ['blanks around quotes', Buffer.from(TEXT.replace(';"', ' ; "').replace('";', '" ;'))],
  ['no line break at the end', Buffer.from(TEXT.trimEnd())],
] as const) {
  test(`A table in ${what} is read exactly`, () => {
    const { columns, rows } = readCsv(decodeText(bytes).text);
    assert.deepEqual({ columns, rows }, { columns: ['id', 'name', 'Abteilung'], rows: ROWS });
  });
}

test('readCsv numbers rows as spreadsheets do, and rejects other formats', () => {
  assert.deepEqual(readCsv('a,b\n\n1,"x\ny"\n\n2,3\n').numbers, [3, 5]);
  const wrong: readonly [string, RegExp][] = [
    ['', /The file is empty/],
    ['a,,c\n1,2,3', /Column 2 has no heading/],
    ['a,b\n1,2\n1,2,3', /Row 3 has more fields than there are headings/],
    ['a,b\n"1,2', /Row 2 has an unterminated quote/],
    ['a,b\n"1" or 2,3', /Row 2 has text after a quoted field/],
  ];
  for (const [source, message] of wrong) assert.throws(() => readCsv(source), { message });
  assert.equal(csvText({ columns: ['a'], rows: [['-1']] }), 'a\r\n-1\r\n');
});

const cells = fc.array(fc.constantFrom(...'",;|\t\r\n '.split(''), 'a', "'", '=', 'ä'), { maxLength: 8 });

test('Any table survives a round trip', () => {
  const row = fc.array(
    cells.map((chars) => chars.join('')),
    { minLength: 3, maxLength: 3 },
  );
  fc.assert(
    fc.property(fc.array(row, { maxLength: 4 }), (rows) => {
      const whole = rows.map((each, i) => [String(i), ...each]);
      const read = readCsv(csvText({ columns: ['id', 'b', 'c', 'd'], rows: whole }));
      assert.deepEqual(read.rows, whole);
    }),
    { seed: 3, numRuns: 1000 },
  );
});

for (const [cell, ids] of [
  ['tag-1, tag-2', ['tag-1', 'tag-2']],
  ['tag-1,tag-2', ['tag-1', 'tag-2']],
  ['tag-1;tag-2;', ['tag-1', 'tag-2']],
  ['tag-1 | tag-2', ['tag-1', 'tag-2']],
  ['tag-1\ntag-2', ['tag-1', 'tag-2']],
  ['Tag 12', ['Tag 12']],
  ['"uwb;7"; tag-2', ['uwb;7', 'tag-2']],
  ['"a ""b"""|c', ['a "b"', 'c']],
  ['["tag-1","tag-2"]', ['tag-1', 'tag-2']],
  ['[4711, 723413320329068590]', ['4711', '723413320329068590']],
  ['[x]', ['[x]']],
  ['007', ['007']],
  [' ; ', []],
] as const) {
  test(`The ids of ${JSON.stringify(cell)} are ${JSON.stringify(ids)}`, () => assert.deepEqual(idsOf(cell), ids));
}

test('Any ids survive a round trip through a cell', () => {
  const id = fc
    .oneof(
      cells.map((chars) => chars.join('')),
      fc.string(),
      fc.constantFrom('[', '[1]', '"', '-5'),
    )
    .filter((each) => each !== '');
  fc.assert(
    fc.property(fc.array(id), (ids) => assert.deepEqual(idsOf(textOfIds(ids)), ids)),
    { seed: 2, numRuns: 2000 },
  );
});

for (const [heading, trackables, providers] of [
  ['Tag ID', 'location_providers', 'id'],
  ['Tag-ID', 'location_providers', 'id'],
  ['tagId', 'location_providers', 'id'],
  ['Tags', 'location_providers', 'id'],
  ['Tag No.', 'location_providers', 'id'],
  ['Tag 2', 'location_providers', 'id'],
  ['Provider IDs', 'location_providers', 'id'],
  ['Location Provider', 'location_providers', 'id'],
  ['MAC address', 'location_providers', 'id'],
  ['Beacon', 'location_providers', 'id'],
  ['Tag type', 'property', 'type'],
  ['Tagesbericht', 'property', 'property'],
  ['Device name', 'property', 'property'],
  ['UUID', 'id', 'id'],
  ['Label', 'name', 'name'],
  ['Radius (m)', 'radius', 'property'],
  ['Radius (cm)', 'property', 'property'],
  ['Fence timeout [ms]', 'fence_timeout', 'fence_timeout'],
  ['Fence timeout (s)', 'property', 'property'],
  ['properties.tag', 'property', 'property'],
  ['constructor', 'property', 'property'],
] as const) {
  test(`A column "${heading}" means ${trackables} of trackables and ${providers} of providers`, () => {
    const meanings = (['trackables', 'providers'] as const).map((kind) => guessMeanings([heading], kind)[0]);
    assert.deepEqual(meanings, [trackables, providers]);
  });
}

for (const [text, kind] of [
  ['Name,Tag ID,Department\nPump,AA:BB,ICU', 'trackables'],
  ['Tag ID,Type\nAA:BB,uwb', 'providers'],
  ['MAC,Firmware\nAA:BB,1.2', 'providers'],
  ['id,name,radius\n1,Cart,2', 'trackables'],
  [`id,crew\n${UUID_A},red`, 'trackables'],
  ['id,name\ntag-1,Tag one', 'providers'],
  ['name,crew\nCart,red', 'trackables'],
  ['name,type\nCart,virtual\nDrill,omlox', 'trackables'],
  ['id,type,properties.tag,properties.radius\na,uwb,1,2', 'providers'],
] as const) {
  test(`${JSON.stringify(text)} lists ${kind}`, () => assert.equal(guessKind(readCsv(text)), kind));
}

test('Two columns with the ids of providers are merged into one list, and a duplicate of another member is an error', () => {
  const [cart] = trackablesOf('Name,Tag 1,Tag 2\nPump,tag-1,"tag-2, tag-3"');
  assert.deepEqual(cart?.['location_providers'], ['tag-1', 'tag-2', 'tag-3']);
  const table = readCsv('a,b,crew,properties.crew\n1,2,3,4');
  assert.equal(
    whyNoMatch(table, { meanings: ['name', 'name', 'none', 'none'] }),
    'The columns a and b mean the same. Skip one of them.',
  );
  assert.match(
    whyNoMatch(table, { meanings: ['name', 'none', 'property', 'property'] }) ?? '',
    /crew and properties.crew/,
  );
  assert.equal(whyNoMatch(table, { meanings: ['name', 'none', 'none', 'property'] }), undefined);
});

const timed = (cell: string, other = '') => readCsv(`id;name;fence_timeout;radius\r\n${UUID_C};Cart;${cell};${other}`);

for (const [cell, other, members] of [
  ['60000', '', { fence_timeout: 60_000 }],
  ['60,000', '1.5', { fence_timeout: 60_000, radius: 1.5 }],
  ['60.000', '1,5', { fence_timeout: 60_000, radius: 1.5 }],
  ['60 000', '', { fence_timeout: 60_000 }],
  ['1 min', '2', { radius: 2, properties: { fence_timeout: '1 min' } }],
] as const) {
  test(`A timeout of ${cell} next to a radius of "${other}" gives ${JSON.stringify(members)}`, () => {
    const [cart] = (documentOf(timed(cell, other)).lists.get('trackables') ?? []) as object[];
    assert.deepEqual(cart, { id: UUID_C, name: 'Cart', ...members });
  });
}

for (const cell of ['60,000', '60.000']) {
  test(`A timeout of ${cell} alone requires the user to choose a number format`, () => {
    const table = timed(cell);
    const meanings = guessMeanings(table.columns, 'trackables');
    assert.deepEqual(signOf(table, { kind: 'trackables', meanings }), { sign: undefined, undecided: [cell] });
    const [point, comma] = (['.', ','] as const).map((sign) => {
      const { lists } = entitiesOfTable(table, { kind: 'trackables', meanings, sign, name: 'x' });
      return ((lists.get('trackables') ?? []) as readonly Trackable[])[0]?.fence_timeout;
    });
    assert.deepEqual([point, comma], cell === '60,000' ? [60_000, 60] : [60, 60_000]);
  });
}

test('Strings keep their zeros and digits, and are not numbers', () => {
  const [cart] = trackablesOf('name,Tag,crew,serial,rate\n007,0012,007,723413320329068590,"1,500"');
  assert.deepEqual(cart, {
    id: stableId('carts.csv 007'),
    name: '007',
    location_providers: ['0012'],
    properties: { crew: '007', serial: '723413320329068590', rate: '1,500' },
  });
});

test('Values invalid for a member become properties, and the preview says so', () => {
  const document = documentOf(
    readCsv(
      'name,type,calculate_collisions,parent,locating_rules\nCart,Forklift,maybe,dock,none\nTruck,omlox,Yes,cart-1,[]\n',
    ),
  );
  const [cart, truck] = (document.lists.get('trackables') ?? []) as unknown as Record<string, unknown>[];
  assert.deepEqual(cart?.['properties'], {
    ...{ type: 'Forklift', calculate_collisions: 'maybe', locating_rules: 'none', parent: 'dock' },
  });
  assert.deepEqual([truck?.['calculate_collisions'], truck?.['locating_rules']], [true, []]);
  assert.equal(document.notes?.length, 5);
});

test('Rows name each other as parents by the ids of the file', () => {
  const text = 'id,parent,radius\ntruck,,1\nbox,truck,1\n';
  const [truck, box] = trackablesOf(text);
  assert.equal(box?.['parent'], truck?.['id']);
});

test('Rows without a name, or with the tag of another trackable, cause a warning', () => {
  const document = documentOf(readCsv('Name,Tag ID\nPump 1,tag-1\n,tag-2\nPump 3,"tag-1, tag-9"\nPump 1,tag-3\n'));
  const cart = { id: UUID_A, type: 'omlox', name: 'Cart', location_providers: ['tag-9'] } as const;
  const hub: HubEntities = new Map([['trackables', new Map([[UUID_A, cart]])]]) as never;
  assert.deepEqual(notesOf(document), [
    'Row 3: It has neither id nor name. The row number identifies the trackable.',
    'Row 5, Pump 1: An earlier row without an id has the same name. This row becomes another trackable.',
  ]);
  assert.deepEqual(
    warningsOf(document, hub).map(({ where, what }) => `${where}: ${what}`),
    [
      'Row 3: It has no name.',
      'Row 4, Pump 3: Its provider tag-1 is also the provider of Pump 1.',
      'Row 4, Pump 3: Its provider tag-9 is also the provider of Cart.',
    ],
  );
  // A table without columns for names or tags changes neither.
  assert.deepEqual(warningsOf(documentOf(readCsv(`id,radius\n${UUID_A},2\n`)), hub), []);
});

/** Imports a document of the page into these entities, as a dry run. */
async function planned(entities: Entities, document: HubDocument, deletesMembers = false): Promise<ImportPlan> {
  const { trackable, provider } = entities.lists();
  const byId = (list: readonly { readonly id: string }[]) => new Map(list.map((each) => [idKey(each.id), each]));
  const hub = new Map([
    ['trackables', byId(trackable)],
    ['providers', byId(provider)],
  ]) as unknown as HubEntities;
  const read = readDocument(parseStoredJson(JSON.stringify(bodyOf(document, hub))) as EntityBody);
  assert.ok('entities' in read, JSON.stringify(read));
  return await planImport(entities.lists(), read, {
    replaced: new Set(),
    deletesMembers,
    shapes: entities.shapes,
    rules: [],
    defined: { alert_rules: [], views: [], sinks: [], sources: [] },
    replacesDefined: false,
    checked: async () => undefined,
  });
}

test('A partial table updates only its columns, and a new trackable has the default type', async () => {
  const { entities } = openEntities();
  const cart = {
    id: UUID_A,
    type: 'virtual',
    name: 'Cart',
    radius: 1,
    location_providers: ['tag-1'],
    geometry: polygon(),
  };
  await entities.create('trackable', cart);
  const document = documentOf(readCsv(`id,name,radius\n${UUID_A.toUpperCase()},,2.5\n${UUID_B},New,1\n`));
  const plan = await planned(entities, document);
  assert.deepEqual(plan.problems, []);
  assert.deepEqual(
    plan.changes.map(({ after }) => after),
    [
      { ...cart, radius: 2.5 },
      { id: UUID_B, type: 'omlox', name: 'New', radius: 1 },
    ],
  );
  assert.deepEqual(
    plan.missing.first.map(({ path }) => path),
    ['/name'],
  );
});

const digits = fc.constantFrom(new ExactNumber('723413320329068590'), new ExactNumber('1.50'));
const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '',
    ' ',
    '007',
    '12.5',
    'true',
    'null',
    '"',
    "'=x",
    '=1+1',
    '+49 170',
    '@home',
    'a;b',
    'Cart 5 ',
    '\ufeff',
    '[]',
    '-',
  ),
);
const names = fc
  .oneof(text, fc.constantFrom('id', 'name', 'type', 'properties', 'Tag ID'))
  .filter((name) => name !== '__proto__');
const properties = fc.dictionary(names, fc.oneof(text, digits, fc.jsonValue({ maxDepth: 2 })));
const meters = fc.oneof(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.constantFrom(1.125, 60_000, 0.5));
const duration = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(fc.option(value, { nil: null }), { nil: undefined });
const common = {
  ...{ name: maybe(text), properties: maybe(properties), fence_timeout: maybe(duration), timeout: maybe(duration) },
  ...{ exit_tolerance: maybe(meters), entry_tolerance_timeout: maybe(duration) },
};
const ids = fc.uniqueArray(
  text.filter((id) => id !== ''),
  { selector: idKey },
);
const ARBITRARY = {
  trackable: fc.record({
    ...{ id: fc.uuid(), type: fc.constantFrom('omlox', 'virtual'), ...common, location_providers: maybe(ids) },
    ...{ radius: maybe(meters), calculate_collisions: maybe(fc.boolean()), geometry: maybe(fc.constant(polygon())) },
    locating_rules: maybe(fc.constant([{ expression: "type = 'uwb'", priority: 3 }])),
  }),
  provider: fc.record({
    ...{ id: text.filter((id) => id.trim() !== ''), type: fc.constantFrom('uwb', 'virtual', 'ble-aoa'), ...common },
    sensors: fc.option(fc.oneof(text, digits, fc.jsonValue({ maxDepth: 2 })), { nil: undefined }),
  }),
} as const;

for (const kind of ['trackable', 'provider'] as const) {
  test(`An export of any ${kind}s as CSV changes nothing when it is imported`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(ARBITRARY[kind] as fc.Arbitrary<object>, { minLength: 1, maxLength: 4 }),
        async (list) => {
          const { entities } = openEntities();
          for (const entity of list) {
            const set = Object.fromEntries(Object.entries(entity).filter(([, value]) => value !== undefined));
            await entities.create(kind, set).catch(() => undefined);
          }
          const found = entities.lists()[kind];
          if (found.length === 0) return;
          const csv = entitiesCsv(`${kind}s`, found);
          const document = documentOf(readCsv(csv));
          assert.equal(document.kind, `${kind}s`);
          const plan = await planned(entities, document, true);
          assert.deepEqual([plan.problems, plan.memberChanges.first, plan.missing.first], [[], [], []], csv);
          assert.deepEqual(plan.counts[kind]?.unchanged, found.length);
          assert.deepEqual(document.notes, []);
        },
      ),
      { seed: 128, numRuns: 400, includeErrorInReport: true },
    );
  });
}
