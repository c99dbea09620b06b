import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PROVIDER_NAME, recordSize } from '../../src/core/location/record.ts';
import { ScannedNames } from '../../src/ingest/body_scanner.ts';
import { type LaneItem, LocationPacker, type PackedRun } from '../../src/wire/location_record.ts';
import { packBatch, unpackBatch } from '../../src/wire/messages.ts';
import { scannedOf } from '../../src/wire/received_run.ts';
import { LocationScanner } from '../../wasm/location_scanner.ts';
import { T0 } from '../support/shard_harness.ts';
import { accepted, shown } from './accepted_locations.ts';
import { copyAll, Front, homeOf, RECEIVED_MS, takenBy } from './hub_to_hub.ts';

function itemsOf(lane: readonly LaneItem[]): unknown[] {
  return unpackBatch(packBatch({ nowMs: T0, flushBudget: 0, items: lane })).items.map(shown);
}

/** The same with the times that an owner assigns to it. */
function atOwner(items: readonly unknown[]): unknown[] {
  return (items as { generatedMs: number }[]).map((item, index) => {
    return { ...item, seq: index + 1, receivedMs: RECEIVED_MS, generatedMs: item.generatedMs - 1000 };
  });
}

test('Locations reach the shards of their owner as they would have reached those of their front door', () => {
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
        bodies.flatMap((body) => body.newProviders),
        [],
      );
      packer.done(lane);
      packer.done(local);
    }),
    { numRuns: 60, seed: 1 },
  );
});

test('Scanned bodies reach the shards of their owner as they would have reached those of their front door', () => {
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
      const scanned = { ...ends, receivedMs: T0, newProviders: [], nameOf: names.of, homeOf: () => 0 };
      // Each modifies the records, so the front door gets those of a second parse.
      const local: LaneItem[] = [];
      copyAll(scanned, packer, local, 0);
      scanner.list(Buffer.from(JSON.stringify(body)), T0);
      front.shards.scanned(scanned);
      const { lane, bodies } = takenBy(front.sent(), packer, { isNewProvider: (id) => id.startsWith('00') });
      assert.deepEqual(itemsOf(lane), atOwner(itemsOf(local)));
      assert.deepEqual(
        bodies.flatMap((each) => each.newProviders),
        [...new Set(body.map((each) => each.provider_id))].filter((id) => id.startsWith('00')),
      );
      packer.done(lane);
      packer.done(local);
    }),
    { numRuns: 30, seed: 1 },
  );
});

test('A received run returns the shard of each record', () => {
  const front = new Front();
  const [location] = fc.sample(accepted, { numRuns: 1, seed: 3 });
  assert.ok(location);
  const ids = ['a', 'bb', 'ccc', 'dd'];
  for (const id of ids) front.shards.location({ ...location, provider_id: id }, { receivedMs: T0, generatedMs: T0 });
  const [run] = front.sent();
  assert.ok(run);
  const receiving = { receivedMs: T0, eventTime: (ms: number) => ms, homeOf, isNewProvider: () => false };
  const { records, start, end, homeOf: shardOf } = scannedOf(run, receiving);
  const found: number[] = [];
  for (let at = start; at < end; at += recordSize(records, at)) {
    found.push(shardOf(records.view.getUint32(at + PROVIDER_NAME, true)));
  }
  assert.deepEqual(found, ids.map(homeOf));
});
