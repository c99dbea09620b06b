import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { REFUSALS } from '../../src/api/docs/refusals.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { TOPIC_NAMES } from '../../src/fanout/topic_name.ts';
import { COMMANDS } from '../../src/socket/commands.ts';
import { WIRE_ERRORS } from '../../src/socket/wire.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { asyncApiChecker } from './async_api.ts';
import { type Document, DocumentSchemas, isSchema, pointer } from './json_schema.ts';

interface Documents extends Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly operations: Readonly<Record<string, { readonly messages: readonly { readonly $ref: string }[] }>>;
  readonly channels: { readonly socket: { readonly messages: Readonly<Record<string, { readonly payload: object }>> } };
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}
interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>;
}
interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly examples?: readonly unknown[];
}

const VERSIONS = ['v1', 'v2'] as const;

/** The errors that an operation must document, derived from its row. */
const EXPECTED: readonly [status: string, when: (route: (typeof ROUTES)[number]) => boolean][] = [
  ['400', ({ body, path }) => body !== undefined || path.includes(':')],
  ['401', ({ permission }) => permission !== 'public'],
  ['403', ({ permission }) => permission !== 'public'],
  ['404', ({ path }) => path.includes(':')],
  ['405', () => true],
  ['413', ({ body }) => body !== undefined],
  ['503', () => true],
];

describe('the documents of the API', () => {
  let hub: TestHub;
  before(async () => {
    // A broker that does not exist: the documents describe every feature of a hub.
    hub = await openTestHub({ mqtt_address: '127.0.0.1', mqtt_port: 9, uns_root: 'plant' });
  });
  after(() => hub.close());

  const read = async (version: string, name: string): Promise<Documents> => {
    const { status, body } = await hub.get(`${hub.origin}/hub/${version}/${name}`);
    assert.equal(status, 200);
    return body as Documents;
  };

  for (const version of VERSIONS) {
    it(`openapi.json of ${version} is a valid OpenAPI 3.1 document`, async () => {
      const document = await read(version, 'openapi.json');
      assert.equal(document['openapi'], '3.1.0');
      const { valid, errors } = await new Validator().validate(structuredClone(document) as never);
      assert.ok(valid, JSON.stringify(errors));
    });

    it(`openapi.json of ${version} has an operation for each row, with all its possible statuses`, async () => {
      const { paths } = await read(version, 'openapi.json');
      const rows = ROUTES.filter(({ versions }) => versions.includes(version));
      assert.equal(Object.values(paths).flatMap((operations) => Object.keys(operations)).length, rows.length);
      for (const row of rows) {
        const { method, path, replies } = row;
        const operation = paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
        assert.ok(operation, `${method} ${path}`);
        const refusals = EXPECTED.filter(([, when]) => when(row)).map(([status]) => status);
        const stated = Object.keys(operation.responses);
        assert.deepEqual(
          [...Object.keys(replies), ...refusals].filter((status) => !stated.includes(status)),
          [],
          `${method} ${path} states ${stated}`,
        );
        for (const status of refusals) {
          const $ref = `#/components/responses/${REFUSALS[Number(status)]?.name}`;
          assert.equal(operation.responses[status]?.$ref, $ref);
        }
      }
    });

    it(`asyncapi.json of ${version} is a valid AsyncAPI 3.0 document`, async () => {
      const document = await read(version, 'asyncapi.json');
      const problem = asyncApiChecker();
      assert.equal(problem(document), undefined);
      assert.notEqual(problem({ ...document, operations: { event: {} } }), undefined);
    });

    for (const name of ['openapi.json', 'asyncapi.json']) {
      it(`${name} of ${version} has valid schemas, and their examples match them`, async () => {
        const document = await read(version, name);
        const schemas = new DocumentSchemas(document, '2020');
        for (const [title, schema] of Object.entries(document.components.schemas)) {
          assert.ok(isSchema(schema), title);
          assert.ok(schema.description, `${title} is not described`);
          const problem = schemas.at(pointer('components', 'schemas', title));
          for (const example of schema.examples ?? []) assert.equal(problem(example), undefined, title);
          for (const [name, member] of Object.entries(schema.properties ?? {})) {
            assert.ok(isDescribed(member), `${title}.${name} is not described`);
          }
        }
      });

      it(`${name} of ${version} has no dangling references`, async () => {
        const document = await read(version, name);
        const missing = [...JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g)].filter(([, at = '']) => {
          const segments = at
            .split('/')
            .slice(1)
            .map((segment) => segment.replaceAll('~1', '/'));
          return segments.reduce<unknown>((node, segment) => (node as Document)?.[segment], document) === undefined;
        });
        assert.deepEqual(missing, []);
      });
    }
  }

  it('asyncapi.json has every command, topic and error', async () => {
    const { operations, channels, components } = await read('v2', 'asyncapi.json');
    const rpc = ['register', 'unregister', 'call', 'forward'];
    const ofSocket = Object.keys(operations).filter((name) => !/^(publish|take)\./.test(name));
    assert.deepEqual(ofSocket, [...COMMANDS.map(({ event }) => event), 'event', 'ownerHint', ...rpc]);
    const keys = (name: string) => operations[name]?.messages.map(({ $ref }) => $ref.split('/').at(-1));
    const topics = TOPIC_NAMES.map((topic) => topic.replace(':', '.'));
    assert.deepEqual(
      keys('subscribe'),
      topics.map((topic) => `subscribe.${topic}`),
    );
    assert.deepEqual(
      keys('event'),
      topics.map((topic) => `event.${topic}`),
    );
    assert.deepEqual(keys('message'), ['message.location_updates', 'message.proximity_updates']);
    assert.deepEqual(keys('ownerHint'), ['message.owner_hints']);
    for (const { payload } of Object.values(channels.socket.messages)) assert.ok(payload);
    const codes = JSON.stringify(components.schemas['WebsocketErrorCode']);
    for (const code of Object.values(WIRE_ERRORS)) assert.ok(codes.includes(`${code}: `), String(code));
  });

  it('examples of entities and locations are accepted unchanged', async () => {
    const { components } = await read('v2', 'openapi.json');
    const example = (title: string) => components.schemas[title]?.examples?.[0] as object;
    for (const [path, title] of [
      ['/zones', 'Zone'],
      ['/providers', 'LocationProvider'],
      ['/trackables', 'Trackable'],
      ['/fences', 'Fence'],
    ] as const) {
      const { status, text } = await hub.post(path, example(title));
      assert.equal(status, 201, text);
    }
    const put = await hub.put('/providers/tag-1/location', example('Location'));
    assert.equal(put.status, 204, put.text);
  });
});

/** Directly, by reference, or by one of its alternatives. */
function isDescribed({ $ref, description, anyOf = [] }: Schema): boolean {
  return $ref !== undefined || description !== undefined || anyOf.some(isDescribed);
}
