import assert from 'node:assert/strict';
import { HALL, square } from '../../support/hall.ts';
import type { TestHub } from '../../support/running_hub.ts';
import type { ContractCase } from './contract_case.ts';

const DOCK = square({ id: 'dock', zone_id: 'hall', name: 'Dock' });
const CART = '0b680db2-b39b-45be-be77-40d7d2296cb4';

/** Creates the dock, a local fence, and removes its zone. */
async function orphaned(hub: TestHub, how: 'deleted' | 'renamed'): Promise<void> {
  await made(hub, '/zones', HALL);
  await made(hub, '/fences', DOCK);
  const zone = `/zones/${HALL.id}`;
  const gone = how === 'deleted' ? await hub.delete(zone) : await hub.put(zone, { ...HALL, foreign_id: 'tower' });
  assert.equal(gone.status, 204);
}

async function made(hub: TestHub, path: string, body: object): Promise<void> {
  const { status, text } = await hub.post(path, body);
  assert.equal(status, 201, text);
}

/** Moves the provider into the dock, or far away from it. */
async function put(hub: TestHub, where: 'in the dock' | 'away'): Promise<void> {
  const coordinates = where === 'away' ? [9.01, 50] : [9.00005, 50.00003];
  const body = { position: { type: 'Point', coordinates }, provider_type: 'uwb', crs: 'EPSG:4326' };
  assert.equal((await hub.put('/providers/tag/location', body)).status, 204);
  await hub.settle();
}

const fromHow = (['deleted', 'renamed'] as const).flatMap((how): ContractCase[] => [
  {
    by: 'decision 105',
    name: `A local fence whose zone is ${how} is returned at its old position, as GeoJSON too`,
    async run({ hub }) {
      await made(hub, '/zones', HALL);
      await made(hub, '/zones', { ...HALL, id: 'other', foreign_id: 'other' });
      await made(hub, '/fences', DOCK);
      const views = ['', '?geojson=true', '?crs=EPSG:4326', '?crs=EPSG:32632', '?crs=local&zone_id=other'];
      const shown = () => Promise.all(views.map(async (view) => (await hub.get(`/fences/dock${view}`)).body));
      const listed = async () => (await hub.get('/fences/summary?geojson=true')).body;
      const [before, listBefore] = [await shown(), await listed()];
      const zone = `/zones/${HALL.id}`;
      if (how === 'deleted') await hub.delete(zone);
      else await hub.put(zone, { ...HALL, foreign_id: 'tower' });
      assert.deepEqual(await shown(), before);
      assert.deepEqual(await listed(), listBefore);
    },
  },
  {
    by: 'decision 105',
    name: `A local fence whose zone is ${how} can be changed, and replaced by the response to GET`,
    async run({ hub }) {
      await orphaned(hub, how);
      const before = (await hub.get('/fences/dock')).body;
      const renamed = await hub.request('PATCH', '/fences/dock', { op: 'replace', path: '/name', value: 'Gate' });
      assert.deepEqual([renamed.status, renamed.body], [200, { ...before, name: 'Gate' }]);
      // Replaced by the same fence, as by clients that repeat their whole setup.
      assert.equal((await hub.put('/fences/dock', { ...DOCK, timeout: 5000 })).status, 204);
      assert.deepEqual((await hub.get('/fences/dock')).body, { ...before, timeout: 5000 });
      assert.equal((await hub.put('/fences/dock', before)).status, 204);
      assert.deepEqual((await hub.get('/fences/dock')).body, before);
    },
  },
  {
    by: 'decision 105',
    name: `A local fence whose zone is ${how} stays in effect without an event, also after a restart`,
    async run({ hub, restart }) {
      await made(hub, '/zones', HALL);
      await made(hub, '/fences', DOCK);
      await made(hub, '/trackables', { id: CART, type: 'omlox', location_providers: ['tag'] });
      await put(hub, 'in the dock');
      const events = await hub.subscribe('fence_events');
      const changes = await hub.subscribe('fence_changes');
      const zone = `/zones/${HALL.id}`;
      if (how === 'deleted') await hub.delete(zone);
      else await hub.put(zone, { ...HALL, foreign_id: 'tower' });
      await hub.settle();
      assert.deepEqual([events.events, changes.events], [[], []]);
      const shown = (await hub.get('/fences/dock')).body;
      const again = await restart();
      assert.deepEqual((await again.get('/fences/dock')).body, shown);
      const later = await again.subscribe('fence_events');
      await put(again, 'away');
      await put(again, 'in the dock');
      await again.settle();
      // In a cluster the events of different objects have no order.
      for (const object of [null, CART]) {
        const types = later.events.filter(({ trackable_id: id }) => id === object).map(({ event_type: type }) => type);
        assert.deepEqual(types, ['region_exit', 'region_entry'], `${object}`);
      }
    },
  },
]);

/** Local fences without a zone. */
export const LOCAL_FENCE_CASES: readonly ContractCase[] = [
  ...fromHow,
  {
    by: 'decision 105',
    name: 'A local fence is attached again when a zone with its name is created',
    async run({ hub }) {
      await orphaned(hub, 'deleted');
      const before = (await hub.get('/fences/dock')).body;
      await made(hub, '/zones', HALL);
      assert.deepEqual((await hub.get('/fences/dock?crs=local&zone_id=hall')).body, DOCK);
      assert.deepEqual((await hub.get('/fences/dock')).body, before);
    },
  },
];
