import { pack, unpackCollisionBatch } from '../src/wire/messages.ts';
import { Collisions } from './collision_reply.ts';
import { newEventId } from './event_ids.ts';
import { garbageCollector } from './garbage.ts';
import { taskLoop } from './task_loop.ts';
import { warmStage } from './warm_stage.ts';

/** Thread of the collision stage: merges the motions of all shards into one order and finds the touching pairs. */
const collisions = new Collisions(newEventId);
warmStage();

export default taskLoop({
  run: (bytes) => pack(collisions.step(unpackCollisionBatch(bytes))),
  rest: garbageCollector(),
});
