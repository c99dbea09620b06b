import { randomUUID } from 'node:crypto';
import { move, workerData } from 'piscina';
import { openShard } from '../src/core/shard.ts';
import { blocksOf } from '../src/model/event_block.ts';
import { openFenceIndex } from '../wasm/fence_index.ts';
import { garbageCollector } from './garbage.ts';
import { pack, packInto, type ShardSettings, unpackBatch } from './protocol.ts';
import { bytesOf, type SharedMemory } from './shared_memory.ts';

/** One shard of the hub: unpacks a batch, steps, and packs the outcome. No bytes at all: it may rest. */
const { shared, ...settings } = workerData as ShardSettings & { readonly shared: SharedMemory };
const shard = openShard({ ...settings, index: await openFenceIndex(), newId: randomUUID });
const collectGarbage = garbageCollector();

export default function run(task: Uint8Array | number): unknown {
  const bytes = bytesOf(task, shared);
  if (bytes.byteLength === 0) {
    shard.tidy();
    collectGarbage();
    return 0;
  }
  const { motions, events, ...outcome } = shard.step(unpackBatch(bytes));
  // As a Buffer: other bytes are copied when they are unpacked.
  const packed = motions.length === 0 ? undefined : Buffer.from(pack(motions).buffer);
  const reply = packInto(shared.answer, { outcome, events: blocksOf(events), motions: packed });
  return typeof reply === 'number' ? reply : move(reply);
}
