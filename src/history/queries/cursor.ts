import { isId } from '../../model/id.ts';

/**
 * Position in a list. A response contains it as an opaque string, which the client sends back to get the next page. The
 * cursor contains the name of its list, so a cursor of another list is rejected. Each member is validated, since
 * clients may send anything.
 */
export interface Cursor {
  /** Time of the last element, in whole microseconds since 1970. */
  readonly us: string;
  /** Id of the last element. */
  readonly id: string;
  /** Number of elements with that time already listed. */
  readonly skip: number;
}

/** Members of the cursors of each list. */
const MEMBERS = {
  places: ['us', 'skip'],
  snapshot: ['id'],
  tracks: ['id', 'us'],
  events: ['us', 'id'],
  visits: ['us', 'id'],
  objects: ['id'],
  way: ['us'],
} as const satisfies Readonly<Record<string, readonly (keyof Cursor)[]>>;
export type CursorList = keyof typeof MEMBERS;

const NONE: Cursor = { us: '0', id: '', skip: 0 };
const CURSOR_LENGTH_MAX = 16_384;
const SKIP_MAX = 1_000_000_000;
/** Range of years in RFC 3339, 0000 to 9999. */
const [US_MIN, US_MAX] = [-62_167_219_200_000_000n, 253_402_300_799_999_999n] as const;

export function cursorText(list: CursorList, cursor: Partial<Cursor>): string {
  const values = MEMBERS[list].map((member) => cursor[member]);
  return Buffer.from(JSON.stringify([list, ...values])).toString('base64url');
}

/** Parses a cursor; undefined if `text` is not a cursor of the list. */
export function cursorOf(list: CursorList, text: string): Cursor | undefined {
  if (text.length > CURSOR_LENGTH_MAX) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
  const members = MEMBERS[list];
  if (!Array.isArray(parsed) || parsed[0] !== list || parsed.length !== members.length + 1) return undefined;
  const values = parsed.slice(1) as unknown[];
  if (!members.every((member, i) => CHECKS[member](values[i]))) return undefined;
  return { ...NONE, ...Object.fromEntries(members.map((member, i) => [member, values[i]])) };
}

const CHECKS: Readonly<Record<keyof Cursor, (value: unknown) => boolean>> = {
  us: (value) =>
    typeof value === 'string' && /^-?\d{1,18}$/.test(value) && BigInt(value) >= US_MIN && BigInt(value) <= US_MAX,
  id: (value) => typeof value === 'string' && isId(value),
  skip: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= SKIP_MAX,
};
