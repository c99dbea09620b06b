import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigState, EMPTY_STATE } from '../../src/cluster/config/config_state.ts';
import type { RecoveredJournal } from '../../src/cluster/journal/journal_recovery.ts';
import { RemovedSources } from '../../src/cluster/migration/source_state.ts';
import { EffectWriter } from '../../src/core/effects.ts';
import { copied } from '../../src/model/borrowed.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';

/** The record that moves provider "p" from partition 1 to partition 2. */
const MOVE = 9;
const EARLIER = 5;
const [OLD, NEW, OTHER] = [1, 2, 3] as const;

function stepOf(...ids: readonly string[]) {
  const effects = new EffectWriter(newRecordBuffer);
  for (const id of ids) {
    const object = { kind: 'provider', id, fix: undefined, members: [], suppressUntilMs: 0, changes: 0 };
    effects.write(object as never, { withMembers: true, isLocated: false, hasZone: () => false, shared: -1 });
  }
  return { batch: new Uint8Array(0), effects: copied(effects.take()) };
}

/** A journal with steps of these providers, and with provider "p" released because of a record. */
function journal(ids: readonly string[], departed?: number): RecoveredJournal {
  const record = { kind: 'released' as const, config: 8, sequence: departed ?? 0, endMs: 2, step: stepOf('p') };
  return {
    steps: [{ endMs: 1, step: stepOf(...ids) }],
    earlier: [],
    departed: new Map(departed === undefined ? [] : [['provider p', departed]]),
    released: departed === undefined ? [] : [record],
    delivered: new Set(),
    config: 10,
    requests: new Map(),
  };
}

/** Journals of removed members that had these partitions; `others` are no sources. */
function removed(
  journals: Readonly<Record<string, readonly [partitions: readonly number[], RecoveredJournal]>>,
  {
    others = {},
    isAdopted = false,
    released = 0,
  }: Partial<Record<'isAdopted', boolean>> & {
    readonly others?: Readonly<Record<string, RecoveredJournal>>;
    readonly released?: number;
  } = {},
): RemovedSources {
  const sources = Object.entries(journals).map(([of, [partitions]]) => ({ of, released, partitions }));
  const state: ConfigState = {
    ...EMPTY_STATE,
    sources,
    migrating: [{ sequence: MOVE, objects: [['provider', 'p', OLD, NEW]] }],
  };
  return new RemovedSources({
    ...{ state, partitionOf: () => NEW, isAdopted: () => isAdopted },
    sources: sources.map((source) => ({ ...source, isMember: false })),
    journals: new Map([
      ...Object.entries(journals).map(([of, [, each]]) => [of, each] as const),
      ...Object.entries(others),
    ]),
    hadAtItsEnd: (of) => journals[of]?.[0] ?? [],
  });
}

function shown(sources: RemovedSources, of = 'a') {
  return {
    arrived: sources.arrived.map(({ object: [, id] }) => id),
    inTransit: sources.inTransit.map(({ object: [, id] }) => id),
    departed: sources.stateOf({ of, released: 0, partitions: [], isMember: false }).departed,
  };
}

const P = ['p'];

for (const [what, sources, expected] of [
  ['is at its old partition, whose owner had not released it', removed({ a: [[OLD], journal(P)] }), [[], [], []]],
  ['is in transit when its owner had released it', removed({ a: [[OLD], journal(P, MOVE)] }), [[], P, P]],
  [
    'is in transit when a member had released it that is no source any more',
    removed({ a: [[OLD], journal(['q'])] }, { others: { b: journal(P, MOVE) } }),
    [[], P, []],
  ],
  [
    'is in transit for those that had other partitions of its owner',
    removed({ a: [[OTHER], journal(P, MOVE)] }),
    [[], P, P],
  ],
  ['has arrived when the owner of its new partition had it', removed({ a: [[NEW], journal(P)] }), [P, [], []]],
  [
    'has not arrived again when this hub has it already',
    removed({ a: [[NEW], journal(P)] }, { isAdopted: true }),
    [[], [], []],
  ],
  [
    'has arrived with the later owner when both have failed',
    removed({ a: [[OLD], journal(P, MOVE)], b: [[NEW], journal(P)] }),
    [P, P, P],
  ],
  [
    'is at its old partition when a later owner of it had both',
    removed({ a: [[NEW], journal(P, MOVE)], b: [[OLD, NEW], journal(P)] }),
    [[], [], P],
  ],
  [
    'is at its old partition when it was released earlier, and has come back',
    removed({ a: [[OLD], journal(P, EARLIER)] }),
    [[], [], P],
  ],
] as const) {
  test(`A migrating object ${what}`, () => {
    const [arrived, inTransit, departed] = expected;
    const names = departed.map((id) => `provider ${id}`);
    assert.deepEqual(shown(sources), { arrived, inTransit, departed: names });
  });
}

test('Rows of released objects are outdated in the partitions that their owner had written', () => {
  const { releasedObjects } = removed({ a: [[OLD], journal(P, MOVE)], b: [[NEW], journal(P)] });
  assert.deepEqual(releasedObjects, [
    { partitions: [OLD], objects: [['provider', 'p']] },
    { partitions: [NEW], objects: [] },
  ]);
});

test('Objects that were released with their partition are acquired as of before the record', () => {
  const sources = removed({ a: [[NEW], journal(P, EARLIER)] }, { released: EARLIER });
  const { departed, config } = sources.stateOf({ of: 'a', released: EARLIER, partitions: [NEW], isMember: false });
  assert.deepEqual([departed, config], [[], EARLIER - 1]);
});
