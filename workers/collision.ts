import { randomUUID } from 'node:crypto';
import { move } from 'piscina';
import { InOrder } from '../src/core/collision/in_order.ts';
import { openCollisionStage } from '../src/core/collision/stage.ts';
import { blocksOf } from '../src/model/event_block.ts';
import type { Zone } from '../src/model/zone.ts';
import { type CollisionReply, pack, unpackCollisionBatch, unpackMotions } from './protocol.ts';

/** The collision stage: brings the motions of all shards into one order and finds the pairs that touch. */
const zones = new Map<string, Zone>();
const inOrder = new InOrder();
const stage = openCollisionStage({ newId: randomUUID, zones: findZone });

export default function run(bytes: Uint8Array): unknown {
  const batch = unpackCollisionBatch(bytes);
  for (const [id, zone] of batch.zones) {
    if (zone === undefined) zones.delete(id);
    else zones.set(id, zone);
  }
  for (const packed of batch.motions) inOrder.add(unpackMotions(packed));
  const { nowMs, variants } = batch;
  const motions = inOrder.take(batch.completeTo);
  const { events, ...outcome } = stage.step({ nowMs, motions, ...(variants && { variants }) });
  return move(pack({ ...outcome, events: blocksOf(events), waiting: inOrder.waiting } satisfies CollisionReply));
}

function findZone(idOrForeignId: string): Zone | undefined {
  const zone = zones.get(idOrForeignId);
  if (zone !== undefined) return zone;
  for (const candidate of zones.values()) if (candidate.foreign_id === idOrForeignId) return candidate;
  return undefined;
}
