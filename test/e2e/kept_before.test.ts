import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { StoredState, StoreBatch } from '../../src/core/entity_write.ts';
import { settingWrite } from '../../src/store/entity_json.ts';
import { openStore } from '../../src/store/open.ts';
import { row } from '../store/rows.ts';
import { openTestHub, whileHubRuns } from '../support/running_hub.ts';
import type { Event } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

/** Data that is in the database before the hub starts. */

async function write(folder: string, batch: Partial<StoreBatch>): Promise<void> {
  const store = await openStore({ path: join(folder, 'data.dat') });
  await store.commit({ entities: [], rows: [], ...batch });
  await store.close();
}

async function read(folder: string): Promise<StoredState> {
  const store = await openStore({ path: join(folder, 'data.dat') });
  const kept = await store.load();
  await store.close();
  return kept;
}

test('Rows of providers and trackables that do not exist are dropped at startup', async () => {
  const folder = temporaryFolder();
  const known = { kind: 'provider', id: 'tag-2', text: JSON.stringify({ id: 'tag-2', type: 'uwb' }) } as const;
  const rows = [row(0), row(1), row(2)];
  assert.deepEqual(
    rows.map(({ kind, id }) => `${kind} ${id}`),
    ['provider tag-0', 'trackable tag-1', 'provider tag-2'],
  );
  await write(folder, { entities: [known], rows });
  await whileHubRuns(folder, {}, async (hub) => {
    const { body } = await hub.get('/providers/locations');
    assert.deepEqual(
      body.map((location: Event) => location.provider_id),
      ['tag-2'],
    );
    assert.deepEqual((await hub.get('/providers')).body, ['tag-2']);
    // A new provider of that name has no earlier data.
    assert.equal((await hub.post('/providers', { id: 'tag-0', type: 'uwb' })).status, 201);
    assert.equal((await hub.get('/providers/tag-0/location')).status, 404);
  });
  assert.deepEqual(
    (await read(folder)).rows.map(({ id }) => id),
    ['tag-2'],
  );
});

test('A past month is returned as it was stored, in both versions', async (t) => {
  const folder = temporaryFolder();
  const { body: current } = await whileHubRuns(folder, {}, (hub) => hub.get('/stats/consumption/current'));
  const statistics = { ...current.statistics, locationupdates_processed: 12_345 };
  const ended = { ...current, id: 'march', year: 2025, month: 3, statistics };
  await write(folder, { entities: [settingWrite('usage:2025-03', ended)] });

  const hub = await openTestHub({}, { folder });
  t.after(hub.close);
  for (const version of ['v1', 'v2']) {
    const base = `${hub.origin}/hub/${version}/stats/consumption`;
    for (const path of ['2025/3', '2025/03']) assert.deepEqual((await hub.get(`${base}/${path}`)).body, [ended]);
    for (const path of ['2025/4', '2024/3']) assert.equal((await hub.get(`${base}/${path}`)).status, 404);
    const { body: months } = await hub.get(`${base}/summary`);
    assert.deepEqual(
      months.map(({ id }: Event) => id),
      ['march', current.id],
    );
  }
});

test('A change event has the children of a trackable and of a zone, as GET has', async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  const zone = { type: 'rfid', position: { type: 'Point', coordinates: [9, 50] } };
  const sent = { trackables: { type: 'omlox' }, zones: zone };
  for (const [collection, body] of Object.entries(sent)) {
    const changes = await hub.subscribe(`${collection.slice(0, -1)}_changes`);
    const { id } = (await hub.post(`/${collection}`, body)).body;
    const child = (await hub.post(`/${collection}`, { ...body, parent: id })).body;
    assert.equal((await hub.put(`/${collection}/${id}`, { ...body, name: 'Rack' })).status < 300, true);
    const update = await changes.next(({ event_type: type }) => type === 'update');
    assert.deepEqual(update.object, (await hub.get(`/${collection}/${id}`)).body);
    assert.deepEqual(update.object.children, [child.id]);
    assert.deepEqual((await changes.next((event) => event.id === child.id)).object, child);
  }
});
