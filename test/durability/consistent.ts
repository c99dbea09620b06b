import assert from 'node:assert/strict';
import { join } from 'node:path';
import { reportOn } from '../../src/store/report.ts';
import { SqliteStore } from '../../src/store/sqlite.ts';
import { openTestHub, type TestHub, type TestSettings } from '../support/running_hub.ts';

/** Data that a hub returns, sorted: entities by kind, locations, motions, and members of fences. */
async function stateOf(hub: TestHub): Promise<Record<string, unknown>> {
  const list = async (path: string, key: (each: Named) => string) => {
    const { status, body } = await hub.get(path);
    assert.equal(status, 200, path);
    return (body as Named[]).sort((a, b) => (key(a) < key(b) ? -1 : 1));
  };
  const byId = ({ id }: Named) => id;
  const fences = await list('/fences/summary', byId);
  const members: Record<string, string[]> = {};
  for (const { id } of fences) {
    const inside = [
      ...(await list(`/fences/${id}/providers`, byId)),
      ...(await list(`/fences/${id}/trackables`, byId)),
    ];
    members[id] = inside.map(byId);
  }
  return {
    fences,
    members,
    zones: await list('/zones/summary', byId),
    trackables: await list('/trackables/summary', byId),
    providers: await list('/providers/summary', byId),
    locations: await list('/providers/locations', ({ provider_id }) => provider_id),
    motions: await list('/trackables/motions', byId),
  };
}

interface Named {
  readonly id: string;
  readonly provider_id: string;
}

/**
 * Restarts a hub, and checks that memory, shards and disk agree and that its database contains nothing else. Returns
 * its contents.
 */
export async function assertConsistent(hub: TestHub, settings: TestSettings): Promise<Record<string, unknown[]>> {
  await hub.settle();
  const before = await stateOf(hub);
  await hub.hub.close();
  const path = join(hub.folder, 'data.dat');
  const { problems, notes } = reportOn(path);
  assert.deepEqual([problems, notes], [[], []]);
  assertSameIds(path, before);
  const second = await openTestHub({ ...settings, restart_event_delay: 60_000 }, { folder: hub.folder });
  try {
    assert.deepEqual(await stateOf(second), before);
  } finally {
    await second.close();
  }
  return before as Record<string, unknown[]>;
}

/** The database has the entities that the hub has. */
function assertSameIds(path: string, state: Record<string, unknown>): void {
  const store = new SqliteStore(path, () => 'none');
  const { entities, rows } = store.load();
  store.close();
  for (const kind of ['zone', 'fence', 'trackable', 'provider']) {
    const kept = entities.filter((entity) => entity.kind === kind).map(({ id }) => id);
    assert.deepEqual(
      kept.sort(),
      (state[`${kind}s`] as Named[]).map(({ id }) => id),
      kind,
    );
  }
  const located = rows.filter(({ kind }) => kind === 'provider').map(({ id }) => id);
  assert.deepEqual(
    located.sort(),
    (state['locations'] as Named[]).map(({ provider_id: id }) => id),
    'last locations',
  );
}
