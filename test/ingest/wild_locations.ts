import { PROVIDER_TYPES } from '../../src/model/provider_type.ts';
import type { Dice } from '../support/dice.ts';

/** Random bodies of locations: valid, invalid, truncated and modified ones. */

const BLANKS = ['', '', '', '', ' ', '\n  ', '\t', '\r\n'];
const NUMBERS = [
  ...[
    '0',
    '-0',
    '0.0',
    '-0.0',
    '-0.000',
    '00',
    '01',
    '-01',
    '1.',
    '.5',
    '+1',
    '-',
    '--1',
    '1e5',
    '1E-7',
    '1e400',
    '-1e+2',
  ],
  ...['0.000001', '0.0000001', '0.00000123', '12345678901234567890', '9007199254740993', '9007199254740991', '4.35'],
  ...['8.300000000000001', '8.30000000000000071054', '50.12345678901234567', '0.1000', '5.000', '100.0', '90.0000001'],
  ...['180', '-180', '180.0000001', '0.30000000000000004', '1.7976931348623157', '123456789012345', '1234567890123456'],
  ...[
    'NaN',
    '0x1',
    '1_0',
    '0.99999999999999',
    '0.999999999999999',
    '0.9999999999999999',
    '999999999999999.9',
    '1e',
    '1.e1',
  ],
];
const TEXTS = [
  ...[
    '"a"',
    '""',
    '"tag-1"',
    '"ä"',
    '"日本語"',
    '"😀"',
    '"a\\"b"',
    '"\\u00e4"',
    '"\\ud800"',
    '"a\\/b"',
    '"\t"',
    '"\u0000"',
  ],
  ...[
    '"x y"',
    '"\u007f"',
    '"\u2028"',
    '"6FA459EA-EE8A-4CA4-894E-DB77E160355E"',
    '"__proto__"',
    '"toString"',
    '"10"',
    '"',
  ],
  ...[`"${'q'.repeat(70)}"`, `"${'ü'.repeat(1100)}"`, `"${'n'.repeat(1025)}"`, `"${'n'.repeat(1024)}"`],
];
const TIMES = [
  ...['2026-11-20T10:00:00Z', '2026-11-20T10:00:00.123Z', '2026-11-20t10:00:00.123456z', '2026-02-29T00:00:00Z'],
  ...['2024-02-29T23:59:60.5+01:00', '2026-11-20T10:00:00.1234567890123456789Z', '2026-11-20T10:00:00-08:30'],
  ...['2026-11-20 10:00:00Z', '2026-13-20T10:00:00Z', '0000-01-01T00:00:00Z', '0000-01-01T00:00:00+00:01'],
  ...['9999-12-31T23:59:60Z', '9999-12-31T23:59:59.9999Z', '2026-11-20T10:00:00', '2026-11-20T10:00:00.Z'],
  ...['1970-01-01T00:00:00.000001Z', '1969-12-31T23:59:59.999Z', '2000-03-01T00:00:00Z', '1900-02-29T00:00:00Z'],
  ...[
    '2026-11-20T10:00:0',
    '2026-11-20T10:00:00+0100',
    '2026-11-20T24:00:00Z',
    '20261120T100000Z',
    '0400-02-29T10:00:00Z',
  ],
  ...[
    '1600-12-31T10:00:00Z',
    '0001-01-01T10:00:00Z',
    '2026-00-20T10:00:00Z',
    '2026-11-31T10:00:00Z',
    '2026-11-20T10:60:00Z',
  ],
].map((time) => `"${time}"`);
const TYPES = [...PROVIDER_TYPES, 'UWB', 'uw', 'uwbx'];
const BROKEN = [
  'nul',
  'tru',
  '{',
  '[',
  'undefined',
  '[1,]',
  '{"a":1,}',
  '{"__proto__":1}',
  '{"a" 1}',
  '[1 2]',
  '{"a":1,"a":2}',
];
const ODD_NAMES = ['"a"', '"b"', '"B"', '"1"', '"10"', '"2"', '"-1"', '"__proto__"', '"_"', '"ä"', '"\\u0061"', '""'];
const OPTIONAL = [
  ...[
    'source',
    'timestamp_sent',
    'associated',
    'accuracy',
    'floor',
    'elevation_ref',
    'true_heading',
    'magnetic_heading',
  ],
  ...['heading_accuracy', 'speed', 'course', 'properties', 'trackables'],
] as const;

/**
 * Bytes that are invalid in UTF-8: overlong, surrogates, beyond the last character, isolated, truncated; and two valid
 * ones.
 */
const NO_UTF8 = [
  ...[
    [0xc0, 0x80],
    [0xc1, 0xbf],
    [0xe0, 0x80, 0x80],
    [0xe0, 0x9f, 0xbf],
    [0xed, 0xa0, 0x80],
    [0xed, 0xbf, 0xbf],
  ],
  ...[
    [0xf0, 0x80, 0x80, 0x80],
    [0xf0, 0x8f, 0xbf, 0xbf],
    [0xf4, 0x90, 0x80, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
    [0x80],
    [0xff],
  ],
  ...[[0xe2, 0x82], [0xf0, 0x9f, 0x98], [0xc3], [0xed, 0x9f, 0xbf], [0xf4, 0x8f, 0xbf, 0xbf]],
];

/** Bytes of a body: a list of some locations. */
export function wildBody(dice: Dice): Uint8Array {
  const items = Array.from({ length: dice(3) }, () => wildLocation(dice) + blank(dice));
  const end = dice(12) === 0 ? one(dice, ['x', ']', '\0', ',']) : blank(dice);
  const body = Buffer.from(`${blank(dice)}[${blank(dice)}${items.join(`,${blank(dice)}`)}]${end}`);
  return dice(3) === 0 ? mutated(dice, body) : body;
}

/** JSON of a location, with random defects. */
export function wildLocation(dice: Dice): string {
  const members = new Map(Object.entries(GOOD).map(([name, value]) => [name, value(dice)]));
  for (let more = dice(6); more > 0; more--) {
    const name = one(dice, OPTIONAL);
    members.set(name, dice(8) === 0 ? 'null' : TAME[name](dice));
  }
  for (let wild = dice(3); wild > 0; wild--) {
    const name = one(dice, Object.keys(WILD));
    members.set(name, (WILD[name] as Make)(dice));
  }
  if (dice(12) === 0) members.delete(one(dice, [...members.keys()]));
  const entries = [...members];
  if (dice(2) === 0) entries.sort(() => dice(3) - 1);
  if (dice(20) === 0) entries.push([one(dice, entries)[0], dice(2) === 0 ? 'null' : one(dice, entries)[1]]);
  const texts = entries.map(([name, value]) => `"${name}"${blank(dice)}:${blank(dice)}${value}${blank(dice)}`);
  return `{${blank(dice)}${texts.join(`,${blank(dice)}`)}}`;
}

type Make = (dice: Dice) => string;

const decimal: Make = (dice) => `${dice(3) === 0 ? '-' : ''}${dice(85)}.${dice(10 ** (1 + dice(9)))}`;
const number: Make = (dice) =>
  dice(3) === 0 ? one(dice, NUMBERS) : dice(4) === 0 ? String(dice(1e9) / 1e9) : decimal(dice);
const text: Make = (dice) => one(dice, TEXTS);
const time: Make = (dice) => one(dice, TIMES);

const GOOD: Readonly<Record<string, Make>> = {
  position: (dice) => `{"type":"Point","coordinates":[${decimal(dice)},${decimal(dice)}]}`,
  provider_type: (dice) => `"${one(dice, PROVIDER_TYPES)}"`,
  provider_id: (dice) => `"tag-${dice(100)}"`,
  crs: () => '"EPSG:4326"',
  timestamp_generated: () => '"2026-11-20T10:00:00.123Z"',
};
const TAME: Readonly<Record<(typeof OPTIONAL)[number], Make>> = {
  source: (dice) => `"hall ${dice(5)}"`,
  timestamp_sent: () => '"2026-11-20T10:00:00.5+01:00"',
  associated: (dice) => one(dice, ['true', 'false']),
  accuracy: (dice) => `${dice(30)}.${dice(100)}`,
  floor: (dice) => String(dice(9) - 4),
  elevation_ref: (dice) => one(dice, ['"floor"', '"wgs84"']),
  true_heading: decimal,
  magnetic_heading: decimal,
  heading_accuracy: decimal,
  speed: decimal,
  course: decimal,
  properties: (dice) =>
    `{${blank(dice)}"battery":${dice(100)},${blank(dice)}"zone":{"ok":true,"list":[1,${decimal(dice)}]}}`,
  trackables: () => '[]',
};
const WILD: Readonly<Record<string, Make>> = {
  position: (dice) => {
    const [a, b, c] = [number(dice), number(dice), number(dice)];
    const point = [
      `{"coordinates":[${a},${b}],"type":"Point"}`,
      `{${blank(dice)}"type"${blank(dice)}:"Point",${blank(dice)}"coordinates":[${blank(dice)}${a},${b}${blank(dice)},${c}]}`,
      ...[
        '{"type":"Point","coordinates":[1]}',
        '{"type":"Point","coordinates":[1,2,3,4]}',
        '{"type":"Polygon","coordinates":[1,2]}',
      ],
      ...['{"type":"Point","coordinates":[1,2],"bbox":[]}', '{"type":"Point","coordinates":[1,null]}', 'null', '[1,2]'],
      ...[
        '{"type":"Point","coordinates":["1",2]}',
        '{"type":"Point","type":"Point","coordinates":[1,2]}',
        '{"type":"Point"}',
      ],
    ];
    return one(dice, point);
  },
  source: text,
  provider_type: (dice) => one(dice, [...TYPES.map((type) => `"${type}"`), 'null', '1', '""']),
  provider_id: text,
  trackables: (dice) => one(dice, ['[]', '[ ]', 'null', '["a"]', '[1]', '{}']),
  timestamp_generated: time,
  timestamp_sent: time,
  crs: (dice) => one(dice, ['"EPSG:4326"', '"local"', 'null', '""', '"EPSG:32632"', '"EPSG:4327"', '"epsg:4326"', '1']),
  associated: (dice) => one(dice, ['true', 'false', 'null', '1', '"true"']),
  accuracy: number,
  floor: number,
  true_heading: number,
  magnetic_heading: number,
  heading_accuracy: number,
  elevation_ref: (dice) => one(dice, ['"floor"', '"wgs84"', '"floo"', '"floors"', 'null', '1', '""']),
  speed: number,
  course: number,
  properties: (dice) => wildValue(dice, 0),
  extra: (dice) => wildValue(dice, 0),
  Source: text,
};

function wildValue(dice: Dice, depth: number): string {
  const pad = (value: string) => `${blank(dice)}${value}${blank(dice)}`;
  const kind = depth > 9 ? dice(5) : dice(8);
  if (kind === 0) return one(dice, BROKEN);
  if (kind === 1) return one(dice, ['true', 'false', 'null']);
  if (kind === 2) return text(dice);
  if (kind < 5) return number(dice);
  if (kind === 5) return `[${Array.from({ length: dice(4) }, () => pad(wildValue(dice, depth + 1))).join(',')}]`;
  const count = dice(20) === 0 ? 20 : dice(4);
  const names = Array.from({ length: count }, (_, i) => (dice(3) === 0 ? one(dice, ODD_NAMES) : `"n${i}"`));
  return `{${names.map((name) => `${pad(name)}:${pad(wildValue(dice, depth + 1))}`).join(',')}}`;
}

function mutated(dice: Dice, body: Buffer): Buffer {
  const at = dice(Math.max(1, body.length));
  const byte = Buffer.from(dice(2) === 0 ? [dice(256)] : one(dice, NO_UTF8));
  switch (dice(4)) {
    case 0:
      return Buffer.concat([body.subarray(0, at), byte, body.subarray(at + 1)]);
    case 1:
      return body.subarray(0, at);
    case 2:
      return Buffer.concat([body.subarray(0, at), body.subarray(at + 1)]);
    default:
      return Buffer.concat([body.subarray(0, at), byte, body.subarray(at)]);
  }
}

function blank(dice: Dice): string {
  return one(dice, BLANKS);
}

function one<T>(dice: Dice, values: readonly T[]): T {
  return values[dice(values.length)] as T;
}
