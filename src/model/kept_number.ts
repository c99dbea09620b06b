/**
 * Numbers of application data, digit by digit.
 *
 * JSON.parse makes a double of every number: 723413320329068590 would be written again as 723413320329068500, and 21.0
 * as 21. What clients send in `properties` and `sensors` is theirs, so a number there that would not be written as it
 * was sent is kept as its text, in a KeptNumber. JSON.stringify writes that text, and src/wire/messages.ts takes it from
 * thread to thread. All other numbers stay as JSON.parse makes them, and so does every number elsewhere, for the hub
 * calculates with those. keep_numbers.ts finds the ones to be kept.
 */

/** A number as it was sent: one value, with nothing in it that a path could lead to. */
export class KeptNumber {
  readonly #text: string;

  /** From the text of a JSON number within the range of a double. */
  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  toJSON(): unknown {
    return rawJson === undefined ? Number(this.#text) : rawJson(this.#text);
  }
}

/** Node 22 and current browsers have it, TypeScript does not know it yet. Older browsers round. */
const { rawJSON: rawJson } = JSON as unknown as { readonly rawJSON?: (text: string) => unknown };

/** The number of a JSON text, kept where a double would not be written the same. What is infinite stays so, and is refused. */
export function numberOf(text: string): number | KeptNumber {
  const number = Number(text);
  if (String(number) === text || !Number.isFinite(number)) return number;
  return new KeptNumber(text.length < SLICE_MIN ? text : copied(text));
}

/** From this length on, a part of a text keeps the whole text in memory. */
const SLICE_MIN = 13;

function copied(text: string): string {
  return JSON.parse(`"${text}"`) as string;
}

/** Whether two numbers are equal, to the last digit: 1.50 is 15e-1, and 723413320329068590 is no other than itself. */
export function isSameNumber(a: number | KeptNumber, b: number | KeptNumber): boolean {
  return a === b || normalised(a) === normalised(b);
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Exponents of more digits are told apart as they are written: a double holds them no longer. */
const EXPONENT_DIGITS_MAX = 15;

/** A number as an exponent and the digits before it, which neither begin nor end with zeros. */
function normalised(number: number | KeptNumber): string {
  const text = number instanceof KeptNumber ? number.text : String(number);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const digits = whole + fraction;
  let [start, end] = [0, digits.length];
  while (start < end && digits[start] === '0') start++;
  while (start < end && digits[end - 1] === '0') end--;
  if (start === end) return '0';
  if (exponent.length > EXPONENT_DIGITS_MAX) return text;
  return `${sign}${digits.slice(start, end)}e${Number(exponent) + whole.length - end}`;
}

/** Names of the members whose numbers are kept. */
export const PROPERTIES = 'properties';
export const SENSORS = 'sensors';

/** The value with ordinary numbers everywhere. */
export function ordinary(value: unknown): unknown {
  if (value instanceof KeptNumber) return Number(value.text);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(ordinary);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, ordinary(member)]));
}

/** An entity with ordinary numbers everywhere but in its properties and sensors. */
export function keptInData(entity: unknown): unknown {
  if (typeof entity !== 'object' || entity === null || Array.isArray(entity)) return ordinary(entity);
  if (entity instanceof KeptNumber) return ordinary(entity);
  const members = Object.entries(entity).map(([name, member]) => {
    // Properties that are a number are none, and to be refused.
    const isKept = name === SENSORS || (name === PROPERTIES && !(member instanceof KeptNumber));
    return [name, isKept ? member : ordinary(member)];
  });
  return Object.fromEntries(members);
}
