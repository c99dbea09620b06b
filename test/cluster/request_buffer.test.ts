import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { unpackForward } from '../../src/cluster/rpc/owner_protocol.ts';
import { RequestBatch, BatchBuffers } from '../../src/cluster/rpc/request_buffer.ts';
import { recordBytesMax, writeRecord } from '../../src/core/location/record.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';
import type { CountedRun } from '../../src/wire/received_run.ts';
import { locationOf, T0, takenOf } from './owner_server_world.ts';

const STAMP = { seq: 0, receivedMs: T0, generatedMs: T0, source: 0, crs: 1 };
const HEAD = {
  applied: 2 ** 33,
  ingress: 'front',
  number: 2 ** 40,
  sentBefore: [{ owner: 'gone', number: 2 ** 39 }],
  version: 7,
};
const PARCEL_BYTES = 4 << 20;

interface Drawn {
  readonly source: number;
  readonly pads: readonly number[];
}

const pad = fc.oneof(
  { weight: 30, arbitrary: fc.nat(2000) },
  { weight: 2, arbitrary: fc.nat(1_500_000) },
  { weight: 1, arbitrary: fc.constant(4_300_000) },
);
const drawn: fc.Arbitrary<Drawn[]> = fc.array(
  fc.record({ source: fc.nat(2), pads: fc.array(pad, { minLength: 1, maxLength: 30 }) }),
  { maxLength: 8 },
);

let texts = 0;

function runOf({ source, pads }: Drawn): CountedRun {
  const locations = pads.map((length) => locationOf(`p${length % 7}`, `${++texts} `.padEnd(length, 'x')));
  const buffer = newRecordBuffer(locations.reduce((sum, location) => sum + recordBytesMax(location), 0));
  let end = 0;
  for (const location of locations) end = writeRecord(buffer, end, location, STAMP);
  return { names: [`zone ${source}`, 'EPSG:4326'], bytes: buffer.bytes.subarray(0, end), count: locations.length };
}

const shown = (runs: readonly CountedRun[]) =>
  runs.flatMap((run) =>
    takenOf(run).map(({ provider, text }) => `${run.names} ${provider} ${text.length} ${text.slice(0, 20)}`),
  );

test('Runs are cut into batches of at most 4 MiB, except a single location, and unpacked in order', () => {
  const buffers = new BatchBuffers();
  fc.assert(
    fc.property(drawn, (some) => {
      const runs = some.map(runOf);
      const parcels: RequestBatch[] = [];
      for (const run of runs) {
        for (let from = 0, left = run.count; from < run.bytes.length; ) {
          const found = parcels.at(-1)?.take({ ...run, count: left }, from);
          if (found === undefined || found.taken === 0) {
            parcels.push(new RequestBatch(buffers));
            continue;
          }
          from = found.to;
          left -= found.taken;
        }
      }
      const requests = parcels.map((parcel) => unpackForward(Uint8Array.from(parcel.message(HEAD))));
      for (const [index, { runs: carried, ...head }] of requests.entries()) {
        assert.deepEqual(head, HEAD);
        const { count, bytes } = parcels[index] as RequestBatch;
        assert.equal(
          count,
          carried.reduce((sum, run) => sum + run.count, 0),
        );
        assert.ok(count === 1 || bytes <= PARCEL_BYTES, `${bytes} bytes of ${count} locations`);
      }
      assert.deepEqual(shown(requests.flatMap((request) => request.runs)), shown(runs));
      for (const parcel of parcels) parcel.end();
    }),
    { numRuns: 60, seed: 1 },
  );
});

test('A batch has room for 8,192 locations, and adjacent ones with the same names are one run', () => {
  const run = runOf({ source: 1, pads: Array.from({ length: 8000 }, () => 5) });
  const parcel = new RequestBatch(new BatchBuffers());
  assert.equal(parcel.take(run, 0).taken, 8000);
  const { to, taken } = parcel.take({ ...run, names: [...run.names] }, 0);
  assert.equal(taken, 192);
  assert.ok(parcel.isFull);
  assert.equal(parcel.take({ ...run, count: run.count - taken }, to).taken, 0);
  const { runs } = unpackForward(parcel.message(HEAD));
  assert.deepEqual(
    runs.map(({ count }) => count),
    [8192],
  );
});
