import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAgent } from '../mcp/agent.ts';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { isShared } from './shared_objects.ts';
import { testNats } from './test_nats.ts';

const nats = await testNats();
const { skip } = nats;
const TAGS = ['one', 'two', 'three', 'four', 'five', 'six'];

test('An agent reads the same at both hubs of a cluster, whichever owns an object', { skip }, async (t) => {
  const settings = {
    ...{ cluster_servers: nats.servers.addresses.join(','), cluster_replicas: 1, cluster_name: 'agents' },
    ...{ cluster_journal_max_size: 16, mcp: true, history: true },
  };
  const open = (name: string): Promise<TestHub> =>
    openTestHub({ ...settings, cluster_hub_name: name }, { isAlone: true });
  const [a, b] = [await open('a'), await open('b')];
  t.after(() => Promise.all([a.close(), b.close()]));
  for (let left = 100; !isShared((await a.get('/health/system')).body.cluster, 2); left--) {
    assert.ok(left > 0, 'the objects are shared within 10 s');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assert.equal((await a.post('/zones', HALL)).status, 201);
  const fence = (await a.post('/fences', square({ name: 'Dock' }))).body as { readonly id: string };
  assert.equal((await a.post('/alerts/rules', { name: 'Entry', kind: 'entry', fence_ids: [fence.id] })).status, 201);
  const ids = new Map<string, string>();
  for (const tag of TAGS) {
    const reply = await a.post('/trackables', { type: 'omlox', name: `Cart ${tag}`, location_providers: [tag] });
    ids.set(tag, reply.body.id);
  }
  for (const x of [50, 5]) {
    const locations = TAGS.map((tag, n) => {
      const position = { type: 'Point', coordinates: [x, 5 + n / 10] };
      return { position, source: 'hall', provider_type: 'uwb', provider_id: tag };
    });
    assert.equal((await b.put('/providers/locations', locations)).status, 204);
  }
  const agents = await Promise.all([openAgent(a.origin), openAgent(b.origin)]);
  t.after(() => Promise.all(agents.map((agent) => agent.close())));
  const span = { from: new Date(Date.now() - 60_000).toISOString(), to: new Date().toISOString() };
  const questions: readonly (readonly [tool: string, given: Record<string, unknown>])[] = [
    ['find_object', { text: 'cart' }],
    ['who_is_in', { fence_id: fence.id }],
    ['open_alerts', {}],
    ['dwell', span],
    ['flows', span],
    ...[...ids.values()].flatMap((id) => [
      ['where_is', { id }] as const,
      ['nearest', { id }] as const,
      ['history_of', { id, ...span }] as const,
      ['explain_locating', { trackable_id: id }] as const,
    ]),
  ];
  for (const [tool, given] of questions) {
    const [atA, atB] = await Promise.all(agents.map((agent) => agent.call(tool, given)));
    assert.ok(atA !== undefined && atB !== undefined && !atA.isError, `${tool}: ${atA?.text}`);
    assert.deepEqual(comparable(atA.body), comparable(atB.body), tool);
    if (tool === 'where_is') assert.equal(atA.body.fences[0].name, 'Dock');
    if (tool === 'who_is_in') assert.equal(atA.body.items.length, 2 * TAGS.length);
    if (tool === 'history_of') assert.equal(atA.body.items.length, 2);
  }
});

/** An answer without the time at which it was sent, with lists in one order. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(comparable).toSorted((x, y) => (JSON.stringify(x) < JSON.stringify(y) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => (name === 'timestamp_sent' ? [] : [[name, comparable(each)]])),
  );
}
