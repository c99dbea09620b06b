import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { patched } from '../../src/api/json_patch.ts';
import type { AuditEntries, AuditEntry } from '../../src/model/audit.ts';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub, type TestSettings } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const TRUCK = '0b680db2-b39b-45be-be77-40d7d2296cb4';
const FENCE = square().id;
const truck = { id: TRUCK, type: 'omlox', name: 'Truck', location_providers: ['truck'] };

async function openHub(t: TestContext, settings: TestSettings = {}, folder?: string): Promise<TestHub> {
  const hub = await openTestHub(settings, { isAlone: true, ...(folder !== undefined && { folder }) });
  t.after(() => hub.close());
  return hub;
}

async function page(hub: TestHub, query = ''): Promise<AuditEntries> {
  const { status, body } = await hub.get(`/audit?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body as AuditEntries;
}

/** All entries that a query selects, read in pages. */
async function entries(hub: TestHub, query = ''): Promise<AuditEntry[]> {
  const all: AuditEntry[] = [];
  for (let at = '', hasMore = true; hasMore; ) {
    const read = await page(hub, `${query}&limit=2${at}`);
    all.push(...read.entries);
    at = `&cursor=${read.next}`;
    hasMore = read.has_more;
  }
  return all;
}

const partsOf = ({ kind, id, action, patch }: AuditEntry) => [kind, id, action, patch];

async function done(replied: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await replied;
  assert.ok(status < 300, `${status} ${text}`);
}

test('Each change of an entity has one entry, whose patches lead to the stored entity', async (t) => {
  const folder = temporaryFolder();
  const first = await openHub(t, {}, folder);
  await done(first.post('/zones', HALL));
  await done(first.post('/fences', square({ name: 'Dock' })));
  await done(first.put(`/fences/${FENCE}`, square({ name: 'Dock', properties: { owner: 'a' } })));
  const change = [
    { op: 'replace', path: '/properties/owner', value: 'b' },
    { op: 'add', path: '/properties/shift', value: { early: [1, 2.5] } },
    { op: 'remove', path: '/name' },
  ];
  await done(first.request('PATCH', `/fences/${FENCE}`, change));
  const { name: _removed, ...rest } = square();
  const stored = { ...rest, properties: { owner: 'b', shift: { early: [1, 2.5] } } };
  // This changes nothing, so it has no entry.
  await done(first.put(`/fences/${FENCE}`, stored));
  await done(first.post('/trackables', truck));
  await done(first.delete(`/trackables/${TRUCK}`));
  await first.close();

  const hub = await openHub(t, {}, folder);
  await done(hub.delete('/fences'));
  const all = await entries(hub);
  assert.deepEqual(
    all.map(({ kind, action }) => `${action} ${kind}`),
    [
      ...['create zone', 'create fence', 'update fence', 'update fence'],
      ...['create trackable', 'delete trackable', 'delete fence'],
    ],
  );
  const ofFence = await entries(hub, `kind=fence&id=${FENCE.toUpperCase()}`);
  assert.equal(ofFence.length, 4);
  const states = ofFence.map(({ patch }) => patch);
  const afterPatch = patched(patched(patched(undefined, states[0]), states[1]), states[2]);
  assert.deepEqual(afterPatch, stored);
  assert.deepEqual(states[2], [
    { op: 'remove', path: '/name' },
    { op: 'replace', path: '/properties/owner', value: 'b' },
    { op: 'add', path: '/properties/shift', value: { early: [1, 2.5] } },
  ]);
  assert.deepEqual(states[3], [{ op: 'remove', path: '' }]);
  for (const { via, address, subject, request_id: id, time } of all) {
    assert.deepEqual([via, address, subject, id], ['rest', '127.0.0.1', undefined, undefined]);
    assert.ok(Math.abs(Date.parse(time) - Date.now()) < 600_000, time);
  }
});

test('Changes that locations cause have no entries', async (t) => {
  const hub = await openHub(t);
  await done(hub.post('/trackables', truck));
  const reader = { type: 'rfid', position: { type: 'Point', coordinates: [9, 50] }, radius: 2, parent: TRUCK };
  await done(hub.post('/zones', reader));
  const { next } = await page(hub);
  const location = { provider_id: 'truck', provider_type: 'gps', source: 'truck', crs: 'EPSG:4326' };
  for (const degrees of [9.0005, 9.001]) {
    const position = { type: 'Point', coordinates: [degrees, 50.0003] };
    await done(hub.put('/providers/truck/location', { ...location, position }));
  }
  await hub.settle();
  await done(hub.put('/providers/truck/sensors', { temperature: 20 }));
  assert.equal((await hub.get('/providers/truck')).status, 200);
  assert.deepEqual((await page(hub, `cursor=${next}`)).entries, []);
});

test('Documents, rules and imports have entries, and no secret is in them', async (t) => {
  const folder = temporaryFolder();
  const hub = await openHub(t, { sink_allowed_hosts: '["127.0.0.1"]' }, folder);
  const [key, otherKey] = ['a', 'b'].map((text) => `whsec_${Buffer.from(text.repeat(24)).toString('base64')}`);
  const sink = { id: 'erp', name: 'ERP', type: 'webhook', url: 'http://127.0.0.1:9/a', topics: ['fence_events'] };
  await done(hub.post('/sinks', { ...sink, secret: key, headers: { Authorization: 'hidden-2' } }));
  const { body: sinks } = await hub.get('/sinks');
  const [{ id: sinkId }] = sinks as [{ id: string }];
  await done(hub.put(`/sinks/${sinkId}`, { ...sink, id: sinkId, secret: otherKey }));
  await done(hub.put(`/sinks/${sinkId}`, { ...sink, id: sinkId, name: 'SAP' }));
  await done(hub.delete(`/sinks/${sinkId}`));
  const source = {
    name: 'gate',
    kind: 'http',
    format: 'json',
    map: { provider_id: '/id', x: '/x', y: '/y' },
  };
  const { status, text } = await hub.post('/sources', source);
  assert.equal(status, 201, text);
  const { id: sourceId, token } = JSON.parse(text) as { id: string; token: string };
  const { text: rotated } = await hub.post(`/sources/${sourceId}/token`, undefined);
  const rule = { expression: 'accuracy < 1', priority: 1 };
  await done(hub.put('/trackables/rules/locating', [rule]));
  const { status: started } = await hub.post('/import', {
    format: 'location-hub-entities',
    version: 1,
    zones: [HALL],
    fences: [square({ name: 'Dock' })],
    locating_rules: [{ ...rule, priority: 2 }],
    views: [{ id: 'v', name: 'Dock', address: '?zoom=18' }],
  });
  assert.equal(started, 202);
  for (let state = ''; state !== 'done'; ) {
    const { body } = await hub.get('/import');
    state = (body as { state: string }).state;
    assert.ok(['waiting', 'checking', 'keeping', 'done'].includes(state), JSON.stringify(body));
  }
  const all = await entries(hub);
  assert.deepEqual(all.map(partsOf).slice(1, 4), [
    ['sink', sinkId, 'update', [{ op: 'replace', path: '/secret', value: '***' }]],
    ['sink', sinkId, 'update', [{ op: 'replace', path: '/name', value: 'SAP' }]],
    ['sink', sinkId, 'delete', [{ op: 'remove', path: '' }]],
  ]);
  assert.deepEqual(
    all.map(({ kind, action }) => `${action} ${kind}`),
    [
      ...['create sink', 'update sink', 'update sink', 'delete sink'],
      ...['create source', 'update source', 'update source', 'update locating_rules'],
      ...['create zone', 'create fence', 'update locating_rules', 'create view'],
    ],
  );
  assert.deepEqual(all[6]?.patch, [{ op: 'replace', path: '/token', value: '***' }]);
  const stored = JSON.stringify(all);
  const secrets = [key, otherKey, 'hidden-2', token, (JSON.parse(rotated) as { token: string }).token];
  for (const secret of secrets) assert.ok(!stored.includes(secret ?? ''), secret);
});

test('Entries are selected by kind, id, subject and time, and read in pages', async (t) => {
  const hub = await openHub(t);
  await done(hub.post('/zones', HALL));
  await done(hub.post('/fences', square({ name: 'Dock' })));
  const [zone, fence] = (await entries(hub)) as [AuditEntry, AuditEntry];
  assert.deepEqual((await page(hub, 'kind=fence')).entries, [fence]);
  assert.deepEqual((await page(hub, `id=${HALL.id}`)).entries, [zone]);
  assert.deepEqual((await page(hub, 'subject=nobody')).entries, []);
  assert.deepEqual((await page(hub, `cursor=${zone.cursor}`)).entries, [fence]);
  assert.deepEqual((await page(hub, 'to=2020-01-01T00:00:00Z')).entries, []);
  assert.deepEqual((await page(hub, 'from=2020-01-01T00:00:00Z')).entries, [zone, fence]);
  assert.deepEqual((await page(hub, 'from=2120-01-01T00:00:00Z')).entries, []);
  const after = await page(hub, 'limit=1');
  assert.deepEqual([after.entries, after.has_more, after.next], [[zone], true, zone.cursor]);

  const refused: readonly [query: string, reason: string][] = [
    ['kind=location', 'out_of_choices'],
    ['limit=0', 'not_in_range'],
    ['limit=1001', 'not_in_range'],
    ['from=yesterday', 'not_a_time'],
    ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'not_before'],
    ['cursor=x', 'cursor_unknown'],
    [`cursor=${((await hub.get('/events')).body as { next: string }).next}`, 'cursor_of_other_hub'],
  ];
  for (const [query, reason] of refused) {
    const { status, body } = await hub.get(`/audit?${query}`);
    assert.deepEqual([query, status, (body as { reason: string }).reason], [query, 400, reason]);
  }
});

test('A hub with audit_retention 0 audits nothing, and removes former entries', async (t) => {
  const folder = temporaryFolder();
  const first = await openHub(t, {}, folder);
  await done(first.post('/zones', { ...HALL, name: 'to-be-forgotten' }));
  const { next } = await page(first);
  await done(first.delete(`/zones/${HALL.id}`));
  await first.close();
  const off = await openHub(t, { audit_retention: 0 }, folder);
  await done(off.post('/zones', HALL));
  const { status, body } = await off.get('/audit');
  assert.deepEqual([status, (body as { reason: string }).reason], [404, 'audit_off']);
  await off.close();
  const hub = await openHub(t, {}, folder);
  assert.deepEqual((await page(hub)).entries, []);
  assert.equal((await hub.get(`/audit?cursor=${next}`)).status, 410);
  assert.ok((await readFile(join(folder, 'data.dat'))).length > 0);
});
