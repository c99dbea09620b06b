import { workerData } from 'node:worker_threads';
import { openShard } from '../src/core/shard.ts';
import { openFenceIndex } from '../src/fence_index/fence_index.ts';
import { openClock } from '../src/time/clock.ts';
import { newRecordBuffer } from '../src/wire/location_record.ts';
import { packInto, type ShardSettings, unpackBatch } from '../src/wire/messages.ts';
import { tidyMotions } from '../src/wire/motion_bytes.ts';
import { newEventId } from './event_ids.ts';
import { garbageCollector } from './garbage.ts';
import { BusyMeter, MemoryWatch } from './memory_watch.ts';
import { shardReply } from './shard_reply.ts';
import { taskLoop } from './task_loop.ts';
import { warmShard } from './warm_shard.ts';

/** Thread of one shard: unpacks a batch, runs a step, and packs the outcome. */
const { isCold, ...settings } = workerData as ShardSettings;
const shard = openShard({ ...settings, index: await openFenceIndex(), newBuffer: newRecordBuffer, newId: newEventId });
const collectGarbage = garbageCollector();
/** Maximum load of an idle shard. A tenth is 10,000 locations a second, whose events a collection would delay. */
const RESTING = 0.02;
/** Measures the load, which the event loop does not: the thread waits for tasks outside it. */
const busy = new BusyMeter(openClock().elapsed);
const memory = new MemoryWatch({ collect: collectGarbage, busy: () => busy.part(), young: () => 0, resting: RESTING });
/** Interval of memory checks while the shard is not idle. */
const LOOK_MS = 3000;
let lookedMs = 0;
if (isCold !== true) warmShard(await openFenceIndex());

export default taskLoop({
  run(bytes, area) {
    busy.begin();
    const batch = unpackBatch(bytes);
    if (batch.nowMs - lookedMs >= LOOK_MS) {
      lookedMs = batch.nowMs;
      memory.look();
    }
    const reply = packInto(area, shardReply(shard, batch, bytes));
    busy.end();
    return reply;
  },
  rest() {
    shard.tidy();
    tidyMotions();
    collectGarbage();
  },
});
