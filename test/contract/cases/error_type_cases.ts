import assert from 'node:assert/strict';
import { whileAuthorized } from '../../auth/authorized_hub.ts';
import type { TestHub, TestReply } from '../../support/running_hub.ts';
import type { Event } from '../../support/socket_client.ts';
import type { ContractCase } from './contract_case.ts';

const UUID = '0b680db2-b39b-45be-be77-40d7d2296cb4';

/** The types of errors, by which clients distinguish them. */
export const ERROR_TYPE_CASES: readonly ContractCase[] = [
  {
    by: '113',
    name: 'An error under a v1 prefix has the plain type of v1, whatever its cause',
    settings: { client_max_body_size: 1, client_max_header_size: 2, cors: false },
    async run({ hub }) {
      for (const prefix of ['', '/hub', '/deephub']) {
        const wrong: string[] = [];
        for (const [what, status, word, ask] of REFUSED) {
          const { status: found, body } = await ask(hub, `${hub.origin}${prefix}/v1`);
          assert.deepEqual(Object.keys(body), ['type', 'code', 'message', 'reason', 'params'], what);
          if (found !== status || body.code !== status || body.type !== word)
            wrong.push(`${what}: ${found} ${body.type}`);
        }
        assert.deepEqual(wrong, [], prefix);
      }
    },
  },
  {
    by: '113',
    name: "An error under a v2 prefix, or under none, has the vendor's prefix in its type",
    settings: { client_max_body_size: 1, client_max_header_size: 2, cors: false },
    async run({ hub }) {
      for (const [what, status, , ask] of REFUSED) {
        const { status: found, body } = await ask(hub, hub.base);
        assert.equal(found, status, what);
        assert.match(body.type, /^com\.flowcate\.(http|auth|license)\.\w+$/, what);
      }
      for (const path of ['/nothing', '/v1x/zones', '/v3/zones', '/hub/v10']) {
        assert.equal((await hub.get(hub.origin + path)).body.type, 'com.flowcate.http.not_found', path);
      }
    },
  },
  {
    by: '113',
    name: 'v1 returns "unathorized" for a missing and for an insufficient token',
    hub: 'none',
    run: () =>
      whileAuthorized("reader:\n  '/v1/zones': [READ_ANY]\n", async ({ hub, issuer, as }) => {
        const reader = as(await issuer.token({ roles: ['reader'] }));
        for (const [asker, status] of [
          [hub, 401],
          [as('bad'), 401],
          [reader, 403],
        ] as const) {
          const { status: found, body, headers } = await asker.get(`${hub.origin}/deephub/v1/fences`);
          assert.deepEqual([found, body.type, body.code], [status, 'unathorized', status]);
          assert.equal(headers['www-authenticate'], status === 401 ? 'Bearer' : undefined);
        }
      }),
  },
  {
    by: '113',
    name: 'error_types: plain makes both versions return the types of v1',
    settings: { error_types: 'plain' },
    async run({ hub }) {
      for (const version of ['v1', 'v2']) {
        const { body } = await hub.get(`${hub.origin}/hub/${version}/trackables/${UUID}`);
        assert.equal(body.type, 'not found');
        assert.deepEqual(await documentedTypes(hub, version), PLAIN);
      }
    },
  },
  {
    by: '113',
    name: 'error_types: vendor makes both versions return the types of v2, with the configured prefix',
    settings: { error_types: 'vendor', error_type_prefix: 'org.example' },
    async run({ hub }) {
      for (const version of ['v1', 'v2']) {
        const { body } = await hub.get(`${hub.origin}/hub/${version}/trackables/${UUID}`);
        assert.equal(body.type, 'org.example.http.not_found');
        for (const type of await documentedTypes(hub, version)) assert.match(type, /^org\.example\./);
      }
    },
  },
  {
    by: '113',
    name: 'The document of each version describes errors as that version returns them',
    async run({ hub }) {
      assert.deepEqual(await documentedTypes(hub, 'v1'), PLAIN);
      for (const type of await documentedTypes(hub, 'v2')) assert.match(type, /^com\.flowcate\.(http|auth)\./);
    },
  },
];

const PLAIN = ['bad request', 'not found', 'server error', 'unathorized'];

type Ask = (hub: TestHub, base: string) => Promise<TestReply>;
type Refused = readonly [what: string, status: number, word: string, ask: Ask];

/** Requests for each kind of error. */
const REFUSED: readonly Refused[] = [
  ['a body that is no JSON', 400, 'bad request', (hub, base) => hub.post(`${base}/zones`, '{')],
  ['a body that does not fit', 400, 'bad request', (hub, base) => hub.post(`${base}/providers`, { id: 5 })],
  ['a path that cannot be decoded', 400, 'bad request', (hub, base) => hub.get(`${base}/zones/%E0`)],
  ['a parameter that does not fit', 400, 'bad request', (hub, base) => hub.get(`${base}/fences/summary?crs=x`)],
  ['a license key that does not fit', 400, 'bad request', (hub, base) => hub.put(`${base}/license/key`, {})],
  ['a page of another origin', 403, 'unathorized', (hub, base) => asForeignPage(hub, `${base}/zones`)],
  [
    'a WebSocket of a foreign page',
    403,
    'unathorized',
    (hub, base) => asForeignPage(hub, `${base}/ws/socket`, UPGRADE),
  ],
  ['an unknown path', 404, 'not found', (hub, base) => hub.get(`${base}/nothing/here`)],
  ['the version alone', 404, 'not found', (hub, base) => hub.get(base)],
  ['an unknown id', 404, 'not found', (hub, base) => hub.get(`${base}/trackables/${UUID}`)],
  ['an unknown id in the path of a relation', 404, 'not found', (hub, base) => hub.get(`${base}/zones/x/createfence`)],
  ['an absent location', 404, 'not found', (hub, base) => hub.get(`${base}/providers/x/location`)],
  ['a lease that was not started', 404, 'not found', (hub, base) => hub.get(`${base}/license/lease`)],
  ['another method', 405, 'bad request', (hub, base) => hub.put(`${base}/trackables`, {})],
  ['a large body', 413, 'bad request', (hub, base) => hub.post(`${base}/zones`, { name: 'x'.repeat(2000) })],
  [
    'a compressed body',
    415,
    'bad request',
    (hub, base) => {
      return hub.request('POST', `${base}/zones`, {}, { 'Content-Encoding': 'gzip' });
    },
  ],
  ['a plain request for the WebSocket', 426, 'bad request', (hub, base) => hub.get(`${base}/ws/socket`)],
  [
    'large headers',
    431,
    'bad request',
    (hub, base) => {
      return hub.request('GET', `${base}/zones`, undefined, { 'X-Large': 'x'.repeat(3000) });
    },
  ],
];

const UPGRADE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

function asForeignPage(hub: TestHub, url: string, headers: Readonly<Record<string, string>> = {}): Promise<TestReply> {
  return hub.request('GET', url, undefined, { ...headers, 'Sec-Fetch-Site': 'cross-site' });
}

/** Types of errors in the examples of an OpenAPI document. */
async function documentedTypes(hub: TestHub, version: string): Promise<string[]> {
  const { body } = await hub.get(`${hub.origin}/hub/${version}/openapi.json`);
  const types = Object.values(body.components.responses).flatMap((response: Event) =>
    Object.values(response.content['application/json'].examples).map(({ value }: Event) => value.type as string),
  );
  return [...new Set(types)].sort();
}
