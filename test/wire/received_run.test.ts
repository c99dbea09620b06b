import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { unpackForward } from '../../src/cluster/door_message.ts';
import { Parcel, ParcelBuffers } from '../../src/cluster/parcel.ts';
import { RemoteShards } from '../../src/cluster/remote_shards.ts';
import type { Router } from '../../src/cluster/router.ts';
import { PROVIDER_NAME, recordSize } from '../../src/core/location/record.ts';
import type { ScannedBody } from '../../src/core/location/scanned.ts';
import { ScannedNames } from '../../src/ingest/body_scanner.ts';
import { type LaneItem, LocationPacker, type PackedRun } from '../../src/wire/location_record.ts';
import { packBatch, unpackBatch } from '../../src/wire/messages.ts';
import { type CountedRun, checkRun, scannedOf } from '../../src/wire/received_run.ts';
import { LocationScanner } from '../../wasm/location_scanner.ts';
import { T0 } from '../support/shard_harness.ts';
import { accepted, shown } from './accepted_locations.ts';

const RECEIVED_MS = T0 + 77;
const SHARDS = 3;

/** A place in all shards by the id alone. */
const homeOf = (id: string): number => id.length % SHARDS;

/** The front door of a hub that owns nothing, and the requests that come of what it is handed. */
class Front {
  readonly #buffers = new ParcelBuffers();
  #parcels: Parcel[] = [];
  readonly shards: RemoteShards;

  constructor() {
    const run = (run: CountedRun): void => {
      for (let from = 0; from < run.bytes.length; ) {
        const taken = this.#parcels.at(-1)?.take(run, from);
        if (taken === undefined || taken.to === from) this.#parcels.push(new Parcel(this.#buffers));
        else from = taken.to;
      }
    };
    this.shards = new RemoteShards({ run } as unknown as Router);
  }

  /** The runs that an owner unpacks, in bytes of its own. */
  sent(): CountedRun[] {
    const runs = this.#parcels.flatMap((parcel) => {
      const message = parcel.message({ applied: 5, door: 'front', number: 1 });
      return unpackForward(Uint8Array.from(message)).runs;
    });
    for (const parcel of this.#parcels) parcel.end();
    this.#parcels = [];
    return runs;
  }
}

/** What the shards of the owner are told for some runs, in their order, whichever shard it is. */
function takenBy(runs: readonly CountedRun[], packer: LocationPacker, isStranger = (_: string) => false) {
  const lane: LaneItem[] = [];
  const bodies = runs.map((run) => {
    checkRun(run);
    const receiving = { receivedMs: RECEIVED_MS, runningTime: (ms: number) => ms - 1000, homeOf, isStranger };
    return scannedOf(run, receiving);
  });
  let seq = 0;
  for (const body of bodies) seq = copyAll(body, packer, lane, seq);
  return { bodies, lane };
}

/** As shards do it, with a run for each record that is for another shard than the one before. */
function copyAll({ ...body }: ScannedBody, packer: LocationPacker, lane: LaneItem[], from: number): number {
  let seq = from;
  for (let at = body.start; at < body.end; ) {
    const end = at + recordSize(body.records, at);
    lane.push(packer.copy(body, at, end, ++seq, undefined));
    at = end;
  }
  return seq;
}

function itemsOf(lane: readonly LaneItem[]): unknown[] {
  return unpackBatch(packBatch({ nowMs: T0, flushBudget: 0, items: lane })).items.map(shown);
}

/** The same with the times that an owner gives it. */
function atOwner(items: readonly unknown[]): unknown[] {
  return (items as { generatedMs: number }[]).map((item, index) => {
    return { ...item, seq: index + 1, receivedMs: RECEIVED_MS, generatedMs: item.generatedMs - 1000 };
  });
}

test('Locations come to the shards of their owner as they would have come to those of their front door', () => {
  const front = new Front();
  const packer = new LocationPacker();
  fc.assert(
    fc.property(fc.array(accepted, { maxLength: 60 }), (locations) => {
      const local = locations.map((location, index): PackedRun => {
        const times = { receivedMs: T0 + index, generatedMs: T0 - 10 * index };
        front.shards.location(location, times);
        return packer.pack(location, index + 1, times);
      });
      const { lane, bodies } = takenBy(front.sent(), packer);
      assert.deepEqual(itemsOf(lane), atOwner(itemsOf(local)));
      assert.deepEqual(
        bodies.flatMap((body) => body.strangers),
        [],
      );
      packer.done(lane);
      packer.done(local);
    }),
    { numRuns: 60, seed: 1 },
  );
});

test('Bodies that were scanned come to the shards of their owner as they would have come to those of their front door', () => {
  const scanner = new LocationScanner({ nameBytes: 1024, propertiesBytes: 65_536 });
  const names = new ScannedNames(scanner);
  const front = new Front();
  const packer = new LocationPacker();
  const value = fc.record({
    id: fc.nat(30),
    source: fc.nat(200),
    pad: fc.nat(300),
    text: fc.constantFrom('ü', '東', 'a'),
  });
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 200 }), (sent) => {
      const body = sent.map(({ id, source, pad, text }, i) => ({
        position: { type: 'Point', coordinates: i % 3 === 0 ? [8 + i / 1e6, 50] : [8, 50, i] },
        crs: 'EPSG:4326',
        provider_type: 'uwb',
        provider_id: id % 2 === 0 ? `${text} ${id}` : `00000000-0000-4000-8000-0000000000${10 + id}`,
        source: `zone ${source}`,
        properties: { pad: text.repeat(pad) },
      }));
      assert.equal(scanner.list(Buffer.from(JSON.stringify(body)), T0), body.length);
      names.learn(scanner);
      const ends = { records: scanner, start: scanner.start, end: scanner.end };
      const scanned = { ...ends, receivedMs: T0, strangers: [], nameOf: names.of, homeOf: () => 0 };
      // Each changes the records, so it is the front door's turn with those of a second reading.
      const local: LaneItem[] = [];
      copyAll(scanned, packer, local, 0);
      scanner.list(Buffer.from(JSON.stringify(body)), T0);
      front.shards.scanned(scanned);
      const { lane, bodies } = takenBy(front.sent(), packer, (id) => id.startsWith('00'));
      assert.deepEqual(itemsOf(lane), atOwner(itemsOf(local)));
      assert.deepEqual(
        bodies.flatMap((each) => each.strangers),
        [...new Set(body.map((each) => each.provider_id))].filter((id) => id.startsWith('00')),
      );
      packer.done(lane);
      packer.done(local);
    }),
    { numRuns: 30, seed: 1 },
  );
});

test('A received run tells the shard of each record', () => {
  const front = new Front();
  const [location] = fc.sample(accepted, { numRuns: 1, seed: 3 });
  assert.ok(location);
  const ids = ['a', 'bb', 'ccc', 'dd'];
  for (const id of ids) front.shards.location({ ...location, provider_id: id }, { receivedMs: T0, generatedMs: T0 });
  const [run] = front.sent();
  assert.ok(run);
  const receiving = { receivedMs: T0, runningTime: (ms: number) => ms, homeOf, isStranger: () => false };
  const { records, start, end, homeOf: shardOf } = scannedOf(run, receiving);
  const found: number[] = [];
  for (let at = start; at < end; at += recordSize(records, at)) {
    found.push(shardOf(records.view.getUint32(at + PROVIDER_NAME, true)));
  }
  assert.deepEqual(found, ids.map(homeOf));
});
