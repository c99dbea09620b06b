import assert from 'node:assert/strict';
import { HALL } from '../../support/hall.ts';
import type { TestHub, TestReply } from '../../support/running_hub.ts';
import type { ContractCase } from './contract_case.ts';

const VERSIONS = ['v1', 'v2'];
const POSITION = { type: 'Point', coordinates: [9, 50] };
const POINTS = HALL.ground_control_points;
const PROXIMITY_TYPES = ['rfid', 'ibeacon'];

/** A valid entity, invalid changes to it, and the expected error of each. */
interface Refusal {
  readonly path: string;
  readonly good: object;
  readonly bad: object;
  readonly message: RegExp;
}

/** Both versions reject it on POST and on PUT, name the field, and leave the entity unchanged. */
async function assertRefused(hub: TestHub, { path, good, bad, message }: Refusal): Promise<void> {
  for (const version of VERSIONS) {
    const collection = `${hub.origin}/hub/${version}${path}`;
    const before = (await hub.get(collection)).text;
    assertBad(await hub.post(collection, bad), message);
    assert.equal((await hub.get(collection)).text, before, 'nothing was created');
    const created = await hub.post(collection, good);
    assert.equal(created.status, 201, created.text);
    const item = `${collection}/${created.body.id}`;
    assertBad(await hub.put(item, bad), message);
    assert.deepEqual((await hub.get(item)).body, created.body, 'nothing was changed');
    assert.equal((await hub.delete(item)).status, 204);
  }
}

function assertBad({ status, body, text }: TestReply, message: RegExp): void {
  assert.equal(status, 400, text);
  assert.equal(body.code, 400);
  assert.match(body.message, message);
}

/** Requests that must be rejected according to the specification. */
export const REJECTION_CASES: readonly ContractCase[] = [
  {
    by: 'Errors item 1',
    name: 'a trackable that names a provider twice is rejected on POST, PUT and PATCH',
    async run({ hub }) {
      const good = { type: 'omlox', location_providers: ['a', 'b'] };
      const bad = { ...good, location_providers: ['a', 'b', 'a'] };
      const message = /^location_providers\[2\]: must differ .*found "a"$/;
      await assertRefused(hub, { path: '/trackables', good, bad, message });
      const { body } = await hub.post('/trackables', good);
      const patch = { op: 'add', path: '/location_providers/-', value: 'b' };
      assertBad(await hub.request('PATCH', `/trackables/${body.id}`, patch), /^location_providers\[2\]: must differ/);
    },
  },
  {
    by: 'Errors item 2',
    name: 'a proximity zone with ground control points is rejected, also as an incomplete one',
    async run({ hub }) {
      for (const type of PROXIMITY_TYPES) {
        const good = { type, position: POSITION };
        for (const more of [{}, { incomplete_configuration: true }]) {
          const bad = { ...good, ...more, ground_control_points: POINTS };
          const message = /^ground_control_points: must be absent .*found 8 rows$/;
          await assertRefused(hub, { path: '/zones', good, bad, message });
        }
      }
    },
  },
  {
    by: 'Errors item 3',
    name: 'a proximity zone without a position is rejected',
    async run({ hub }) {
      for (const type of PROXIMITY_TYPES) {
        const message = /^position: is required for a proximity zone/;
        await assertRefused(hub, { path: '/zones', good: { type, position: POSITION }, bad: { type }, message });
      }
    },
  },
  {
    by: 'Errors item 4',
    name: 'a zone without a required member is accepted on POST and PUT if and only if incomplete_configuration is true',
    async run({ hub }) {
      const zones = [
        { type: 'rfid', whole: { position: POSITION }, message: /^position: is required/ },
        { type: 'uwb', whole: { ground_control_points: POINTS }, message: /^ground_control_points: are required/ },
      ];
      for (const { type, whole, message } of zones) {
        for (const more of [{}, { incomplete_configuration: false }, { incomplete_configuration: null }]) {
          await assertRefused(hub, { path: '/zones', good: { type, ...whole }, bad: { type, ...more }, message });
        }
        const unfinished = { type, incomplete_configuration: true };
        for (const version of VERSIONS) {
          const base = `${hub.origin}/hub/${version}`;
          const created = await hub.post(`${base}/zones`, unfinished);
          assert.equal(created.status, 201, created.text);
          const item = `${base}/zones/${created.body.id}`;
          assert.equal((await hub.put(item, { type, ...whole })).status, 204);
          assert.equal((await hub.put(item, unfinished)).status, 204);
          assert.equal((await hub.get(item)).body.incomplete_configuration, true);
          const local = {
            position: { type: 'Point', coordinates: [1, 2] },
            source: created.body.id,
            provider_type: type,
          };
          assertBad(await hub.put(`${base}/providers/tag/location`, local), /^source: /);
        }
      }
      assertBad(
        await hub.post('/zones', { type: 'uwb', incomplete_configuration: 'true' }),
        /^incomplete_configuration: must be true or false, found "true"$/,
      );
    },
  },
  {
    by: 'Zone sentence 1',
    name: 'a zone with ground control points may have a position or none',
    async run({ hub }) {
      for (const position of [undefined, POSITION]) {
        const { status, body } = await hub.post('/zones', { type: 'uwb', ground_control_points: POINTS, position });
        assert.deepEqual([status, body.position], [201, position]);
      }
    },
  },
  {
    by: 'Errors item 5',
    name: 'a fence with an invalid geometry is rejected, and the error names the defect and its position',
    async run({ hub }) {
      const ring = (...points: readonly (readonly number[])[]) => ({ type: 'Polygon', coordinates: [points] });
      const crossed = ring([9, 50], [9.001, 50.001], [9.001, 50], [9, 50.001], [9, 50]);
      const good = { region: POSITION, radius: 5 };
      const rows: readonly (readonly [region: unknown, message: RegExp])[] = [
        [crossed, /^region: must be a valid polygon, found Self-intersection at \[9\.0005, 50\.0005\]$/],
        [ring([9, 50], [9, 91], [10, 50], [9, 50]), /^region\.coordinates\[0\]\[1\]\[1\]: must be a latitude.*91$/],
        [ring([9, 50], ['x', 50] as never, [10, 51], [9, 50]), /^region\.coordinates\[0\]\[1\]\[0\]: .*found "x"$/],
        [undefined, /^region: is required/],
      ];
      for (const [region, message] of rows) {
        await assertRefused(hub, { path: '/fences', good, bad: { region }, message });
      }
      await assertRefused(hub, {
        path: '/fences',
        good,
        bad: { region: POSITION },
        message: /^radius: must be greater/,
      });
    },
  },
  {
    by: 'Errors item 7',
    name: 'collision_tolerance on a trackable is rejected in favor of exit_tolerance',
    async run({ hub }) {
      const good = { type: 'omlox', exit_tolerance: 1 };
      const bad = { type: 'omlox', collision_tolerance: 1 };
      const message = /^collision_tolerance: was renamed exit_tolerance, found 1$/;
      await assertRefused(hub, { path: '/trackables', good, bad, message });
    },
  },
];
