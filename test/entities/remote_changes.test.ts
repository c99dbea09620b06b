import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ZoneMove } from '../../src/core/zone/following.ts';
import { type RemoteChange, writtenChange } from '../../src/entities/change.ts';
import type { Change } from '../../src/entities/entities.ts';
import { isSilent } from '../../src/entities/detached_fences.ts';
import { LocatingRules } from '../../src/entities/locating_rules.ts';
import { ZoneMoves } from '../../src/entities/zone_moves.ts';
import { ExactNumber } from '../../src/model/lossless_numbers.ts';
import type { LocatingRule } from '../../src/model/rule.ts';
import { TaskScheduler } from '../../src/time/task_scheduler.ts';
import { SimulatedTime } from '../adapters/simulated_time.ts';
import { HALL, square } from '../support/hall.ts';
import { openEntities, rfidZone, UUID_A } from './open_entities.ts';

const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const remote = (
  kind: RemoteChange['kind'],
  entity: { id: string; [member: string]: unknown },
  more: Partial<RemoteChange> = {},
): RemoteChange => {
  return { kind, id: entity.id, text: JSON.stringify(entity), force: false, ...more };
};
const gone = (kind: RemoteChange['kind'], id: string): RemoteChange => ({ kind, id, text: null, force: false });
const P = { id: 'p', type: 'uwb' };

/** A group is processed in one turn, however slow the machine is. */
class OneTurn extends TaskScheduler {
  override isLong(): boolean {
    return false;
  }
}

/** Entities whose commits wait until the test determines their outcome. */
function openShared() {
  const commits: { readonly resolve: (outcome?: 'overtaken') => void; readonly changes: readonly Change[] }[] = [];
  const { entities, reported } = openEntities({
    turns: new OneTurn(),
    commit: (changes) => new Promise<'overtaken' | undefined>((resolve) => void commits.push({ resolve, changes })),
  });
  /** Completes the waiting commit with an outcome. */
  const conclude = async (outcome?: 'overtaken') => {
    const commit = commits.shift();
    assert.ok(commit, 'nothing is being committed');
    if (outcome === undefined) entities.committed();
    commit.resolve(outcome);
    await settle();
  };
  return { entities, reported, commits, conclude };
}

describe('Entities, changed by another hub,', () => {
  it('are reported with their previous state', () => {
    const { entities, reported } = openEntities();
    const trackable = { id: UUID_A, type: 'omlox' };
    entities.applyRemote([remote('provider', P), remote('trackable', trackable, { force: true })]);
    entities.applyRemote([remote('provider', { ...P, type: 'gps' }), gone('trackable', UUID_A)]);
    assert.deepEqual(reported, [
      { kind: 'provider', id: 'p', before: undefined, after: P },
      { kind: 'trackable', id: UUID_A, before: undefined, after: trackable, force: true },
      { kind: 'provider', id: 'p', before: P, after: { ...P, type: 'gps' } },
      { kind: 'trackable', id: UUID_A, before: trackable, after: undefined },
    ]);
    assert.deepEqual([entities.list('provider'), entities.list('trackable')], [[{ ...P, type: 'gps' }], []]);
  });

  it('are equal to those that the other hub has written', async () => {
    const { entities: one, reported } = openEntities();
    await one.create('zone', HALL);
    await one.create('fence', square({ id: 'dock' }));
    await one.create('trackable', { id: UUID_A, type: 'omlox', properties: { weight: 1 } });
    const heavy = { id: UUID_A, type: 'omlox', properties: { weight: new ExactNumber('1.50') } };
    await one.replace('trackable', UUID_A, heavy, { force: true });
    await one.remove('zone', HALL.id);
    const { entities: other, reported: reportedThere } = openEntities();
    other.applyRemote(reported.map(writtenChange));
    assert.deepEqual(reportedThere, reported);
    assert.deepEqual(reportedThere.map(isSilent), [false, false, false, false, true, false]);
    assert.deepEqual([...other.written()], [...one.written()]);
    assert.ok([...other.written()].some(({ text }) => text.includes('1.50')));
  });

  it('are not reported if a record changes nothing', () => {
    const { entities, reported } = openEntities();
    entities.applyRemote([remote('provider', P, { ifAbsent: true })]);
    entities.applyRemote([gone('zone', 'z'), remote('provider', { ...P, type: 'gps' }, { ifAbsent: true })]);
    assert.deepEqual([reported.length, entities.get('provider', 'p')], [1, P]);
  });

  it('are not affected by a record with invalid JSON', async () => {
    const { entities, reported, conclude } = openShared();
    const created = entities.create('provider', P);
    await settle();
    for (const [text, message] of [
      ['{', /^Error: Cannot apply a change of zone "z": .*JSON/],
      ['5', /^Error: Cannot apply a change of zone "z": must be an object with an id, found 5$/],
      ['{"name":"z"}', /must be an object with an id, found {"name":"z"}$/],
    ] as const) {
      const changes = [gone('provider', 'p'), { kind: 'zone' as const, id: 'z', text, force: false }];
      assert.throws(() => entities.applyRemote(changes), message);
    }
    await conclude();
    assert.deepEqual([await created, reported.length], [P, 1]);
  });
});

describe('Entities, if another hub commits first,', () => {
  it('are validated again, and respond according to the new state', async () => {
    const { entities, conclude } = openShared();
    const [created, other] = [entities.create('provider', P), entities.create('provider', { ...P, id: 'q' })];
    const refused = assert.rejects(created, { code: 'HUB_BAD_REQUEST', message: 'id: provider "p" already exists' });
    await settle();
    entities.applyRemote([remote('provider', { ...P, type: 'gps' })]);
    assert.deepEqual(
      [...entities.written()].map(({ id }) => id),
      ['p'],
    );
    await conclude('overtaken');
    await conclude();
    await refused;
    assert.equal((await other).id, 'q');
    assert.equal(entities.get('provider', 'p')?.type, 'gps');
  });

  it('still have the providers that locations have announced, and create them later', async () => {
    const { entities, reported, conclude } = openShared();
    const ensured = entities.ensureProvider('p', 'uwb');
    await settle();
    entities.applyRemote([]);
    assert.ok(entities.has('provider', 'p'));
    assert.deepEqual([entities.count('provider'), entities.list('provider'), [...entities.written()]], [1, [P], []]);
    assert.equal(entities.ensureProvider('p', 'gps'), ensured);
    await conclude('overtaken');
    assert.equal(entities.count('provider'), 1);
    const joined = entities.ensureProvider('p', 'gps');
    assert.ok(joined, 'known before it is stored');
    await conclude();
    await Promise.all([ensured, joined]);
    assert.equal(entities.ensureProvider('p', 'gps'), undefined);
    assert.deepEqual(
      reported.map(({ id }) => id),
      ['p'],
    );
  });

  it('do not duplicate a provider that the other hub has created, nor restore one that it has deleted', async () => {
    const { entities, commits, conclude } = openShared();
    const ensured = entities.ensureProvider('p', 'uwb');
    await settle();
    const before = entities.providersGone;
    entities.applyRemote([remote('provider', { ...P, type: 'gps' })]);
    assert.equal(entities.ensureProvider('p', 'uwb'), undefined);
    assert.deepEqual([entities.count('provider'), entities.providersGone - before], [1, 0]);
    await conclude('overtaken');
    await ensured;
    assert.equal(commits.length, 0);
    entities.applyRemote([gone('provider', 'p')]);
    assert.deepEqual([entities.has('provider', 'p'), entities.providersGone - before], [false, 1]);
    assert.ok(entities.ensureProvider('p', 'uwb'));
  });

  it('include a provider that was announced again after its deletion, whichever change is reverted', async () => {
    const { entities, conclude } = openShared();
    const works = [entities.ensureProvider('p', 'uwb'), entities.remove('provider', 'p')];
    await settle();
    assert.equal(entities.has('provider', 'p'), false);
    works.push(entities.ensureProvider('p', 'gps'));
    const isShown = () => assert.ok(entities.has('provider', 'p'));
    isShown();
    entities.applyRemote([]);
    isShown();
    await conclude('overtaken');
    isShown();
    await conclude();
    await conclude();
    await Promise.all(works);
    assert.deepEqual(entities.list('provider'), [{ ...P, type: 'gps' }]);
  });
});

const LIST = { 'com.hdm.hub.zone.autozoneupdate.providers': ['tag'] };
const move = (id: string, seq: number): ZoneMove => {
  return { id, by: { kind: 'provider', id: 'tag' }, seq, position: [seq, 50], floor: 0 };
};

describe('ZoneMoves, if another hub commits first,', () => {
  async function open() {
    const time = new SimulatedTime();
    const shared = openShared();
    const { entities } = shared;
    entities.applyRemote(['a', 'b'].map((id) => remote('zone', { ...rfidZone({ properties: LIST }), id })));
    const { now, schedule } = time;
    const moves = new ZoneMoves({ entities, shardsSettled: async () => undefined, now, schedule });
    moves.take([move('a', 1), move('b', 2)]);
    await settle();
    const lonOf = (id: string) => entities.get('zone', id)?.position?.coordinates[0];
    return { ...shared, time, moves, lonOf };
  }

  it('are repeated with the latest move of each zone', async () => {
    const { entities, moves, conclude, commits, lonOf, time } = await open();
    entities.applyRemote([]);
    moves.take([move('b', 3)]);
    assert.deepEqual([lonOf('a'), lonOf('b')], [8.68, 8.68]);
    await conclude('overtaken');
    assert.deepEqual([lonOf('a'), lonOf('b'), commits[0]?.changes.length], [1, 3, 2]);
    await conclude();
    time.advance(1000);
    await settle();
    assert.deepEqual([lonOf('a'), lonOf('b'), commits.length], [1, 3, 0]);
  });

  it('do not move a zone that was deleted and created again', async () => {
    const { entities, moves, conclude, lonOf } = await open();
    moves.forget('a');
    const again = { ...rfidZone({ properties: LIST }), id: 'a' };
    entities.applyRemote([gone('zone', 'a'), remote('zone', again)]);
    await conclude('overtaken');
    await conclude();
    assert.deepEqual([lonOf('a'), lonOf('b')], [8.68, 2]);
  });
});

describe('LocatingRules', () => {
  it('are those of the last record, regardless of when commits are answered', async () => {
    const reported: unknown[] = [];
    const answers: (() => void)[] = [];
    const rules = new LocatingRules({
      commit: () => new Promise<'applied'>((resolve) => void answers.push(() => resolve('applied'))),
      committed: (changed) => void reported.push(changed),
    });
    const [own, later, others] = [1, 2, 3].map((priority): LocatingRule[] => [
      { expression: 'accuracy < 5', priority },
    ]);
    assert.ok(own && later && others);
    const replaced = [rules.replace(own), rules.replace(later)];
    await settle();
    rules.apply(own);
    rules.apply(later);
    rules.apply(others);
    for (const answer of answers.toReversed()) answer();
    assert.deepEqual(await Promise.all(replaced), [own, later]);
    assert.deepEqual([rules.current, reported], [others, [own, later, others]]);
  });
});
