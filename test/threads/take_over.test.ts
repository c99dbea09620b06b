import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import type { StoredRow, LastKnownRow } from '../../src/core/item.ts';
import { keyOf } from '../../src/core/row_bytes.ts';
import { look } from '../../src/model/borrowed.ts';
import type { EntityCommand } from '../../src/shards/shard_commands.ts';
import { readStoredRecord } from '../../src/wire/journal_record.ts';
import { crossingsOf } from './crossings.ts';
import { fenceAround, meters, provider, RunningShards, trackable } from './running_shards.ts';

const TIMERS = { tolerance_timeout: 4000, exit_delay: 3000, entry_delay: 2000, timeout: 9000 };
const ENTITIES: readonly EntityCommand[] = [
  fenceAround('plain', [0, 0], 20),
  fenceAround('timed', [5, 0], 20, { ...TIMERS, exit_tolerance: 2 }),
  ...[0, 1, 2, 3, 4].map((tag) => provider(`tag ${tag}`)),
  ...[0, 1, 2].map((cart) => trackable(`cart ${cart}`, [`tag ${cart}`, 'tag 3'])),
];
const ALL_OBJECTS = {
  providers: [0, 1, 2, 3, 4].map((tag) => `tag ${tag}`),
  trackables: [0, 1, 2].map((cart) => `cart ${cart}`),
};
/** Changing assignments of carts: they migrate to other shards together with linked objects. */
const ASSIGNMENTS = [['tag 0', 'tag 3'], ['tag 1'], ['tag 4', 'tag 2'], []];

/** Shards whose outcomes are recorded. */
class RecordedShards {
  readonly records: Uint8Array[] = [];
  readonly rows = new Map<string, StoredRow>();
  readonly running: RunningShards;

  constructor(shards: number) {
    this.running = new RunningShards({
      shards,
      beforeStore: (rows) => {
        for (const row of rows) this.rows.set(keyOf(row.kind, row.id), row);
        return undefined;
      },
      commitSteps: (_, { record }) => {
        if (record === undefined) return undefined;
        const bytes = new Uint8Array(look(record));
        this.records.push(bytes);
        return Promise.resolve();
      },
    });
  }

  steps() {
    return this.records.flatMap((record) => {
      const read = readStoredRecord(record, zstdDecompressSync);
      return read.kind === 'step' ? [read.step] : [];
    });
  }
}

const command = fc.oneof(
  { weight: 10, arbitrary: fc.record({ tag: fc.nat(4), east: fc.integer({ min: -14, max: 22 }) }) },
  { weight: 1, arbitrary: fc.record({ cart: fc.nat(2), providers: fc.constantFrom(...ASSIGNMENTS) }) },
);
type Command = typeof command extends fc.Arbitrary<infer Each> ? Each : never;

async function run(running: RunningShards, commands: readonly Command[]): Promise<void> {
  for (const each of commands) {
    running.second++;
    if ('tag' in each) running.location(`tag ${each.tag}`, meters(each.east, 0));
    else running.tell(trackable(`cart ${each.cart}`, each.providers));
    await running.settle();
  }
  for (let rest = 0; rest < 12; rest++) {
    running.second++;
    await running.settle();
  }
}

test('Shards that take over from another hub, with fewer or more shards, publish the events that it would have published', async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(1, 2, 3),
    fc.constantFrom(1, 2, 3),
    fc.array(command, { minLength: 1, maxLength: 30 }),
    fc.array(command, { minLength: 1, maxLength: 10 }),
    fc.boolean(),
    async (before, after, first, then, hasRows) => {
      const [old, taker] = [new RecordedShards(before), new RecordedShards(after)];
      try {
        old.running.tell(...ENTITIES);
        const last = new Map(first.flatMap((each) => ('cart' in each ? [[each.cart, each.providers] as const] : [])));
        const half = Math.floor(first.length / 2);
        for (const [index, each] of first.entries()) {
          old.running.second++;
          if ('tag' in each) old.running.location(`tag ${each.tag}`, meters(each.east, 0));
          else old.running.tell(trackable(`cart ${each.cart}`, each.providers));
          await old.running.settle();
          if (hasRows && index === half) await old.running.shards.committed();
        }
        taker.running.second = old.running.second;
        taker.running.tell(...ENTITIES, ...[...last].map(([cart, providers]) => trackable(`cart ${cart}`, providers)));
        const rows = hasRows ? [...old.rows.values()].filter(({ kind }) => kind !== 'collision') : [];
        const left = { rows: rows as LastKnownRow[], steps: old.steps(), config: 0, objects: ALL_OBJECTS };
        await taker.running.shards.adopt(left, 0);
        await taker.running.settle();
        const reported = old.running.events.length;
        await Promise.all([run(old.running, then), run(taker.running, then)]);
        const rest = old.running.events.splice(reported);
        old.running.events.splice(0, Number.POSITIVE_INFINITY, ...rest);
        assert.deepEqual(crossingsOf(taker.running), crossingsOf(old.running));
      } finally {
        await Promise.all([old.running.close(), taker.running.close()]);
      }
    },
  );
  await fc.assert(property, { seed: 11, numRuns: 6, endOnFailure: true });
});
