import type { ExportedState } from '../core/item.ts';
import type { LaneCommand } from './shard_commands.ts';
import type { Rebalance } from './shard_directory.ts';
import type { RequestWithId, ShardAnswer } from './shard_requests.ts';

interface QueuedCall {
  readonly receivedMs: number;
  readonly send: () => void;
}

/** Access of a transfer to the shards. */
interface TransferringShards {
  push(shard: number, receivedMs: number, command: LaneCommand): void;
  request(shard: number, receivedMs: number, ask: RequestWithId): Promise<ShardAnswer>;
  /** Resolves when the shard has finished all items. */
  settled(shard: number): Promise<void> | undefined;
}

/** Objects that change their shards. */
interface Transfer {
  readonly moves: readonly Rebalance[];
  /** Shards that delete objects. */
  readonly leaving: readonly number[];
  readonly receivedMs: number;
  /** Sends the commands that need the objects in their new shards; undefined if the commands were sent before. */
  readonly arrived?: (() => void) | undefined;
}

/**
 * Queue of calls that wait while objects are transferred between shards. After the transfer, they are made in order. If
 * one of them starts another transfer, the remaining calls wait again.
 */
export class TransferQueue {
  readonly #shards: TransferringShards;
  /** The transfer in progress: time of receipt of its command, and the waiting calls. */
  #transfer: { readonly sinceMs: number; readonly calls: QueuedCall[] } | undefined;
  /** Number of transfers whose objects are in transit. */
  #inTransit = 0;

  constructor(shards: TransferringShards) {
    this.#shards = shards;
  }

  /** Time of receipt of the command that started the transfer in progress; undefined for none. */
  get sinceMs(): number | undefined {
    return this.#transfer?.sinceMs;
  }

  /** Number of waiting calls. */
  get length(): number {
    return this.#transfer?.calls.length ?? 0;
  }

  /**
   * Whether objects have left a shard, and the step of the other shard with their arrival is not committed yet. That lasts
   * longer than the transfer.
   */
  get areInTransit(): boolean {
    return this.#inTransit > 0;
  }

  /** Makes a call now, or after the transfer in progress. */
  call(receivedMs: number, send: () => void): void {
    if (this.#transfer === undefined) send();
    else this.#transfer.calls.push({ receivedMs, send });
  }

  /** Resolves when all currently waiting calls have been made. */
  drained(nowMs: number): Promise<void> {
    return new Promise((resolve) => this.call(nowMs, resolve));
  }

  /**
   * Transfers objects, then sends the commands that wait for them, then makes the queued calls. If objects are deleted,
   * the queue waits until the shards have finished all of their items, because the objects may be created again at once
   * in another shard.
   */
  async transfer({ moves, leaving, receivedMs, arrived }: Transfer): Promise<void> {
    const calls: QueuedCall[] = [];
    this.#transfer = { sinceMs: receivedMs, calls };
    this.#inTransit++;
    const states = moves.map(({ from, providers, trackables }) => {
      return this.#shards.request(from, receivedMs, (id) => ({ kind: 'exportState', id, providers, trackables }));
    });
    for (const [index, state] of (await Promise.all(states)).entries()) {
      const to = moves[index]?.to ?? 0;
      this.#shards.push(to, receivedMs, { kind: 'importState', state: state as ExportedState });
    }
    void this.#noteArrival(moves, receivedMs);
    arrived?.();
    await Promise.allSettled(leaving.map((shard) => this.#shards.settled(shard)));
    this.#transfer = undefined;
    for (const call of calls) this.call(call.receivedMs, call.send);
  }

  /** Never rejects. An empty request is answered when all items before it are committed. */
  async #noteArrival(moves: readonly Rebalance[], receivedMs: number): Promise<void> {
    const nothing = { kind: 'keep', providers: [], trackables: [] } as const;
    const arrived = moves.map(({ to }) => this.#shards.request(to, receivedMs, (id) => ({ ...nothing, id })));
    await Promise.allSettled(arrived);
    this.#inTransit--;
  }
}
