import type { TSchema } from 'typebox';

/** A schema as it stands in a document: plain JSON. */
export type Shown = { readonly [keyword: string]: unknown };

/**
 * The schemas that a document names. One with a title is shown once, under its title, and referred to from everywhere
 * else; one without is shown where it is used.
 */
export class Components {
  readonly #named = new Map<string, TSchema>();
  readonly #shown = new Map<string, Shown>();

  /** The schemas by their titles, as everything shown so far refers to them. */
  get schemas(): Readonly<Record<string, Shown>> {
    return Object.fromEntries([...this.#shown].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** The schema, or a reference to it. Throws an Error when two schemas have the same title. */
  show(schema: TSchema): Shown {
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

  #inline(schema: TSchema): Shown {
    const { documented, ...shown } = this.#walk(schema) as Shown & { readonly documented?: Shown };
    return orNull({ ...shown, ...documented });
  }

  #walk(node: unknown, keyword = ''): unknown {
    if (Array.isArray(node)) return node.map((element) => (isSchemaList(keyword) ? this.show(element) : element));
    if (typeof node !== 'object' || node === null) return node;
    const shown: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(node)) {
      // Examples and the like hold data, whatever it looks like.
      if (name === 'properties' || name === 'patternProperties') shown[name] = this.#members(value);
      else if (name === 'items' || name === 'additionalProperties') shown[name] = this.#schemaOr(value);
      else shown[name] = isSchemaList(name) ? this.#walk(value, name) : value;
    }
    return shown;
  }

  #members(members: object): Shown {
    return Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, this.show(schema)]));
  }

  #schemaOr(value: unknown): unknown {
    return typeof value === 'object' && value !== null ? this.show(value as TSchema) : value;
  }
}

function isSchemaList(keyword: string): boolean {
  return keyword === 'anyOf' || keyword === 'oneOf' || keyword === 'allOf';
}

/** A simple type that may be null reads better in one line than as a choice of two schemas. */
function orNull(schema: Shown): Shown {
  const choices = schema['anyOf'] as readonly Shown[] | undefined;
  const [first, second] = choices ?? [];
  if (choices?.length !== 2 || first === undefined || second?.['type'] !== 'null') return schema;
  const { anyOf: _, ...rest } = schema;
  if (typeof first['type'] === 'string') return { ...first, ...rest, type: [first['type'], 'null'] };
  if (Array.isArray(first['enum'])) return { ...first, ...rest, enum: [...first['enum'], null] };
  return schema;
}
