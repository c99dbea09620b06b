import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVERYTHING, rowsBelow } from '../history/recorded_places.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { isShared } from './shared_objects.ts';
import { testNats } from './test_nats.ts';

const nats = await testNats();
const { skip } = nats;
const START_MS = Date.parse('2026-03-01T10:00:00Z');
const SPAN = 'from=2026-03-01T10:00:00Z&to=2026-03-01T11:00:00Z';
/** It ends before the other hub records, so later rows are those of that hub. */
const EARLY = 'from=2026-03-01T10:00:00Z&to=2026-03-01T10:00:11.500Z';
const TAGS = Array.from({ length: 24 }, (_, i) => `tag-${i}`);
const trackableOf = (tag: string) => `00000000-0000-4000-8000-${tag.slice(4).padStart(12, '0')}`;
const GATE = '33333333-3333-4333-8333-333333333333';
let clusters = 0;

async function openCluster() {
  const shared = {
    ...{ cluster_servers: nats.servers.addresses.join(','), cluster_replicas: 1, cluster_name: `past${++clusters}` },
    ...{ cluster_journal_max_size: 16, history: true, history_flush_interval: 200 },
  };
  const open = (name: string) => openTestHub({ ...shared, cluster_hub_name: name }, { isAlone: true });
  return { a: await open('a'), open };
}

/** Moves everything into the fence and out of it, repeatedly; the first tag stays in it. */
async function feed(hub: TestHub, seconds: readonly number[]): Promise<void> {
  for (const second of seconds) {
    const locations = TAGS.map((id, i) => ({
      ...{ provider_id: id, provider_type: 'uwb', source: 'hall', crs: 'EPSG:4326' },
      position: { type: 'Point', coordinates: [8 + (i === 0 ? 0 : second % 2) * 0.01 + i * 1e-6, 50] },
      timestamp_generated: new Date(START_MS + 1000 * second).toISOString(),
    }));
    assert.equal((await hub.put('/providers/locations', locations)).status, 204);
  }
  await hub.settle();
}

async function place(hub: TestHub): Promise<void> {
  await hub.post('/fences', { id: GATE, region: { type: 'Point', coordinates: [8, 50] }, radius: 20 });
  for (const tag of TAGS) {
    await hub.post('/trackables', { id: trackableOf(tag), type: 'omlox', location_providers: [tag] });
  }
}

/** Both hubs own the same share, and nothing is migrating. */
async function shared(hub: TestHub): Promise<void> {
  for (let left = 150; !isShared((await hub.get('/health/system')).body.cluster, 2); left--) {
    assert.ok(left > 0, 'the objects are shared within 15 s');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

const PATHS = [
  ...TAGS.slice(0, 6).flatMap((tag) => [
    `/providers/${tag}/history?${SPAN}`,
    `/trackables/${trackableOf(tag)}/history?${SPAN}&step=3000`,
    `/trackables/${trackableOf(tag)}/visits?${SPAN}`,
    `/analytics/trips?trackable_id=${trackableOf(tag)}&${SPAN}`,
    `/providers/${tag}/history?${SPAN}&format=csv`,
    `/ogc/mf/collections/trackables/items/${trackableOf(tag)}`,
    `/ogc/mf/collections/trackables/items/${trackableOf(tag)}/tgsequence`,
  ]),
  '/history/snapshot?at=2026-03-01T10:00:12.500Z&kind=provider',
  `/history/tracks?${SPAN}&step=2000`,
  `/history/tracks?${SPAN}&limit=50&kind=provider`,
  `/fences/${GATE}/visits?${SPAN}`,
  `/analytics/dwell?${SPAN}`,
  `/analytics/occupancy?${SPAN}&step=60000`,
  `/analytics/flows?${SPAN}`,
  `/analytics/heatmap?${SPAN}&cell=100`,
  `/analytics/heatmap?${SPAN}&grid=h3`,
  `/analytics/quality?${SPAN}&cell=100&max_gap=500&max_speed=2`,
  ...['visits', 'dwell', 'occupancy', 'flows'].flatMap((what) => {
    const path = what === 'visits' ? `/fences/${GATE}/visits` : `/analytics/${what}`;
    return ['trackable', 'provider', 'all'].map((kind) => `${path}?${EARLY}&kind=${kind}`);
  }),
  `/trackables/${trackableOf('tag-0')}/visits?${EARLY}`,
  `/analytics/heatmap?${EARLY}&cell=100&max_gap=200`,
  `/analytics/heatmap?${EARLY}&cell=100&max_gap=200&kind=provider`,
  '/ogc/mf/collections/providers/items',
];
/** Lists that have several parts, and their member with elements. */
const IN_PARTS = [
  [`/history/tracks?${SPAN}&step=1000&kind=provider&limit=50`, 'tracks'],
  [`/history/events?${SPAN}&limit=50`, 'events'],
  [`/providers/tag-1/history?${SPAN}&limit=5`, 'points'],
  ['/history/snapshot?at=2026-03-01T10:00:12.500Z&kind=provider&limit=5', 'objects'],
  [`/fences/${GATE}/visits?${SPAN}&limit=50`, 'visits'],
] as const;

test('Every hub answers from the rows of all hubs, like a single hub', { skip }, async (t) => {
  const { a, open } = await openCluster();
  const alone = await openTestHub({ history: true, history_flush_interval: 200 }, { isAlone: true });
  t.after(() => Promise.all([a.close(), alone.close()]));
  await place(a);
  await place(alone);
  // The first half of each track is recorded before half of the objects move to the other hub.
  await feed(a, range(0, 12));
  const b = await open('b');
  t.after(() => b.close());
  await shared(a);
  await feed(b, range(12, 24));
  await feed(alone, range(0, 24));
  for (const hub of [a, b]) hub.hub.history?.release((await hub.hub.history.files(EVERYTHING)).lease);
  const recorded = await Promise.all(
    [a, b].map(({ folder }) => rowsBelow(`${folder}/history`, 'locations', 'id, time')),
  );
  assert.equal(recorded.flat().length, 24 * TAGS.length);
  assert.ok(recorded.every((rows) => rows.length > 0));
  // The first query of a hub starts its query threads, for which another hub does not wait.
  for (const hub of [a, b]) await hub.get(PATHS[0] ?? assert.fail());
  for (const path of PATHS) {
    const expected = await alone.get(path);
    for (const [name, hub] of Object.entries({ a, b })) {
      const { status, text, headers } = await hub.get(path);
      assert.equal(status, 200, `${name} ${path}: ${text}`);
      assert.equal(headers['warning'], undefined, path);
      assert.equal(idless(text), idless(expected.text), `${name} ${path}`);
    }
  }
  for (const [path, member] of IN_PARTS) {
    const [expected, ...found] = await Promise.all([alone, a, b].map((hub) => wholeList(hub, path, member)));
    assert.ok(
      found.every((list) => list.length === expected?.length && new Set(list).size === list.length),
      path,
    );
    assert.deepEqual(found[0], found[1], path);
    if (member !== 'events' && member !== 'visits') assert.deepEqual(found[0], expected, path);
  }
  // Deleted objects remain in the history, on any hub.
  for (const hub of [a, alone]) for (const tag of TAGS.slice(1, 7)) await hub.delete(`/providers/${tag}`);
  for (const tag of [...TAGS.slice(1, 7), 'nobody']) {
    const path = `/providers/${tag}/history?${SPAN}`;
    const expected = await alone.get(path);
    for (const hub of [a, b]) {
      const { status, text } = await hub.get(path);
      assert.deepEqual([status, text], [expected.status, expected.text], path);
    }
    assert.equal(expected.status, tag === 'nobody' ? 404 : 200);
  }

  const events = await Promise.all([a, b, alone].map((hub) => hub.get(`/history/events?${SPAN}&limit=40`)));
  assert.equal(events[0]?.text, events[1]?.text);
  assert.equal(events[0]?.body.events.length, 40);

  // Any hub erases the rows of all hubs.
  const [anna, bernd] = [trackableOf('tag-20'), trackableOf('tag-21')];
  const erased = await b.delete(`/trackables/${anna}/history`);
  assert.deepEqual([erased.status, erased.body.motions, erased.body.missing_hubs], [200, 24, undefined]);
  const motions = (
    await Promise.all([a, b].map(({ folder }) => rowsBelow(`${folder}/history`, 'motions', 'id')))
  ).flat();
  assert.deepEqual(
    [anna, bernd].map((id) => motions.filter((row) => row['id'] === id).length),
    [0, 24],
  );

  // A hub that has left is named, wherever its rows may be part of the answer.
  await b.hub.close();
  for (const path of [PATHS[0], `/analytics/dwell?from=2026-03-01T10:00:00Z`]) {
    const { status, body, headers } = await a.get(path as string);
    assert.equal(status, 200);
    assert.deepEqual(body.missing_hubs, ['b'], path);
    assert.match(String(headers['warning']), /^199 hub "hub b has not answered, its rows are missing"$/);
  }
  assert.deepEqual((await a.delete(`/trackables/${bernd}/history`)).body.missing_hubs, ['b']);
});

/** The elements of all parts of a list, as JSON; of tracks each position. */
async function wholeList(hub: TestHub, path: string, member: string): Promise<readonly string[]> {
  const elements: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await hub.get(path + (cursor === '' ? '' : `&cursor=${cursor}`));
    assert.equal(status, 200, JSON.stringify(body));
    for (const each of body[member]) {
      if (member !== 'tracks') elements.push(JSON.stringify(each));
      else for (const [i, time] of each.t.entries()) elements.push(`${each.id} ${time} ${each.lon[i]}`);
    }
    cursor = body.next_cursor;
  }
  return elements;
}

/** Ids of events are random, and lists of equal times are in their order; so are visits, which have the id of an event. */
function idless(text: string): string {
  if (!text.startsWith('{')) return text;
  const { visits, ...rest } = JSON.parse(text);
  if (visits === undefined) return text.replaceAll(/http:\/\/[^/]*/g, '');
  const bare = visits.map(({ id: _, ...visit }: { id: string }) => JSON.stringify(visit));
  return JSON.stringify({ ...rest, visits: bare.toSorted() });
}
