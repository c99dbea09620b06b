import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Item } from '../../src/core/item.ts';
import type { AcceptedLocation } from '../../src/core/location/accepted.ts';
import { received } from '../../src/core/location/received.ts';
import { recordSize } from '../../src/core/location/record.ts';
import { ScannedNames } from '../../src/ingest/body_scanner.ts';
import {
  halvesOf,
  type LaneItem,
  LocationPacker,
  lastSeqOf,
  newRecordBuffer,
  type PackedRun,
  weightOf,
} from '../../src/wire/location_record.ts';
import { packBatch, unpackBatch } from '../../src/wire/messages.ts';
import { LocationScanner } from '../../wasm/location_scanner.ts';
import { T0 } from '../support/shard_harness.ts';
import { accepted, shown, word } from './accepted_locations.ts';

type Sent = { readonly location: AcceptedLocation } | { readonly forget: string };
const sent: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ location: accepted }) },
  { weight: 1, arbitrary: fc.record({ forget: word }) },
);

test('Queued items reach the shard unchanged and in order, for any batch sizes', () => {
  const packer = new LocationPacker();
  fc.assert(
    fc.property(fc.array(fc.array(sent, { maxLength: 30 }), { maxLength: 5 }), (batches) => {
      let seq = 0;
      const waiting = batches.map((batch) => {
        return batch.map((of): { item: unknown; lane: LaneItem; again: Item | LaneItem } => {
          seq++;
          const stamp = { seq, receivedMs: T0 + seq, generatedMs: T0 - seq };
          if ('forget' in of) {
            const item: Item = { kind: 'forget', id: of.forget, seq, receivedMs: stamp.receivedMs };
            return { item, lane: item, again: item };
          }
          const { location } = of;
          return {
            item: { location, ...stamp },
            lane: packer.pack(location, seq, stamp),
            again: received(location, stamp, newRecordBuffer),
          };
        });
      });
      for (const batch of waiting) {
        const items = batch.map(({ item }) => item);
        const lane = batch.map((each) => each.lane);
        const found = unpackBatch(packBatch({ nowMs: T0, flushBudget: 7, items: lane }));
        assert.deepEqual([found.nowMs, found.flushBudget], [T0, 7]);
        assert.deepEqual(found.items.map(shown), items);
        const again = unpackBatch(packBatch({ nowMs: T0, flushBudget: 7, items: batch.map((each) => each.again) }));
        assert.deepEqual(again.items.map(shown), items);
        packer.done(lane);
      }
    }),
    { numRuns: 200, seed: 1 },
  );
});

test('bytes of a location are not overwritten while they are in use', () => {
  const packer = new LocationPacker();
  const locationOf = (id: string): AcceptedLocation => ({
    provider_id: id,
    source: id,
    provider_type: 'uwb',
    crs: 'EPSG:4326',
    coordinates: [8, 50],
    associated: null,
    accuracy: 0.3,
    floor: 0,
    elevation_ref: null,
    speed: null,
    course: null,
    hasSentTime: false,
    positionText: '',
    text: 'x'.repeat(1000),
  });
  const times = { receivedMs: T0, generatedMs: T0 };
  const first = packer.pack(locationOf('first'), 1, times);
  for (let round = 0; round < 3; round++) {
    const others = Array.from({ length: 1000 }, (_, i) => packer.pack(locationOf(`tag ${i}`), i, times));
    packer.done(others);
  }
  const [found] = unpackBatch(packBatch({ nowMs: T0, flushBudget: 0, items: [first] })).items;
  assert.equal(found?.kind === 'location' && found.providerId, 'first');
  assert.equal(found?.kind === 'location' && found.source, 'first');
});

test('records of scanned bodies reach the shard in runs, which can be halved down to single records', () => {
  const scanner = new LocationScanner({ nameBytes: 1024, propertiesBytes: 65_536 });
  const names = new ScannedNames(scanner);
  const packer = new LocationPacker();
  const bodies = fc.array(fc.array(fc.record({ id: fc.nat(30), pad: fc.nat(3000) }), { minLength: 1, maxLength: 40 }));
  fc.assert(
    fc.property(bodies, fc.nat(5), (sent, split) => {
      let seq = 0;
      const expected: string[] = [];
      const items: LaneItem[] = [];
      for (const body of sent) {
        const receivedMs = T0 + seq;
        const values = body.map(({ id, pad }, i) => {
          const position = { type: 'Point', coordinates: [8 + i / 1e6, 50] };
          const properties = { pad: 'x'.repeat(pad) };
          return {
            position,
            crs: 'EPSG:4326',
            provider_type: 'uwb',
            provider_id: `tag ${id}`,
            source: `zone ${id % 4}`,
            properties,
          };
        });
        assert.equal(scanner.list(Buffer.from(JSON.stringify(values)), receivedMs), body.length);
        names.learn(scanner);
        const scanned = { records: scanner, start: scanner.start, end: scanner.end, receivedMs, newProviders: [] };
        const from = { ...scanned, nameOf: names.of, homeOf: () => 0 };
        // Like every n-th location for the same shard.
        let run: PackedRun | undefined;
        let at = scanner.start;
        for (let i = 0; i < body.length; ) {
          const first = at;
          const count = Math.min(split + 1, body.length - i);
          for (let k = 0; k < count; k++) at += recordSize(scanner, at);
          const next = packer.copy(from, first, at, seq + 1 + i, run);
          if (run !== undefined && next.seq !== run.seq) items.push(run);
          run = next;
          i += count;
        }
        if (run !== undefined) items.push(run);
        for (const [i, { id, pad }] of body.entries()) {
          expected.push(`${++seq} tag ${id} zone ${id % 4} EPSG:4326 ${8 + i / 1e6} ${pad} ${receivedMs}`);
        }
      }
      const shown = (some: readonly LaneItem[]) =>
        unpackBatch(packBatch({ nowMs: T0, flushBudget: 0, items: some })).items.map((item) => {
          assert.ok(item.kind === 'location');
          const pad = item.text.split('x').length - 1;
          const { providerId, source, crs, sentX, receivedMs } = item;
          return `${item.seq} ${providerId} ${source} ${crs} ${sentX} ${pad} ${receivedMs}`;
        });
      assert.deepEqual(shown(items), expected);
      assert.equal(
        items.reduce((sum, item) => sum + weightOf(item), 0),
        seq,
      );
      const singles: LaneItem[] = [];
      const halve = (part: readonly LaneItem[]): void => {
        const [first] = part;
        if (part.length === 1 && first !== undefined && weightOf(first) === 1) singles.push(first);
        else if (part.length > 0) for (const half of halvesOf(part)) halve(half);
      };
      halve(items);
      assert.deepEqual(
        singles.map((single) => [single.seq, lastSeqOf(single)]),
        singles.map((_, i) => [i + 1, i + 1]),
      );
      assert.deepEqual(shown(singles), expected);
      packer.done(items);
    }),
    { numRuns: 60, seed: 1 },
  );
});
