import type { DocumentSchema } from '../../model/components.ts';

/**
 * OpenAPI 3.0.3 from 3.1, for generators that know that alone. 3.1 speaks JSON Schema; 3.0 has a dialect of its own, in
 * which a schema has one type, null is the keyword nullable, bounds are exclusive by a boolean, there is one example and
 * no const, and nothing stands beside a $ref. What both say of a value is the same. (The text of 3.0.3 lets nullable
 * stand beside a type only; that it also opens an allOf is how its tools read it, and the only way to let a reference be
 * null.)
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

/** Finds the schemas of a part of the document that is none itself. Examples are data. */
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

/** A response that is described otherwise than the one it refers to stands for itself. */
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

/** What a schema of 3.0 says in the same words. */
const KEPT = new Set(
  ['$ref', 'title', 'description', 'format', 'enum', 'required', 'readOnly', 'writeOnly', 'default'].concat(
    ['minimum', 'maximum', 'multipleOf', 'minLength', 'maxLength', 'pattern'],
    ['minItems', 'maxItems', 'uniqueItems', 'minProperties', 'maxProperties', 'discriminator'],
  ),
);

function oneType(types: readonly unknown[]): DocumentSchema {
  const [type, ...others] = types.filter((each) => each !== 'null');
  if (others.length > 0) throw new Error(`Cannot write in OpenAPI 3.0: a schema has the types ${types}`);
  return { type, ...(types.includes('null') ? { nullable: true } : {}) };
}

/** A choice between something and null is that thing, which may be null. */
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
