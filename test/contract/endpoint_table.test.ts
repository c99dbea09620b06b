import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { type AuthorizedHub, openAuthorizedHub } from '../auth/authorized_hub.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import {
  assertRefused,
  type BadCall,
  badBodies,
  badConditions,
  badMethod,
  badPaths,
  badQueries,
  etagUseOf,
} from './bad_calls.ts';
import { Documented } from './documented.ts';
import { ENDPOINTS, testName, versionsOf } from './endpoints.ts';
import { BODIES, filled, HEADERS, IDS, restore, restoreGate } from './world.ts';

/** Its reply never ends: test/e2e/event_log.test.ts reads it. */
const ENDLESS = '/events/stream';
const ROWS = new Set(
  ROUTES.filter(({ path }) => path !== ENDLESS).map(
    ({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
  ),
);

describe('the endpoints of the hub', () => {
  const calls = { good: 0, bad: 0 };
  let hub: TestHub;
  /** Creates API keys, unlike a hub that requires no authorization. */
  let authorized: AuthorizedHub;
  let documented: Readonly<Record<string, Documented>>;
  before(async () => {
    hub = await openTestHub({ history: true });
    authorized = await openAuthorizedHub("viewer:\n  '/v2/zones': [READ_ANY]\n");
    documented = { v1: await Documented.of(hub, 'v1'), v2: await Documented.of(hub, 'v2') };
  });
  after(async () => {
    await hub.close();
    await authorized.close();
  });

  for (const version of ['v1', 'v2', '']) {
    for (const endpoint of ENDPOINTS) {
      if (!versionsOf(endpoint).includes(version)) continue;
      const { path, answers, reads = [], writes = [], needs, ids } = endpoint;
      for (const [method, status] of Object.entries(answers)) {
        const title = `${method} ${path}`;
        const queries = method === 'GET' ? reads : method === 'DELETE' ? [] : writes;
        it(testName(version, title, status), async () => {
          const needed = needs === undefined ? [] : [needs];
          for (const query of [needed, ...queries.map((text) => [...needed, text])].map((all) => queryOf(all))) {
            await restore(hub);
            if (isOfKeys(path)) await restoreKey();
            if (ids !== undefined) await restoreGate(hub);
            const reply = await call(
              { title, method, path, version },
              { query, path: filled(path, { ...IDS, ...ids }) },
            );
            assert.equal(reply.status, status, `${query} ${reply.text}`);
            const hasETag = etagUseOf(title) !== undefined && method !== 'DELETE';
            assert.equal(reply.headers['etag'] !== undefined, hasETag, `${title}${query}: ETag`);
            calls.good++;
          }
          if (etagUseOf(title) === 'read') {
            await restore(hub);
            if (isOfKeys(path)) await restoreKey();
            const headers = { 'If-None-Match': '*' };
            assert.equal((await call({ title, method, path, version }, { headers })).status, 304);
          }
          const makeBody = BODIES[title];
          if (makeBody !== undefined) documented[version]?.checkBody(method, path, makeBody());
          for (const refused of badCalls({ title, path, queries })) {
            assertRefused({ version, title }, refused, await call({ title, method, path, version }, refused));
            calls.bad++;
          }
        });
      }
    }
  }

  it('are the rows of the API, and were called with valid and invalid input', (t) => {
    t.diagnostic(`${calls.good} good and ${calls.bad} bad calls`);
    const listed = ENDPOINTS.flatMap(({ path, answers }) => Object.keys(answers).map((method) => `${method} ${path}`));
    assert.deepEqual(new Set(listed), ROWS);
    assert.ok(calls.good >= listed.length && calls.bad >= listed.length);
  });

  interface Called {
    readonly title: string;
    readonly method: string;
    readonly path: string;
    readonly version: string;
  }

  async function restoreKey(): Promise<void> {
    const { status, body, text } = await authorized.admin.post('/keys', BODIES['POST /keys']?.());
    assert.equal(status, 201, text);
    IDS['key_id'] = body.id;
  }

  /** Every reply must also match the document of its version. */
  async function call({ title, method, path, version }: Called, sent: Partial<BadCall>) {
    const called = isOfKeys(path) ? authorized.admin : hub;
    const base = called.origin + (version === '' ? '' : `/hub/${version}`);
    const body = 'body' in sent ? sent.body : BODIES[title]?.();
    const reply = await called.request(
      sent.method ?? method,
      base + (sent.path ?? filled(path)) + (sent.query ?? ''),
      body,
      { ...HEADERS[title], ...sent.headers },
    );
    documented[version]?.check(method, path, reply);
    return reply;
  }
});

function isOfKeys(path: string): boolean {
  return path.startsWith('/keys');
}

function queryOf(parameters: readonly string[]): string {
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`;
}

function badCalls({ title, path, queries }: { title: string; path: string; queries: readonly string[] }): BadCall[] {
  const body = BODIES[title]?.();
  const parameters = new Set(queries.map((query) => query.split('=')[0] ?? ''));
  return [
    badMethod(path),
    ...badPaths(title, path, body),
    ...[...parameters].flatMap((name) => badQueries(name)),
    ...badConditions(title),
    ...(body === undefined ? [] : badBodies(title, body)),
  ];
}
