import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { ObjectPartitions } from '../../src/cluster/config/object_partitions.ts';
import { statedIn } from '../../src/cluster/journal/journal_recovery.ts';
import { effectsIn } from '../../src/core/effects.ts';
import type { LastKnownRow, ObjectIds } from '../../src/core/item.ts';
import { look } from '../../src/model/borrowed.ts';
import type { EntityCommand } from '../../src/shards/shard_commands.ts';
import { type JournalRecord, type PackedStep, readStoredRecord } from '../../src/wire/journal_record.ts';
import { asBuffer } from '../../src/wire/location_record.ts';
import { T0 } from '../support/shard_harness.ts';
import { crossingsOf } from './crossings.ts';
import { fenceAround, meters, provider, RunningShards, trackable } from './running_shards.ts';

const TIMERS = { tolerance_timeout: 4000, exit_delay: 3000, entry_delay: 2000, timeout: 9000 };
const ENTITIES: readonly EntityCommand[] = [
  fenceAround('plain', [0, 0], 20, { timeout: 20_000 }),
  fenceAround('timed', [5, 0], 20, { ...TIMERS, exit_tolerance: 2 }),
  ...[0, 1, 2, 3].map((tag) => provider(`tag ${tag}`)),
  ...[0, 1, 2].map((cart) => trackable(`cart ${cart}`, [`tag ${cart}`])),
];

const PARTITIONS = new ObjectPartitions();
PARTITIONS.apply(ENTITIES.map(({ kind, id, entity }) => ({ kind, id, text: JSON.stringify(entity) })));

/** A hub that shares a log with other hubs. */
class SharingHub {
  readonly records: JournalRecord[] = [];
  readonly running: RunningShards;
  /** Whether the hub has left its cluster: it can no longer commit. */
  hasLeft = false;

  constructor(shards: number) {
    this.running = new RunningShards({
      shards,
      sequence: () => 1,
      commitSteps: (_, { released = [], record }) => {
        if (this.hasLeft) return Promise.reject(new Error('It is out'));
        const bytes = [...released.map((each) => each.record), record].flatMap((each) => each ?? []);
        this.records.push(...bytes.map((each) => readStoredRecord(look(each), zstdDecompressSync)));
        return Promise.resolve();
      },
    });
    this.running.tell(...ENTITIES);
  }

  /** Releases objects, and returns the steps with their state. */
  async release(objects: ObjectIds, sequence: number): Promise<readonly PackedStep[]> {
    const before = this.records.length;
    await this.running.shards.release(objects, sequence);
    return this.records.slice(before).flatMap((record) => (record.kind === 'released' ? [record.step] : []));
  }
}

const command = fc.oneof(
  { weight: 12, arbitrary: fc.record({ tag: fc.nat(3), east: fc.integer({ min: -14, max: 22 }) }) },
  { weight: 4, arbitrary: fc.record({ to: fc.nat(1), partitions: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ dies: fc.nat(1), keeps: fc.boolean() }) },
);

test('Objects that migrate back and forth between hubs cross fences as on a single hub, even if worker threads die', async () => {
  let steps = 0;
  const property = fc.asyncProperty(
    fc.tuple(fc.integer({ min: 1, max: 2 }), fc.constant(1)),
    fc.array(command, { minLength: 15, maxLength: 25 }),
    async (counts, commands) => {
      const hubs = counts.map((count) => new SharingHub(count)) as [SharingHub, SharingHub];
      const alone = new SharingHub(1);
      const owners = new Map<number, number>();
      const at = (partition: number): number => owners.get(partition) ?? 0;
      const all = [...hubs, alone];
      try {
        // The objects adopted here are theirs from now on.
        const nothing = { rows: [], steps: [], config: 1, objects: { providers: [], trackables: [] } };
        for (const { running } of all) await running.shards.adopt(nothing, 0);
        for (const each of commands) {
          for (const { running } of all) running.second++;
          if ('tag' in each) {
            const id = `tag ${each.tag}`;
            const owner = hubs[at(PARTITIONS.partitionOf('provider', id))] as SharingHub;
            for (const { running } of [owner, alone]) running.location(id, meters(each.east, 0));
          } else if ('to' in each) {
            const [from, to] = [hubs[1 - each.to], hubs[each.to]] as [SharingHub, SharingHub];
            const isMoved = (partition: number): boolean => {
              return at(partition) === 1 - each.to && partition % each.partitions === 0;
            };
            const { providers, trackables } = from.running.shards.objects();
            const objects = {
              providers: providers.filter((id) => isMoved(PARTITIONS.partitionOf('provider', id))),
              trackables: trackables.filter((id) => isMoved(PARTITIONS.partitionOf('trackable', id))),
            };
            const left = await from.release(objects, 7);
            steps += left.length;
            await to.running.shards.adopt({ rows: [], steps: left, config: 1, objects }, 0);
            for (let partition = 0; partition < 256; partition++) {
              if (isMoved(partition)) owners.set(partition, each.to);
            }
          } else {
            const { running } = hubs[each.dies] as SharingHub;
            if (each.keeps) await running.shards.committed();
            await Promise.all(running.shards.lanes.map((lane) => lane.kill()));
          }
          await Promise.all(all.map(({ running }) => running.settle()));
        }
        for (const { running } of all) running.second += 25;
        await Promise.all(all.map(({ running }) => running.settle()));
        const reported = hubs.flatMap(({ running }) => crossingsOf(running)).sort();
        assert.deepEqual(reported, crossingsOf(alone.running));
      } finally {
        await Promise.all(all.map(({ running }) => running.close()));
      }
    },
  );
  await fc.assert(property, { seed: 5, numRuns: 3, endOnFailure: true });
  assert.ok(steps > 5, `only ${steps} steps`);
});

test("A released object's record precedes the step, with the sequence of the record that released it", async () => {
  const hub = new SharingHub(1);
  try {
    const { running, records } = hub;
    running.location('tag 0', meters(0, 0));
    await running.settle();
    const objects = { providers: ['tag 0', 'tag 1'], trackables: ['cart 0'] };
    await running.shards.release(objects, 42);
    const [released, step] = records.splice(-2);
    assert.deepEqual([released?.kind, step?.kind], ['released', 'step']);
    assert.equal(released?.kind === 'released' && released.sequence, 42);
    // Of an object without state, the record says so.
    const [nothing, ...more] = await hub.release({ providers: ['stranger'], trackables: [] }, 43);
    const places = [...effectsIn(asBuffer(nothing?.effects ?? assert.fail('no record')))];
    assert.deepEqual([places.map(({ id, place }) => [id, place.at]), more], [[['stranger', 'nowhere']], []]);
    assert.equal(await running.read({ ask: 'provider_location', id: 'tag 0' } as never), undefined);
  } finally {
    await hub.running.close();
  }
});

test('A hub outside its cluster releases nothing', async () => {
  const hub = new SharingHub(1);
  try {
    hub.running.location('tag 0', meters(0, 0));
    await hub.running.settle();
    hub.hasLeft = true;
    await assert.rejects(hub.running.shards.release({ providers: ['tag 0'], trackables: ['cart 0'] }, 42), /out of/);
  } finally {
    await hub.running.close();
  }
});

test('Adoption records the rows and steps of the adopted objects, and ignores others', async () => {
  const [from, to] = [new SharingHub(1), new SharingHub(2)];
  try {
    const rows: LastKnownRow[] = [0, 1].map((tag) => {
      const [lon, lat] = meters(0, 0);
      const position = { type: 'Point', coordinates: [lon, lat] };
      const location = { position, source: 'test', provider_type: 'uwb', provider_id: `tag ${tag}`, crs: 'EPSG:4326' };
      const head = { kind: 'provider' as const, id: `tag ${tag}`, receivedMs: T0, eventTimeMs: T0 };
      return { ...head, location: JSON.stringify(location), memberships: [['plain', T0]] };
    });
    for (const tag of [2, 3]) from.running.location(`tag ${tag}`, meters(0, 0));
    const steps = await from.release({ providers: ['tag 2', 'tag 3'], trackables: [] }, 1);
    const objects = { providers: ['tag 1', 'tag 3'], trackables: [] };
    await to.running.shards.adopt({ rows, steps, config: 1, objects }, 0);
    const inside = await to.running.read({ ask: 'fence_providers', id: 'plain', spatial: false });
    assert.deepEqual(inside?.toSorted(), ['tag 1', 'tag 3']);
    const recorded = to.records.flatMap((record) =>
      record.kind === 'step' ? [...effectsIn(asBuffer(record.step.effects))] : [],
    );
    assert.deepEqual(recorded.map(({ id, place, members }) => `${id} ${place.at} ${members?.length}`).toSorted(), [
      'tag 1 fix 1',
      'tag 3 fix 2',
    ]);
    assert.deepEqual(to.running.crossings(), []);
  } finally {
    await Promise.all([from.running.close(), to.running.close()]);
  }
});

test('An unconfigured provider is in the steps, and migrates to the next hub', async () => {
  const [first, second] = [new SharingHub(1), new SharingHub(2)];
  try {
    for (const id of ['tag 0', 'a stranger']) first.running.location(id, meters(0, 0));
    await first.running.settle();
    const steps = first.records.flatMap((record) => (record.kind === 'step' ? [record.step] : []));
    const located = statedIn(steps).provider;
    assert.deepEqual([...located].toSorted(), ['a stranger', 'tag 0']);
    const released = await first.release({ providers: ['a stranger'], trackables: [] }, 7);
    assert.deepEqual([...statedIn(released).provider], ['a stranger']);
    await second.running.shards.adopt(
      { rows: [], steps, config: 1, objects: { providers: [...located], trackables: [] } },
      0,
    );
    assert.ok(second.running.shards.objects().providers.includes('a stranger'));
    const stranger = { providers: ['a stranger'], trackables: [] };
    const [left] = await second.release(stranger, 8);
    assert.deepEqual(left && [...statedIn([left]).provider], ['a stranger']);
  } finally {
    await Promise.all([first.running.close(), second.running.close()]);
  }
});

test('Rows requested again are emitted in the next round', async () => {
  const rows: string[] = [];
  const running = new RunningShards({
    shards: 2,
    beforeStore: (committed) => {
      rows.push(...committed.map((row) => `${row.kind} ${row.id}`));
      return undefined;
    },
  });
  try {
    running.tell(...ENTITIES);
    running.location('tag 0', meters(100, 0));
    running.location('tag 1', meters(100, 0));
    await running.shards.committed();
    rows.length = 0;
    await running.shards.touchAll({ providers: ['tag 0', 'tag 2'], trackables: ['cart 0'] });
    await running.shards.committed();
    assert.deepEqual(rows.toSorted(), ['provider tag 0', 'trackable cart 0']);
  } finally {
    await running.close();
  }
});
