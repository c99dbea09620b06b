import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { SCHEMA_DESCRIPTIONS } from './schema_descriptions.ts';

/**
 * Marks a field as optional and nullable.
 *
 * An optional field may also be sent as null; both mean "not set". Stored entities retain the original form, so types
 * are `T | null`, and the code that uses a value defines what "not set" means.
 */
export function Maybe<T extends TSchema>(schema: T) {
  return Type.Optional(Type.Union([schema, Type.Null()]));
}

/**
 * Adds keywords that only appear in the API's documents. The schema does not check them; the code that uses the value
 * does, with a better message than a pattern could give.
 */
export function documented(keywords: Readonly<Record<string, unknown>>) {
  return { documented: keywords };
}

/** A time in RFC 3339. */
export function Time(description: string) {
  return Type.String({ description, ...documented({ format: 'date-time' }) });
}

/** Hours and minutes, such as 22:00. */
export function TimeOfDay(description: string) {
  return Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description });
}

const PLANE = 'EPSG:32[67](0[1-9]|[1-5][0-9]|6[01])';
const CRS = `local|EPSG:4326|${PLANE}`;

/** A coordinate reference system; an empty one counts as absent if `orEmpty` is set. */
export function Crs(description: string, { orEmpty = false }: { readonly orEmpty?: boolean } = {}) {
  return Type.String({ description, ...documented({ pattern: orEmpty ? `^(${CRS})?$` : `^(${CRS})$` }) });
}

/** A coordinate reference system of a plane, with coordinates in meters. */
export function PlaneCrs(description: string) {
  return Type.String({ description, ...documented({ pattern: `^${PLANE}$` }) });
}

/** An object schema, named by its title in the API's documents. */
export function Named<P extends TProperties>(title: keyof typeof SCHEMA_DESCRIPTIONS, members: P): TObject<P> {
  return Type.Object(members, { title, ...SCHEMA_DESCRIPTIONS[title] });
}

/** Title and description of a schema in the API's documents. */
export interface SchemaDescription {
  readonly title: string;
  readonly description: string;
}

/** One of the given words. With a title the documents define it once, and generated clients get one type. */
export function OneOf<const T extends readonly string[]>(words: T, about: string | SchemaDescription) {
  const options = typeof about === 'string' ? { description: about } : about;
  return Type.Unsafe<T[number]>(Type.Enum([...words], { ...options }));
}

/**
 * A union of schemas of which a value matches exactly one. `discriminatedBy` names the member whose value selects the
 * schema.
 */
export function Choice<T extends TSchema[]>(
  shapes: [...T],
  about: SchemaDescription & { readonly discriminatedBy?: string },
) {
  return Type.Union(shapes, { ...about });
}

/** A list of elements with a title. Throws an Error if `element` has no title. */
export function ArrayOf<T extends TSchema>(element: T) {
  const { title } = element as T & Partial<SchemaDescription>;
  if (title === undefined) throw new Error('Cannot name a list: its elements have no title');
  return Type.Array(element, { title: `${title}Array`, description: `Any number of ${title}.` });
}

/** Any JSON value of an application. */
export const AnyType = Type.Unknown({ title: 'AnyType', description: 'Any JSON, stored as sent.' });

/** Free application data: an object, stored as sent. */
export const Properties = Type.Record(Type.String(), Type.Unknown(), {
  title: 'Properties',
  description: 'Free application data, stored as sent.',
});

/** A list of ids. */
export const IdArray = Type.Array(Type.String(), { title: 'IdArray', description: 'Any number of ids.' });

/** Duration in milliseconds; -1 is infinite. */
export function DurationMs(description: string) {
  return Maybe(Type.Integer({ minimum: -1, description: `${description} In milliseconds, -1 is infinite.` }));
}

/** A non-negative length in meters. */
export function Meters(description: string) {
  return Maybe(Type.Number({ minimum: 0, description: `${description} In meters.` }));
}

/** Ids of the entities whose parent is this one: computed by the hub, ignored in requests. */
export const Children = Type.Optional(
  Type.Array(Type.String(), { readOnly: true, description: 'Ids of the entities whose parent is this one.' }),
);
