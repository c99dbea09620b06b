import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRecording } from '../../src/cli/replay/recording.ts';
import { type FakeHub, fakeHub } from './fake_hub.ts';
import { runCli, startCli, temporaryFile } from './run_cli.ts';

interface Sent {
  readonly provider_id: string;
  readonly timestamp_generated: string;
}

function locationAt(second: number, provider = 'a'): string {
  return JSON.stringify({
    position: { type: 'Point', coordinates: [second, 0] },
    provider_type: 'gps',
    provider_id: provider,
    crs: 'EPSG:4326',
    timestamp_generated: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(),
  });
}

function recording(count: number): string {
  const lines = Array.from({ length: count }, (_, second) => locationAt(second));
  return temporaryFile('locations.ndjson', `${lines.join('\n')}\n`);
}

function batches(hub: FakeHub): Sent[][] {
  return hub.asked.filter(({ path }) => path === '/hub/v2/providers/locations').map(({ body }) => body as Sent[]);
}

const isX = (sent: unknown) => (sent as Sent).provider_id === 'x';

test('replay sends everything in order and in batches, and reports counts and events', async (context) => {
  const hub = await fakeHub(context, {
    answer({ path }, self) {
      if (path !== '/hub/v2/providers/locations') return { status: 201 };
      self.publish('fence_events', [{ event_type: 'region_entry' }, { event_type: 'region_exit' }]);
      self.publish('trackable_motions', [{ id: 't' }]);
      return undefined;
    },
  });
  const { code, out, err } = await runCli('replay', '--locations', recording(600), '--speed', 'max', '--hub', hub.url);
  assert.equal(code, 0, err);
  assert.match(
    out,
    /^Sent 600 locations in \d+\.\d s, \d+\/s\nAccepted 600, rejected 0\nEvents: region_entry 3, region_exit 3, trackable_motions 3\n$/,
  );
  assert.match(err, /\[#{20}\] 100 % {2}600\/600 {2}\d+\/s {2}rejected 0\n$/);
  assert.deepEqual(
    batches(hub).map((batch) => batch.length),
    [256, 256, 88],
  );
  const times = batches(hub)
    .flat()
    .map((location) => location.timestamp_generated);
  assert.deepEqual(times, times.toSorted());
  assert.deepEqual(
    hub.frames.map(({ topic }) => topic),
    ['fence_events', 'collision_events', 'trackable_motions'],
  );
});

test('readRecording preserves every digit of properties', async () => {
  const line = locationAt(1).replace(/}$/, ',"properties":{"floorId":723413320329068590,"t":21.0}}');
  const path = temporaryFile('locations.ndjson', `${line}\n`);
  const read: string[] = [];
  for await (const { location } of readRecording(path)) read.push(JSON.stringify(location));
  assert.deepEqual(read, [line]);
});

test('readRecording accepts a byte order mark and CRLF, as written by Windows', async () => {
  const path = temporaryFile('locations.ndjson', `\uFEFF${locationAt(1)}\r\n${locationAt(2)}\r\n`);
  const read: string[] = [];
  for await (const { location } of readRecording(path)) read.push(JSON.stringify(location));
  assert.deepEqual(read, [locationAt(1), locationAt(2)]);
});

test('replay creates fences and trackables first, and updates existing ones', async (context) => {
  const answers: Record<string, number> = { 'POST known': 400, 'PUT known': 204, 'POST bad': 400, 'PUT bad': 404 };
  const hub = await fakeHub(context, {
    answer({ method, path, body }) {
      if (path.endsWith('/providers/locations')) return undefined;
      const { id } = body as { id: string };
      const status = answers[`${method} ${id}`] ?? 201;
      return { status, message: `${method} answered ${status}` };
    },
  });
  const fences = temporaryFile('fences.json', '[{"id":"new"},{"id":"known"},{"id":"bad"}]');
  const trackables = temporaryFile('trackables.json', '[{"id":"known"}]');
  const { code, err } = await runCli(
    ...['replay', '--locations', recording(1), '--fences', fences, '--trackables', trackables],
    ...['--speed', '0', '--hub', hub.url],
  );
  assert.equal(code, 0);
  assert.match(
    err,
    /^fences: 1 created, 1 updated, 1 rejected\n {2}fences\[2\]: 400 POST answered 400\ntrackables: 0 created, 1 updated, 0 rejected\n/,
  );
  const kinds = hub.asked.map(({ path }) => path.split('/')[3]);
  assert.deepEqual(
    kinds,
    kinds.toSorted((a, b) => order(a) - order(b)),
  );
});

function order(kind = ''): number {
  return ['fences', 'trackables', 'providers'].indexOf(kind);
}

test('replay finds the rejected locations of a batch, so that the others arrive', async (context) => {
  const hub = await fakeHub(context, {
    answer: ({ body }) => ((body as unknown[]).some(isX) ? { status: 400, message: 'no x' } : undefined),
  });
  const lines = ['a', 'x', 'b', 'x', 'c'].map((provider) => locationAt(1, provider));
  const path = temporaryFile('locations.ndjson', lines.join('\n'));
  const { code, out, err } = await runCli('replay', '--locations', path, '--speed', 'max', '--hub', hub.url);
  assert.equal(code, 0);
  assert.match(out, /^Sent 5 [^\n]+\nAccepted 3, rejected 2\n/);
  assert.match(err, /^Rejected: line 2: 400 no x\nRejected: line 4: 400 no x\n/);
  assert.deepEqual(
    batches(hub).map((batch) => batch.length),
    [5, 1, 1, 1, 1, 1],
  );
});

test('replay retries after a busy hub, and after a proxy whose hub is unreachable', async (context) => {
  const statuses = [503, 502];
  const hub = await fakeHub(context, {
    answer() {
      const status = statuses.shift();
      return status === undefined ? undefined : { status, headers: { 'retry-after': '0' } };
    },
  });
  const { out } = await runCli('replay', '--locations', recording(3), '--speed', 'max', '--hub', hub.url);
  assert.match(out, /^Sent 3 [^\n]+\nAccepted 3, rejected 0\n/);
  assert.deepEqual(
    batches(hub).map((batch) => batch.length),
    [3, 3, 3],
  );
});

test('replay stops with one line without a permission', async (context) => {
  const hub = await fakeHub(context, { answer: () => ({ status: 403, message: 'no permission' }) });
  const { code, out, err } = await runCli('replay', '--locations', recording(3), '--hub', hub.url);
  assert.deepEqual({ code, out, err }, { code: 1, out: '', err: 'The hub does not permit this: 403 no permission\n' });
});

test('replay interpolates and restamps', async (context) => {
  const hub = await fakeHub(context);
  const before = new Date().toISOString();
  const args = ['--locations', recording(3), '--interpolate', '4', '--restamp', '--speed', 'max'];
  const { out } = await runCli('replay', ...args, '--hub', hub.url);
  assert.match(out, /^Sent 9 /);
  const sent = batches(hub).flat() as (Sent & { position: { coordinates: number[] } })[];
  assert.deepEqual(
    sent.map(({ position }) => position.coordinates[0]),
    [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2],
  );
  assert.ok(sent.every(({ timestamp_generated }) => timestamp_generated >= before));
});

test('replay reports the sent locations when it is interrupted', async (context) => {
  let arrived = () => {};
  const first = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const hub = await fakeHub(context, {
    answer() {
      arrived();
      return undefined;
    },
  });
  const { child, finished } = startCli('replay', '--locations', recording(1000), '--hub', hub.url);
  await first;
  child.kill('SIGINT');
  const { code, out, err } = await finished;
  assert.equal(code, 0);
  assert.match(err, /Interrupted\n\[-{20}\] {3}0 % {2}\d\/1000 /);
  assert.match(out, /^Sent \d locations /);
});
