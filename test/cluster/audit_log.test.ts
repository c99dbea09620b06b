import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { AuditEntries } from '../../src/model/audit.ts';
import { HubProcess } from '../durability/hub_process.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { testNats } from './test_nats.ts';

const nats = await testNats();
const PATIENCE_MS = 30_000;
const LOOK_MS = 50;
const WRITERS = 4;
/** Acknowledged changes at each hub after which one is killed. */
const ENOUGH = 30;

async function start(t: TestContext, name: string): Promise<HubProcess> {
  const hub = await HubProcess.start(temporaryFolder(), {
    cluster_servers: nats.servers.addresses.join(','),
    cluster_replicas: 1,
    cluster_name: 'hub',
    cluster_journal_max_size: 16,
    cluster_hub_name: name,
    history: true,
  });
  t.after(() => hub.crash());
  return hub;
}

async function entriesAt(hub: HubProcess, query = ''): Promise<AuditEntries['entries']> {
  const all: AuditEntries['entries'] = [];
  for (let at = '', hasMore = true; hasMore; ) {
    const answered = await hub.get(`/audit?limit=1000${query}${at}`);
    assert.equal(answered?.status, 200, JSON.stringify(answered?.body));
    const page = answered.body as AuditEntries;
    all.push(...page.entries);
    at = `&cursor=${page.next}`;
    hasMore = page.has_more;
  }
  return all;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + PATIENCE_MS; performance.now() < endMs; await delay(LOOK_MS)) {
    if (await isSo()) return;
  }
  throw new Error(`${what}: not within ${PATIENCE_MS} ms`);
}

/** Creates providers at a hub until there are enough, or the hub is gone. */
async function write(hub: HubProcess, name: string, acknowledged: Set<string>): Promise<void> {
  let count = 0;
  const writer = async (number: number): Promise<void> => {
    for (let i = 0; count < ENOUGH; i++) {
      const id = `${name}-${number}-${i}`;
      const answered = await hub.post('/providers', { id, type: 'uwb' });
      if (answered === undefined) return;
      if (answered.status !== 201) continue;
      acknowledged.add(id);
      count++;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)));
}

test('Each hub of a cluster has the entries of all, each once, also of a hub that was killed', {
  skip: nats.skip,
}, async (t) => {
  const [a, b] = [await start(t, 'a'), await start(t, 'b')];
  const acknowledged = new Set<string>();
  await Promise.all([write(a, 'a', acknowledged), write(b, 'b', acknowledged)]);
  const view = { name: 'Dock', address: '?zoom=18' };
  assert.equal((await b.post('/views', view))?.status, 201);
  const asked = await b.get('/history/tracks?from=2026-11-29T10:00:00Z&to=2026-11-29T11:00:00Z&kind=provider');
  assert.equal(asked?.status, 200);
  // The first member, which appends the entries of all records, while it has just acknowledged changes.
  await Promise.all([write(a, 'late', acknowledged).then(() => a.crash()), write(b, 'other', acknowledged)]);
  await until('All acknowledged changes are in the log', async () => {
    const ids = new Set((await entriesAt(b)).map(({ id }) => id));
    return acknowledged.difference(ids).size === 0;
  });
  const all = await entriesAt(b);
  const providers = all.flatMap(({ kind, id }) => (kind === 'provider' ? [id] : []));
  assert.equal(new Set(providers).size, providers.length, 'each change is in the log once');
  const stored = (await b.get('/providers'))?.body as string[];
  assert.deepEqual(providers.toSorted(), stored.toSorted());
  assert.equal((await entriesAt(b, '&kind=view')).length, 1);
  assert.equal((await entriesAt(b, '&kind=read')).length, 1);
  const c = await start(t, 'c');
  assert.deepEqual(await entriesAt(c), all);
});
