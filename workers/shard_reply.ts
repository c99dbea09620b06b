import { constants, zstdCompressSync } from 'node:zlib';
import type { Motion } from '../src/core/motion/motion.ts';
import type { Outcome } from '../src/core/outcome.ts';
import type { Batch, Shard } from '../src/core/shard.ts';
import { type Borrowed, lend, look } from '../src/model/borrowed.ts';
import { NEVER_SET_BACK } from '../src/model/set_back.ts';
import { packStep } from '../src/wire/journal_record.ts';
import { type LaneBatch, type PackedMotions, pack, type ShardReply } from '../src/wire/messages.ts';

const NOTHING = lend(new Uint8Array(0));
const FASTEST = { params: { [constants.ZSTD_c_compressionLevel]: -3 } };

/** Has a shard step, and says what crosses back. `bytes` is the batch as it has crossed. Good until the next step. */
export function shardReply(shard: Shard, batch: Batch & Pick<LaneBatch, 'recordedWith'>, bytes: Borrowed): ShardReply {
  const { motions, events, ...outcome } = shard.step(batch);
  const { recordedWith } = batch;
  const record = recordedWith && recordOf(batch, bytes, { ...outcome, recordedWith });
  return { outcome, events, motions: packedMotions(motions), ...(record && { record }) };
}

/** The record of a step, unless it has changed nothing. */
function recordOf(
  { nowMs, items, setBacks = NEVER_SET_BACK }: Batch,
  bytes: Borrowed,
  { effects, recordedWith }: Pick<Outcome, 'effects'> & Required<Pick<LaneBatch, 'recordedWith'>>,
): Borrowed | undefined {
  if (look(effects).length === 0) return undefined;
  const batch = items.some(({ kind }) => kind === 'location') ? bytes : NOTHING;
  return lend(zstdCompressSync(packStep({ ...recordedWith, nowMs, setBacks, batch, effects }), FASTEST));
}

function packedMotions(motions: readonly Motion[]): PackedMotions | undefined {
  const last = motions.at(-1);
  // As a Buffer: other bytes are copied when they are unpacked.
  return last && { packed: lend(Buffer.from(pack(motions).buffer)), lastSeq: last.seq };
}
