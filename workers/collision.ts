import { move, workerData } from 'piscina';
import { openCollisionStage } from '../src/core/collision/stage.ts';
import { WatermarkMerge } from '../src/core/collision/watermark_merge.ts';
import { ZoneTable } from '../src/core/zone/zone_table.ts';
import { newRecordBuffer } from '../src/wire/location_record.ts';
import {
  type CollisionBatch,
  type CollisionReply,
  pack,
  type Restore,
  unpackCollisionBatch,
  unpackMotions,
} from '../src/wire/messages.ts';
import { bytesOf, type SharedMemory } from '../src/wire/shared_memory.ts';
import { newEventId } from './event_ids.ts';
import { warmStage } from './warm_stage.ts';

/** The collision stage: brings the motions of all shards into one order and finds the pairs that touch. */
const { shared } = workerData as { readonly shared: SharedMemory };
const zones = new ZoneTable();
const merge = new WatermarkMerge();
const stage = openCollisionStage({ newId: newEventId, zones: zones.find, newBuffer: newRecordBuffer });
warmStage();

export default function run(task: Uint8Array | number): unknown {
  const batch = unpackCollisionBatch(bytesOf(task, shared));
  for (const [id, zone] of batch.zones) zones.set(id, zone);
  const { nowMs, variants, setBacks } = batch;
  if (batch.restore === undefined) for (const packed of batch.motions) merge.add(unpackMotions(packed));
  else restore(batch, batch.restore);
  const motions = merge.take(batch.watermark);
  const outcome = stage.step({ nowMs, motions, setBacks, ...(variants && { variants }) });
  return move(pack({ ...outcome, waiting: merge.waiting } satisfies CollisionReply));
}

function restore({ nowMs, motions }: CollisionBatch, { fromSeq, done, ...known }: Restore): void {
  const finished = done.flatMap(unpackMotions);
  for (const packed of motions) {
    const own = unpackMotions(packed);
    // A part of what a shard has brought at once may be finished.
    finished.push(...own.filter(({ seq }) => seq < fromSeq));
    merge.add(own.filter(({ seq }) => seq >= fromSeq));
  }
  stage.restore({ ...known, nowMs, done: finished, ahead: merge.motions });
}
