import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { openTestHub, type TestHub, type TestReply } from '../support/running_hub.ts';
import { Documented } from './documented.ts';
import { type Document, DocumentSchemas, pointer } from './json_schema.ts';
import { BODIES, filled, IDS, restore, UNKNOWN_ID } from './world.ts';

/** The public omlox Hub API as reference data: walked where it is present. */
const REFERENCE = new URL('../../../shared/spec/omlox_Hub_API_2.0.0.json', import.meta.url);
const present = existsSync(REFERENCE);

interface Reference extends Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly parameters: Readonly<Record<string, { name: string; in: string; schema: { type: string } }>>;
  };
}
interface Operation {
  readonly parameters?: readonly { readonly $ref?: string }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Document }>>;
}
interface Call {
  readonly title: string;
  readonly path: string;
  readonly method: string;
  readonly version: string;
  readonly operation: Operation;
}

/** Where a success is meant to differ from the reference, and why. */
const OTHER_SHAPES: Readonly<Record<string, string>> = {
  'v1 GET /trackables/{trackable_id}/providers': 'v1 names related entities by their ids; the reference is v2',
  'v1 GET /providers/{provider_id}/trackables': 'v1 names related entities by their ids; the reference is v2',
};

/** Where an unknown id is no error, and why. */
const TAKES_UNKNOWN: Readonly<Record<string, string>> = {
  'PUT /providers/{provider_id}/location': 'the location creates its provider',
  'PUT /providers/{provider_id}/proximity': 'the proximity creates its provider',
};

/** What is called a PUT in the reference, and is a WebSocket. */
const SOCKET = '/ws/socket';

const NO_JSON = ['', '{', 'no', '{"a":}', '\u0000'];
/** JSON that no body is; of sensors everything is one. */
const NO_ENTITY = [true, 7, 'text', null, { type: 7 }];

const reference = present ? (JSON.parse(readFileSync(REFERENCE, 'utf8')) as Reference) : undefined;

describe('the omlox Hub API 2.0.0', { skip: present ? false : 'the reference is not here' }, () => {
  if (reference === undefined) return;
  const schemas = new DocumentSchemas(reference, 'draft7');
  const called = new Set<string>();
  let hub: TestHub;
  let own: Readonly<Record<string, Documented>>;
  before(async () => {
    hub = await openTestHub();
    own = { v1: await Documented.of(hub, 'v1'), v2: await Documented.of(hub, 'v2') };
  });
  after(() => hub.close());

  const operations = operationsOf(reference);
  for (const version of ['v1', 'v2']) for (const operation of operations) walk({ ...operation, version });

  it('was called in whole, in both versions', (t) => {
    const all = operations.flatMap(({ title }) => [`v1 ${title}`, `v2 ${title}`]);
    const notCalled = all.filter((title) => !called.has(title));
    t.diagnostic(`${called.size} of ${all.length} operations were called`);
    assert.deepEqual(notCalled, []);
  });

  function walk(call: Call): void {
    const { version, title, path, operation } = call;
    if (path === SOCKET) {
      it(`${version} ${title} is a WebSocket`, () => walkSocket(call));
      return;
    }
    it(`${version} ${title} answers as the reference says`, async () => {
      await succeeds(call);
      await takesParameters(call);
      if (path.includes('{')) await knowsItsIds(call);
      if (operation.requestBody !== undefined) await refusesBodies(call);
      called.add(`${version} ${title}`);
    });
  }

  async function walkSocket({ version, title, method }: Call): Promise<void> {
    const plain = await hub.request(method, `${hub.origin}/hub/${version}${SOCKET}`, {});
    assert.equal(plain.status, 426);
    const socket = await hub.socket({ path: `/hub/${version}${SOCKET}` });
    const [frame] = await socket.ask({ event: 'subscribe', topic: 'location_updates' });
    assert.equal(schemas.at('/components/schemas/WebsocketSubscriptionResponse')(frame), undefined);
    // The reference lists the codes, which are numbers, as texts: those begin with the number.
    const [error] = await socket.ask({ event: 'subscribe', topic: 'nothing' });
    const codes = schemaOf('#/components/schemas/WebsocketError/properties/code') as { readonly enum: string[] };
    assert.ok(codes.enum.some((code) => code.startsWith(`${error?.code} - Unknown topic`)));
    assert.deepEqual([error?.event, typeof error?.description], ['error', 'string']);
    called.add(`${version} ${title}`);
  }

  async function succeeds(call: Call): Promise<void> {
    await restore(hub);
    const { version, title, operation } = call;
    const reply = await send(call);
    const success = successOf(operation);
    assert.equal(reply.status, success, reply.text);
    if (success === 201) {
      const shown = await hub.get(`${hub.origin}${reply.headers.location}`);
      assert.deepEqual([shown.status, shown.body], [200, reply.body]);
    }
    const at = schemaAt(call, success);
    if (at === undefined || `${version} ${title}` in OTHER_SHAPES) return;
    assert.equal(schemas.at(at)(reply.body), undefined, `${title}: ${reply.text}`);
  }

  async function takesParameters(call: Call): Promise<void> {
    const parameters = (call.operation.parameters ?? []).flatMap(({ $ref }) => named($ref));
    for (const { name, in: where, schema } of parameters) {
      if (where !== 'query') continue;
      const good = name === 'crs' ? 'EPSG:4326' : schema.type === 'boolean' ? 'true' : IDS['zone_id'];
      await restore(hub);
      const { status, text } = await send(call, { query: `?${name}=${good}` });
      assert.equal(status, successOf(call.operation), `${name}: ${text}`);
      // Any text may be somebody's name.
      if (name === 'foreign_id') continue;
      await assertRefused(call, { query: `?${name}=bad` }, name);
      await assertRefused(call, { query: `?${name}=%E0%A4` }, '');
    }
  }

  async function knowsItsIds(call: Call): Promise<void> {
    await restore(hub);
    const ids = Object.fromEntries(Object.keys(IDS).map((name) => [name, UNKNOWN_ID]));
    const body = withoutIds(call);
    const reply = await send(call, { path: filled(call.path, ids), ...(body === undefined ? {} : { body }) });
    if (call.title in TAKES_UNKNOWN) {
      assert.equal(reply.status, 204, reply.text);
    } else {
      assert.equal(reply.status, 404, reply.text);
      assertError(reply, 404);
    }
    await assertRefused(call, { path: call.path.replace(/\{\w+\}/, '%E0%A4') }, '');
  }

  async function refusesBodies(call: Call): Promise<void> {
    for (const body of NO_JSON) await assertRefused(call, { body }, 'body');
    if (call.path.endsWith('/sensors')) return;
    for (const value of NO_ENTITY) await assertRefused(call, { body: JSON.stringify(value) }, '');
    const bulk = Array.isArray(BODIES[call.title]?.());
    if (bulk) await assertRefused(call, { body: '[{}]' }, '');
  }

  async function assertRefused(call: Call, sent: Sent, starts: string): Promise<void> {
    const reply = await send(call, sent);
    assert.equal(reply.status, 400, `${call.title} ${JSON.stringify(sent)}: ${reply.status} ${reply.text}`);
    assertError(reply, 400);
    assert.ok(reply.body.message.startsWith(starts), `${reply.body.message} does not name ${starts}`);
  }

  function assertError(reply: TestReply, status: number): void {
    assert.equal(schemas.at('/components/schemas/Error')(reply.body), undefined, reply.text);
    assert.equal(reply.body.code, status);
    assert.ok(reply.body.message.length > 10, reply.text);
  }

  interface Sent {
    readonly path?: string;
    readonly query?: string;
    readonly body?: unknown;
  }

  /** Every reply is also one that the hub's own document knows. */
  async function send({ title, version, method, path, operation }: Call, sent: Sent = {}): Promise<TestReply> {
    const good = operation.requestBody === undefined ? undefined : BODIES[title]?.();
    assert.ok(operation.requestBody === undefined || good !== undefined, `${title}: there is no body to send`);
    const { path: target = filled(path), query = '', body = good } = sent;
    const reply = await hub.request(method, `${hub.origin}/hub/${version}${target}${query}`, body);
    own[version]?.check(method, path, reply);
    return reply;
  }

  /** The body without the id that it shares with the path. */
  function withoutIds({ title }: Call): unknown {
    const body = BODIES[title]?.();
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
    const { provider_id: _, ...rest } = body as { provider_id?: string };
    return rest;
  }

  function named($ref: string | undefined) {
    const found = reference?.components.parameters[$ref?.split('/').at(-1) ?? ''];
    return found === undefined ? [] : [found];
  }

  /** Where the reference has the schema of a reply's body; undefined when it has none. */
  function schemaAt({ path, method, operation }: Call, status: number): string | undefined {
    const response = operation.responses[status];
    const at = response?.$ref?.slice(1) ?? pointer('paths', path, method.toLowerCase(), 'responses', status);
    const found = response?.$ref === undefined ? response : (schemaOf(response.$ref) as typeof response);
    return found?.content === undefined ? undefined : at + pointer('content', 'application/json', 'schema');
  }

  function schemaOf($ref: string): unknown {
    const segments = $ref.split('/').slice(1);
    return segments.reduce<unknown>((node, segment) => (node as Document)[segment], reference);
  }
});

function operationsOf({ paths }: Reference): Omit<Call, 'version'>[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([name]) => name !== 'parameters')
      .map(([name, operation]) => {
        const method = name.toUpperCase();
        return { title: `${method} ${path}`, path, method, operation };
      }),
  );
}

function successOf({ responses }: Operation): number {
  return Number(Object.keys(responses).find((status) => status.startsWith('2')));
}
