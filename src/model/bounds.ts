/** Bounds of what clients can make the hub keep. Each is a setting; a message names field, bound and value found. */
export interface Bounds {
  /** Characters (UTF-16 units) of an id, a source, a name, and of every other text that is one line for people. */
  readonly nameLength: number;
  /** Bytes of the properties of a location, as the JSON text that is kept. */
  readonly locationPropertiesBytes: number;
  /** The same of an entity; so much of each of its other members that are lists or long texts, too. */
  readonly entityPropertiesBytes: number;
  /** Positions and rings of one geometry. */
  readonly positions: number;
  readonly rings: number;
  /** Levels of a chain of parents. */
  readonly parents: number;
}

export const DEFAULT_BOUNDS: Bounds = {
  nameLength: 1024,
  locationPropertiesBytes: 64 << 10,
  entityPropertiesBytes: 1 << 20,
  positions: 100_000,
  rings: 10_000,
  parents: 32,
};

/** UTF-8 needs at most three bytes for a UTF-16 unit. */
const UTF8_MAX = 3;

/** Bytes of a text in UTF-8 where they are more than `max`; undefined where they are not. */
export function bytesBeyond(text: string, max: number): number | undefined {
  if (text.length * UTF8_MAX <= max) return undefined;
  const bytes = Buffer.byteLength(text);
  return bytes > max ? bytes : undefined;
}

/** `name: must have at most 1,024 characters, found 8,388,608`. */
export function overBound(path: string, max: number, what: string, found: number): string {
  return `${path}: must have at most ${grouped(max)} ${what}, found ${grouped(found)}`;
}

/** A number with commas between its thousands. */
export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}
