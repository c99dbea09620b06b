import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** A parsed JSON document that contains schemas. */
export type Document = Readonly<Record<string, unknown>>;

/** Validates a value. Returns the errors, or undefined. */
export type Problem = (value: unknown) => string | undefined;

/** Looks up schemas of a document by JSON Pointer, and resolves their references. */
export class DocumentSchemas {
  readonly #ajv: Ajv | Ajv2020;
  readonly #compiled = new Map<string, Problem>();

  /** OpenAPI 3.0 has its own dialect; 3.1 and AsyncAPI use JSON Schema. */
  constructor(document: Document, dialect: 'OpenAPI 3.0' | '2020') {
    // References may pass through parts of the document that are not schemas.
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

/** Converts keywords that exist only in OpenAPI 3.0 to their form in draft 7. */
function inDraft7(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(inDraft7);
  if (typeof node !== 'object' || node === null) return node;
  const { nullable, exclusiveMinimum, ...rest } = Object.fromEntries(
    Object.entries(node).map(([name, value]) => [name, inDraft7(value)]),
  );
  const schema = exclusiveMinimum === true ? { ...rest, minimum: undefined, exclusiveMinimum: rest['minimum'] } : rest;
  return nullable === true ? { anyOf: [schema, { type: 'null' }] } : schema;
}

/** Returns a JSON Pointer of the given segments. */
export function pointer(...segments: readonly (string | number)[]): string {
  return segments
    .map((segment) => `/${encodeURIComponent(String(segment).replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('');
}

/** Whether a schema is valid in its own dialect. */
export function isSchema(schema: object): boolean {
  return new Ajv2020({ strict: false }).validateSchema(schema) === true;
}
