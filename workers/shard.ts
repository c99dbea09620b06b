import { constants, zstdCompressSync } from 'node:zlib';
import { move, workerData } from 'piscina';
import type { Motion } from '../src/core/motion/motion.ts';
import type { Outcome } from '../src/core/outcome.ts';
import { type Batch, openShard } from '../src/core/shard.ts';
import { openFenceIndex } from '../src/fence_index/fence_index.ts';
import { type Borrowed, lend, look } from '../src/model/borrowed.ts';
import { openClock } from '../src/time/clock.ts';
import { packStep } from '../src/wire/lane_record.ts';
import { newRecordBuffer } from '../src/wire/location_record.ts';
import { type PackedMotions, pack, packInto, type ShardSettings, unpackBatch } from '../src/wire/messages.ts';
import { answerArea, bytesOf, type SharedMemory } from '../src/wire/shared_memory.ts';
import { newEventId } from './event_ids.ts';
import { garbageCollector } from './garbage.ts';
import { BusyMeter, MemoryWatch } from './memory_watch.ts';
import { warmShard } from './warm_shard.ts';

/** One shard of the hub: unpacks a batch, steps, and packs the outcome. */
const { shared, ...settings } = workerData as ShardSettings & { readonly shared: SharedMemory };
const shard = openShard({ ...settings, index: await openFenceIndex(), newBuffer: newRecordBuffer, newId: newEventId });
const collectGarbage = garbageCollector();
/** It waits for tasks outside of its event loop, which knows not how busy it is. */
const busy = new BusyMeter(openClock().elapsed);
const memory = new MemoryWatch({ collect: collectGarbage, busy: () => busy.part(), young: () => 0 });
/** Between two looks at the memory, while the shard does not rest. */
const LOOK_MS = 3000;
let lookedMs = 0;
let tasks = 0;
const NOTHING = lend(new Uint8Array(0));
const FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
warmShard(await openFenceIndex());

export default function run(task: Uint8Array | number | 'rest'): unknown {
  if (task === 'rest') {
    shard.tidy();
    collectGarbage();
    return undefined;
  }
  busy.begin();
  const area = answerArea(shared, tasks++);
  const bytes = bytesOf(task, shared);
  const batch = unpackBatch(bytes);
  if (batch.nowMs - lookedMs >= LOOK_MS) {
    lookedMs = batch.nowMs;
    memory.look();
  }
  const { motions, events, ...outcome } = shard.step(batch);
  const record = batch.order === undefined ? undefined : recordOf({ ...batch, order: batch.order }, bytes, outcome);
  const reply = packInto(area, { outcome, events, motions: packedMotions(motions), ...(record && { record }) });
  busy.end();
  return typeof reply === 'number' ? reply : move(reply);
}

/** The record of a step, unless it has changed nothing. */
function recordOf(
  { order, nowMs, items }: Batch & { readonly order: number },
  bytes: Borrowed,
  { effects }: Pick<Outcome, 'effects'>,
): Borrowed | undefined {
  if (look(effects).length === 0) return undefined;
  const batch = items.some(({ kind }) => kind === 'location') ? bytes : NOTHING;
  return lend(zstdCompressSync(packStep({ order, nowMs, batch, effects }), FASTEST));
}

function packedMotions(motions: readonly Motion[]): PackedMotions | undefined {
  const last = motions.at(-1);
  // As a Buffer: other bytes are copied when they are unpacked.
  return last && { packed: lend(Buffer.from(pack(motions).buffer)), lastSeq: last.seq };
}
