import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { RouteTargets } from '../../src/api/targets.ts';
import { Policy, type Target } from '../../src/auth/policy.ts';
import { readPermissions } from '../../src/config/permissions_file.ts';
import { TOPIC_NAMES } from '../../src/fanout/topic_name.ts';
import { COMMANDS } from '../../src/socket/commands.ts';
import { TopicTargets } from '../../src/socket/targets.ts';

const ROUTE_TARGETS = new RouteTargets(ROUTES);
const TOPIC_TARGETS = new TopicTargets();
const TARGETS = [...ROUTE_TARGETS.all, ...TOPIC_TARGETS.all];

function policyOf(text: string): Policy {
  return new Policy(readPermissions(text, 'permissions.yaml'), TARGETS);
}

function target(name: string): Target {
  return TARGETS.find((candidate) => candidate.name === name) ?? assert.fail(`no target ${name}`);
}

test('Every row of the API is public or has a target in each version that serves it', () => {
  const bare: string[] = [];
  for (const route of ROUTES) {
    if (route.permission === 'public') {
      bare.push(`${route.method} ${route.path}`);
      continue;
    }
    const addresses = route.versions.map((version) => ({ version, versioned: true }));
    if (route.unversioned) addresses.push({ version: 'v2', versioned: false });
    assert.ok(addresses.length > 0, route.path);
    for (const address of addresses) {
      const found = ROUTE_TARGETS.of(route, address);
      assert.deepEqual(found?.operations, [route.permission.operation], `${route.method} ${route.path}`);
      assert.ok(found && TARGETS.includes(found));
    }
  }
  // Documents that describe the hub, and are the same for every hub.
  const documents = [
    'GET /openapi.json',
    'GET /openapi-3.0.json',
    'GET /asyncapi.json',
    'GET /docs',
    'GET /docs/:file',
    ...['', '/conformance', '/collections', '/collections/providers', '/collections/trackables'].map((path) => {
      return `GET /ogc/mf${path}`;
    }),
  ];
  // The event log requires the permissions of its topics, see event_log.test.ts.
  const ofTopics = ['GET /events', 'GET /events/stream'];
  // A source has a token of its own, see data_sources.test.ts.
  const ofSources = ['POST /sources/:data_source_id/data'];
  assert.deepEqual(bare.sort(), ['GET /license/info', ...documents, ...ofTopics, ...ofSources].sort());
});

test('A row without a target is rejected', () => {
  const [route] = ROUTES;
  assert.ok(route !== undefined);
  assert.throws(() => new RouteTargets([]).of(route, { version: 'v2', versioned: true }), /it has no target/);
});

test('Every topic has a target in each version for each command that uses it', () => {
  let found = 0;
  for (const path of ['/hub/v1/ws/socket', '/hub/v2/ws/socket', '/v1/ws/socket', '/deephub/v2/ws/socket']) {
    for (const { use, topics = [] } of COMMANDS) {
      for (const topic of topics) {
        assert.ok(use !== undefined, 'a command with topics does not specify their use');
        assert.ok(TOPIC_TARGETS.of(path, use, topic), `${use} ${topic}`);
        found++;
      }
    }
  }
  assert.equal(found, 4 * (TOPIC_NAMES.length + 2));
});

const REACHES: readonly [rule: string, target: string, reach: 'ANY' | 'OWN' | undefined][] = [
  ["'/v2/*': [READ_ANY]", 'GET /v2/zones', 'ANY'],
  ["'/v2/*': [READ_ANY]", 'GET /v2/zones/:zone_id/createfence', 'ANY'],
  ["'/v2/*': [READ_ANY]", 'GET /v1/zones', undefined],
  ["'/v2/*': [READ_ANY]", 'DELETE /v2/zones', undefined],
  ["'/v2/*': [READ_ANY]", 'GET /health', undefined],
  ["'/v2/*': [READ_ANY]", 'GET /v2/health', 'ANY'],
  ["'/v2/*': [READ_ANY]", 'GET /metrics', undefined],
  ["'/v2/*': [READ_ANY]", 'subscribe to fence_events in v2', 'ANY'],
  ["'/v2/*': [READ_ANY]", 'subscribe to fence_events in v1', undefined],
  ["'/v2/*': [READ_ANY]", 'publish on location_updates in v2', undefined],
  ["'/*': [READ_ANY]", 'GET /v1/zones', 'ANY'],
  ["'/*': [READ_ANY]", 'GET /v2/zones', undefined],
  ["'/hub/*': [READ_ANY]", 'GET /v2/zones', undefined],
  ["'/zones': [READ_ANY]", 'GET /v1/zones', 'ANY'],
  ["'/zones': [READ_ANY]", 'GET /v2/zones', undefined],
  ["'/zones/*': [READ_ANY]", 'GET /v2/zones', undefined],
  ["'/zones/*': [READ_ANY]", 'GET /v1/zones/:zone_id', 'ANY'],
  ["'/*': [READ_ANY]", 'subscribe to fence_events in v1', 'ANY'],
  ["'/*': [READ_ANY]", 'subscribe to fence_events in v2', undefined],
  ["'/ws/socket/*': [READ_ANY]", 'subscribe to fence_events in v2', undefined],
  ["'/*': [CREATE_ANY]", 'publish on location_updates in v2', undefined],
  ["'/*': [READ_ANY]", 'GET /metrics', 'ANY'],
  ["'/*': [CREATE_ANY]", 'publish on location_updates in v1', 'ANY'],
  ["'/health': [READ_ANY]", 'GET /health', 'ANY'],
  ["'/health': [READ_ANY]", 'GET /v1/health', 'ANY'],
  ["'/health': [READ_ANY]", 'GET /v2/health', undefined],
  ["'/health': [READ_ANY]", 'GET /v2/health/system', undefined],
  ["'/v1/health': [READ_ANY]", 'GET /health', undefined],
  ["'/hub/v2/zones/': [READ_ANY]", 'GET /v2/zones', 'ANY'],
  ["'/deephub/v1/zones': [READ_ANY]", 'GET /v1/zones', 'ANY'],
  ["'/v2/zones': [READ_ANY]", 'GET /v2/zones/summary', undefined],
  ["'/v2/zones/*': [READ_ANY]", 'GET /v2/zones', 'ANY'],
  ["'/v2/zones/:zone_id': [READ_ANY]", 'GET /v2/zones/summary', undefined],
  ["'/v2/zones/:zone_id': [READ_ANY]", 'GET /v2/zones/:zone_id', 'ANY'],
  ["'/v2/zones/:id': [READ_ANY]", 'GET /v2/zones/:zone_id', undefined],
  ["'/v2/zones/:zone_id/*': [READ_OWN]", 'GET /v2/zones/:zone_id', 'OWN'],
  ["'/v2/zones/:zone_id/*': [UPDATE_OWN]", 'PUT /v2/zones/:zone_id/transform', 'OWN'],
  ["'/v2/zones': [DELETE_OWN]", 'DELETE /v2/zones', undefined],
  ["'/v2/zones': [READ_OWN]", 'GET /v2/zones', 'OWN'],
  ["'/v2/license/*': [READ_OWN, UPDATE_OWN]", 'PUT /v2/license/key', undefined],
  ["'/v2/ws/socket/fence_events': [READ_OWN]", 'subscribe to fence_events in v2', 'OWN'],
  ["'/v2/ws/socket/fence_events/:fence_id': [READ_OWN]", 'subscribe to fence_events in v2', 'OWN'],
  ["'/v2/ws/socket/fence_events/:id': [READ_OWN]", 'subscribe to fence_events in v2', undefined],
  ["'/v2/ws/socket/fence_events': [READ_OWN]", 'subscribe to fence_events:geojson in v2', 'OWN'],
  ["'/v2/ws/socket/fence_events:geojson': [READ_ANY]", 'subscribe to fence_events:geojson in v2', 'ANY'],
  ["'/v2/ws/socket/fence_events:geojson': [READ_ANY]", 'subscribe to fence_events in v2', undefined],
  ["'/ws/socket/trackable_motions/:id': [READ_OWN]", 'subscribe to trackable_motions in v1', 'OWN'],
  ["'/ws/socket/trackable_motions/:trackable_id': [READ_OWN]", 'subscribe to trackable_motions in v1', 'OWN'],
  ["'/v2/ws/socket/collision_events/:collision_id_1': [READ_OWN]", 'subscribe to collision_events in v2', 'OWN'],
  ["'/v2/ws/socket/location_updates': [UPDATE_ANY]", 'publish on location_updates in v2', 'ANY'],
  ["'/v2/ws/socket/location_updates': [UPDATE_OWN, CREATE_OWN]", 'publish on location_updates in v2', undefined],
  ["'/v2/ws/socket/location_updates': [UPDATE_ANY]", 'subscribe to location_updates in v2', undefined],
];

for (const [rule, name, reach] of REACHES) {
  test(`A role with ${rule.replace(/\n */, ' and ')} reaches ${reach ?? 'nothing'} at ${name}`, () => {
    assert.equal(policyOf(`a:\n  ${rule}`).reach(['a'], target(name)), reach);
  });
}

test('Several roles have the widest scope of any of them, and every client at least that of guests', () => {
  const policy = policyOf(`
own: { '/v2/zones': [READ_OWN], '/v2/anchors': [READ_OWN] }
any: { '/v2/zones': [READ_ANY] }
guest: { '/v2/fences': [READ_ANY] }
`);
  const zones = target('GET /v2/zones');
  assert.equal(policy.reach(['own'], zones), 'OWN');
  assert.equal(policy.reach(['own', 'any'], zones), 'ANY');
  assert.equal(policy.reach(['any', 'own'], zones), 'ANY');
  assert.equal(policy.reach(['another'], zones), undefined);
  assert.equal(policy.reach([], target('GET /v2/fences')), 'ANY');
  assert.equal(policy.reach(['own'], target('GET /v2/anchors')), 'OWN');
});

test('A policy reports the rules whose path has no effect', () => {
  const { unused } = policyOf("a:\n  '/v2/zones/:id': [READ_ANY]\n  '/v2/zones': []\n  '/v2/nothing/*': [READ_ANY]");
  assert.deepEqual(
    unused.map(({ role, rule }) => [role, rule.path, rule.location]),
    [
      ['a', '/v2/zones/:id', 'permissions.yaml:2'],
      ['a', '/v2/nothing/*', 'permissions.yaml:4'],
    ],
  );
});

const REPEATED: readonly [first: string, second: string, isRepeated: boolean][] = [
  ['/zones', '/v1/zones', true],
  ['/v1/zones/*', '/hub/zones/*', true],
  ['/v1/ws/socket/fence_events', '/ws/socket/fence_events', true],
  ['/zones', '/v2/zones', false],
  ['/v1/zones', '/v2/zones', false],
  // Only the path without a version refers to /health.
  ['/health', '/v1/health', false],
  ['/v1/*', '/*', false],
];

for (const [first, second, isRepeated] of REPEATED) {
  test(`A policy treats ${first} and ${second} as ${isRepeated ? 'one path' : 'two paths'}`, () => {
    const { repeated } = policyOf(`a:\n  '${first}': [READ_ANY]\n  '${second}': [UPDATE_ANY]`);
    assert.deepEqual(
      repeated.map(({ role, rule, earlier }) => [role, rule.path, earlier.path]),
      isRepeated ? [['a', second, first]] : [],
    );
  });
}

test('A further role or rule never removes a permission', () => {
  const paths = [...new Set(TARGETS.flatMap(({ paths }) => paths))];
  const rule = fc.tuple(
    fc.oneof(
      fc.constantFrom(...paths),
      fc.constantFrom(...paths).map((path) => path.replace(/\/[^/]*$/, '/*')),
    ),
    fc.constantFrom('READ_ANY', 'READ_OWN', 'UPDATE_ANY', 'CREATE_OWN', 'DELETE_ANY'),
  );
  const rank = { none: 0, OWN: 1, ANY: 2 };
  fc.assert(
    fc.property(fc.uniqueArray(rule, { selector: ([path]) => path, minLength: 1, maxLength: 8 }), (rules) => {
      // A role has either, so the two halves are roles of one token.
      const write = (some: typeof rules, reach: string) => {
        const lines = some.filter(([, permission]) => permission.endsWith(reach));
        return lines.map(([path, permission]) => `  '${path}': [${permission}]`).join('\n');
      };
      const policy = (some: typeof rules) => {
        return policyOf(`a:\n  description: x\n${write(some, 'ANY')}\nb:\n  description: y\n${write(some, 'OWN')}`);
      };
      const [less, more] = [policy(rules.slice(1)), policy(rules)];
      for (const each of TARGETS) {
        const [before, after] = [less.reach(['a', 'b'], each), more.reach(['a', 'b'], each)];
        assert.ok(rank[after ?? 'none'] >= rank[before ?? 'none'], each.name);
      }
    }),
    { seed: 6, numRuns: 100 },
  );
});
