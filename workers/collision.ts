import { randomUUID } from 'node:crypto';
import { move, workerData } from 'piscina';
import { InOrder } from '../src/core/collision/in_order.ts';
import { openCollisionStage } from '../src/core/collision/stage.ts';
import { ZoneTable } from '../src/core/zone/zone_table.ts';
import { blocksOf } from '../src/model/event_block.ts';
import { type CollisionReply, pack, unpackCollisionBatch, unpackMotions } from './protocol.ts';
import { bytesOf, type SharedMemory } from './shared_memory.ts';

/** The collision stage: brings the motions of all shards into one order and finds the pairs that touch. */
const { shared } = workerData as { readonly shared: SharedMemory };
const zones = new ZoneTable();
const inOrder = new InOrder();
const stage = openCollisionStage({ newId: randomUUID, zones: zones.find });

export default function run(task: Uint8Array | number): unknown {
  const batch = unpackCollisionBatch(bytesOf(task, shared));
  for (const [id, zone] of batch.zones) zones.set(id, zone);
  for (const packed of batch.motions) inOrder.add(unpackMotions(packed));
  const { nowMs, variants } = batch;
  const motions = inOrder.take(batch.completeTo);
  const { events, ...outcome } = stage.step({ nowMs, motions, ...(variants && { variants }) });
  return move(pack({ ...outcome, events: blocksOf(events), waiting: inOrder.waiting } satisfies CollisionReply));
}
