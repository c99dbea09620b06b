import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { square } from '../support/hall.ts';
import { fence, inHall, ShardHarness, trackable, zone } from '../support/shard_harness.ts';
import { brief, briefMotions } from './brief.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;
const UWB = { provider_id: 'uwb' };
const GPS = { provider_id: 'gps', provider_type: 'gps' as const };
const BOTH = ['uwb', 'gps'];

const FRESH_UWB_FIRST = [
  { expression: "type = 'uwb' AND timestamp_diff < 10000", priority: 10 },
  { expression: "type = 'gps' AND accuracy < 10", priority: 9 },
];

async function open(): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square({ id: 'dock' })));
  return harness;
}

function whose(harness: ShardHarness, second: number): string {
  const answer = harness.ask(second, { ask: 'trackable_location', id: 'cart', view: { crs: 'EPSG:4326' } });
  return JSON.parse((answer as { texts: string[] }).texts[0] as string).provider_id;
}

describe('without rules the significant location is', () => {
  test('the newest', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', BOTH));
    harness.tell(5, inHall(4, IN, UWB), inHall(5, OUT, GPS));
    assert.equal(whose(harness, 6), 'gps');
    harness.tell(7, inHall(4.5, IN, UWB));
    assert.equal(whose(harness, 8), 'gps');
  });

  test('among equally old ones the last received', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', BOTH));
    harness.tell(5, inHall(5, OUT, GPS), inHall(5, IN, UWB));
    assert.equal(whose(harness, 6), 'uwb');
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by gps of 5', 'cart by uwb of 5']);
    harness.tell(7, inHall(5, OUT, GPS));
    assert.equal(whose(harness, 8), 'gps');
  });
});

describe('rules', () => {
  test('make the location of the highest priority win, also over newer ones', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', BOTH, { locating_rules: FRESH_UWB_FIRST }));
    harness.tell(1, inHall(1, IN, UWB));
    harness.tell(2, inHall(2, OUT, { ...GPS, accuracy: 1 }));
    harness.tell(3, inHall(3, IN, UWB));
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by uwb of 1', 'cart by uwb of 3']);
    assert.equal(whose(harness, 3), 'uwb');
  });

  test('suppress motions and fence events of a losing update', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', BOTH, { locating_rules: FRESH_UWB_FIRST }));
    harness.tell(1, inHall(1, IN, UWB));
    harness.takeMotions();
    harness.takeFenceEvents();
    const outcome = harness.tell(2, inHall(2, OUT, { ...GPS, accuracy: 1 }));
    assert.deepEqual(harness.observed.motions, []);
    assert.deepEqual(outcome.motions, []);
    assert.deepEqual(harness.observed.fenceEvents, []);
    assert.equal(harness.observed.locations.length, 2);
  });

  test('are evaluated with each location: an aged one loses', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', BOTH, { locating_rules: FRESH_UWB_FIRST }));
    harness.tell(1, inHall(1, IN, UWB));
    harness.tell(10.999, inHall(10.999, OUT, { ...GPS, accuracy: 1 }));
    assert.equal(harness.observed.motions.length, 1);
    harness.tell(11, inHall(11, OUT, { ...GPS, accuracy: 1 }));
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by uwb of 1', 'cart by gps of 11']);
  });

  test('are evaluated when the location is queried, without a motion', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', BOTH, { locating_rules: FRESH_UWB_FIRST }));
    harness.tell(1, inHall(1, IN, UWB), inHall(1, OUT, { ...GPS, accuracy: 1 }));
    assert.equal(whose(harness, 10), 'uwb');
    assert.equal(whose(harness, 11), 'gps');
    assert.equal(harness.observed.motions.length, 1);
  });

  test('may select a third location when one arrives, and the trackable moves there', async () => {
    const harness = await open();
    const wifi = { provider_id: 'wifi', provider_type: 'wifi' as const };
    harness.tell(0, trackable('cart', ['uwb', 'gps', 'wifi'], { locating_rules: FRESH_UWB_FIRST }));
    harness.tell(1, inHall(1, IN, UWB));
    harness.tell(2, inHall(2, OUT, { ...GPS, accuracy: 1 }));
    harness.takeFenceEvents();
    harness.tell(12, inHall(12, IN, wifi));
    harness.tell(13, inHall(13, IN, wifi));
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by uwb of 1', 'cart by gps of 2']);
    assert.deepEqual(brief(harness.takeFenceEvents()), ['entry dock wifi 12', 'exit dock cart 1-12']);
  });

  test('of the hub apply to trackables without their own', async () => {
    const harness = await open();
    const gpsFirst = [{ expression: "type = 'gps'", priority: 1 }];
    harness.tell(0, { kind: 'rules', rules: gpsFirst });
    harness.tell(0, trackable('cart', BOTH), trackable('own', BOTH, { locating_rules: FRESH_UWB_FIRST }));
    harness.tell(0, trackable('empty', BOTH, { locating_rules: [] }));
    harness.tell(1, inHall(1, OUT, GPS), inHall(2, IN, UWB));
    const [first, ...later] = [harness.takeMotions().slice(0, 3), harness.takeMotions()].map(briefMotions);
    assert.deepEqual(first, ['cart by gps of 1', 'empty by gps of 1', 'own by gps of 1']);
    assert.deepEqual(later, [[]]);
  });

  test('of the hub take effect when they change', async () => {
    const harness = await open();
    harness.tell(0, trackable('cart', BOTH));
    harness.tell(1, inHall(1, OUT, GPS), inHall(2, IN, UWB));
    harness.takeMotions();
    harness.tell(3, { kind: 'rules', rules: [{ expression: "type = 'gps'", priority: 1 }] });
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by gps of 1']);
    harness.tell(4, inHall(4, IN, UWB));
    assert.deepEqual(harness.takeMotions(), []);
    harness.tell(5, { kind: 'rules', rules: [] });
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by uwb of 4']);
    harness.tell(6, inHall(6, IN, UWB));
    assert.deepEqual(briefMotions(harness.takeMotions()), ['cart by uwb of 6']);
  });

  test('can use type, source, floor and provider of a location, and NULL for missing ones', async () => {
    for (const [expression, wins] of [
      ["type = 'gps'", true],
      ["provider_id = 'gps'", true],
      ["source = 'roof'", true],
      ['floor = 3', true],
      ['speed > 2', true],
      ['accuracy < 5', false],
      ['accuracy >= 0', false],
      ['accuracy IS NULL', true],
    ] as const) {
      const harness = await open();
      harness.tell(0, trackable('cart', BOTH, { locating_rules: [{ expression, priority: 1 }] }));
      harness.tell(1, inHall(1, OUT, { ...GPS, crs: 'EPSG:4326', source: 'roof', floor: 3, speed: 2.5 }));
      harness.tell(2, inHall(2, IN, { ...UWB, accuracy: 7, speed: 1 }));
      assert.equal(whose(harness, 2), wins ? 'gps' : 'uwb', expression);
    }
  });
});
