import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { Feature, FeatureCollection } from '../../model/geojson.ts';
import { LinkState } from '../../model/link.ts';
import { type SchemaDescription, Children, Choice } from '../../model/schema.ts';
import type { ApiReply, ApiRoute } from '../route.ts';
import type { Version } from '../versions.ts';

/** Schemas of entities in the documents of a version, and of replies with optional GeoJSON. */

const NEEDS_TRANSFORMATION = Type.Optional(
  Type.Boolean({ readOnly: true, description: 'Whether its coordinates need a transformation.' }),
);

/** Computed members of replies, by title and version. */
const ADDED: Readonly<Record<string, (version: Version) => TProperties>> = {
  Zone: (version) => ({
    children: Children,
    ...(version === 'v1' ? { need_transformation: NEEDS_TRANSFORMATION } : {}),
  }),
  Trackable: () => ({ children: Children }),
  Fence: () => ({}),
  LocationProvider: () => ({}),
  Anchor: () => ({}),
  AlertRule: () => ({}),
  AlertSnooze: () => ({}),
  MapView: () => ({}),
  Link: () => ({
    state: Type.Optional(
      Type.Union([LinkState, Type.Null()], { readOnly: true, description: 'State at the hub that runs it.' }),
    ),
  }),
  Sink: () => ({}),
  WalkTest: () => ({}),
  ApiKey: () => ({}),
  Source: () => ({}),
};

/**
 * Schema of an entity in requests and replies: one for both, so that a client can change a reply and send it back.
 * Requests may omit the id; computed members are read-only.
 */
export function entitySchemas(version: Version): (schema: TSchema) => TSchema {
  const known = new Map<TSchema, TSchema>();
  return (schema) => {
    const added = ADDED[titleOf(schema)];
    if (added === undefined || !Type.IsObject(schema)) return schema;
    const entity = known.get(schema) ?? entityOf(schema, added(version));
    known.set(schema, entity);
    return entity;
  };
}

function entityOf({ properties, ...rest }: TObject, added: TProperties): TObject {
  const { title, description, examples } = rest as unknown as SchemaDescription & { readonly examples?: unknown[] };
  const id = Type.Optional(
    Type.Union([Type.String(), Type.Null()], {
      description:
        'Always present in replies. Optional in requests: the hub generates the id of a new entity, and takes that of a ' +
        'replaced entity from the path.',
    }),
  );
  return Type.Object({ ...properties, id, ...added }, { title, description, examples: examples ?? [] });
}

/** The schema of a reply's body in a version; undefined if it has none. */
export function replySchema(reply: ApiReply, version: Version, { query }: ApiRoute): TSchema | undefined {
  const schema = version === 'v1' && reply.v1 !== undefined ? reply.v1 : reply.schema;
  if (schema === undefined || !Object.hasOwn(query.properties, 'geojson')) return schema;
  const geojson = Type.IsArray(schema) ? FeatureCollection : Feature;
  const title = `${titleOf(schema)}Or${titleOf(geojson)}`;
  return Choice([schema, geojson], { title, description: 'The latter if geojson is true.' });
}

function titleOf(schema: TSchema): string {
  const { title = '' } = schema as TSchema & Partial<SchemaDescription>;
  return title;
}
