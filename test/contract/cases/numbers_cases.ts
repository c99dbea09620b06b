import assert from 'node:assert/strict';
import fc from 'fast-check';
import { anyJson, exactly } from '../../model/json_texts.ts';
import type { ContractCase } from './contract_case.ts';
import {
  accepted,
  BEACON,
  CART,
  DATA,
  ENTITIES,
  FENCE,
  has,
  listen,
  location,
  makeAll,
  OTHER_CART,
  of,
  SENSORS,
  showsAll,
} from './numbers_site.ts';

export const NUMBERS_CASES: readonly ContractCase[] = [
  {
    by: 'decision 102',
    name: 'Entities of every kind preserve every digit of their properties, also across a restart',
    async run(caseHub) {
      await makeAll(caseHub.hub);
      await showsAll(caseHub.hub);
      has((await caseHub.hub.get(`/fences/${FENCE}?geojson=true`)).text);
      has((await caseHub.hub.get('/fences/summary?geojson=true&crs=EPSG:32632')).text);
      has((await caseHub.hub.get('/anchors/anchor?georef=true')).text);
      has((await caseHub.hub.get('/providers/tag/trackables')).text);
      has((await caseHub.hub.get(`/trackables/${CART}/providers`)).text);
      const stats = (await caseHub.hub.get('/stats/consumption/current')).text;
      has(stats.slice(stats.indexOf('"fences"')));
      has(stats.slice(stats.indexOf('"zones"')));
      const hub = await caseHub.restart();
      await showsAll(hub);
    },
  },
  {
    by: 'decision 102',
    name: 'Replaced and patched entities preserve every digit, and other numbers are ordinary doubles',
    async run({ hub }) {
      await makeAll(hub, '{"old":1}');
      for (const [path, id, members] of ENTITIES) {
        await accepted(hub.put(`${path}/${id}`, `{"id":"${id}",${members},"properties":${DATA}}`));
        has((await hub.get(`${path}/${id}`)).text);
        const patch = `[{"op":"test","path":"/properties/floorId","value":723413320329068590.0},
          {"op":"test","path":"/properties/t","value":21},{"op":"add","path":"/properties/added","value":[2.500]},
          {"op":"copy","from":"/properties/floorId","path":"/properties/copy"},
          {"op":"replace","path":"/properties/plain","value":7.0}]`;
        const patched = (await hub.request('PATCH', `${path}/${id}`, patch)).text;
        const more = `${DATA.slice(0, -2)}7.0,"added":[2.500],"copy":723413320329068590}`;
        has(patched, more);
        const wrong = '[{"op":"test","path":"/properties/floorId","value":723413320329068591}]';
        const refused = await hub.request('PATCH', `${path}/${id}`, wrong);
        assert.equal(refused.status, 400);
        assert.match(refused.text, /found 723413320329068590"/);
      }
      const radius =
        '[{"op":"replace","path":"/radius","value":20.50},{"op":"move","from":"/properties/t","path":"/floor"}]';
      const { text } = await hub.request('PATCH', `/fences/${FENCE}`, radius);
      assert.match(text, /"radius":20\.5,/);
      assert.match(text, /"floor":21[,}]/);
      const number = await hub.request('PATCH', `/fences/${FENCE}`, '{"op":"add","path":"/properties","value":1.0}');
      assert.equal(number.status, 400, number.text);
      const inside = '{"op":"add","path":"/properties/floorId/text","value":1}';
      assert.equal((await hub.request('PATCH', `/fences/${FENCE}`, inside)).status, 400);
      assert.equal((await hub.put(`/fences/${FENCE}`, '{"properties":1.0}')).status, 400);
    },
  },
  {
    by: 'decision 102',
    name: 'Sensors preserve every digit of any JSON value',
    async run(caseHub) {
      let { hub } = caseHub;
      await makeAll(hub);
      const shown = async (sensors: string) => {
        assert.equal((await hub.get('/providers/tag/sensors')).text, sensors);
        assert.equal((await hub.get(`/trackables/${CART}/sensors`)).text, `[${sensors}]`);
        assert.ok((await hub.get('/providers/tag')).text.includes(`"sensors":${sensors}`));
      };
      for (const sensors of ['723413320329068590', '1.0', SENSORS, `{"properties":${DATA}}`]) {
        await accepted(hub.put('/providers/tag/sensors', sensors));
        await shown(sensors);
      }
      hub = await caseHub.restart();
      await shown(`{"properties":${DATA}}`);
      await accepted(hub.put('/providers/tag', `{"type":"uwb","sensors":${SENSORS}}`));
      await shown(SENSORS);
      await accepted(hub.request('PATCH', '/providers/tag', '[{"op":"replace","path":"/sensors/1/t","value":-3.20}]'));
      await shown(SENSORS.replace('3.10', '3.20'));
    },
  },
  {
    by: 'decision 102',
    name: 'Locations preserve every digit of their properties for every reader, whichever way they are sent',
    async run(caseHub) {
      const { hub } = caseHub;
      await makeAll(hub);
      const topics = ['location_updates', 'location_updates:geojson', 'trackable_motions', 'trackable_motions:geojson'];
      const texts = await listen(hub, topics);
      const client = await hub.socket();
      const ways: readonly (() => Promise<void>)[] = [
        () => accepted(hub.put('/providers/tag/location', location('tag'))),
        () => accepted(hub.put('/providers/locations', `[${location('other', '{"a":1}')},${location('tag')}]`)),
        () => accepted(hub.post('/providers/locations', `[${location('tag')}]`)),
        async () => client.send(`{"event":"message","topic":"location_updates","payload":[${location('tag')}]}`),
        () =>
          accepted(hub.put('/providers/tag/location', location('tag').replaceAll('properties', 'prop\\u0065rties'))),
      ];
      let seen = 0;
      for (const way of ways) {
        await way();
        await client.settle();
        await hub.settle();
        has((await hub.get('/providers/tag/location')).text);
        has((await hub.get('/providers/locations')).text);
        const now = texts.slice(seen);
        seen = texts.length;
        for (const topic of topics) has(of(now, topic).join(''));
      }
      for (const path of [
        '/providers/tag/location?geojson=true&crs=EPSG:32632',
        `/trackables/${CART}/location`,
        `/trackables/${CART}/locations`,
        `/trackables/${CART}/motion`,
        '/trackables/motions?geojson=true',
        `/fences/${FENCE}/locations`,
        `/fences/${FENCE}/motions`,
      ]) {
        const { text } = await hub.get(path);
        has(text);
        // The properties of the location, and of the trackable that it moves.
        if (path.includes('motion')) assert.equal(text.split(DATA).length, 3, text);
      }
      const { lanes } = hub.hub.shards;
      for (const lane of lanes) await lane.kill();
      await hub.settle();
      has((await hub.get(`/trackables/${CART}/location`)).text);
      has((await hub.get(`/trackables/${CART}/motion`)).text);
      const again = await caseHub.restart();
      has((await again.get('/providers/tag/location')).text);
      assert.equal((await again.get(`/trackables/${CART}/motion`)).text.split(DATA).length, 3);
    },
  },
  {
    by: 'decision 102',
    name: 'Locations and trackables that migrate to another shard preserve every digit',
    async run({ hub }) {
      const tags = Array.from({ length: 12 }, (_, i) => `tag-${i}`);
      await accepted(hub.put('/providers/locations', `[${tags.map((tag) => location(tag)).join(',')}]`));
      const cart = `{"id":"${OTHER_CART}","type":"omlox","properties":${DATA},"location_providers":${JSON.stringify(tags)}}`;
      await accepted(hub.post('/trackables?force_location_update=true', cart));
      await hub.settle();
      assert.equal((await hub.get(`/trackables/${OTHER_CART}/locations`)).text.split(DATA).length, tags.length + 1);
      assert.equal((await hub.get(`/trackables/${OTHER_CART}/motion`)).text.split(DATA).length, 3);
      await accepted(hub.put(`/trackables/${OTHER_CART}`, cart.replace(/\[.*?\]/, '["tag-3"]')));
      await hub.settle();
      for (const tag of tags) has((await hub.get(`/providers/${tag}/location`)).text);
    },
  },
  {
    by: 'decision 102',
    name: 'Proximities bring every digit of their properties to subscribers and into the location',
    async run({ hub }) {
      await makeAll(hub);
      const texts = await listen(hub, ['proximity_updates', 'location_updates']);
      const proximity = `{"source":"${BEACON}","provider_type":"rfid","provider_id":"tag","properties":${DATA}}`;
      const client = await hub.socket();
      const ways: readonly (() => Promise<void>)[] = [
        () => accepted(hub.put('/providers/tag/proximity', proximity)),
        () => accepted(hub.put('/providers/proximities', `[${proximity}]`)),
        async () => client.send(`{"event":"message","topic":"proximity_updates","payload":[${proximity}]}`),
      ];
      for (const [i, way] of ways.entries()) {
        await way();
        await client.settle();
        await hub.settle();
        for (const topic of ['proximity_updates', 'location_updates']) {
          assert.equal(of(texts, topic).length, i + 1, topic);
          for (const text of of(texts, topic)) has(text);
        }
      }
    },
  },
  {
    by: 'decision 102',
    name: 'Fence events carry every digit of the fence, and posted ones their own',
    async run({ hub }) {
      await makeAll(hub);
      const topics = ['fence_events', 'fence_events:geojson'];
      const texts = await listen(hub, topics);
      await accepted(hub.put('/providers/tag/location', location('tag', '{"a":1}')));
      await hub.settle();
      for (const topic of topics) has(of(texts, topic).join(''));
      const own = '{"seen":0.10}';
      const posted = `{"event_type":"region_entry","provider_id":"tag","properties":${own}}`;
      await accepted(hub.post(`/fences/${FENCE}/events`, posted));
      await accepted(hub.put(`/fences/${FENCE}/events`, posted.replace(`,"properties":${own}`, '')));
      await hub.settle();
      for (const topic of topics) {
        const [mine, inherited] = of(texts, topic).slice(-2);
        has(mine ?? '', own);
        has(inherited ?? '');
      }
    },
  },
  {
    by: 'decision 102',
    name: 'Change events have every digit of the entity',
    async run({ hub }) {
      const kinds = ['zone', 'provider', 'trackable', 'fence', 'anchor'];
      const texts = await listen(
        hub,
        kinds.map((kind) => `${kind}_changes`),
      );
      await makeAll(hub);
      await accepted(hub.put('/providers/tag/sensors', SENSORS));
      await hub.settle();
      for (const kind of kinds) for (const text of of(texts, `${kind}_changes`)) has(text);
      assert.ok(of(texts, 'provider_changes').at(-1)?.includes(`"sensors":${SENSORS}`));
    },
  },
  {
    by: 'decision 102',
    name: 'The Cisco adapter preserves every digit of what it copies, and reads positions as doubles',
    async run({ hub }) {
      const body = `{"notifications":[{"notificationType":"locationupdate","deviceId":"c1","eventId":723413320329068590,
        "moveDistanceInFt":12.50,"band":5e0,"geoCoordinate":{"latitude":50.10,"longitude":9.0},
        "locationCoordinate":{"x":10.0,"y":20.50,"unit":"METERS"},"confidenceFactor":16.0,"timestamp":1.7950728E12}]}`;
      await accepted(hub.post('/adapters/cisco/locations', body));
      await hub.settle();
      const { text } = await hub.get('/providers/c1/location');
      assert.match(text, /"event_id":723413320329068590/);
      assert.match(text, /"move_distance_ft":12\.50/);
      assert.match(text, /"band":5e0/);
      assert.match(text, /"coordinates":\[9,50\.1\]/);
      assert.match(text, /"accuracy":16,/);
    },
  },
  {
    by: 'decision 102',
    name: 'Any JSON in properties is preserved digit by digit through create, read, list, patch, locations and a restart',
    async run(caseHub) {
      let { hub } = caseHub;
      const samples = fc.sample(anyJson, { numRuns: 40, seed: 1020 }).map((text, i) => ({ text, id: `p${i}` }));
      // The hub writes no white space, escapes like JSON.stringify, and retains the last of duplicate names.
      const wanted = new Map<string, string>();
      const check = async (): Promise<void> => {
        const list = (await hub.get('/providers/summary')).text;
        for (const [id, text] of wanted) {
          has((await hub.get(`/providers/${id}`)).text, text);
          has((await hub.get(`/providers/${id}/location`)).text, text);
          has(list, text);
        }
      };
      for (const { id, text } of samples) {
        wanted.set(id, exactly(text));
        await accepted(hub.post('/providers', `{"id":"${id}","type":"uwb","properties":${text}}`));
        await accepted(hub.put(`/providers/${id}/location`, location(id, text)));
      }
      await check();
      for (const { id, text } of samples) {
        const patch = `[{"op":"test","path":"/properties","value":${text}},{"op":"add","path":"/properties","value":${text}}]`;
        await accepted(hub.request('PATCH', `/providers/${id}`, patch));
      }
      await check();
      hub = await caseHub.restart();
      await check();
    },
  },
];
