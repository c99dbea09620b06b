import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  hashOf,
  referenceTo,
  referredProperties,
  storeFenceProperties,
  tidyFenceProperties,
} from '../../src/history/fence_properties.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import type { TestHub } from '../support/test_hub.ts';
import { EVERYTHING, rowsBelow } from './recorded_places.ts';

const CROSSINGS = 200;
const LONG = { text: 'x'.repeat(900_000), digits: '1' };

async function cross(hub: TestHub, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    const position = { type: 'Point', coordinates: [8 + (n % 2) * 0.01, 50] };
    await hub.put('/providers/a/location', { provider_type: 'uwb', source: 'hall', crs: 'EPSG:4326', position });
  }
  await hub.settle();
  const leased = await hub.hub.history?.files(EVERYTHING);
  hub.hub.history?.release(leased?.lease ?? 0);
}

const fence = (properties: object) => ({ region: { type: 'Point', coordinates: [8, 50] }, radius: 20, properties });

test('Long properties of a fence are stored once, no event is dropped, and events have them as they were published', async (t) => {
  const hub = await openTestHub({ history: true, max_entity_properties_size: 1024 });
  t.after(hub.close);
  assert.equal((await hub.post('/fences', fence(LONG))).status, 201);
  await cross(hub, CROSSINGS - 4);
  const recorders = await hub.subscribe('fence_events');
  await cross(hub, 4);
  const { topics } = (await hub.get('/health/history')).body;
  const { recorded, dropped } = topics.find(({ topic }: { topic: string }) => topic === 'fence_events');
  assert.deepEqual({ recorded, dropped }, { recorded: CROSSINGS, dropped: 0 });
  const folder = join(hub.folder, 'history');
  assert.equal(readdirSync(join(folder, 'fence_properties')).length, 1);
  const rows = await rowsBelow(folder, 'fence_events', 'length(event)::INTEGER AS length, properties');
  assert.ok(rows.every(({ length }) => Number(length) < 1000));
  assert.deepEqual([...new Set(rows.map(({ properties }) => properties))], [referenceTo(hashOf(JSON.stringify(LONG)))]);
  // A list is split before it is too large for a reply: events of 900 kB arrive in several parts.
  const events: { id: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const part: { events: { id: string }[]; next_cursor: string | null } = (
      await hub.get(`/history/events?limit=50${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`)
    ).body;
    events.push(...part.events);
    cursor = part.next_cursor;
  }
  const byId = (list: readonly unknown[]) => new Map((list as { id: string }[]).map((event) => [event.id, event]));
  assert.equal(events.length, CROSSINGS);
  const published = byId(recorders.events);
  assert.equal(published.size, 4);
  for (const event of events.slice(-4)) assert.deepEqual(event, published.get(event.id));
});

test('Short properties of a fence are part of each event', async (t) => {
  const hub = await openTestHub({ history: true });
  t.after(hub.close);
  await hub.post('/fences', fence({ n: 1 }));
  await cross(hub, 2);
  const [row] = await rowsBelow(join(hub.folder, 'history'), 'fence_events', 'properties, event');
  assert.equal(row?.['properties'], '{"n":1}');
  assert.match(String(row?.['event']), /"properties":\{"n":1\}\}$/);
  assert.ok(!existsSync(join(hub.folder, 'history', 'fence_properties')));
});

test('Long properties are deleted when no event has referred to them within the retention, or when there are too many', () => {
  const folder = temporaryFolder();
  const store = (json: string, nowMs: number): void =>
    storeFenceProperties(folder, { hash: hashOf(json), json, nowMs });
  const has = (json: string): boolean => referredProperties(folder, referenceTo(hashOf(json))) === json;
  for (const [json, ms] of [
    ['1', 1000],
    ['2', 2000],
    ['333', 3000],
    ['1', 4000],
  ] as const)
    store(json, ms);
  tidyFenceProperties(folder, 2500);
  assert.deepEqual(['1', '2', '333'].map(has), [true, false, true]);
  tidyFenceProperties(folder, 0, 3);
  assert.deepEqual(['1', '333'].map(has), [true, false]);
});
