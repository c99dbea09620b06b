import type { CollisionStage } from '../src/core/collision/stage.ts';
import { openCollisionStage } from '../src/core/collision/stage.ts';
import { WatermarkMerge } from '../src/core/collision/watermark_merge.ts';
import { ZoneTable } from '../src/core/zone/zone_table.ts';
import { newRecordBuffer } from '../src/wire/location_record.ts';
import { type CollisionBatch, type CollisionReply, type Restore, unpackMotions } from '../src/wire/messages.ts';

/** The collision stage as its worker runs it: brings the motions of all shards into one order first. */
export class Collisions {
  readonly #zones = new ZoneTable();
  readonly #merge = new WatermarkMerge();
  readonly #stage: CollisionStage;

  constructor(newId: () => string) {
    this.#stage = openCollisionStage({ newId, zones: this.#zones.find, newBuffer: newRecordBuffer });
  }

  step(batch: CollisionBatch): CollisionReply {
    for (const [id, zone] of batch.zones) this.#zones.set(id, zone);
    const { nowMs, variants, setBacks } = batch;
    if (batch.restore === undefined) for (const packed of batch.motions) this.#merge.add(unpackMotions(packed));
    else this.#restore(batch, batch.restore);
    const motions = this.#merge.take(batch.watermark);
    const outcome = this.#stage.step({ nowMs, motions, setBacks, ...(variants && { variants }) });
    return { ...outcome, waiting: this.#merge.waiting };
  }

  #restore({ nowMs, motions }: CollisionBatch, { fromSeq, done, ...known }: Restore): void {
    const finished = done.flatMap(unpackMotions);
    for (const packed of motions) {
      const own = unpackMotions(packed);
      // A part of what a shard has brought at once may be finished.
      finished.push(...own.filter(({ seq }) => seq < fromSeq));
      this.#merge.add(own.filter(({ seq }) => seq >= fromSeq));
    }
    this.#stage.restore({ ...known, nowMs, done: finished, ahead: this.#merge.motions });
  }
}
