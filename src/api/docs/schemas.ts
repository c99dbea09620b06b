import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { Feature, FeatureCollection } from '../../model/geojson.ts';
import type { Reply, Route } from '../route.ts';
import type { Version } from '../versions.ts';

/** What the schemas of entities become in bodies, in a version, and where they can be asked for as GeoJSON. */

const drafts = new Map<TObject, TObject>();

/** An entity as it is sent: it may do without an id. */
export function draftOf(schema: TObject): TObject {
  const known = drafts.get(schema);
  if (known !== undefined) return known;
  const { title, description, examples } = about(schema);
  const id = Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description: 'May be left out: a new entity is given one, a replaced one has that of the path.',
    }),
  );
  const draft = Type.Object(
    { ...schema.properties, id },
    { title: `${title}Draft`, description: `${title} as it is sent. ${description}`, examples: examples ?? [] },
  );
  drafts.set(schema, draft);
  return draft;
}

/** The schema of a reply's body in a version; undefined when it has none. */
export function replySchema(reply: Reply, version: Version, { query }: Route): TSchema | undefined {
  const own = version === 'v1' && reply.v1 !== undefined ? reply.v1 : reply.schema;
  if (own === undefined) return undefined;
  const schema = version === 'v1' ? inV1(own) : own;
  if (!Object.hasOwn(query.properties, 'geojson')) return schema;
  const geojson = Type.IsArray(own) ? FeatureCollection : Feature;
  return Type.Union([schema, geojson]);
}

/** An entity as it is shown: with members that the hub adds. */
export function shownWith(schema: TObject, added: TProperties): TObject {
  const { title, description = '' } = about(schema);
  return Type.Object({ ...schema.properties, ...added }, { title: `${title}Shown`, description });
}

/** v1 says more of a zone, see versions.ts: of whatever has the members of one. */
function inV1(schema: TSchema): TSchema {
  if (Type.IsArray(schema)) return Type.Array(inV1(schema.items));
  if (!Type.IsObject(schema) || !Object.hasOwn(schema.properties, 'transformation_type')) return schema;
  const { title, description = '' } = about(schema);
  const needs = Type.Boolean({ description: 'Whether its coordinates need a transformation.' });
  const named = title === undefined ? {} : { title: `${title}V1`, description };
  return Type.Object({ ...schema.properties, need_transformation: needs }, named);
}

function about(schema: TObject): { title?: string; description?: string; examples?: unknown[] } {
  return schema as { title?: string; description?: string; examples?: unknown[] };
}
