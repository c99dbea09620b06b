/**
 * Byte layouts as tables. A table lists the fields of a layout in order, with their types; readers and writers are
 * generated from it. Values are little-endian and need no alignment.
 */

/** Type of a field. `f64?` is a number or undefined, encoded as NaN. */
export type FieldType = 'u8' | 'u16' | 'u32' | 'f64' | 'f64?';

export type Fields = Readonly<Record<string, FieldType>>;

type ValueOf<Type> = Type extends 'f64?' ? number | undefined : number;

/** Value with a member for each field. */
export type Values<Of> = { readonly [Name in keyof Of]: ValueOf<Of[Name]> };

/** Values to write; undefined or null for a missing one. */
type WrittenValues<Of> = { readonly [Name in keyof Of]: Of[Name] extends 'f64?' ? number | undefined | null : number };

/** Bytes with a view of them. */
interface Viewed {
  readonly view: DataView;
}

/** Size, offsets, readers and writers of a layout. */
export interface Layout<Of extends Fields> {
  readonly bytes: number;
  /** Offset of each field. */
  readonly at: { readonly [Name in keyof Of]: number };
  /** Reader of each field, given the offset of the layout. */
  readonly get: { readonly [Name in keyof Of]: (buffer: Viewed, at: number) => ValueOf<Of[Name]> };
  /** Writer of each field. */
  readonly set: { readonly [Name in keyof Of]: (buffer: Viewed, at: number, value: number) => void };
  read(buffer: Viewed, at: number): Values<Of>;
  write(buffer: Viewed, at: number, values: WrittenValues<Of>): void;
}

const TYPES = {
  u8: { bytes: 1, name: 'Uint8' },
  u16: { bytes: 2, name: 'Uint16' },
  u32: { bytes: 4, name: 'Uint32' },
  f64: { bytes: 8, name: 'Float64' },
  'f64?': { bytes: 8, name: 'Float64' },
} as const;

/**
 * Generates the code of a layout, which is as fast as hand-written code. `anchor` is the point from which offsets
 * count: the start or the end of the layout.
 */
export function layoutOf<const Of extends Fields>(fields: Of, anchor: 'start' | 'end' = 'start'): Layout<Of> {
  const types = Object.entries(fields);
  const bytes = types.reduce((sum, [, type]) => sum + TYPES[type].bytes, 0);
  let next = anchor === 'start' ? 0 : -bytes;
  const at: Record<string, number> = {};
  const [getters, setters, values, writes]: string[][] = [[], [], [], []];
  for (const [name, type] of types) {
    const method = TYPES[type].name;
    const read = `buffer.view.get${method}(at + ${next}, true)`;
    const set = (view: string, value: string): string => `${view}.set${method}(at + ${next}, ${value}, true);`;
    const value = type === 'f64?' ? `orUndefined(${read})` : read;
    getters?.push(`${name}(buffer, at) { return ${value}; }`);
    setters?.push(`${name}(buffer, at, value) { ${set('buffer.view', 'value')} }`);
    values?.push(`${name}: ${value}`);
    writes?.push(set('view', type === 'f64?' ? `values.${name} ?? NaN` : `values.${name}`));
    at[name] = next;
    next += TYPES[type].bytes;
  }
  const source = `return {
    bytes: ${bytes},
    at,
    get: { ${getters} },
    set: { ${setters} },
    read(buffer, at) { return { ${values} }; },
    write(buffer, at, values) { const { view } = buffer; ${writes?.join(' ')} },
  }`;
  return new Function('at', 'orUndefined', source)(at, orUndefined) as Layout<Of>;
}

/** Extends a class with a getter for each field. Its instances have a `buffer` and an offset `at` in it. */
export function withFields<Arguments extends readonly unknown[], Instance, Of extends Fields>(
  base: new (...of: Arguments) => Instance,
  { get }: Layout<Of>,
): new (
  ...of: Arguments
) => Instance & Values<Of> {
  const getters = Object.keys(get).map((name) => `get ${name}() { return get.${name}(this.buffer, this.at); }`);
  return new Function('base', 'get', `return class extends base { ${getters.join(' ')} }`)(base, get);
}

function orUndefined(value: number): number | undefined {
  return Number.isNaN(value) ? undefined : value;
}
