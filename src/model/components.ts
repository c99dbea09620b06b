import type { TSchema } from 'typebox';

/** A schema in an OpenAPI or AsyncAPI document: plain JSON. */
export type DocumentSchema = { readonly [keyword: string]: unknown };

export interface ComponentsOptions {
  /** Returns the schema to show instead of the given one; the schema itself by default. */
  readonly replacementOf?: (schema: TSchema) => TSchema;
  /**
   * Whether to write for code generators, which support oneOf with discriminator but handle an enum with one value
   * better than a const.
   */
  readonly forGenerators?: boolean;
}

/**
 * Collects the schemas of a document. A schema with a title is written once, under its title, and referenced everywhere
 * else; one without a title is written inline.
 */
export class Components {
  readonly #named = new Map<string, TSchema>();
  readonly #shown = new Map<string, DocumentSchema>();
  readonly #shownFor: (schema: TSchema) => TSchema;
  readonly #forGenerators: boolean;

  constructor({ replacementOf = (schema) => schema, forGenerators = false }: ComponentsOptions = {}) {
    this.#shownFor = replacementOf;
    this.#forGenerators = forGenerators;
  }

  /** The schemas by title, referenced by everything shown so far. */
  get schemas(): Readonly<Record<string, DocumentSchema>> {
    return Object.fromEntries([...this.#shown].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Returns the schema, or a reference to it. Throws an Error if two schemas have the same title. */
  show(given: TSchema): DocumentSchema {
    const schema = this.#shownFor(given);
    const { title } = schema as { readonly title?: string };
    if (title === undefined) return this.#inline(schema);
    const named = this.#named.get(title);
    if (named === undefined) {
      this.#named.set(title, schema);
      this.#shown.set(title, this.#inline(schema));
    } else if (named !== schema && JSON.stringify(named) !== JSON.stringify(schema)) {
      throw new Error(`Cannot name a schema ${title}: another one has that title`);
    }
    return { $ref: `#/components/schemas/${title}` };
  }

  #inline(schema: TSchema): DocumentSchema {
    const { documented, discriminatedBy, ...shown } = this.#walk(schema) as DocumentSchema & {
      readonly documented?: DocumentSchema;
      readonly discriminatedBy?: string;
    };
    const typed = withFormat(withType({ ...shown, ...documented }));
    return orNull(this.#forGenerators ? generated(typed, discriminatedBy) : typed);
  }

  #walk(node: unknown, keyword = ''): unknown {
    if (Array.isArray(node)) return node.map((element) => (isSchemaList(keyword) ? this.show(element) : element));
    if (typeof node !== 'object' || node === null) return node;
    const shown: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(node)) {
      // Examples and similar keywords hold data, even if it looks like a schema.
      if (name === 'properties') shown[name] = this.#members(value);
      else if (name === 'patternProperties') shown['additionalProperties'] = this.#ofAnyName(value);
      else if (name === 'items' || name === 'additionalProperties') shown[name] = this.#schemaOr(value);
      else shown[name] = isSchemaList(name) ? this.#walk(value, name) : value;
    }
    return shown;
  }

  #members(members: object): DocumentSchema {
    return Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, this.show(schema)]));
  }

  /** A record has one pattern, which every name matches. */
  #ofAnyName(patterns: object): unknown {
    const [schema] = Object.values(patterns) as TSchema[];
    const shown = schema === undefined ? {} : this.show(schema);
    return Object.keys(shown).length === 0 ? true : shown;
  }

  #schemaOr(value: unknown): unknown {
    return typeof value === 'object' && value !== null ? this.show(value as TSchema) : value;
  }
}

function isSchemaList(keyword: string): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf' || keyword === 'allOf';
}

/** An enum of strings gets the type string. */
function withType(schema: DocumentSchema): DocumentSchema {
  const words = schema['enum'];
  const isTexts = Array.isArray(words) && words.every((word) => typeof word === 'string');
  return isTexts && schema['type'] === undefined ? { type: 'string', ...schema } : schema;
}

/** Adds a format. Without it, a generator may use 32-bit numbers, which round a longitude to a meter or two. */
function withFormat(schema: DocumentSchema): DocumentSchema {
  if (schema['type'] === 'number') return { format: 'double', ...schema };
  return schema['type'] === 'integer' ? { format: 'int64', ...schema } : schema;
}

function generated(schema: DocumentSchema, discriminatedBy: string | undefined): DocumentSchema {
  const { anyOf, const: constant, ...rest } = schema;
  if (constant !== undefined) return { ...rest, enum: [constant] };
  if (!Array.isArray(anyOf) || schema['title'] === undefined) return schema;
  if (discriminatedBy === undefined) return { ...rest, oneOf: anyOf };
  const mapping = Object.fromEntries(anyOf.map(({ $ref }: { $ref: string }) => [$ref.split('/').at(-1), $ref]));
  return { ...rest, oneOf: anyOf, discriminator: { propertyName: discriminatedBy, mapping } };
}

/** Merges "or null" into a simple type: one line reads better than a choice of two schemas. */
function orNull(schema: DocumentSchema): DocumentSchema {
  const choices = schema['anyOf'] as readonly DocumentSchema[] | undefined;
  const [first, second] = choices ?? [];
  if (choices?.length !== 2 || first === undefined || second?.['type'] !== 'null') return schema;
  const { anyOf: _, ...rest } = schema;
  const { const: constant, ...own } = first;
  const words = constant === undefined ? first['enum'] : [constant];
  const type = typeof first['type'] === 'string' ? { type: [first['type'], 'null'] } : {};
  if (Array.isArray(words)) return { ...own, ...rest, ...type, enum: [...words, null] };
  return typeof first['type'] === 'string' ? { ...first, ...rest, ...type } : schema;
}
