import { parseBody } from '../../src/api/body.ts';
import { UNSET } from '../../src/core/fence/timing.ts';
import { FixSlab } from '../../src/core/location/fix_slab.ts';
import { locate } from '../../src/core/location/locate.ts';
import { locationJson } from '../../src/core/location/location_json.ts';
import { lend } from '../../src/model/borrowed.ts';
import { partitionOf } from '../../src/shards/affinity.ts';
import { ShardDirectory } from '../../src/shards/shard_directory.ts';
import { LocationPacker, newRecordBuffer } from '../../src/wire/location_record.ts';
import { packBatch, unpackBatch } from '../../src/wire/messages.ts';
import { BODY_LOCATIONS, Bodies } from './bodies.ts';
import { inBatches, type Kernel, repeated } from './kernel.ts';

const SITE = { providers: 10_000, sideMeters: 3000 };

/** From the bytes of a body to the shard, and to the serialized event. */
export const WAY_IN: readonly Kernel[] = [
  {
    name: 'parse',
    summary: 'the bytes of a body of 100, per location',
    prepare() {
      const bodies = new Bodies(SITE);
      return inBatches(
        BODY_LOCATIONS,
        () => bodies.next(),
        (body) => parseBody(body, {}),
      );
    },
  },
  {
    name: 'check',
    summary: 'a parsed location, with its times and its JSON',
    prepare() {
      const bodies = new Bodies(SITE);
      return inBatches(
        BODY_LOCATIONS,
        () => bodies.values(),
        (values) => values.map((value) => bodies.check(value)),
      );
    },
  },
  {
    name: 'route',
    summary: 'the shard of a known provider, of two',
    prepare() {
      const directory = new ShardDirectory(2);
      const ids = Array.from({ length: SITE.providers }, (_, i) => `tag-${i}`);
      return repeated((turn) => directory.ofProvider(ids[turn % ids.length] as string));
    },
  },
  {
    name: 'route_first',
    summary: 'the partition of a new provider',
    prepare: () => repeated((turn) => partitionOf(`tag-${turn % SITE.providers}`)),
  },
  {
    name: 'pack',
    summary: 'a batch of 100 for a shard, per location',
    prepare() {
      const bodies = new Bodies(SITE);
      const packer = new LocationPacker();
      return inBatches(
        BODY_LOCATIONS,
        () => bodies.checked(),
        (checked) => {
          const items = checked.map((of) => packer.pack(of.location, 1, { ...of, receivedMs: bodies.nowMs }));
          packBatch({ nowMs: bodies.nowMs, flushBudget: 0, items });
          packer.done(items);
        },
      );
    },
  },
  {
    name: 'unpack',
    summary: 'the same in the shard, with the fields that it reads first',
    prepare() {
      const bodies = new Bodies(SITE);
      return inBatches(BODY_LOCATIONS, () => bodies.batch(), lookedAt);
    },
  },
  {
    name: 'render',
    summary: 'the JSON of a georeferenced location',
    prepare() {
      const bodies = new Bodies(SITE);
      const fixes = new FixSlab(newRecordBuffer);
      const unassigned = { zone: undefined, trackables: [], timing: UNSET, isLocal: false };
      return inBatches(
        BODY_LOCATIONS,
        () => {
          fixes.endStep();
          return bodies.items().map((item) => {
            if (item.kind !== 'location') throw new Error(`Expected a location, found ${item.kind}`);
            const { providerId, source } = item;
            const derived = locate(item, undefined, undefined, item.generatedMs);
            return derived && fixes.take(item, derived, { providerId, source, ...unassigned });
          });
        },
        (found) => {
          for (const fix of found) if (fix !== undefined) locationJson(fix);
        },
      );
    },
  },
];

/** Reads a member of each location of a batch, since none of them is decoded earlier. */
function lookedAt(batch: Uint8Array): number {
  let sum = 0;
  for (const item of unpackBatch(lend(batch)).items) {
    if (item.kind === 'location') sum += item.providerId.length + item.generatedMs + item.sentX + item.sentY;
  }
  return sum;
}
