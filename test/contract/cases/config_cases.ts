import assert from 'node:assert/strict';
import { gps } from '../../support/hall.ts';
import type { TestHub } from '../../support/running_hub.ts';
import type { ContractCase } from './contract_case.ts';

const WRITTEN: readonly [text: string, geojson: boolean][] = [
  ['true', true],
  ['True', true],
  ['TRUE', true],
  ['false', false],
  ['False', false],
  ['FALSE', false],
];

/** Parsing of settings, query parameters and license keys. */
export const CONFIG_CASES: readonly ContractCase[] = [
  {
    by: '94',
    name: 'true and false of a query parameter may be in any letter case',
    async run({ hub }) {
      assert.equal((await hub.put('/providers/tag/location', gps('tag'))).status, 204);
      for (const [text, geojson] of WRITTEN) {
        const { status, body } = await hub.get(`/providers/locations?geojson=${text}`);
        assert.deepEqual([status, body.type === 'FeatureCollection'], [200, geojson], text);
      }
      const { status, body } = await hub.get('/providers/locations?geojson=yes');
      assert.deepEqual([status, body.message], [400, 'geojson: must be true or false, found "yes"']);
    },
  },
  {
    by: '94',
    name: 'true and false of a subscription may be texts in any letter case',
    async run({ hub }) {
      const socket = await hub.socket();
      for (const [text, geojson] of WRITTEN) {
        const recorder = await socket.subscribe('location_updates', { geojson: text, provider_id: text });
        assert.equal((await hub.put(`/providers/${text}/location`, gps(text))).status, 204);
        assert.equal((await recorder.next()).type === 'FeatureCollection', geojson, text);
      }
    },
  },
  {
    by: '94',
    name: 'true and false of the environment may be in any letter case',
    settings: { persist_locations: 'False', cors: 'FALSE' },
    alone: 'a cluster always stores locations',
    async run({ hub, restart }) {
      assert.equal((await hub.put('/providers/tag/location', gps('tag'))).status, 204);
      const { status } = await (await restart()).get('/providers/tag/location');
      assert.equal(status, 404);
    },
  },
  {
    by: '95',
    name: 'without a public key any string is stored as a license key, and /license/info says that it cannot be verified',
    async run({ hub, restart }) {
      const key = '6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b11';
      assert.equal((await hub.put('/license/key', { license_key: 'x'.repeat(16_384) })).status, 204);
      assert.equal((await hub.put('/license/key', { license_key: key })).status, 204);
      const check = async (running: TestHub): Promise<void> => {
        const { status, body } = await running.get('/license/info');
        assert.equal(status, 200);
        assert.match(body.warning, /^Nothing can verify the license key while license_public_keys is empty\.$/);
        const lease = await running.get('/license/lease');
        assert.deepEqual([lease.status, lease.body.type], [400, 'com.flowcate.license.invalid']);
      };
      await check(hub);
      await check(await restart());
    },
  },
  {
    by: '95',
    name: 'a license key that is not a string of 1 to 16,384 characters is rejected, and the previous one stays',
    async run({ hub }) {
      assert.equal((await hub.put('/license/key', { license_key: 'kept' })).status, 204);
      for (const license_key of ['', 'x'.repeat(16_385), 7, null, undefined, ['kept']]) {
        const { status, body } = await hub.put('/license/key', { license_key });
        assert.deepEqual([status, body.type], [400, 'com.flowcate.http.bad_request']);
        assert.match(body.message, /^license_key: /);
      }
      assert.match((await hub.get('/license/info')).body.warning, /^Nothing can verify/);
    },
  },
];
