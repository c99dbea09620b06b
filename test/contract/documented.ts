import assert from 'node:assert/strict';
import type { TestHub, TestReply } from '../support/running_hub.ts';
import { type Document, DocumentSchemas, pointer } from './json_schema.ts';

interface OpenApi extends Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Responses }>>>>;
  readonly components: { readonly responses: Responses };
}

type Responses = Readonly<Record<string, { readonly $ref?: string; readonly content?: object; headers?: object }>>;

const DIALECTS = { 'openapi.json': '2020', 'openapi-3.0.json': 'OpenAPI 3.0' } as const;

/** Replies as described by the hub's own documents. */
export class Documented {
  readonly #said: readonly Said[];

  private constructor(said: readonly Said[]) {
    this.#said = said;
  }

  static async of(hub: TestHub, version: string): Promise<Documented> {
    const said = Object.entries(DIALECTS).map(async ([name, dialect]) => {
      const { status, body } = await hub.get(`${hub.origin}/hub/${version}/${name}`);
      assert.equal(status, 200);
      return new Said(body as OpenApi, dialect);
    });
    return new Documented(await Promise.all(said));
  }

  /** Fails if a document lacks the status of the reply, or describes another body. */
  check(method: string, path: string, reply: TestReply): void {
    for (const said of this.#said) said.check(method, path, reply);
  }

  /** Fails if the body of a valid request does not match a document. */
  checkBody(method: string, path: string, body: unknown): void {
    for (const said of this.#said) said.checkBody(method, path, body);
  }
}

/** Contents of one document. */
class Said {
  readonly #document: OpenApi;
  readonly #schemas: DocumentSchemas;

  constructor(document: OpenApi, dialect: '2020' | 'OpenAPI 3.0') {
    this.#document = document;
    this.#schemas = new DocumentSchemas(document, dialect);
  }

  check(method: string, path: string, reply: TestReply): void {
    const title = `${method} ${path}: ${reply.status} ${reply.text.slice(0, 200)}`;
    const { responses } = this.#document.paths[path]?.[method.toLowerCase()] ?? {};
    assert.ok(responses, `${title}: no such operation is documented`);
    const response = responses[reply.status];
    assert.ok(response, `${title}: only ${Object.keys(responses).join(', ')} are documented`);
    const at = response.$ref?.slice(1) ?? pointer('paths', path, method.toLowerCase(), 'responses', reply.status);
    const { content } = response.$ref === undefined ? response : this.#response(response.$ref);
    if (content === undefined) {
      assert.equal(reply.text, '', `${title}: no body is documented`);
      return;
    }
    const [type] = reply.headers['content-type']?.split(';') ?? [];
    assert.ok(Object.keys(content).includes(type ?? ''), `${title}: ${type} is not documented`);
    const problem = this.#schemas.at(at + pointer('content', type ?? '', 'schema'))(reply.body ?? reply.text);
    assert.equal(problem, undefined, title);
  }

  checkBody(method: string, path: string, body: unknown): void {
    const at = pointer('paths', path, method.toLowerCase(), 'requestBody', 'content', 'application/json', 'schema');
    const problem = this.#schemas.at(at)(body);
    assert.equal(problem, undefined, `${method} ${path} rejects ${JSON.stringify(body)} according to its document`);
  }

  #response($ref: string) {
    return this.#document.components.responses[$ref.split('/').at(-1) ?? ''] ?? {};
  }
}
