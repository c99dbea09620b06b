import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ExportedState, LastKnownRow } from '../../src/core/item.ts';
import type { Fence } from '../../src/model/fence.ts';
import { square } from '../support/hall.ts';
import { fence, forced, inHall, iso, provider, ShardHarness, T0, trackable, zone } from '../support/shard_harness.ts';
import { brief, briefMotions } from './brief.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;
const NEAR = [11, 5] as const;

/** A harness with a tag on a cart and one fence, called dock. */
async function open(more: Partial<Fence> = {}): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square({ id: 'dock', ...more })), provider('tag'), trackable('cart', ['tag']));
  return harness;
}

/** Rows stored by a harness: the last of each object. */
function kept(harness: ShardHarness): LastKnownRow[] {
  const rows = new Map<string, LastKnownRow>();
  for (const outcome of harness.outcomes) for (const row of outcome.rows) rows.set(`${row.kind} ${row.id}`, row);
  return [...rows.values()].filter(({ gone }) => gone !== true);
}

/** A new harness that has restored the rows of another at `second`. Overdue exits wait two seconds. */
async function restart(harness: ShardHarness, second: number, more: Partial<Fence> = {}): Promise<ShardHarness> {
  harness.rows = 'all';
  harness.step(0);
  const next = await open(more);
  next.tell(second, { kind: 'restore', rows: kept(harness), suppressUntilMs: T0 + (second + 2) * 1000 });
  return next;
}

describe('after a restart', () => {
  test('members stay members, with their entry time and without events', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN));
    const next = await restart(harness, 100);
    assert.deepEqual(next.events, []);
    const motions = next.outcomes.flatMap((outcome) => outcome.motions);
    assert.deepEqual(
      motions.map(({ kind, id }) => `${kind} ${id}`),
      ['stands cart'],
    );
    assert.deepEqual(next.tell(101, { kind: 'stand', id: 7 }).motions, [{ ...motions[0], seq: motions[0]!.seq + 1 }]);
    assert.deepEqual(next.ask(101, { ask: 'fence_providers', id: 'dock', spatial: false }), { ids: ['tag'] });
    assert.deepEqual(next.ask(101, { ask: 'fence_trackables', id: 'dock', spatial: false }), { ids: ['cart'] });
    next.tell(102, inHall(102, IN));
    assert.deepEqual(next.takeFenceEvents(), []);
    next.tell(103, inHall(103, OUT));
    assert.deepEqual(brief(next.takeFenceEvents()), ['exit dock tag 1-103', 'exit dock cart 1-103']);
  });

  test('locations and motions are available, including those of stationary objects', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN, { accuracy: 3 }));
    const before = harness.ask(2, { ask: 'trackable_motions', view: { crs: 'EPSG:4326' } });
    const next = await restart(harness, 100);
    assert.deepEqual(next.ask(101, { ask: 'trackable_motions', view: { crs: 'EPSG:4326' } }), before);
    const { texts } = next.ask(101, { ask: 'provider_locations', view: { crs: 'local' } }) as { texts: string[] };
    const { position, timestamp_generated: time } = JSON.parse(texts[0] as string);
    for (const meters of position.coordinates) assert.ok(Math.abs(meters - 5) < 0.001, String(meters));
    assert.equal(time, iso(1));
  });

  const EVERYTHING = {
    accuracy: 0.5,
    associated: true,
    floor: 1.5,
    elevation_ref: 'wgs84',
    true_heading: 10,
    speed: 2,
    properties: { note: 'a]},"trackables":[b],"crs":', deep: { trackables: [']},'] } },
  } as const;
  for (const [name, more] of [
    ['says little', {}],
    ['has properties alone', { properties: EVERYTHING.properties }],
    ['says everything', EVERYTHING],
  ] as const) {
    test(`a location that ${name} is returned as stored by every query`, async () => {
      const harness = await open();
      harness.tell(1, trackable(',"trackables":["cart"', ['tag']), inHall(1, [40, 5, 2]));
      harness.tell(2, inHall(2, [50, 5, 2], more));
      const next = await restart(harness, 100);
      next.tell(100, trackable(',"trackables":["cart"', ['tag']));
      for (const { id, kind, ...row } of kept(harness) as (LastKnownRow & { gone?: false })[]) {
        const { texts } = next.ask(101, { ask: `${kind}_location`, id, view: { crs: 'EPSG:4326' } }) as never;
        assert.deepEqual(texts, [row.location.replace(/,"local":\[50,5\]}$/, '}')]);
      }
    });
  }

  test('a row with members in another order has the same meaning', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN, EVERYTHING));
    harness.rows = 'all';
    harness.step(0);
    const [row] = kept(harness) as [LastKnownRow & { gone?: false }];
    const { local: _, ...value } = JSON.parse(row.location);
    for (const names of [Object.keys(value).toReversed(), ['crs', 'trackables', 'position']]) {
      const turned = JSON.stringify({ ...Object.fromEntries(names.map((name) => [name, value[name]])), ...value });
      const next = await open();
      next.tell(100, { kind: 'restore', rows: [{ ...row, location: turned }], suppressUntilMs: T0 });
      const view = { crs: 'EPSG:4326' };
      const { texts } = next.ask(101, { ask: 'provider_location', id: 'tag', view }) as { texts: string[] };
      assert.deepEqual(JSON.parse(texts[0] as string), value);
    }
  });

  test('the order of locations continues', async () => {
    const harness = await open();
    harness.tell(10, inHall(10, IN));
    const next = await restart(harness, 100);
    assert.equal(next.tell(101, inHall(9, IN)).counts.outdated, 1);
    assert.equal(next.tell(101, inHall(10, IN)).counts.processed, 1);
  });

  test('an object that was not a member is still none, whatever its position', async () => {
    const harness = await open({ entry_delay: 60_000 });
    harness.tell(1, inHall(1, IN));
    const next = await restart(harness, 100);
    next.step(1000);
    assert.deepEqual(next.takeFenceEvents(), []);
    next.tell(1001, inHall(1001, IN));
    assert.deepEqual(brief(next.takeFenceEvents()), ['entry dock tag 1001', 'entry dock cart 1001']);
  });

  test('a fence timeout starts at the time of receipt of the last location', async () => {
    const harness = await open({ timeout: 60_000 });
    harness.tell(30, inHall(1, IN));
    const next = await restart(harness, 50, { timeout: 60_000 });
    next.step(89.999);
    assert.deepEqual(next.takeFenceEvents(), []);
    assert.equal(next.outcomes.at(-1)?.nextDeadlineMs, T0 + 90_000);
    next.step(90);
    assert.deepEqual(brief(next.takeFenceEvents()), ['exit dock tag 1-90', 'exit dock cart 1-90']);
  });

  test('an overdue exit fires once, at the end of the hold, with its own time', async () => {
    const harness = await open({ timeout: 60_000 });
    harness.tell(30, inHall(30, IN));
    const next = await restart(harness, 500, { timeout: 60_000 });
    next.step(501.999);
    assert.deepEqual(next.takeFenceEvents(), []);
    assert.equal(next.outcomes.at(-1)?.nextDeadlineMs, T0 + 502_000);
    next.step(502);
    assert.deepEqual(brief(next.takeFenceEvents()), ['exit dock tag 30-90', 'exit dock cart 30-90']);
    next.step(5000);
    next.tell(5001, inHall(5001, OUT));
    assert.deepEqual(next.takeFenceEvents(), []);
  });

  test('several overdue exits of one hold fire in the order of their times', async () => {
    const harness = await open({ timeout: 60_000 });
    harness.tell(10, inHall(10, IN, { provider_id: 'z' }));
    harness.tell(20, inHall(20, IN, { provider_id: 'a' }));
    harness.rows = 'all';
    harness.step(21);
    const next = await open({ timeout: 60_000 });
    next.tell(500, { kind: 'restore', rows: kept(harness), suppressUntilMs: T0 + 502_000 });
    next.step(600);
    assert.deepEqual(brief(next.takeFenceEvents()), ['exit dock z 10-70', 'exit dock a 20-80']);
  });

  test('an overdue exit that migrates to another shard is held there as well', async () => {
    const harness = await open({ timeout: 60_000 });
    harness.tell(30, inHall(30, IN));
    const next = await restart(harness, 500, { timeout: 60_000 });
    const release = { kind: 'exportState', id: 1, providers: ['tag'], trackables: ['cart'] } as const;
    const [answer] = next.tell(501, release).answers;
    const other = await ShardHarness.open();
    other.tell(501, zone(), fence(square({ id: 'dock', timeout: 60_000 })));
    other.tell(501, { kind: 'importState', state: structuredClone(answer?.[1] as ExportedState) });
    assert.deepEqual(other.takeFenceEvents(), []);
    other.step(502);
    assert.deepEqual(brief(other.takeFenceEvents()), ['exit dock tag 30-90', 'exit dock cart 30-90']);
  });

  test('a location before the end of the hold fires the overdue exit first, and then takes effect', async () => {
    const harness = await open({ timeout: 60_000 });
    harness.tell(30, inHall(30, IN));
    const next = await restart(harness, 500, { timeout: 60_000 });
    next.tell(501, inHall(501, IN));
    assert.deepEqual(brief(next.takeFenceEvents()), [
      'exit dock tag 30-90',
      'entry dock tag 501',
      'exit dock cart 30-90',
      'entry dock cart 501',
    ]);
    next.step(503);
    assert.deepEqual(next.takeFenceEvents(), []);
  });

  test('deadlines after a location do not wait for the end of the hold', async () => {
    const harness = await open({ timeout: 500 });
    harness.tell(30, inHall(30, OUT));
    const next = await restart(harness, 500, { timeout: 500 });
    next.tell(500.25, inHall(500.25, IN));
    next.step(500.75);
    assert.equal(next.takeFenceEvents().length, 4);
  });

  test('a change of its fence before the end of the hold does not undo an overdue exit', async () => {
    const harness = await open({ timeout: 60_000 });
    harness.tell(30, inHall(30, IN));
    const next = await restart(harness, 500, { timeout: 60_000 });
    next.tell(500.5, fence(square({ id: 'unrelated', zone_id: 'nowhere' })));
    assert.deepEqual(next.takeFenceEvents(), []);
    next.tell(501, fence(square({ id: 'dock', timeout: 60_000, extrusion: 9 })));
    assert.deepEqual(brief(next.takeFenceEvents()), [
      'exit dock tag 30-90',
      'entry dock tag 501',
      'exit dock cart 30-90',
      'entry dock cart 501',
    ]);
  });

  test('a changed tolerance before the end of the hold does not change an overdue exit', async () => {
    const harness = await open({ timeout: 60_000 });
    harness.tell(30, inHall(30, IN));
    const next = await restart(harness, 500, { timeout: 60_000 });
    next.tell(501, fence(square({ id: 'dock', timeout: 60_000, exit_tolerance: 1 })));
    assert.deepEqual(next.takeFenceEvents(), []);
    next.step(502);
    assert.deepEqual(brief(next.takeFenceEvents()), ['exit dock tag 30-90', 'exit dock cart 30-90']);
  });

  test('tolerance and delay timers are not restored: a member is inside until its next observation', async () => {
    const more = { exit_tolerance: 2, tolerance_timeout: 5000, exit_delay: 5000 };
    for (const last of [NEAR, OUT]) {
      const harness = await open(more);
      harness.tell(1, inHall(1, IN));
      harness.tell(2, inHall(2, last));
      const next = await restart(harness, 3, more);
      next.step(60);
      assert.deepEqual(next.takeFenceEvents(), []);
      next.tell(61, inHall(61, last));
      next.step(66);
      assert.deepEqual(brief(next.takeFenceEvents()), ['exit dock tag 1-66', 'exit dock cart 1-66']);
    }
  });

  test('the trackable continues from its last position: a losing update does not move it', async () => {
    const harness = await open();
    const both = trackable('cart', ['tag', 'other'], {
      locating_rules: [{ expression: "provider_id = 'tag'", priority: 1 }],
    });
    harness.tell(0, provider('other'), both);
    harness.tell(1, inHall(1, IN));
    harness.rows = 'all';
    harness.step(2);
    const next = await open();
    next.tell(0, provider('other'), both);
    next.tell(10, { kind: 'restore', rows: kept(harness), suppressUntilMs: 0 });
    next.tell(11, inHall(11, OUT, { provider_id: 'other' }));
    next.tell(12, forced(both));
    assert.deepEqual([next.takeMotions(), next.takeFenceEvents()], [[], []]);
    next.tell(13, inHall(13, OUT));
    assert.deepEqual(briefMotions(next.takeMotions()), ['cart by tag of 13']);
  });

  test('rows of deleted trackables, and memberships in deleted fences, are ignored', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN));
    harness.rows = 'all';
    harness.step(2);
    const next = await ShardHarness.open();
    next.tell(3, zone(), provider('tag'), { kind: 'restore', rows: kept(harness), suppressUntilMs: 0 });
    assert.deepEqual(next.ask(4, { ask: 'trackable_motions', view: { crs: 'EPSG:4326' } }), { texts: [] });
    assert.deepEqual(next.ask(4, { ask: 'provider_fences', id: 'tag', spatial: false }), { ids: [] });
    next.tell(5, inHall(5, OUT));
    assert.deepEqual(next.takeFenceEvents(), []);
  });

  test('a location that arrived before the rows is newer than they are', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN));
    harness.rows = 'all';
    harness.step(2);
    const next = await open();
    next.tell(10, inHall(10, OUT));
    next.tell(11, { kind: 'restore', rows: kept(harness), suppressUntilMs: 0 });
    next.tell(12, inHall(12, OUT));
    assert.deepEqual(next.takeFenceEvents(), []);
  });
});
