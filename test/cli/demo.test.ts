import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demoCrew } from '../../src/cli/demo/crew.ts';
import { demoFences } from '../../src/cli/demo/fences.ts';
import { demoZones } from '../../src/cli/demo/zones.ts';
import { checker } from '../../src/model/check.ts';
import { Fence } from '../../src/model/fence.ts';
import { Location } from '../../src/model/location.ts';
import { Trackable } from '../../src/model/trackable.ts';
import { Zone } from '../../src/model/zone.ts';
import { type FakeHub, fakeHub } from './fake_hub.ts';
import { runCli, startCli, startCliWith } from './run_cli.ts';

test('the entities of the demo match the model', () => {
  assert.deepEqual(
    demoZones().map((zone) => checker(Zone).explain(zone)),
    [undefined, undefined, undefined],
  );
  assert.deepEqual(
    demoFences().filter((fence) => checker(Fence).explain(fence) !== undefined),
    [],
  );
  assert.deepEqual(
    demoCrew(1).filter(({ trackable }) => checker(Trackable).explain(trackable) !== undefined),
    [],
  );
});

test('the 13 fences of the demo use all members of a fence', () => {
  const fences = demoFences();
  assert.equal(fences.length, 13);
  const used = new Set(fences.flatMap((fence) => Object.keys(fence)));
  assert.deepEqual(
    Object.keys(Fence.properties).filter((field) => !used.has(field)),
    [],
  );
  assert.ok(fences.some(({ region }) => region.type === 'Polygon' && region.coordinates.length > 1));
  assert.deepEqual(new Set(fences.map(({ crs }) => crs)), new Set(['EPSG:4326', 'local']));
  assert.deepEqual(new Set(fences.map(({ floor }) => floor)), new Set([undefined, 0, 1]));
});

function asked(hub: FakeHub, path: string): unknown[] {
  return hub.asked.filter((each) => each.path === `/hub/v2${path}`).map(({ body }) => body);
}

test('demo creates the site, then sends 10 times a second, and reports', async (context) => {
  const hub = await fakeHub(context, {
    answer({ path }, self) {
      if (path.endsWith('/locations')) self.publish('fence_events', [{ event_type: 'region_entry' }]);
      return { status: path.endsWith('s/locations') ? 204 : 201 };
    },
  });
  const { code, out, err } = await runCli('demo', '--seconds', '0.5', '--hub', hub.url);
  assert.deepEqual({ code, out }, { code: 0, out: '' });
  assert.match(
    err,
    /^zones: 3 created, 0 updated, 0 rejected\nfences: 13 created.*\ntrackables: 40 created.*\nFeeding 40 tags into /,
  );
  assert.match(err, /\nStopped\. \d+ s {2}\d+ locations {2}\d+ gate readings {2}entries [1-9]/);
  const batches = asked(hub, '/providers/locations') as unknown[][];
  assert.ok(batches.length >= 1 && batches.length <= 5, `${batches.length} batches`);
  assert.ok(batches.flat().every((location) => checker(Location).fits(location)));
});

test('demo prints its last line when it is interrupted', async (context) => {
  let arrived = () => {};
  const first = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const hub = await fakeHub(context, {
    answer({ path }) {
      if (path.endsWith('/locations')) arrived();
      return { status: 204 };
    },
  });
  const { child, finished } = startCli('demo', '--hub', hub.url);
  await first;
  child.kill('SIGINT');
  const { code, err } = await finished;
  assert.equal(code, 0);
  assert.match(err, /\nStopped\. [^\n]+\n$/);
});

test('demo reports what the hub rejects', async (context) => {
  const hub = await fakeHub(context, { answer: () => ({ status: 400, message: 'no room' }) });
  const { code, err } = await runCli('demo', '--hub', hub.url);
  assert.equal(code, 1);
  assert.match(err, /^zones: 0 created, 0 updated, 3 rejected\n {2}zones\[0\]: 400 no room\n/);
  assert.match(err, /\nThe hub rejects the zones of the demo\n$/);
});

test('demo feeds the hub of these settings on any port', async (context) => {
  const hub = await fakeHub(context, {
    answer: ({ path }) => ({ status: path.endsWith('s/locations') ? 204 : 201 }),
  });
  const { port } = new URL(hub.url);
  const { finished } = startCliWith({ HUB_PORT: port, HUB_HOST: '0.0.0.0' }, 'demo', '--seconds', '0.3');
  const { code, err } = await finished;
  assert.equal(code, 0, err);
  assert.ok(asked(hub, '/zones').length > 0);
});
