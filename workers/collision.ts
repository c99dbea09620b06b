import { move, workerData } from 'piscina';
import { pack, unpackCollisionBatch } from '../src/wire/messages.ts';
import { bytesOf, type SharedMemory } from '../src/wire/shared_memory.ts';
import { Collisions } from './collision_reply.ts';
import { newEventId } from './event_ids.ts';
import { warmStage } from './warm_stage.ts';

/** Thread of the collision stage: merges the motions of all shards into one order and finds the touching pairs. */
const { shared } = workerData as { readonly shared: SharedMemory };
const collisions = new Collisions(newEventId);
warmStage();

export default function run(task: Uint8Array | number): unknown {
  return move(pack(collisions.step(unpackCollisionBatch(bytesOf(task, shared)))));
}
