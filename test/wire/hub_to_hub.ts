import { unpackForward } from '../../src/cluster/rpc/owner_protocol.ts';
import { RequestBatch, BatchBuffers } from '../../src/cluster/rpc/request_buffer.ts';
import { RemoteShards } from '../../src/cluster/routing/remote_shards.ts';
import type { OwnerClient } from '../../src/cluster/rpc/owner_client.ts';
import { recordSize } from '../../src/core/location/record.ts';
import type { ScannedBody } from '../../src/core/location/scanned_body.ts';
import type { LaneItem, LocationPacker } from '../../src/wire/location_record.ts';
import { type CountedRun, checkRun, scannedOf } from '../../src/wire/received_run.ts';
import { T0 } from '../support/shard_harness.ts';

export const RECEIVED_MS = T0 + 77;
const SHARDS = 3;

/** Assigns an object to a shard by its id alone. */
export const homeOf = (id: string): number => id.length % SHARDS;

/** The front door of a hub that owns nothing, and the requests that it sends for its input. */
export class Front {
  readonly #buffers = new BatchBuffers();
  #parcels: RequestBatch[] = [];
  readonly shards: RemoteShards;

  constructor() {
    const run = (run: CountedRun): void => {
      for (let from = 0; from < run.bytes.length; ) {
        const taken = this.#parcels.at(-1)?.take(run, from);
        if (taken === undefined || taken.to === from) this.#parcels.push(new RequestBatch(this.#buffers));
        else from = taken.to;
      }
    };
    this.shards = new RemoteShards({ run } as unknown as OwnerClient);
  }

  /** The runs that an owner unpacks, with their own bytes. */
  sent(): CountedRun[] {
    const runs = this.#parcels.flatMap((parcel) => {
      const message = parcel.message({ applied: 5, ingress: 'front', number: 1, sentBefore: [], version: 7 });
      return unpackForward(Uint8Array.from(message)).runs;
    });
    for (const parcel of this.#parcels) parcel.end();
    this.#parcels = [];
    return runs;
  }
}

/** Items that the owner's shards receive for some runs, in order. */
export function takenBy(
  runs: readonly CountedRun[],
  packer: LocationPacker,
  { isNewProvider = (_: string): boolean => false, eventTime = (ms: number) => ms - 1000 } = {},
) {
  const lane: LaneItem[] = [];
  const bodies = runs.map((run) => {
    checkRun(run);
    const receiving = { receivedMs: RECEIVED_MS, eventTime, homeOf, isNewProvider };
    return scannedOf(run, receiving);
  });
  let seq = 0;
  for (const body of bodies) seq = copyAll(body, packer, lane, seq);
  return { bodies, lane };
}

/** As in shards, with a new run whenever the shard of a record differs from the previous one. */
export function copyAll({ ...body }: ScannedBody, packer: LocationPacker, lane: LaneItem[], from: number): number {
  let seq = from;
  for (let at = body.start; at < body.end; ) {
    const end = at + recordSize(body.records, at);
    lane.push(packer.copy(body, at, end, ++seq, undefined));
    at = end;
  }
  return seq;
}
