import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Compile } from 'typebox/compile';
import type { Query } from '../../src/core/item.ts';
import { polygon, rfidZone, UUID_A, UUID_B, uwbZone } from '../entities/open_entities.ts';
import { type OpenApi, openApi } from './open_api.ts';

/** The public omlox Hub API as reference data: walked where it is present. */
const REFERENCE = new URL('../../../shared/spec/omlox_Hub_API_2.0.0.json', import.meta.url);
const present = existsSync(REFERENCE);

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
}
interface Parameter {
  readonly $ref?: string;
}
interface Reference {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly parameters: Readonly<Record<string, { name: string; in: string; schema: { type: string } }>>;
  };
}

/** What a later step builds, and what speaks WebSocket. */
const NOT_HERE = new Set(['/zones/{zone_id}/createfence', '/ws/socket']);

const ZONE = 'eeeeeeee-0000-4000-8000-000000000001';
const FENCE = 'ffffffff-0000-4000-8000-000000000001';
const IDS: Readonly<Record<string, string>> = {
  zone_id: ZONE,
  fence_id: FENCE,
  trackable_id: UUID_A,
  provider_id: 'p',
};

const location = {
  position: { type: 'Point', coordinates: [8, 50] },
  source: 's',
  provider_type: 'gps',
  provider_id: 'p',
  crs: 'EPSG:4326',
};

/** Bodies that are accepted. */
const BODIES: Readonly<Record<string, unknown>> = {
  'POST /zones': rfidZone(),
  'PUT /zones/{zone_id}': uwbZone(),
  'PUT /zones/{zone_id}/transform': { position: { type: 'Point', coordinates: [1, 2] } },
  'POST /trackables': { type: 'omlox' },
  'PUT /trackables/{trackable_id}': { type: 'omlox' },
  'POST /providers': { id: 'new', type: 'uwb' },
  'PUT /providers/{provider_id}': { type: 'uwb' },
  'PUT /providers/{provider_id}/location': location,
  'PUT /providers/{provider_id}/proximity': { source: 'reader', provider_type: 'rfid', provider_id: 'p' },
  'PUT /providers/{provider_id}/sensors': { any: 1 },
  'PUT /providers/locations': [location],
  'PUT /providers/proximities': [{ source: 'reader', provider_type: 'rfid', provider_id: 'p' }],
  'POST /fences': { region: polygon() },
  'PUT /fences/{fence_id}': { region: polygon() },
};

const motion = { id: UUID_A, location };

function answers(query: Query) {
  if (query.ask.endsWith('motion') || query.ask.endsWith('motions')) return [{ texts: [JSON.stringify(motion)] }];
  if (query.ask.includes('location')) return [{ texts: [JSON.stringify(location)] }];
  return [{ ids: query.ask === 'fence_providers' ? ['p'] : query.ask === 'fence_trackables' ? [UUID_A] : [FENCE] }];
}

async function populated(): Promise<OpenApi> {
  const api = openApi({ answers });
  await api.entities.create('zone', uwbZone({ id: ZONE }));
  await api.entities.create('fence', { id: FENCE, region: polygon() });
  await api.entities.create('provider', { id: 'p', type: 'uwb', sensors: [1] });
  await api.entities.create('trackable', { id: UUID_A, type: 'omlox', location_providers: ['p'] });
  return api;
}

describe('the endpoints of the omlox Hub API 2.0.0', { skip: present ? false : 'the reference is not here' }, () => {
  if (!present) return;
  const reference = JSON.parse(readFileSync(REFERENCE, 'utf8')) as Reference;
  for (const [path, operations] of Object.entries(reference.paths)) {
    if (NOT_HERE.has(path)) {
      it(path, { skip: 'not built here' });
      continue;
    }
    for (const [name, operation] of Object.entries(operations)) {
      if (name !== 'parameters') describeOperation(reference, path, { method: name.toUpperCase(), operation });
    }
  }
});

function describeOperation(
  reference: Reference,
  path: string,
  { method, operation }: { readonly method: string; readonly operation: Operation },
): void {
  const title = `${method} ${path}`;
  const success = Number(Object.keys(operation.responses).find((status) => status.startsWith('2')));
  const known = `/v2${path.replace(/\{(\w+)\}/, (_, parameter) => IDS[parameter] ?? '')}`;

  it(`${title} succeeds with ${success} and the documented shape`, async () => {
    const { send } = await populated();
    const { status, body } = await send(method, known, BODIES[title]);
    assert.equal(status, success, JSON.stringify(body));
    const schema = schemaOf(reference, operation, success);
    // A reply without a documented body may have none.
    if (schema === undefined) return;
    const check = Compile(schema);
    assert.ok(check.Check(body), `${JSON.stringify(body)}: ${JSON.stringify(check.Errors(body))}`);
  });

  it(`${title} takes its documented parameters and refuses bad values of them`, async () => {
    const { send } = await populated();
    const operationParameters = (operation.parameters ?? []).flatMap(({ $ref }) => named(reference, $ref));
    for (const { name, in: where, schema } of operationParameters) {
      // `subdivide` is part of a later step.
      if (where !== 'query' || name === 'subdivide') continue;
      const good = name === 'crs' ? 'EPSG:4326' : name === 'zone_id' ? ZONE : 'true';
      const { status } = await send(method, `${known}?${name}=${good}`, BODIES[title]);
      assert.equal(status, success, name);
      if (name === 'foreign_id') continue;
      const bad = await send(method, `${known}?${name}=bad`, BODIES[title]);
      assert.equal(bad.status, 400, `${name} of type ${schema.type}`);
    }
  });

  if (path.includes('{')) {
    it(`${title} answers as documented for an unknown id`, async () => {
      const { send } = await populated();
      const unknown = path.replace(/\{\w+\}/, UUID_B);
      const { status, body } = await send(method, `/v2${unknown}`, BODIES[title]);
      // A location creates its provider.
      const creates = /\/(location|proximity)$/.test(path) && method === 'PUT';
      assert.equal(status, creates ? 204 : 404);
      if (!creates) assert.deepEqual([body.code, typeof body.type, typeof body.message], [404, 'string', 'string']);
    });
  }

  if (operation.requestBody !== undefined) {
    it(`${title} answers 400 to what is no JSON`, async () => {
      const { send } = await populated();
      for (const bad of ['', '{', 'no', '{"a":}']) {
        const { status, body } = await send(method, known, bad);
        assert.deepEqual([status, body.code], [400, 400]);
      }
    });
  }
}

function named(reference: Reference, $ref: string | undefined) {
  const found = reference.components.parameters[$ref?.split('/').at(-1) ?? ''];
  return found === undefined ? [] : [found];
}

/** The schema of a reply's body, with everything that it refers to put in its place. */
function schemaOf(reference: Reference, { responses }: Operation, status: number): object | undefined {
  const response = resolved(reference, responses[status]) as { content?: Record<string, { schema: object }> };
  const schema = response.content?.['application/json']?.schema;
  return schema && (resolved(reference, schema) as object);
}

function resolved(reference: Reference, node: unknown): unknown {
  if (Array.isArray(node)) return node.map((element) => resolved(reference, element));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, example: _example, ...rest } = node as Record<string, unknown>;
  if (typeof $ref === 'string') {
    const target = $ref
      .split('/')
      .slice(1)
      .reduce<unknown>((at, segment) => (at as Record<string, unknown>)[segment], reference);
    return resolved(reference, target);
  }
  return Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, resolved(reference, value)]));
}
