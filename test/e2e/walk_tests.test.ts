import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WalkResult, WalkTest } from '../../src/model/walk_test.ts';
import { HALL } from '../support/hall.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

/** Degrees of latitude of a meter at the equator. */
const METER = 1 / 110_574;

const at = (north: number, timeMs: number) => ({
  position: { type: 'Point', coordinates: [8, north * METER] },
  source: 'yard',
  crs: 'EPSG:4326',
  provider_type: 'uwb',
  provider_id: 'tag-1',
  floor: 0,
  timestamp_generated: new Date(timeMs).toISOString(),
});
const pointAt = (id: string, north: number) => ({
  id,
  position: { type: 'Point', coordinates: [8, north * METER] },
  floor: 0,
});
const TEST = { name: 'Yard', object_type: 'provider', object_id: 'tag-1', points: [pointAt('a', 0), pointAt('b', 20)] };

test('A walk test measures the positions of a tag at marked points, also after a restart', async (t) => {
  const folder = temporaryFolder();
  const hub = await openTestHub({ history: true }, { folder });
  t.after(hub.close);
  const startMs = Date.now() - 60_000;
  await hub.post('/providers', { id: 'tag-1', type: 'uwb' });
  const created = await hub.post('/walk_tests', { ...TEST, started_at: new Date(startMs).toISOString() });
  assert.equal(created.status, 201, created.text);
  const { id } = created.body as WalkTest;
  const walked = Array.from({ length: 21 }, (_, i) => at(i + 0.5, startMs + i * 1000));
  assert.equal((await hub.put('/providers/locations', walked)).status, 204);
  const marked = await Promise.all(
    [
      { point_id: 'a', time: new Date(startMs).toISOString() },
      { point_id: 'b', time: new Date(startMs + 18_000).toISOString() },
    ].map((pass) => hub.post(`/walk_tests/${id}/pass`, pass)),
  );
  assert.deepEqual(
    marked.map(({ status }) => status),
    [200, 200],
  );
  const finished = (await hub.post(`/walk_tests/${id}/finish`)).body as WalkTest;
  assert.equal(finished.passes?.length, 2, 'marks at the same time are both stored');
  assert.ok(Date.parse(finished.ended_at as string) >= startMs + 60_000);
  await hub.close();

  const second = await openTestHub({ history: true }, { folder });
  t.after(second.close);
  assert.deepEqual((await second.get('/walk_tests')).body, [finished]);
  const { body } = await second.get(`/walk_tests/${id}/result`);
  const { mean, ce95, floor_hit_rate: floors, update_rate: rate, positions, passes, missed } = body as WalkResult;
  assert.deepEqual([positions, floors, rate, missed], [21, 1, 1, []]);
  assert.deepEqual(
    passes.map(({ point_id: point, horizontal_error: error }) => [point, Math.round(10 * (error as number)) / 10]),
    [
      ['a', 0.5],
      ['b', 1.5],
    ],
  );
  assert.ok(Math.abs((mean as number) - 1) < 0.01 && Math.abs((ce95 as number) - 1.5) < 0.01, `${mean} ${ce95}`);
  const csv = await second.get(`/walk_tests/${id}/result?format=csv`);
  assert.match(String(csv.headers['content-type']), /^text\/csv/);
  const lines = csv.text.split('\r\n');
  assert.equal(lines[0], 'point_id,time,marked,horizontal_error,vertical_error,floor_hit');
  assert.ok(lines[1]?.startsWith(`a,${new Date(startMs).toISOString()},true,0.`));
  assert.ok(lines.includes('floor_hit_rate,1') && lines.includes('positions,21'), csv.text);
  assert.equal((await second.delete(`/walk_tests/${id}`)).status, 204);
  assert.equal((await second.get(`/walk_tests/${id}/result`)).status, 404);
});

test('A walk test takes its points from the anchors of a zone, and rejects bad members by name', async (t) => {
  const hub = await openTestHub({});
  t.after(hub.close);
  await hub.post('/zones', { ...HALL, foreign_id: 'hall-1' });
  await hub.post('/providers', { id: 'tag-1', type: 'uwb' });
  const point = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] });
  await hub.post('/anchors', { id: 'global', zone_id: 'hall-1', georeferenced_position: point(8.5, 50) });
  await hub.post('/anchors', { id: 'local', zone_id: HALL.id, local_position: point(10, 20) });
  await hub.post('/anchors', { id: 'nowhere', zone_id: HALL.id });
  await hub.post('/anchors', { id: 'elsewhere', georeferenced_position: point(8, 50) });
  const { points: _, ...withoutPoints } = TEST;
  const { body } = await hub.post('/walk_tests', { ...withoutPoints, zone_id: 'hall-1' });
  const { points, started_at: startedAt } = body as WalkTest;
  assert.deepEqual(
    points?.map(({ id }) => id),
    ['global', 'local'],
  );
  assert.deepEqual(points?.[0]?.position, point(8.5, 50));
  assert.ok(Math.abs(Date.parse(startedAt as string) - Date.now()) < 60_000);
  const { text } = await hub.get(`/walk_tests/${body.id}/result`);
  assert.match(text, /Cannot look into the past/);
  const BAD: readonly (readonly [path: string, body: object, message: RegExp])[] = [
    ['', { ...withoutPoints, zone_id: 'none' }, /zone_id: must be the id or foreign id of a zone, found .*none/],
    ['', { ...TEST, object_id: 'tag-2' }, /object_id: must be the id of a location provider, found .*tag-2/],
    ['', { ...TEST, object_type: 'trackable' }, /object_id: must be the id of a trackable, found .*tag-1/],
    ['', { ...TEST, object_type: 'zone' }, /object_type: must be one of trackable, provider, found .*zone/],
    ['', { ...TEST, points: [pointAt('a', 0), pointAt('a', 1)] }, /points\[1\]\.id: must differ from points\[0\]\.id/],
    ['', { ...TEST, points: [{ id: 'a', position: point(8, 91) }] }, /points\[0\]\.position\.coordinates\[1\]: .*91/],
    [
      '',
      { ...TEST, passes: [{ point_id: 'c', time: '2026-03-01T12:00:00Z' }] },
      /passes\[0\]\.point_id: must be the id/,
    ],
    ['', { ...TEST, started_at: 'now' }, /started_at: must be an RFC 3339 date and time, found .*now/],
    [
      '',
      { ...TEST, started_at: '2026-03-01T12:00:01Z', ended_at: '2026-03-01T12:00:00Z' },
      /ended_at: must not be before/,
    ],
    [`/${body.id}/pass`, { point_id: 'c' }, /"point_id: must be the id of a point of the walk test, found .*c/],
    [`/${body.id}/pass`, { point_id: 'local', time: 'x' }, /"time: must be an RFC 3339 date/],
    [
      `/${body.id}/pass`,
      { point_id: 'local', time: '2026-03-01T12:00:00Z' },
      /"time: must be from started_at to ended_at of the walk test, found .*2026-03-01/,
    ],
  ];
  for (const [path, sent, message] of BAD) {
    const rejected = await hub.post(`/walk_tests${path}`, sent);
    assert.equal(rejected.status, 400, rejected.text);
    assert.match(rejected.text, message);
  }
});
