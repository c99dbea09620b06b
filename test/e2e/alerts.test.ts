import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { WEEKDAYS } from '../../src/model/weekdays.ts';
import { HALL, square } from '../support/hall.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import type { Recorder } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const TRUCK = '0b680db2-b39b-45be-be77-40d7d2296cb4';
const PERSON = '3f7b6a52-8d0e-4f0c-9a77-1c5f0e6b2d42';
const FENCE = square().id;

const at = (provider: string, x: number) => ({
  position: { type: 'Point', coordinates: [x, 5] },
  source: 'hall',
  provider_type: 'uwb',
  provider_id: provider,
  crs: 'local',
});

/** A hall with a fence and two trackables. */
async function furnish(hub: TestHub): Promise<void> {
  await hub.post('/zones', HALL);
  await hub.post('/fences', square({ name: 'Dock' }));
  await hub.post('/trackables', {
    ...{ id: TRUCK, type: 'omlox', name: 'Truck', location_providers: ['truck'], radius: 1 },
    properties: { kind: 'truck' },
  });
  await hub.post('/trackables', {
    ...{ id: PERSON, type: 'omlox', name: 'Person', location_providers: ['person'], radius: 1 },
  });
}

const seen = new Set<object>();

/** Formats the next change of an alert. */
async function next(changes: Recorder): Promise<string> {
  const event = await changes.next((each) => !seen.has(each));
  seen.add(event);
  const { event_type: type, object } = event;
  return `${type} ${object.kind} ${object.state}${object.over_at === undefined ? '' : ', over'}`;
}

test('alerts are raised by events, published at once, acknowledged and cleared, and survive a restart', async (t) => {
  const folder = temporaryFolder();
  const first = await openTestHub({}, { folder });
  t.after(() => first.close());
  await furnish(first);
  const changes = await first.subscribe('alert_changes');
  const entries = await first.subscribe('fence_events');
  await first.put('/providers/person/location', at('person', 5));
  await entries.next(({ trackable_id: id }) => id === PERSON);

  const created = await first.post('/alerts/rules', { name: 'In the dock', kind: 'entry', fence_ids: [FENCE] });
  assert.equal(created.status, 201);
  const rule = created.body;
  const full = { name: 'Too many', kind: 'more_inside', more_than: 1, severity: 'critical' };
  await first.post('/alerts/rules', full);
  await first.post('/alerts/rules', { name: 'Collision', kind: 'collision' });
  // Objects that were inside before the rules were created have not entered.
  await first.settle();
  assert.deepEqual((await first.get('/alerts')).body, []);

  await first.put('/providers/truck/location', at('truck', 5));
  const published = [await next(changes), await next(changes), await next(changes)];
  assert.deepEqual(published.toSorted(), [
    'create collision raised',
    'create entry raised',
    'create more_inside raised',
  ]);
  const alerts = (await first.get('/alerts')).body as { id: string; kind: string; count?: number }[];
  assert.equal(alerts.find(({ kind }) => kind === 'more_inside')?.count, 2);
  const entry = alerts.find(({ kind }) => kind === 'entry');

  const acknowledged = await first.post(`/alerts/${entry?.id}/acknowledge`);
  assert.deepEqual([acknowledged.status, acknowledged.body.state], [200, 'acknowledged']);
  assert.equal(await next(changes), 'update entry acknowledged');
  assert.equal((await first.post('/alerts/nobody/clear')).status, 404);
  await first.close();

  const second = await openTestHub({}, { folder });
  t.after(() => second.close());
  const later = await second.subscribe('alert_changes');
  assert.deepEqual((await second.get(`/alerts/${entry?.id}`)).body, acknowledged.body);
  assert.deepEqual((await second.get(`/alerts/rules/${rule.id}`)).body, rule);
  await second.put('/providers/truck/location', at('truck', 50));
  const over = [await next(later), await next(later), await next(later)];
  assert.deepEqual(over.toSorted(), [
    'update collision raised, over',
    'update entry cleared, over',
    'update more_inside raised, over',
  ]);
  assert.equal((await second.post('/alerts/clear', { all: true })).status, 204);
  assert.deepEqual((await second.get('/alerts?state=raised')).body, []);
  assert.equal((await second.delete(`/alerts/rules/${rule.id}`)).status, 204);
  assert.equal((await second.get('/alerts/rules')).body.length, 2);
});

test('long stays and long silences raise alerts, by the clock of the hub', async (t) => {
  const hub = await openTestHub();
  t.after(() => hub.close());
  await furnish(hub);
  const changes = await hub.subscribe('alert_changes');
  await hub.put('/providers/truck/location', at('truck', 5));
  const named = { trackable_ids: [TRUCK] };
  await hub.post('/alerts/rules', { name: 'Stands', kind: 'inside_longer', longer_than: 1000, ...named });
  assert.equal(await next(changes), 'create inside_longer raised');
  const property = { name: 'kind', value: 'truck' };
  await hub.post('/alerts/rules', { name: 'Silent', kind: 'silent', longer_than: 1000, property });
  assert.equal(await next(changes), 'create silent raised');
  const rule = { name: 'Silent', kind: 'silent', longer_than: 1000 };
  const preview = await hub.post('/alerts/rules/preview', rule);
  assert.equal(preview.status, 200);
  assert.deepEqual([preview.body.watched, preview.body.total, preview.body.matches[0].trackable_id], [2, 1, TRUCK]);
  await hub.put('/providers/truck/location', at('truck', 50));
  const over = [await next(changes), await next(changes)];
  assert.deepEqual(over.toSorted(), ['update inside_longer raised, over', 'update silent raised, over']);
});

test('speeds, distances and low numbers raise alerts, within their schedule, and these survive a restart', async (t) => {
  const folder = temporaryFolder();
  const first = await openTestHub({}, { folder });
  t.after(() => first.close());
  await furnish(first);
  const changes = await first.subscribe('alert_changes');
  const both = { trackable_ids: [TRUCK, PERSON] };
  const today = new Date().getUTCDay();
  const others = WEEKDAYS.filter((_, day) => (day - today + 7) % 7 > 1);
  for (const rule of [
    { name: 'Fast', kind: 'speed', speed_above: 2, object_type: 'any', schedule: {} },
    { name: 'Apart', kind: 'separated', distance: 20, ...both },
    { name: 'Close', kind: 'together', distance: 2, ...both, schedule: { days: others } },
    { name: 'Empty', kind: 'count_below', fewer_than: 1, fence_ids: [FENCE] },
  ]) {
    const created = await first.post('/alerts/rules', rule);
    assert.equal(created.status, 201);
    assert.deepEqual((await first.get(`/alerts/rules/${created.body.id}`)).body, created.body);
  }
  assert.equal(await next(changes), 'create count_below raised');
  await first.put('/providers/person/location', at('person', 5));
  assert.equal(await next(changes), 'update count_below raised, over');
  await first.put('/providers/truck/location', { ...at('truck', 5), speed: 2.5 });
  assert.equal(await next(changes), 'create speed raised');
  const preview = await first.post('/alerts/rules/preview', { name: 'Close', kind: 'together', distance: 2, ...both });
  assert.equal(preview.body.total, 1);
  await first.put('/providers/truck/location', { ...at('truck', 50), speed: 2.5 });
  assert.equal(await next(changes), 'create separated raised');
  const apart = (await first.get('/alerts')).body.find(({ kind }: { kind: string }) => kind === 'separated');
  assert.deepEqual([apart.trackable_id, apart.other_trackable_id].toSorted(), [TRUCK, PERSON].toSorted());
  await first.close();

  const second = await openTestHub({}, { folder });
  t.after(() => second.close());
  const later = await second.subscribe('alert_changes');
  await second.put('/providers/truck/location', { ...at('truck', 6), speed: 1 });
  const over = [await next(later), await next(later)];
  assert.deepEqual(over.toSorted(), ['update separated raised, over', 'update speed raised, over']);
  assert.equal((await second.get('/alerts')).body.length, 3, 'no alert is raised outside of the schedule');
});

test('a provider without a trackable raises alerts by rules for providers, and for all objects', async (t) => {
  const folder = temporaryFolder();
  const hub = await openTestHub({}, { folder });
  t.after(() => hub.close());
  await furnish(hub);
  const changes = await hub.subscribe('alert_changes', { provider_id: ['tag'] });
  const tags = { object_type: 'location_provider', provider_ids: ['tag'] };
  await hub.put('/providers/tag/location', at('tag', 5));
  await hub.post('/alerts/rules', { name: 'Tag stands', kind: 'inside_longer', longer_than: 1000, ...tags });
  assert.equal(await next(changes), 'create inside_longer raised');
  await hub.post('/alerts/rules', { name: 'Exit', kind: 'exit', object_type: 'any' });
  await hub.post('/alerts/rules', { name: 'Silent', kind: 'silent', longer_than: 1000, object_type: 'any' });
  assert.equal(await next(changes), 'create silent raised');
  const preview = await hub.post('/alerts/rules/preview', { name: 'In', kind: 'entry', object_type: 'any' });
  assert.deepEqual([preview.body.watched, preview.body.total, preview.body.matches[0].provider_id], [3, 1, 'tag']);
  await hub.put('/providers/tag/location', at('tag', 50));
  const published = [await next(changes), await next(changes), await next(changes)];
  assert.deepEqual(published.toSorted(), [
    'create exit raised',
    'update inside_longer raised, over',
    'update silent raised, over',
  ]);
  const alerts = (await hub.get('/alerts')).body as { kind: string; provider_id?: string; trackable_id?: string }[];
  const exit = alerts.find(({ kind }) => kind === 'exit');
  assert.deepEqual([exit?.provider_id, exit?.trackable_id], ['tag', undefined]);
  await hub.close();

  // Members and their entry times survive a restart.
  const again = await openTestHub({}, { folder });
  t.after(() => again.close());
  const later = await again.subscribe('alert_changes', { provider_id: ['tag'] });
  await again.put('/providers/tag/location', at('tag', 5));
  const { object } = await later.next(({ object: { kind } }) => kind === 'exit');
  assert.deepEqual([object.state, object.over_at !== undefined], ['raised', true]);
});

test('an inapplicable member of a rule or a view is rejected by name', async (t) => {
  const hub = await openTestHub();
  t.after(() => hub.close());
  const rule = { name: 'Rule', kind: 'entry' };
  const yard = await hub.post('/fences', { region: { type: 'Point', coordinates: [8, 50] }, radius: 5 });
  const { id: fence } = yard.body as { id: string };
  for (const [body, message] of [
    [{ ...rule, name: '' }, /^name: /],
    [{ ...rule, kind: 'flood' }, /^kind: /],
    [{ ...rule, kind: 'silent' }, /^longer_than: is required for a rule of kind silent, found nothing$/],
    [{ ...rule, longer_than: 5000 }, /^longer_than: must be absent from a rule of kind entry, found 5000$/],
    [{ ...rule, kind: 'more_inside', more_than: -1 }, /^more_than: /],
    [{ ...rule, kind: 'count_below', fewer_than: 2 }, /^fence_ids: is required for a rule of kind count_below/],
    [{ ...rule, kind: 'gate', fence_ids: ['g'] }, /^direction: is required for a rule of kind gate, found nothing$/],
    [{ ...rule, kind: 'gate', fence_ids: ['g'], direction: 'up' }, /^direction: /],
    [
      { ...rule, kind: 'gate', fence_ids: ['unknown', fence], direction: 'left' },
      /^fence_ids\[1\]: must be a gate: a fence whose region is a LineString, found "/,
    ],
    [{ ...rule, kind: 'speed', speed_above: -1 }, /^speed_above: /],
    [{ ...rule, kind: 'separated', distance: 5 }, /^trackable_ids: is required for a rule of kind separated/],
    [{ ...rule, kind: 'together', trackable_ids: ['a'], distance: 0 }, /^distance: /],
    [
      { ...rule, kind: 'separated', trackable_ids: ['a'], distance: 5, other_trackable_ids: ['a'] },
      /^trackable_ids: must have at least 2 different trackables, found 1$/,
    ],
    [
      { ...rule, kind: 'together', trackable_ids: ['a'], distance: 1, other_trackable_ids: [] },
      /^other_trackable_ids: must have at least one id or be absent, found none$/,
    ],
    [{ ...rule, other_trackable_ids: ['a'] }, /^other_trackable_ids: must be absent from a rule of kind entry/],
    [{ ...rule, schedule: { time_zone: 'Mars/Base' } }, /^schedule\.time_zone: must be a time zone/],
    [{ ...rule, schedule: { from: '24:00' } }, /^schedule\.from: /],
    [{ ...rule, schedule: { days: [] } }, /^schedule\.days: /],
    [{ ...rule, fence_ids: [] }, /^fence_ids: must have at least one id or be absent, found none$/],
    [{ ...rule, trackable_ids: [''] }, /^trackable_ids\[0\]: must not be empty, found ""$/],
    [{ ...rule, object_type: 'zone' }, /^object_type: /],
    [{ ...rule, kind: 'collision', object_type: 'any' }, /^object_type: must be absent from a rule of kind collision/],
    [{ ...rule, provider_ids: ['tag'] }, /^provider_ids: must be absent from a rule about objects of type trackable/],
    [
      { ...rule, object_type: 'any', trackable_ids: [TRUCK] },
      /^trackable_ids: must be absent from a rule about objects of type any/,
    ],
    [
      { ...rule, object_type: 'location_provider', provider_ids: [] },
      /^provider_ids: must have at least one id or be absent, found none$/,
    ],
  ] as const) {
    const { status, body: refusal } = await hub.post('/alerts/rules', body);
    assert.equal(status, 400, JSON.stringify(body));
    assert.match(refusal.message, message);
  }
  const { body } = await hub.post('/views', { name: 'Elsewhere', address: 'https://example.com/ui/map' });
  assert.match(body.message, /^address: must begin with \?, found "https:/);
  const one = (await hub.post('/views', { name: 'One', address: '?a=1', is_start: true })).body;
  const other = (await hub.post('/views', { name: 'Other', address: '?b=1', is_start: true })).body;
  const views = (await hub.get('/views')).body as { id: string; is_start: boolean }[];
  assert.deepEqual(
    views.map(({ id, is_start }) => [id, is_start]),
    [
      [one.id, false],
      [other.id, true],
    ],
  );
});

test('many info alerts leave room for a critical one, and the rest are raised later', async (t) => {
  const hub = await openTestHub({});
  t.after(() => hub.close());
  await furnish(hub);
  const entry = { kind: 'entry', fence_ids: [FENCE] };
  await hub.post('/alerts/rules', { ...entry, name: 'Noise', severity: 'info', object_type: 'location_provider' });
  await hub.post('/alerts/rules', { ...entry, name: 'Danger', severity: 'critical' });
  await hub.settle();
  const changes = await hub.subscribe('alert_changes');
  const tags = Array.from({ length: 1100 }, (_, i) => at(`tag-${i}`, 5));
  for (const locations of [tags.slice(0, 500), tags.slice(500)]) {
    assert.equal((await hub.put('/providers/locations', locations)).status, 204);
  }
  await untilSummary(hub, changes, { open: { info: 500, warning: 0, critical: 0 }, missing: 600 });
  await hub.put('/providers/truck/location', at('truck', 5));
  await changes.next(({ event_type: type, object }) => type === 'create' && object.severity === 'critical');
  await untilSummary(hub, changes, { open: { info: 500, warning: 0, critical: 1 }, missing: 600 });
  const metrics = await (await fetch(`${hub.origin}/metrics`)).text();
  assert.match(metrics, /^hub_alerts_not_raised\{severity="info"\} 600$/m);

  await hub.post('/alerts/clear', { all: true });
  await untilSummary(hub, changes, { open: { info: 500, warning: 0, critical: 0 }, missing: 100 });
});

/** Polls the summary after each alert change until it has `open` alerts and `missing` info conditions without one. */
async function untilSummary(
  hub: TestHub,
  changes: Recorder,
  { open, missing }: { readonly open: object; readonly missing: number },
): Promise<void> {
  const wanted = { max: 1000, open, not_raised: { info: missing, warning: 0, critical: 0 } };
  for (;;) {
    const { body } = await hub.get('/alerts/summary');
    if (isDeepStrictEqual(body, wanted)) return;
    await changes.next((each) => !seen.has(each)).then((each) => seen.add(each));
  }
}
