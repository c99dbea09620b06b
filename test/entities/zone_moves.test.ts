import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ZoneMove } from '../../src/core/zone/following.ts';
import { ZoneMoves } from '../../src/entities/zone_moves.ts';
import { SimulatedTime } from '../adapters/simulated_time.ts';
import { openEntities, rfidZone } from './open_entities.ts';

const LIST = { 'com.hdm.hub.zone.autozoneupdate.providers': ['tag'] };

function move(id: string, seq: number, lon = seq): ZoneMove {
  return { id, by: { kind: 'provider', id: 'tag' }, seq, position: [lon, 50], floor: 0 };
}

/** Moves over real entities and a simulated clock, with zones `a` and `b` that follow a provider. */
async function open() {
  const time = new SimulatedTime();
  const disk = { fails: false, commits: 0 };
  const { entities, reported } = openEntities({
    async commit() {
      disk.commits++;
      if (disk.fails) throw errorWith('HUB_UNAVAILABLE', 'The disk is full');
    },
  });
  for (const id of ['a', 'b']) await entities.create('zone', rfidZone({ id, properties: LIST }));
  disk.commits = 0;
  reported.length = 0;
  const { now, schedule } = time;
  const moves = new ZoneMoves({ entities, shardsSettled: async () => undefined, now, schedule });
  const lonOf = (id: string) => entities.get('zone', id)?.position?.coordinates[0];
  return { time, disk, entities, reported, moves, lonOf };
}

describe('ZoneMoves', () => {
  it('moves zones at once, then at an interval, by the latest location of each', async () => {
    const { time, disk, entities, moves, lonOf } = await open();
    moves.take([move('a', 1)]);
    await entities.settled();
    assert.deepEqual([lonOf('a'), disk.commits], [1, 1]);
    for (let seq = 2; seq < 100; seq++) {
      moves.take([move('a', seq), move('b', seq, 7)]);
      await entities.settled();
    }
    assert.deepEqual([lonOf('a'), disk.commits, time.pendingMs.length], [1, 1, 1]);
    time.advance(50);
    await entities.settled();
    assert.deepEqual([lonOf('a'), lonOf('b'), disk.commits], [99, 7, 2]);
    time.advance(1000);
    moves.take([move('b', 100, 8)]);
    await entities.settled();
    assert.deepEqual([lonOf('b'), disk.commits, time.pendingMs], [8, 3, []]);
  });

  it('stores and reports nothing if nothing has moved', async () => {
    const { time, disk, entities, moves, reported } = await open();
    for (let seq = 1; seq < 10; seq++) {
      moves.take([move('a', seq, 5)]);
      time.advance(1000);
      await entities.settled();
    }
    assert.deepEqual([disk.commits, reported.length], [1, 1]);
  });

  it('moves zones at once for a query', async () => {
    const { disk, moves, lonOf, time } = await open();
    moves.take([move('a', 1)]);
    await moves.settled();
    moves.take([move('a', 2)]);
    await moves.settled();
    assert.deepEqual([lonOf('a'), disk.commits, time.pendingMs], [2, 2, []]);
  });

  it('does not delay callers if no zone follows an object', async () => {
    const { entities, moves } = await open();
    assert.ok(moves.settled() instanceof Promise);
    await entities.clear('zone');
    assert.equal(moves.settled(), undefined);
  });

  it('ends at the last location, for any order of the shards', async () => {
    const groups = fc.array(fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.nat(50)), { maxLength: 4 }), {
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(groups, async (taken) => {
        const { entities, moves, lonOf } = await open();
        const last = new Map<string, number>();
        for (const group of taken) {
          moves.take(group.map(([id, seq]) => move(id, seq)));
          for (const [id, seq] of group) last.set(id, Math.max(seq, last.get(id) ?? 0));
          if (group.length === 2) await entities.settled();
        }
        await moves.settled();
        for (const [id, seq] of last) assert.equal(lonOf(id), seq);
      }),
      { numRuns: 100, seed: 7 },
    );
  });

  it('retries moves that could not be stored, unless a newer one has arrived', async () => {
    const { time, disk, entities, moves, lonOf } = await open();
    disk.fails = true;
    moves.take([move('a', 1), move('b', 1)]);
    await entities.settled();
    await Promise.resolve();
    assert.deepEqual([lonOf('a'), time.pendingMs], [8.68, [1000]]);
    moves.take([move('a', 2)]);
    disk.fails = false;
    time.advance(1000);
    await entities.settled();
    assert.deepEqual([lonOf('a'), lonOf('b'), disk.commits], [2, 1, 2]);
  });

  it('retries when too many changes are waiting', async () => {
    const time = new SimulatedTime();
    const { entities } = openEntities({ waitingMax: 1 });
    await entities.create('zone', rfidZone({ id: 'a', properties: LIST }));
    const { now, schedule } = time;
    const moves = new ZoneMoves({ entities, shardsSettled: async () => undefined, now, schedule });
    const other = entities.create('zone', rfidZone({ id: 'b' }));
    moves.take([move('a', 1)]);
    await other;
    assert.deepEqual(time.pendingMs, [1000]);
    time.advance(1000);
    await entities.settled();
    assert.deepEqual(entities.get('zone', 'a')?.position?.coordinates, [1, 50]);
  });

  it('forgets a deleted zone: a recreated one is moved by later locations, regardless of their number', async () => {
    const { time, entities, moves, lonOf } = await open();
    moves.take([move('a', 9)]);
    await moves.settled();
    await entities.remove('zone', 'a');
    moves.forget('a');
    moves.take([move('a', 10)]);
    await entities.create('zone', rfidZone({ id: 'a', properties: LIST }));
    await moves.settled();
    assert.equal(lonOf('a'), 8.68);
    time.advance(1000);
    moves.take([move('a', 3)]);
    await moves.settled();
    assert.equal(lonOf('a'), 3);
  });

  it('completes waiting moves when it is closed, and then waits for nothing', async () => {
    const { time, disk, moves, lonOf } = await open();
    moves.take([move('a', 1)]);
    await moves.settled();
    moves.take([move('a', 2)]);
    await moves.close();
    assert.deepEqual([lonOf('a'), time.pendingMs], [2, []]);
    disk.fails = true;
    moves.take([move('a', 3)]);
    await moves.close();
    assert.deepEqual([lonOf('a'), time.pendingMs], [2, []]);
  });
});
