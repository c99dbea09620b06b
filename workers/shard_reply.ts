import { constants, zstdCompressSync } from 'node:zlib';
import type { Motion } from '../src/core/motion/motion.ts';
import type { Outcome, ReleasedState } from '../src/core/outcome.ts';
import type { StepBatch, Shard } from '../src/core/shard.ts';
import { type Borrowed, lend, look } from '../src/model/borrowed.ts';
import { NO_CLOCK_STEPS } from '../src/model/clock_steps.ts';
import { withFenceEvents } from '../src/wire/fence_events.ts';
import { packReleased, packStep, storedRecord } from '../src/wire/journal_record.ts';
import type { LaneBatch, PackedMotions, ReleasedRecord, ShardReply } from '../src/wire/messages.ts';
import { packMotions } from '../src/wire/motion_bytes.ts';

const NOTHING = lend(new Uint8Array(0));
const FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: -3 } };
const compressed = (bytes: Uint8Array): Uint8Array => zstdCompressSync(bytes, FASTEST);

/** Runs a step of a shard and returns the reply. `bytes` is the batch as received. Valid until the next step. */
export function shardReply(
  shard: Shard,
  batch: StepBatch & Pick<LaneBatch, 'recordedWith'>,
  bytes: Borrowed,
): ShardReply {
  const { motions, events, fenceEvents, released, ...outcome } = shard.step(batch);
  const { recordedWith } = batch;
  const record = recordedWith && recordOf(batch, bytes, { ...outcome, fenceEvents, recordedWith });
  return {
    outcome,
    events,
    motions: packedMotions(motions),
    ...(record && { record }),
    ...(released.length > 0 && { released: released.map((each) => releasedRecord(batch, each)) }),
  };
}

/** Returns released state as the record for another hub. */
function releasedRecord(
  { nowMs, clockSteps = NO_CLOCK_STEPS }: StepBatch,
  { id, sequence, config, effects }: ReleasedState,
): ReleasedRecord {
  if (look(effects).length === 0) return { id, record: undefined };
  const packed = packReleased({ nowMs, config, clockSteps, sequence, effects });
  return { id, record: lend(storedRecord(packed, compressed)) };
}

/** Returns the record of a step; undefined if it has changed nothing. */
function recordOf(
  { nowMs, items, clockSteps = NO_CLOCK_STEPS, position }: StepBatch,
  bytes: Borrowed,
  {
    effects,
    fenceEvents,
    recordedWith,
  }: Pick<Outcome, 'effects' | 'fenceEvents'> & Required<Pick<LaneBatch, 'recordedWith'>>,
): Borrowed | undefined {
  if (look(effects).length === 0) return undefined;
  const batch = items.some(({ kind }) => kind === 'location') ? bytes : NOTHING;
  const step = packStep({ ...recordedWith, nowMs, clockSteps, batch, effects });
  const record = position === undefined ? step : withFenceEvents(step, { ...position, events: fenceEvents });
  return lend(storedRecord(record, compressed));
}

function packedMotions(motions: readonly Motion[]): PackedMotions | undefined {
  const last = motions.at(-1);
  return last && { packed: packMotions(motions), lastSeq: last.seq };
}
