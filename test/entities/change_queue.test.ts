import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { anchoredZone } from '../../src/core/zone/control_points.ts';
import { ChangeQueue } from '../../src/entities/change_queue.ts';
import type { Change, Kind } from '../../src/entities/entities.ts';
import { HubError } from '../../src/errors.ts';
import { NeverLong } from '../support/never_long.ts';
import { openEntities, point, rfidZone, UUID_A, UUID_B, UUID_C, uwbZone } from './open_entities.ts';

/** A queue of numbers appended to a list. */
function openQueue(options: { commit?: () => Promise<void>; committed?: () => void; groupMax?: number } = {}) {
  const list: number[] = [];
  const groups: number[][] = [];
  const queue = new ChangeQueue<number>(
    {
      apply(change) {
        list.push(change);
        return () => {
          assert.equal(list.pop(), change, 'changes are reverted in reverse order');
        };
      },
      async commit(changes) {
        groups.push([...changes]);
        await options.commit?.();
      },
      committed: () => options.committed?.(),
    },
    { waitingMax: 100, groupMax: options.groupMax ?? 100, turns: new NeverLong() },
  );
  const add = (...changes: number[]) =>
    queue.run((write) => {
      for (const change of changes) write(change);
      return changes;
    });
  return { queue, list, groups, add };
}

describe('ChangeQueue', () => {
  it('commits simultaneous steps at once, and waiting ones as the next group', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { groups, add } = openQueue({ commit: () => promise });
    const first = [add(1), add(2)];
    await Promise.resolve();
    const second = [add(3), add(4)];
    assert.deepEqual(groups, [[1, 2]]);
    resolve();
    assert.deepEqual(await Promise.all([...first, ...second]), [[1], [2], [3], [4]]);
    assert.deepEqual(groups, [
      [1, 2],
      [3, 4],
    ]);
  });

  it('reverts a step that throws, and keeps the others of its group', async () => {
    const { queue, list, groups, add } = openQueue();
    const good = add(1);
    const bad = queue.run((write) => {
      write(2);
      throw new Error('no');
    });
    const later = add(3);
    await assert.rejects(bad, /^Error: no$/);
    await Promise.all([good, later]);
    assert.deepEqual([list, groups], [[1, 3], [[1, 3]]]);
  });

  it('reverts the whole group when the commit fails, and continues', async () => {
    let fails = true;
    const commit = async () => {
      if (fails) throw new Error('disk full');
    };
    const { list, add } = openQueue({ commit });
    const results = await Promise.allSettled([add(1, 2), add(3)]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    assert.deepEqual(list, []);
    fails = false;
    await add(4);
    assert.deepEqual(list, [4]);
  });

  it('commits nothing for steps without changes', async () => {
    const { queue, groups } = openQueue();
    assert.equal(await queue.run(() => 'looked'), 'looked');
    assert.deepEqual(groups, []);
  });

  it('bounds its groups', async () => {
    const { groups, add } = openQueue({ groupMax: 2 });
    await Promise.all([add(1), add(2), add(3)]);
    assert.deepEqual(groups, [[1, 2], [3]]);
  });

  it('rejects a step when too many are waiting', async () => {
    const { add } = openQueue();
    const taken = Array.from({ length: 100 }, (_, i) => add(i));
    await assert.rejects(add(100), { code: 'HUB_UNAVAILABLE' });
    await Promise.all(taken);
    await add(101);
  });

  it('keeps committed changes and reports the failure when a notification of them fails', async () => {
    const { list, add } = openQueue({
      committed() {
        throw new Error('nobody listens');
      },
    });
    await assert.rejects(add(1), /nobody listens/);
    assert.deepEqual(list, [1]);
  });
});

type Command =
  | { readonly do: 'create' | 'replace' | 'remove'; readonly kind: Kind; readonly id: string; readonly body: object }
  | { readonly do: 'clear'; readonly kind: Kind }
  | { readonly do: 'ensure'; readonly id: string }
  | { readonly do: 'wait' };

const TRACKABLES = [UUID_A, UUID_B, UUID_C];
const NAMES = ['a', 'b', 'c'];

const optional = (values: readonly string[]) => fc.constantFrom(undefined, ...values);
const bodies: Record<Kind, fc.Arbitrary<object>> = {
  zone: fc.oneof(
    fc.record({ foreign_id: optional(['x', 'y']), parent: optional([...TRACKABLES, ...NAMES]) }).map(rfidZone),
    fc.record({ anchor_ids: fc.subarray(NAMES) }).map(uwbZone),
  ),
  fence: fc.record({ radius: fc.constantFrom(1, 2) }).map((circle) => ({ ...circle, region: point(8, 50) })),
  trackable: fc
    .record({ location_providers: fc.subarray(NAMES), parent: optional(TRACKABLES) })
    .map((trackable) => ({ ...trackable, type: 'omlox' })),
  provider: fc.record({ type: fc.constantFrom('uwb', 'gps') }),
  anchor: fc.record({
    local_position: fc.constantFrom(point(0, 0), point(50, 0), point(0, 50)),
    georeferenced_position: fc.constantFrom(point(8, 50), point(8.001, 50), point(8, 50.001), undefined),
  }),
};

const kinds = fc.constantFrom<Kind>('zone', 'fence', 'trackable', 'provider', 'anchor');
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 10, arbitrary: kinds.chain(change) },
  { weight: 1, arbitrary: kinds.map((kind) => ({ do: 'clear' as const, kind })) },
  { weight: 4, arbitrary: fc.constantFrom(...NAMES).map((id) => ({ do: 'ensure' as const, id })) },
  { weight: 4, arbitrary: fc.constant({ do: 'wait' as const }) },
);

function change(kind: Kind): fc.Arbitrary<Command> {
  return fc.record({
    do: fc.constantFrom<'create' | 'replace' | 'remove'>('create', 'create', 'replace', 'remove'),
    kind: fc.constant(kind),
    id: fc.constantFrom(...(kind === 'trackable' ? TRACKABLES : NAMES)),
    // Omits members without a value, like JSON.
    body: bodies[kind].map((body) => JSON.parse(JSON.stringify(body)) as object),
  });
}

describe('Entities under concurrent changes', () => {
  it('equal the result of the successful commits in order, with all indexes', async () => {
    const runs = fc.array(command, { maxLength: 40 });
    const outages = fc.array(fc.boolean(), { maxLength: 20 });
    await fc.assert(fc.asyncProperty(runs, outages, converges), { numRuns: 300, seed: 7 });
  });
});

async function converges(commands: readonly Command[], outages: readonly boolean[]): Promise<void> {
  let commits = 0;
  const { entities, reported } = openEntities({
    async commit() {
      const fails = outages[commits++] === true;
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (fails) throw errorWith('HUB_UNAVAILABLE', 'Cannot write: no store');
    },
  });
  const work: Promise<PromiseSettledResult<unknown>[]>[] = [];
  // Settled immediately, since some reject while the next commands are still being sent.
  const track = (promise: Promise<unknown> | undefined) => void work.push(Promise.allSettled([promise]));
  for (const step of commands) {
    if (step.do === 'wait') await new Promise<void>((resolve) => setImmediate(resolve));
    else if (step.do === 'clear') track(entities.clear(step.kind));
    else if (step.do === 'ensure') {
      track(entities.ensureProvider(step.id, 'wifi'));
      assert.ok(entities.has('provider', step.id), 'an ensured provider is visible at once');
    } else if (step.do === 'remove') track(entities.remove(step.kind, step.id));
    else if (step.do === 'create') track(entities.create(step.kind, { id: step.id, ...step.body }));
    else track(entities.replace(step.kind, step.id, step.body));
  }
  for (const result of (await Promise.all(work)).flat()) {
    if (result.status === 'rejected') assert.ok(result.reason instanceof HubError, String(result.reason));
  }
  for (const kind of ['zone', 'fence', 'trackable', 'provider', 'anchor'] as const) {
    assert.deepEqual(entities.list(kind), replayed(kind, reported));
    assert.equal(entities.count(kind), entities.list(kind).length);
  }
  checkIndexes(entities);
}

/** Entities of a kind after these changes to an empty store. */
function replayed(kind: Kind, reported: readonly Change[]): unknown[] {
  const state = new Map<string, unknown>();
  for (const { id, before, after } of reported.filter((row) => row.kind === kind)) {
    assert.deepEqual(state.get(id), before);
    if (after === undefined) state.delete(id);
    else state.set(id, after);
  }
  return [...state.values()];
}

function checkIndexes(entities: ReturnType<typeof openEntities>['entities']): void {
  for (const name of NAMES) {
    const naming = entities.list('trackable').filter((row) => row.location_providers?.includes(name));
    const sorted = naming.sort((a, b) => (a.id < b.id ? -1 : 1));
    assert.deepEqual(entities.trackablesOf(name), sorted);
  }
  for (const foreignId of ['x', 'y']) {
    const named = entities.list('zone').filter((row) => row.foreign_id === foreignId);
    assert.ok(named.length <= 1);
    assert.equal(entities.zoneByForeignId(foreignId), named[0]);
  }
  for (const zone of entities.list('zone')) {
    assert.deepEqual(
      entities.placed(zone),
      anchoredZone(zone, (id) => entities.get('anchor', id)),
    );
  }
  for (const kind of ['zone', 'trackable'] as const) {
    for (const { parent } of entities.list(kind)) {
      if (parent == null) continue;
      assert.ok(entities.has('trackable', parent) || (kind === 'zone' && entities.has('zone', parent)), parent);
    }
  }
}
