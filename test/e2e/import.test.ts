import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Import } from '../../src/model/import.ts';
import { HubProcess, locationOf } from '../durability/hub_process.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { waitsDuring } from '../support/waits.ts';

const CARTS = 10_000;
const FENCES = 10_000;
/** Importing one by one took minutes. A busy machine may need a multiple of seconds. */
const SECONDS_MAX = 30;

const uuid = (kind: string, number: number) => `${kind}-0000-4000-8000-${String(number).padStart(12, '0')}`;
const square = (x: number, y: number) => {
  const corners = [
    [x, y],
    [x + 1e-4, y],
    [x + 1e-4, y + 1e-4],
    [x, y + 1e-4],
    [x, y],
  ];
  return { type: 'Polygon', coordinates: [corners] };
};

function site(fences: number) {
  return {
    format: 'location-hub-entities',
    version: 1,
    trackables: Array.from({ length: CARTS }, (_, number) => {
      return {
        id: uuid('aaaaaaaa', number),
        type: 'omlox',
        name: `Cart ${number}`,
        location_providers: [`tag-${number}`],
      };
    }),
    fences: Array.from({ length: fences }, (_, number) => {
      const region = square(9 + (number % 100) / 1000, 50 + Math.floor(number / 100) / 1000);
      return { id: uuid('ffffffff', number), name: `Bay ${number}`, region };
    }),
    locating_rules: [{ expression: 'accuracy < 2', priority: 1 }],
  };
}

const folder = temporaryFolder();
let hub = await HubProcess.start(folder, { num_threads: 2 });

async function current(): Promise<Import> {
  const answered = await hub.get('/import');
  return answered?.body;
}

async function imported(document: object, query = ''): Promise<Import> {
  const begun = await hub.post(`/import${query}`, document);
  assert.equal(begun?.status, 202, JSON.stringify(begun?.body));
  for (;;) {
    const shown = await current();
    assert.equal(shown.id, begun?.body.id);
    if (shown.ended_at !== undefined) return shown;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('20,000 changes are imported within seconds, other requests are answered in the meantime, and a restart preserves them', async (t) => {
  const document = site(FENCES);
  const startMs = performance.now();
  const dry = await imported(document, '?dry_run=true');
  const dryMs = performance.now() - startMs;
  assert.deepEqual([dry.state, (await hub.get('/fences'))?.body], ['done', []]);
  const done = imported(document);
  const waits = await waitsDuring(done, async () => assert.equal((await hub.get('/version'))?.status, 200));
  const { state, counts } = await done;
  t.diagnostic(
    `dry run ${Math.round(dryMs)} ms, import ${Math.round(waits.tookMs)} ms, longest wait of others ${Math.round(waits.longestMs)} ms`,
  );
  const none = { changed: 0, unchanged: 0, deleted: 0 };
  const created = { trackables: { created: CARTS, ...none }, fences: { created: FENCES, ...none } };
  assert.deepEqual([state, counts], ['done', created]);
  assert.ok(waits.tookMs < SECONDS_MAX * 1000, `it took ${waits.tookMs} ms`);
  // The shards have received all entities: the tag of a cart brings it into the first bay.
  const location = {
    ...locationOf('tag-0', 1),
    position: { type: 'Point', coordinates: [9.00005, 50.00005] },
    crs: 'EPSG:4326',
  };
  assert.equal((await hub.put('/providers/locations', [location]))?.status, 204);
  const inside = (await hub.get(`/trackables/${uuid('aaaaaaaa', 0)}/fences`))?.body as { id: string }[];
  assert.deepEqual(
    inside.map(({ id }) => id),
    [uuid('ffffffff', 0)],
  );

  await hub.stop();
  hub = await HubProcess.start(folder, { num_threads: 2 });
  assert.equal((await hub.get('/fences'))?.body.length, FENCES);
  assert.deepEqual((await hub.get('/trackables/rules/locating'))?.body, document.locating_rules);
  assert.deepEqual((await hub.get('/import'))?.body, { state: 'idle' });
  const { counts: again } = await imported(document, '?dry_run=true');
  assert.deepEqual(again?.fences, { ...none, created: 0, unchanged: FENCES });
});

test('20,000 changes are all discarded if one of them is invalid', async () => {
  const document = site(FENCES);
  const last = document.fences.at(-1) as { region: unknown };
  last.region = { type: 'Point', coordinates: [9, 95] };
  const first = document.trackables[0] as { name: string };
  first.name = 'renamed';
  const refused = await imported(document);
  assert.deepEqual(
    refused.problems?.map(({ place }) => place),
    [`fences[${FENCES - 1}].region.coordinates[1]`],
  );
  const kept = await hub.get(`/trackables/${uuid('aaaaaaaa', 0)}`);
  assert.equal(kept?.body.name, 'Cart 0');
});

test('A body that is not a document is rejected at once', async () => {
  assert.match(
    JSON.stringify((await hub.post('/import', { format: 'geojson' }))?.body),
    /format: must be \\"location-hub-entities\\", found \\"geojson\\"/,
  );
});
