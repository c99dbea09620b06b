import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** A document with schemas in it, as it was parsed from JSON. */
export type Document = Readonly<Record<string, unknown>>;

/** Checks a value; returns what does not fit, in words, or undefined. */
export type Problem = (value: unknown) => string | undefined;

/** Finds schemas of a document by their JSON Pointers, references in them followed. */
export class DocumentSchemas {
  readonly #ajv: Ajv | Ajv2020;
  readonly #compiled = new Map<string, Problem>();

  /** OpenAPI 3.0 has a dialect of its own; 3.1 and AsyncAPI speak JSON Schema. */
  constructor(document: Document, dialect: 'OpenAPI 3.0' | '2020') {
    // References are followed through parts of the document that are no schemas.
    const options = { strict: false, allErrors: true, validateSchema: false };
    this.#ajv = dialect === '2020' ? new Ajv2020(options) : new Ajv(options);
    formats.default(this.#ajv);
    const read = dialect === '2020' ? document : (inDraft7(document) as Document);
    this.#ajv.addSchema({ ...read, $id: 'document' });
  }

  at(pointer: string): Problem {
    let problem = this.#compiled.get(pointer);
    if (problem === undefined) {
      const validate = this.#ajv.compile({ $ref: `document#${pointer}` });
      problem = (value) => (validate(value) ? undefined : this.#ajv.errorsText(validate.errors));
      this.#compiled.set(pointer, problem);
    }
    return problem;
  }
}

/** Converts keywords that only OpenAPI 3.0 has to their form in draft 7. */
function inDraft7(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(inDraft7);
  if (typeof node !== 'object' || node === null) return node;
  const { nullable, exclusiveMinimum, ...rest } = Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, inDraft7(value)]),
  );
  const schema = exclusiveMinimum === true ? { ...rest, minimum: undefined, exclusiveMinimum: rest['minimum'] } : rest;
  return nullable === true ? { anyOf: [schema, { type: 'null' }] } : schema;
}

/** A JSON Pointer of the given segments. */
export function pointer(...segments: readonly (string | number)[]): string {
  return segments
    .map((segment) => `/${encodeURIComponent(String(segment).replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('');
}

/** Whether a schema is one, in its own dialect. */
export function isSchema(schema: object): boolean {
  return new Ajv2020({ strict: false }).validateSchema(schema) === true;
}
