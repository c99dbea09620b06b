import type { DocumentSchema } from '../../model/components.ts';

/**
 * Converts OpenAPI 3.1 to 3.0.3, for generators that support only that. 3.1 uses JSON Schema; 3.0 has its own dialect,
 * in which a schema has one type, null is the keyword nullable, bounds are exclusive by a boolean, there is one example
 * and no const, and a $ref has no siblings. Both describe the same values. (The text of 3.0.3 allows nullable only next
 * to a type; its tools also accept it next to an allOf, which is the only way to make a reference nullable.)
 */
export function openApi30(document: DocumentSchema): DocumentSchema {
  const { openapi: _, info, components, ...rest } = document;
  const { summary, description, ...about } = info as DocumentSchema;
  const { schemas, responses, ...shared } = components as DocumentSchema &
    Record<'schemas' | 'responses', DocumentSchema>;
  return {
    openapi: '3.0.3',
    info: { ...about, description: `${summary}.\n\n${description}` },
    ...(inTree(rest, responses) as DocumentSchema),
    components: {
      schemas: mapped(schemas, schema30),
      responses: inTree(responses, responses),
      ...(inTree(shared, responses) as DocumentSchema),
    },
  };
}

/** Converts the schemas in a part of the document that is not itself a schema. Examples are data. */
function inTree(node: unknown, responses: DocumentSchema): unknown {
  if (Array.isArray(node)) return node.map((element) => inTree(element, responses));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, ...beside } = node as DocumentSchema;
  if (typeof $ref === 'string') return referred($ref, beside, responses);
  return Object.fromEntries(
    Object.entries(node).map(([name, value]) => {
      if (name === 'examples') return [name, value];
      return [name, name === 'schema' ? schema30(value) : inTree(value, responses)];
    }),
  );
}

/** A response whose description differs from the one it refers to is written inline. */
function referred($ref: string, beside: DocumentSchema, responses: DocumentSchema): unknown {
  if (Object.keys(beside).length === 0) return { $ref };
  const response = responses[$ref.split('/').at(-1) ?? ''] as DocumentSchema;
  return inTree({ ...response, ...beside }, responses);
}

const LISTS = new Set(['anyOf', 'oneOf', 'allOf']);
const SINGLE = new Set(['items', 'additionalProperties', 'not']);

function schema30(schema: unknown): DocumentSchema {
  if (typeof schema !== 'object' || schema === null) throw new Error(`Cannot write in OpenAPI 3.0: ${schema}`);
  const shown: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'properties') shown[keyword] = mapped(value as DocumentSchema, schema30);
    else if (LISTS.has(keyword)) shown[keyword] = (value as unknown[]).map(schema30);
    else if (SINGLE.has(keyword)) shown[keyword] = typeof value === 'object' ? schema30(value) : value;
    else Object.assign(shown, keyword30(keyword, value));
  }
  return nullable(shown);
}

function keyword30(keyword: string, value: unknown): DocumentSchema {
  switch (keyword) {
    case 'const':
      return { enum: [value] };
    case 'examples':
      return (value as unknown[]).length === 0 ? {} : { example: (value as unknown[])[0] };
    case 'exclusiveMinimum':
      return { minimum: value, exclusiveMinimum: true };
    case 'exclusiveMaximum':
      return { maximum: value, exclusiveMaximum: true };
    case 'type':
      return Array.isArray(value) ? oneType(value) : { type: value };
    default:
      if (!KEPT.has(keyword)) throw new Error(`Cannot write in OpenAPI 3.0: a schema has ${keyword}`);
      return { [keyword]: value };
  }
}

/** Keywords that are equal in 3.0. */
const KEPT = new Set(
  ['$ref', 'title', 'description', 'format', 'enum', 'required', 'readOnly', 'writeOnly', 'default'].concat(
    ['minimum', 'maximum', 'multipleOf', 'minLength', 'maxLength', 'pattern'],
    ['minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties', 'discriminator'],
    ['x-extensible-enum'],
  ),
);

function oneType(types: readonly unknown[]): DocumentSchema {
  const [type, ...others] = types.filter((each) => each !== 'null');
  if (others.length > 0) throw new Error(`Cannot write in OpenAPI 3.0: a schema has the types ${types}`);
  return { type, ...(types.includes('null') ? { nullable: true } : {}) };
}

/** A choice between a schema and null is that schema with nullable. */
function nullable(schema: DocumentSchema): DocumentSchema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const others = anyOf.filter(({ type }: DocumentSchema) => type !== 'null');
  if (others.length === anyOf.length) return schema;
  const [only] = others as DocumentSchema[];
  if (others.length > 1) return { ...rest, nullable: true, anyOf: others };
  return only?.['$ref'] === undefined
    ? { ...only, ...rest, nullable: true }
    : { ...rest, nullable: true, allOf: others };
}

function mapped(object: DocumentSchema, change: (value: unknown) => unknown): DocumentSchema {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}
