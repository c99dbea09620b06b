import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { SCHEMA_DESCRIPTIONS } from './schema_descriptions.ts';

/**
 * Building blocks of the model's schemas.
 *
 * A field that may be left out may also be sent as null: both mean "not set". Stored entities keep what was sent,
 * so the types say `T | null` and the code that applies a value decides what "not set" means.
 */
export function Maybe<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/**
 * Keywords that a schema has in the documents alone. The schema does not check them: whoever takes the value does, and
 * says what is wrong better than a pattern could.
 */
export function documented(keywords: Readonly<Record<string, unknown>>) {
  return { documented: keywords };
}

/** A moment, as RFC 3339. */
export function Time(description: string) {
  return Type.String({ description, ...documented({ format: 'date-time' }) });
}

const PLANE = 'EPSG:32[67](0[1-9]|[1-5][0-9]|6[01])';
const CRS = `local|EPSG:4326|${PLANE}`;

/** A coordinate reference system; an empty one counts as absent where `orEmpty` is set. */
export function Crs(description: string, { orEmpty = false }: { readonly orEmpty?: boolean } = {}) {
  return Type.String({ description, ...documented({ pattern: orEmpty ? `^(${CRS})?$` : `^(${CRS})$` }) });
}

/** A coordinate reference system whose coordinates are metres on a plane of its own. */
export function PlaneCrs(description: string) {
  return Type.String({ description, ...documented({ pattern: `^${PLANE}$` }) });
}

/** An object that the API's documents know by its title. */
export function Named<P extends TProperties>(title: keyof typeof SCHEMA_DESCRIPTIONS, members: P): TObject<P> {
  return Type.Object(members, { title, ...SCHEMA_DESCRIPTIONS[title] });
}

/** A title by which the API's documents know a schema, and what they say of it. */
export interface SchemaDescription {
  readonly title: string;
  readonly description: string;
}

/** One of the given words. With a title the documents show it once, and generated clients have one type of it. */
export function OneOf<const T extends readonly string[]>(words: T, about: string | SchemaDescription) {
  const options = typeof about === 'string' ? { description: about } : about;
  return Type.Unsafe<T[number]>(Type.Enum([...words], { ...options }));
}

/** One of several shapes, of which a value fits one alone; `discriminatedBy` names a member whose text says which. */
export function Choice<T extends TSchema[]>(
  shapes: [...T],
  about: SchemaDescription & { readonly discriminatedBy?: string },
) {
  return Type.Union(shapes, { ...about });
}

/** A list of what has a title. Throws an Error for what has none. */
export function ArrayOf<T extends TSchema>(element: T) {
  const { title } = element as T & Partial<SchemaDescription>;
  if (title === undefined) throw new Error('Cannot name a list: its elements have no title');
  return Type.Array(element, { title: `${title}Array`, description: `Any number of ${title}.` });
}

/** What an application says in its own way. */
export const AnyType = Type.Unknown({ title: 'AnyType', description: 'Any JSON, kept as sent.' });

/** Free application data: an object, kept as sent. */
export const Properties = Type.Record(Type.String(), Type.Unknown(), {
  title: 'Properties',
  description: 'Free application data, kept as sent.',
});

/** Ids in a list. */
export const IdArray = Type.Array(Type.String(), { title: 'IdArray', description: 'Any number of ids.' });

/** Duration in milliseconds; -1 is infinite. */
export function DurationMs(description: string) {
  return Maybe(Type.Integer({ minimum: -1, description: `${description} In milliseconds, -1 is infinite.` }));
}

/** A length in metres that is not negative. */
export function Meters(description: string) {
  return Maybe(Type.Number({ minimum: 0, description: `${description} In metres.` }));
}

/** Ids of the entities that name one as their parent: computed by the hub, and ignored where it is sent. */
export const Children = Type.Optional(
  Type.Array(Type.String(), { readOnly: true, description: 'Ids of those that have this one as their parent.' }),
);
