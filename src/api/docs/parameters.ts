import Type, { type TSchema } from 'typebox';
import type { Components, DocumentSchema } from '../../model/components.ts';
import type { ApiRoute } from '../route.ts';

/** Query parameters with the name of a schema in another notation: generators would give both one name. */
const NAMED_LIKE_SCHEMAS: readonly string[] = ['collision_type', 'object_type'];

/** Headers with a condition, by the use of ETags. */
const CONDITIONS: Readonly<Record<'read' | 'write', readonly [name: string, schema: TSchema]>> = {
  read: ['If-None-Match', Type.String({ description: 'ETags of known replies: the hub replies 304 to one of them.' })],
  write: [
    'If-Match',
    Type.String({ description: 'ETags of the versions that the request may change, or *. Any version if absent.' }),
  ],
};

/** The parameters of a document: parameters shared by many routes are written once and referenced. */
export class ParameterDocs {
  readonly #components: Components;
  readonly #named = new Map<string, DocumentSchema>();

  constructor(components: Components) {
    this.#components = components;
  }

  get named(): Readonly<Record<string, DocumentSchema>> {
    return Object.fromEntries(this.#named);
  }

  /** All parameters of a route. */
  of({ path, query, notes, etag }: ApiRoute): readonly DocumentSchema[] {
    const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => {
      const description = notes.path?.[name] ?? `Id of the ${name.replace(/_id$/, '')}.`;
      return this.#refer(`path_${name}`, {
        ...this.#parameter('path', name, Type.String({ description, minLength: 1 })),
        required: true,
      });
    });
    const inQuery = Object.entries(query.properties).map(([name, schema]) =>
      this.#refer(NAMED_LIKE_SCHEMAS.includes(name) ? `query_${name}` : name, this.#parameter('query', name, schema)),
    );
    const condition = etag === 'read' || etag === 'write' ? CONDITIONS[etag] : undefined;
    const inHeader =
      condition === undefined ? [] : [this.#refer(`header_${etag}`, this.#parameter('header', ...condition))];
    return [...inPath, ...inQuery, ...inHeader];
  }

  #parameter(where: 'path' | 'query' | 'header', name: string, schema: TSchema): DocumentSchema {
    const { description, ...rest } = this.#components.show(schema);
    // `?geojson` alone means true.
    const empty = rest['type'] === 'boolean' ? { allowEmptyValue: true } : {};
    return { name, in: where, ...(description === undefined ? {} : { description }), ...empty, schema: rest };
  }

  /** A reference, or the parameter itself if its name has another meaning elsewhere. */
  #refer(key: string, parameter: DocumentSchema): DocumentSchema {
    const named = this.#named.get(key);
    if (named !== undefined && JSON.stringify(named) !== JSON.stringify(parameter)) return parameter;
    this.#named.set(key, parameter);
    return { $ref: `#/components/parameters/${key}` };
  }
}
