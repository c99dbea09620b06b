import { existsSync, readFileSync } from 'node:fs';
import { type Document, DocumentSchemas, type Problem, pointer } from './json_schema.ts';

/** The public omlox Hub API as reference data, if it is present. */
const REFERENCE = new URL('../../../shared/spec/omlox_Hub_API_2.0.0.json', import.meta.url);

/** A member of a body in the reference. */
export interface Member {
  readonly name: string;
  /** A JSON type; undefined if several are allowed. */
  readonly type: string | undefined;
  readonly isRequired: boolean;
  /** An example value; undefined if the reference has none. */
  readonly example: unknown;
}

export interface RequestBody {
  /** Whether it is a list of objects with these members. */
  readonly isList: boolean;
  readonly members: readonly Member[];
  readonly problem: Problem;
}

/** An operation of the reference. */
export interface Operation {
  /** `GET /zones` */
  readonly title: string;
  readonly method: string;
  readonly path: string;
  /** Status of success. */
  readonly success: number;
  readonly parameters: readonly { readonly name: string; readonly type: string }[];
  /** Example body; undefined without a body. */
  readonly body: RequestBody | undefined;
  /** Validates the body of a success; undefined if the reference has no schema for it. */
  readonly replyProblem: Problem | undefined;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly example?: unknown;
}
interface Content {
  readonly content?: { readonly 'application/json'?: { readonly schema: Schema } };
}
interface Described {
  readonly parameters?: readonly { readonly $ref?: string }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly $ref?: string }>>;
}

/** The reference; undefined if it is not present. */
export function readReference(): Reference | undefined {
  const document = readReferenceDocument();
  return document && new Reference(document);
}

/** The unparsed reference; undefined if it is not present. */
export function readReferenceDocument(): Document | undefined {
  return existsSync(REFERENCE) ? (JSON.parse(readFileSync(REFERENCE, 'utf8')) as Document) : undefined;
}

export class Reference {
  readonly operations: readonly Operation[];
  readonly #document: Document;
  readonly #schemas: DocumentSchemas;

  constructor(document: Document) {
    this.#document = document;
    this.#schemas = new DocumentSchemas(document, 'OpenAPI 3.0');
    const paths = document['paths'] as Readonly<Record<string, Readonly<Record<string, Described>>>>;
    this.operations = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations)
        .filter(([name]) => name !== 'parameters')
        .map(([name, described]) => this.#operation(path, name, described)),
    );
  }

  /** Returns the validator of the schema with this name. */
  schema(name: string): Problem {
    return this.#schemas.at(`/components/schemas/${name}`);
  }

  /** Resolves a reference to its node. */
  node<T>($ref: string): T {
    const segments = $ref.split('/').slice(1);
    return segments.reduce<unknown>((node, segment) => (node as Document)[segment], this.#document) as T;
  }

  #operation(path: string, name: string, { parameters = [], requestBody, responses }: Described): Operation {
    const at = pointer('paths', path, name);
    const success = Object.keys(responses).find((status) => status.startsWith('2')) ?? '';
    const reply = responses[success];
    const replyAt = reply?.$ref?.slice(1) ?? `${at}/responses/${success}`;
    const content = reply?.$ref === undefined ? reply : this.node<Content>(reply.$ref);
    const body = requestBody?.content?.['application/json']?.schema;
    const method = name.toUpperCase();
    return {
      title: `${method} ${path}`,
      method,
      path,
      success: Number(success),
      parameters: parameters.flatMap(({ $ref }) => this.#queryParameter($ref)),
      body: body && this.#body(body, `${at}/requestBody`),
      replyProblem: content?.content && this.#schemas.at(schemaIn(replyAt)),
    };
  }

  #body(schema: Schema, at: string): RequestBody {
    const element = this.#resolved(schema.items ?? schema);
    const required = new Set(element.required);
    const members = Object.entries(element.properties ?? {}).map(([name, member]) => {
      const { type, example } = this.#resolved(member);
      return { name, type, isRequired: required.has(name), example };
    });
    return { isList: schema.type === 'array', members, problem: this.#schemas.at(schemaIn(at)) };
  }

  #resolved(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : this.node<Schema>(schema.$ref);
  }

  #queryParameter($ref: string | undefined): { name: string; type: string }[] {
    if ($ref === undefined) return [];
    const { name, in: where, schema } = this.node<{ name: string; in: string; schema: { type: string } }>($ref);
    return where === 'query' ? [{ name, type: schema.type }] : [];
  }
}

function schemaIn(at: string): string {
  return at + pointer('content', 'application/json', 'schema');
}
