import { HALL } from '../support/hall.ts';

/** A valid location. */
export const GOOD_LOCATION = {
  position: { type: 'Point', coordinates: [9, 50] },
  source: 'a source',
  provider_type: 'uwb',
  provider_id: 'bad-input',
  crs: 'EPSG:4326',
} as const;

/** A zone that is not georeferenced yet, and one without coordinates of its own. */
export const UNFINISHED = { id: 'unfinished', type: 'uwb', incomplete_configuration: true } as const;
export const READER = { id: 'reader', type: 'rfid', position: { type: 'Point', coordinates: [9, 50] } } as const;
/** Zones to which the invalid locations refer. */
export const ZONES = [HALL, UNFINISHED, READER] as const;

/** Changes that make a location invalid: a member with a JSON value. Undefined removes the member. */
export interface BadLocation {
  readonly set: Readonly<Record<string, string | undefined>>;
  /** Field that the message names, and the value that it shows. */
  readonly field: string;
  readonly found: string;
  /** Only if the path does not name the provider, which would replace it. */
  readonly bulkOnly?: true;
}

/** Rows of one field: JSON values, and the displayed value if it differs. */
function bad(field: string, ...values: readonly (string | undefined | readonly [string, string])[]): BadLocation[] {
  return values.map((entry) => {
    const [value, found] = Array.isArray(entry) ? (entry as [string, string]) : [entry as string | undefined];
    return { set: { [field]: value }, field, found: found ?? value ?? 'missing' };
  });
}

/** Rows of coordinates with one invalid position. */
function badCoordinates(...rows: readonly (readonly [string, string, string])[]): BadLocation[] {
  return rows.map(([coordinates, at, found]) => {
    const position = `{"type":"Point","coordinates":${coordinates}}`;
    return { set: { position }, field: `position.coordinates${at}`, found };
  });
}

/** Rows of a local or projected location. */
function misplaced(crs: string, source: string | undefined, coordinates: string, field: string, found: string) {
  const position = `{"type":"Point","coordinates":${coordinates}}`;
  return [{ set: { crs: JSON.stringify(crs), source, position }, field, found }];
}

const OVERFLOW = '1e999';
const INFINITE = 'must be';

export const BAD_LOCATIONS: readonly BadLocation[] = [
  ...bad('position', undefined, 'null', '"9,50"', '5', '[9,50]', 'true'),
  { set: { position: '{}' }, field: 'position', found: 'nothing' },
  { set: { position: '{"coordinates":[9,50]}' }, field: 'position.type', found: 'nothing' },
  { set: { position: '{"type":"Point"}' }, field: 'position.coordinates', found: 'nothing' },
  { set: { position: '{"type":"LineString","coordinates":[9,50]}' }, field: 'position.type', found: '"LineString"' },
  { set: { position: '{"type":null,"coordinates":[9,50]}' }, field: 'position.type', found: 'null' },
  ...badCoordinates(
    ['null', '', 'null'],
    ['"9,50"', '', '"9,50"'],
    ['{}', '', '{}'],
    ['[]', '', '[]'],
    ['[9]', '', '[9]'],
    ['[9,50,1,2]', '', '[9,50,1,2]'],
    ['["9",50]', '[0]', '"9"'],
    ['[9,"50"]', '[1]', '"50"'],
    ['[9,null]', '[1]', 'null'],
    ['[[9,50]]', '[0]', '[9,50]'],
    ['[9,50,"1"]', '[2]', '"1"'],
    ['[9,true]', '[1]', 'true'],
    [`[${OVERFLOW},50]`, '[0]', INFINITE],
    [`[9,-${OVERFLOW}]`, '[1]', INFINITE],
    [`[9,50,${OVERFLOW}]`, '[2]', INFINITE],
    ['[180.0001,50]', '[0]', '180.0001'],
    ['[-181,50]', '[0]', '-181'],
    ['[9,90.0001]', '[1]', '90.0001'],
    ['[9,-91]', '[1]', '-91'],
    ['[1e300,50]', '[0]', '1e+300'],
  ),
  ...bad('provider_type', undefined, 'null', '""', '"UWB"', '"laser"', '1', '[]', '{}', 'true'),
  ...bad('provider_id', '7', '[]', '{}', 'true'),
  { set: { provider_id: undefined }, field: 'provider_id', found: 'nothing', bulkOnly: true },
  { set: { provider_id: 'null' }, field: 'provider_id', found: 'null', bulkOnly: true },
  { set: { provider_id: '""' }, field: 'provider_id', found: '""', bulkOnly: true },
  ...bad('source', '7', '[]', '{}', 'true'),
  ...bad('trackables', '"x"', '{}', '5'),
  { set: { trackables: '[5]' }, field: 'trackables[0]', found: '5' },
  ...bad('timestamp_generated', '5', '""', '"yesterday"', '"2026-13-01T00:00:00Z"', '"2026-02-30T00:00:00Z"'),
  ...bad('timestamp_generated', '"2026-01-01"', '"2026-01-01T00:00:00"', '"2026-01-01 00:00:00Z"', '[]', 'true'),
  ...bad('timestamp_generated', '"2026-01-01T24:00:00Z"', '"2026-01-01T00:60:00Z"', '"2026-01-01T00:00:00+25:00"'),
  ...bad('timestamp_sent', '5', '""', '"never"', '"2026-01-01T00:00:61Z"', '{}'),
  ...bad('crs', '"EPSG:9999"', '"epsg:4326"', '"EPSG:32600"', '"EPSG:32762"', '"WGS84"', '4326', '[]', '{}', 'true'),
  ...bad('associated', '1', '"true"', '[]'),
  ...bad('accuracy', '-1', '"1"', 'true', '[]', [OVERFLOW, INFINITE]),
  ...bad('floor', '"1"', 'true', '[]', [OVERFLOW, INFINITE]),
  ...bad('true_heading', '"90"', '{}'),
  ...bad('magnetic_heading', '"90"', '[]'),
  ...bad('heading_accuracy', '"1"', 'true'),
  ...bad('elevation_ref', '"sea"', '""', '1', '[]'),
  ...bad('speed', '"1"', '{}', [OVERFLOW, INFINITE]),
  ...bad('course', '"north"', 'false'),
  ...bad('properties', '"text"', '1', '[]', 'true'),
  ...misplaced('local', undefined, '[5,5]', 'source', 'nothing'),
  ...misplaced('local', 'null', '[5,5]', 'source', 'null'),
  ...misplaced('local', '""', '[5,5]', 'source', '""'),
  ...misplaced('local', '"nowhere"', '[5,5]', 'source', '"nowhere"'),
  ...misplaced('local', '"unfinished"', '[5,5]', 'source', '"unfinished"'),
  ...misplaced('local', '"reader"', '[5,5]', 'source', '"reader"'),
  ...misplaced('local', '"hall"', '[1e9,5]', 'position.coordinates', '[1000000000,5]'),
  ...misplaced('EPSG:32632', '"x"', '[1e12,5e6]', 'position.coordinates', '[1000000000000,5000000]'),
  ...misplaced('EPSG:32661', '"x"', '[1e12,5e6]', 'position.coordinates', '[1000000000000,5000000]'),
  { set: { crs: undefined }, field: 'source', found: '"a source"' },
  { set: { crs: 'null' }, field: 'source', found: '"a source"' },
  { set: { crs: '""' }, field: 'source', found: '"a source"' },
];

/** JSON of the valid location with the change applied. */
export function badText({ set }: BadLocation, more: object = {}): string {
  const members = Object.entries({ ...GOOD_LOCATION, ...more }).map(([name, value]) => [name, JSON.stringify(value)]);
  const changed: Record<string, string | undefined> = { ...Object.fromEntries(members), ...set };
  const texts = Object.entries(changed).filter(([, value]) => value !== undefined);
  return `{${texts.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

export function titleOf({ set }: BadLocation): string {
  const parts = Object.entries(set).map(([name, value]) => (value === undefined ? `no ${name}` : `${name} ${value}`));
  return parts.join(', ');
}

/** Bodies that are neither a location nor a list of locations. */
export const BAD_BODIES: readonly (readonly [name: string, body: string | Uint8Array])[] = [
  ['nothing', ''],
  ['blanks', '  \n'],
  ['null', 'null'],
  ['a number', '5'],
  ['a text', '"location"'],
  ['true', 'true'],
  ['no JSON', 'location'],
  ['an open object', '{"position":'],
  ['an open text', '{"position":"'],
  ['a trailing comma', '{"position":{},}'],
  ['single quotes', "{'position':5}"],
  ['NaN', '{"position":NaN}'],
  ['two values', '{} {}'],
  ['a comment', '{} // comment'],
  ['a control character', '{"provider_id":"\u0001"}'],
  ['bytes that are not UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ['half a character', Uint8Array.from([0x22, 0xc3])],
  ['a deep array', '['.repeat(100_000) + ']'.repeat(100_000)],
  ['a deep object', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`],
  ['an open deep array', '['.repeat(100_000)],
];
