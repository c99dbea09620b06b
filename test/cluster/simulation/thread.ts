import { openShard, type Shard } from '../../../src/core/shard.ts';
import { openFenceIndex } from '../../../src/fence_index/fence_index.ts';
import type { OpenThread, Thread } from '../../../src/lane/thread.ts';
import { type Borrowed, copied, lend, look } from '../../../src/model/borrowed.ts';
import { newRecordBuffer } from '../../../src/wire/location_record.ts';
import { pack, packInto, type ShardSettings, unpackBatch, unpackCollisionBatch } from '../../../src/wire/messages.ts';
import { Collisions } from '../../../workers/collision_reply.ts';
import { shardReply } from '../../../workers/shard_reply.ts';
import type { Dice } from '../../support/dice.ts';

/** A step of a shard, as observed by its thread. */
export interface Ran {
  /** The batch as it was sent to the thread. */
  readonly batch: Uint8Array;
  /** Record of its changes, as a string; undefined without changes. */
  readonly record: string | undefined;
}

export interface SimulatedThreadsOptions {
  readonly dice: Dice;
  newId(): string;
  schedule(delayMs: number, callback: () => void): () => void;
  /** Called after each step, with the index of its shard. */
  ran(shard: number, ran: Ran): void;
}

/** Duration of a step, in microseconds. */
const STEP_US = { least: 50, more: 2000 };

/** Opens simulated threads: workers in the thread of the hub, whose steps take only simulated time. */
export function openSimulatedThreads({ dice, newId, schedule, ran }: SimulatedThreadsOptions): OpenThread {
  let shards = 0;
  return (file, { workerData } = {}) => {
    if (file.pathname.endsWith('/collision.ts')) return simulated(() => collisionWorker(newId));
    if (!file.pathname.endsWith('/shard.ts')) throw new Error(`There is no simulation of the worker ${file.pathname}`);
    const shard = shards++;
    return simulated(() => shardWorker(workerData as ShardSettings, { newId, ran: (each) => ran(shard, each) }));
  };

  function simulated(open: () => Worker): Thread {
    let worker: Worker | undefined = open();
    const kill = async (): Promise<void> => {
      worker = undefined;
    };
    return {
      signal: async () => undefined,
      run(bytes) {
        const task = copied(bytes);
        const asked = worker;
        return new Promise((resolve, reject) => {
          schedule((STEP_US.least + dice(STEP_US.more)) / 1000, () => {
            if (asked === undefined || asked !== worker) reject(new Error('The worker has ended'));
            else asked(task).then(resolve, reject);
          });
        });
      },
      memory: async () => undefined,
      get isAlive() {
        return worker !== undefined;
      },
      async restart() {
        worker = open();
      },
      kill,
      close: kill,
    };
  }
}

/** Without memory for answers, each has bytes of its own. */
const NO_AREA = new Uint8Array(0);

/** Processes the bytes of a batch, which it may overwrite, and returns those of its reply. */
type Worker = (task: Uint8Array) => Promise<Borrowed>;

function shardWorker(settings: ShardSettings, { newId, ran }: { newId(): string; ran(ran: Ran): void }): Worker {
  let shard: Shard | undefined;
  return async (task) => {
    shard ??= openShard({ ...settings, index: await openFenceIndex(), newBuffer: newRecordBuffer, newId });
    const batch = new Uint8Array(task);
    const reply = shardReply(shard, unpackBatch(lend(task)), lend(task));
    const answer = packInto(NO_AREA, reply) as Uint8Array;
    const record = reply.record && recordText(look(reply.record));
    task.fill(0xdd);
    ran({ batch, record });
    return lend(answer);
  };
}

/** String that identifies a record. */
export function recordText(record: Uint8Array): string {
  return Buffer.from(record).toString('latin1');
}

function collisionWorker(newId: () => string): Worker {
  const collisions = new Collisions(newId);
  return async (task) => lend(pack(collisions.step(unpackCollisionBatch(lend(task)))));
}
