import { BAD_BODIES, BAD_LOCATIONS, badText, GOOD_LOCATION, READER } from '../scenarios/bad_locations.ts';
import { HALL, square } from '../support/hall.ts';

/** Seeded pseudorandom choices. */
export class Dice {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** A random integer from 0 to below the given one. */
  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  one<T>(among: readonly T[]): T {
    return among[this.below(among.length)] as T;
  }

  /** Returns true in one of this many cases on average. */
  oneIn(cases: number): boolean {
    return this.below(cases) === 0;
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.below(256)));
  }
}

export const TRACKABLE = { id: '11111111-0000-4000-8000-000000000001', type: 'omlox', location_providers: ['tag'] };
const ANCHOR = { id: 'north', zone_id: 'hall', local_position: { type: 'Point', coordinates: [0, 0] } };
const GOOD = [HALL, READER, square(), TRACKABLE, { id: 'tag', type: 'uwb' }, ANCHOR, GOOD_LOCATION];
const MEMBERS = [...new Set(GOOD.flatMap((value) => Object.keys(value))), 'properties', 'locating_rules', 'radius'];

const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'toJSON',
  'hasOwnProperty',
  'length',
  '',
  '\\u0000',
];
/** Strings of valid and invalid JSON. */
const VALUES = [
  'null',
  'true',
  '-0',
  '1e308',
  '1e309',
  '-1e999',
  '5e-324',
  '9007199254740993',
  '123456789012345678901234567890',
  'NaN',
  'Infinity',
  '-',
  '01',
  '""',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udfff\\ud800"',
  '"__proto__"',
  `"${'x'.repeat(100_000)}"`,
  `"${'a'.repeat(3000)}!"`,
  `"${' '.repeat(5000)}"`,
  '"\\r\\nX-Injected: 1\\r\\n\\r\\n"',
  '"{\\"level\\":50}\\n"',
  '"../../../etc/passwd"',
  '"\'; DROP TABLE entities; --"',
  '"<script>alert(1)</script>"',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an attack on loggers that expand such a text
  '"${jndi:ldap://127.0.0.1/a}"',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toJSON":1,"then":2,"valueOf":null}',
  '[[[[[[[[[[]]]]]]]]]]',
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
  `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`,
  '['.repeat(2000),
  `[${'0,'.repeat(20_000)}0]`,
  '{"type":"Point","coordinates":[1e999,0]}',
  '{"type":"Polygon","coordinates":[[[0,0],[1,1],[1,0],[0,1],[0,0]]]}',
  '{"type":"Polygon","coordinates":[[[0,0],[360,90],[-360,-90],[0,0]]]}',
  `{"type":"Polygon","coordinates":[[${'[0,0],'.repeat(3000)}[0,0]]]}`,
];

/**
 * A partly invalid JSON string: an entity or location with some members changed, a list of them, or an arbitrary value.
 */
export function hostileJson(dice: Dice): string | Uint8Array {
  switch (dice.below(8)) {
    case 0:
      return dice.one(BAD_BODIES)[1];
    case 1:
      return dice.one(VALUES);
    case 2:
      return badText(dice.one(BAD_LOCATIONS));
    case 3:
      return `[${dice.one(VALUES)},${changed(dice)},${badText(dice.one(BAD_LOCATIONS))}]`;
    case 4:
      return brokenUtf8(changed(dice), dice);
    case 5:
      return changed(dice).slice(0, dice.below(200));
    default:
      return changed(dice);
  }
}

function changed(dice: Dice): string {
  // Locations reach the most code.
  if (dice.oneIn(4)) {
    const location = { ...GOOD_LOCATION, provider_id: `p${dice.below(50)}`, floor: dice.below(3) };
    return `${JSON.stringify(location).slice(0, -1)},"properties":${dice.one(VALUES)}}`;
  }
  let text = JSON.stringify(dice.one(GOOD)).slice(0, -1);
  for (let left = 1 + dice.below(3); left > 0; left--) {
    const name = dice.oneIn(3) ? dice.one(NAMES) : dice.one(MEMBERS);
    text += `,"${name}":${dice.one(VALUES)}`;
  }
  return `${text}}`;
}

/** Replaces some bytes by ones that are invalid in UTF-8. */
function brokenUtf8(text: string, dice: Dice): Uint8Array {
  const bytes = Buffer.from(text);
  for (let left = 1 + dice.below(4); left > 0; left--) bytes[dice.below(bytes.length)] = 0x80 + dice.below(128);
  return bytes;
}
