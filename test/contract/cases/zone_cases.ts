import assert from 'node:assert/strict';
import { HALL } from '../../support/hall.ts';
import type { ContractCase } from './contract_case.ts';
import { at, BOTH_EXIT, brief, FENCE, hallMoved, hears, send, withCartInside } from './cart_scene.ts';

/** Fences and positions in local coordinates of a zone, or with heights. */
export const ZONE_CASES: readonly ContractCase[] = [
  {
    by: 'decision 108',
    name: 'Moved ground control points carry fences and silent tags along, also after a restart',
    async run({ hub: first, restart }) {
      const events = await withCartInside(first);
      const motions = await first.subscribe('trackable_motions');
      const before = (await first.get('/providers/tag/location')).body.position.coordinates;
      assert.equal((await first.put(`/zones/${HALL.id}`, hallMoved(20))).status, 204);
      await hears(first, events, []);
      assert.equal(motions.events.length, 1);
      const after = (await first.get('/providers/tag/location')).body.position.coordinates;
      assert.ok(after[0] > before[0] + 0.0002, `${before} is now ${after}`);
      const local = (await first.get('/providers/tag/location?crs=local')).body.position.coordinates;
      assert.deepEqual(local, [5, 5]);
      const hub = await restart();
      const later = await hub.subscribe('fence_events');
      assert.equal((await hub.put(`/zones/${HALL.id}`, hallMoved(40))).status, 204);
      await hears(hub, later, []);
      assert.deepEqual((await hub.get('/providers/tag/location?crs=local')).body.position.coordinates, [5, 5]);
      assert.deepEqual((await hub.get(`/fences/${FENCE.id}/trackables?spatial_query=true`)).body.length, 1);
    },
  },
  {
    by: 'decision 108',
    name: 'A zone with control points that follows an object carries its local coordinates along',
    async run({ hub }) {
      const properties = { 'com.hdm.hub.zone.autozoneupdate.providers': ['truck'] };
      const position = { type: 'Point', coordinates: [9, 50] };
      const events = await withCartInside(hub);
      assert.equal((await hub.put(`/zones/${HALL.id}`, { ...HALL, position, properties })).status, 204);
      const truck = { position: { type: 'Point', coordinates: [9.5, 50.2] }, crs: 'EPSG:4326', provider_type: 'gps' };
      assert.equal((await hub.put('/providers/truck/location', truck)).status, 204);
      const zone = (await hub.get(`/zones/${HALL.id}`)).body;
      assert.deepEqual(zone.position.coordinates, [9.5, 50.2]);
      assert.deepEqual(zone.ground_control_points.slice(0, 2), [
        [9.5, 50.2],
        [0, 0],
      ]);
      await hub.settle();
      assert.deepEqual(
        events
          .take()
          .map(brief)
          .filter((line) => line !== 'entry truck'),
        [],
      );
      await send(hub, at(5));
      const [lon, lat] = (await hub.get('/providers/tag/location')).body.position.coordinates;
      assert.ok(Math.abs(lon - 9.50007) < 1e-4 && Math.abs(lat - 50.200045) < 1e-4, `${lon} ${lat}`);
    },
  },
  {
    by: 'decision 100',
    name: 'A tag that shakes at the top of a fence is held by the exit tolerance',
    async run({ hub }) {
      const events = await withCartInside(hub, { extrusion: 3, exit_tolerance: 2 });
      for (const z of [1, 3.1, 2.9, 3.1]) {
        await send(hub, at(5, 'tag', { position: { type: 'Point', coordinates: [5, 5, z] } }));
      }
      await hears(hub, events, []);
      await send(hub, at(5, 'tag', { position: { type: 'Point', coordinates: [5, 5, 5.1] } }));
      await hears(hub, events, BOTH_EXIT);
    },
  },
  {
    by: 'decision 101',
    name: 'Heights above the ellipsoid and above the floor are compared if the zone specifies the height of its floor',
    async run({ hub }) {
      const events = await withCartInside(hub, { extrusion: 3 });
      const high = (z: number) =>
        at(5, 'tag', { position: { type: 'Point', coordinates: [5, 5, z] }, elevation_ref: 'wgs84' });
      await send(hub, high(410));
      await hears(hub, events, []);
      assert.equal((await hub.put(`/zones/${HALL.id}`, { ...HALL, wgs84_height: 400 })).status, 204);
      await hears(hub, events, BOTH_EXIT);
      await send(hub, high(402));
      await hears(hub, events, ['entry tag', 'entry cart']);
    },
  },
];
