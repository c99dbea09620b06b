import type { Document } from './json_schema.ts';

/** Names in an OpenAPI document, from which generators derive the code of a client. */
export interface Names {
  readonly schemas: readonly string[];
  /** Keys of the shared parameters, with their place and name in requests: `path zone_id`. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Keyed by method and path. */
  readonly operations: Readonly<Record<string, OperationNames>>;
}

interface OperationNames {
  /** Null if the generator chooses the id. */
  readonly id: string | null;
  readonly tag: string;
  /** Names of the schemas of the request body and the reply body, or of their elements. */
  readonly body: string | null;
  readonly reply: string | null;
}

interface Schema {
  readonly $ref?: string;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
}
interface Bodied {
  readonly $ref?: string;
  readonly content?: { readonly 'application/json'?: { readonly schema: Schema } };
}
interface Operation {
  readonly operationId?: string;
  readonly tags: readonly string[];
  readonly requestBody?: Bodied;
  readonly responses: Readonly<Record<string, Bodied>>;
}
interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Bodied>>;
    readonly parameters: Readonly<Record<string, { readonly in: string; readonly name: string }>>;
  };
}

export function namesIn(document: Document): Names {
  const { paths, components } = document as unknown as Described;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]) => [`${method.toUpperCase()} ${path}`, namesOf(operation)] as const),
  );
  const parameters = Object.entries(components.parameters).map(([key, it]) => [key, `${it.in} ${it.name}`]);
  return {
    schemas: Object.keys(components.schemas),
    parameters: Object.fromEntries(parameters),
    operations: Object.fromEntries(operations),
  };

  function namesOf({ operationId, tags, requestBody, responses }: Operation): OperationNames {
    const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
    const reply = success?.$ref === undefined ? success : components.responses[lastOf(success.$ref)];
    return { id: operationId ?? null, tag: tags.join(), body: bodyName(requestBody), reply: bodyName(reply) };
  }

  function bodyName(body: Bodied | undefined): string | null {
    const schema = body?.content?.['application/json']?.schema;
    return schema === undefined ? null : elementName(schema);
  }

  /**
   * Returns the name of a schema. For a list, the name of its elements; for a choice with GeoJSON, that of the other
   * alternative.
   */
  function elementName({ $ref, items }: Schema): string | null {
    if (items !== undefined) return elementName(items);
    if ($ref === undefined) return null;
    const named = components.schemas[lastOf($ref)];
    const [first, second] = named?.oneOf ?? [];
    if (first !== undefined && /\/Feature(Collection)?$/.test(second?.$ref ?? '')) return elementName(first);
    const isList = named?.items !== undefined && !lastOf($ref).endsWith('Set');
    return isList ? elementName(named.items) : lastOf($ref);
  }
}

function lastOf($ref: string): string {
  return $ref.split('/').at(-1) ?? '';
}
