import type { Item, LastKnownRow } from '../core/item.ts';
import { type OpenThread, openThread, type Thread, type ThreadMemory } from '../lane/thread.ts';
import { lend } from '../model/borrowed.ts';
import type { ObjectKind } from '../model/id.ts';
import type { PackedStep } from '../wire/journal_record.ts';
import { type LaneItem, lastSeqOf } from '../wire/location_record.ts';
import { type LaneBatch, packBatch, type ShardReply, type ShardSettings, unpackShardReply } from '../wire/messages.ts';
import { FlushScheduler, type RoundWatch } from './flush_scheduler.ts';
import { StateMirror } from './state_mirror.ts';

const SHARD_WORKER = new URL('../../workers/shard.ts', import.meta.url);
const NOTHING = lend(new Uint8Array(0));
/** A full batch takes less, and so does the answer to it; a longer one crosses by itself. */
const SHARED_BYTES = 1 << 23;

/** What a shard's worker needs of the hub. */
export interface ShardWorkerOptions {
  readonly settings: ShardSettings;
  /** Running time: it never falls. `setBacks` show it as the time of day. */
  now(): number;
  setBacks?(): LaneBatch['setBacks'];
  /** Time of receipt of the earliest item that will be pushed, where that is in the past. */
  heldSinceMs?(): number | undefined;
  /** What part of all rows that the store takes may come from this shard. */
  readonly shareOfStore: number;
  /** Whether each step is recorded for other hubs. */
  readonly recordsSteps?: boolean;
  /** Whether their records have their fence events as well, by now. */
  tellsFenceEvents?(): boolean;
  readonly rounds?: RoundWatch | undefined;
  /** Whether the store has much to write. */
  isStoreBehind(): boolean;
  /** Starts the thread; openThread when left out. */
  readonly openThread?: OpenThread | undefined;
  /**
   * The newest of all rows that were handed out, for a worker that starts anew. `hasAdopted` tells the objects that the shard
   * has taken over from another hub: their rows count even before the log says that they are here.
   */
  rows(hasAdopted: HasObject): Promise<readonly LastKnownRow[]>;
}

/** Tells some of the objects. */
export type HasObject = (kind: ObjectKind, id: string) => boolean;

/** What a new worker is told besides entities: rows and the steps since, rows alone, or nothing. */
export type Known = 'all' | 'rows' | 'nothing';

/** The worker thread of one shard, and what it takes to have another one in its place. */
export class ShardWorker {
  readonly flush: FlushScheduler;
  readonly #options: ShardWorkerOptions;
  readonly #mirror = new StateMirror();
  readonly #thread: Thread;
  #doneTo = 0;
  /** The sequence of the last record of the shared log of which it was told. */
  #config = 0;
  /** Whether the next step is to number the names of its places anew. */
  #namesAnew = false;
  /** Whether it has taken over objects: before, rows of another hub say nothing of its own. */
  #hasAdopted = false;

  constructor(options: ShardWorkerOptions) {
    this.#options = options;
    this.flush = new FlushScheduler(options.shareOfStore, () => options.isStoreBehind(), options.rounds);
    this.#thread = (options.openThread ?? openThread)(SHARD_WORKER, {
      workerData: options.settings satisfies ShardSettings,
      sharedBytes: SHARED_BYTES,
    });
  }

  get isAlive(): boolean {
    return this.#thread.isAlive;
  }

  /** The number of the last item that is done, or given up. */
  get doneTo(): number {
    return this.#doneTo;
  }

  /** One batch. `next` is the item after it: no deadline may fire before its time of receipt, it may be postponed. */
  async step(items: readonly LaneItem[], next: LaneItem | undefined): Promise<ShardReply> {
    const askedMs = this.#options.now();
    const flushBudget = this.flush.flushBudget(askedMs);
    const nowMs = Math.min(
      askedMs,
      next?.receivedMs ?? Number.POSITIVE_INFINITY,
      this.#options.heldSinceMs?.() ?? Number.POSITIVE_INFINITY,
    );
    for (const item of items) if ('config' in item) this.#config = item.config ?? this.#config;
    const config = this.#config;
    const isRecorded = this.#options.recordsSteps === true;
    const setBacks = this.#options.setBacks?.();
    const tells = this.#options.tellsFenceEvents?.() === true;
    const recordedWith = isRecorded ? { recordedWith: { config, ...(tells && { tells }) } } : undefined;
    const namesAnew = this.#namesAnew || undefined;
    this.#namesAnew = false;
    const batch = packBatch({ nowMs, sentMs: askedMs, items, flushBudget, setBacks, namesAnew, ...recordedWith });
    const isHeld = !isRecorded && items.some(({ kind }) => kind === 'locations');
    this.flush.journal.hold(isHeld ? batch : NOTHING);
    const reply = unpackShardReply(await this.#thread.run(batch));
    this.#mirror.note(items);
    this.#hasAdopted ||= items.some(isAdoption);
    this.#noteDone(items);
    this.flush.note({ ...reply.outcome, record: reply.record }, this.#doneTo);
    return { ...reply, config };
  }

  /** The items are not done, and never will be. */
  giveUp(items: readonly LaneItem[]): void {
    // Its objects are on their way, whatever has become of their state.
    for (const item of items) if (item.kind === 'exportState' || item.kind === 'release') this.#mirror.note([item]);
    this.#noteDone(items);
  }

  #noteDone(items: readonly LaneItem[]): void {
    const last = items.at(-1);
    if (last !== undefined) this.#doneTo = lastSeqOf(last);
  }

  /** Has the thread number the names of what it records for the history anew, with the next step. */
  forgetNames(): void {
    this.#namesAnew = true;
  }

  /** Lets the thread collect its garbage. */
  async rest(): Promise<void> {
    await this.#thread.signal('rest');
  }

  /**
   * Starts a new thread and tells it what the last one knew, or as much of it as `known` says. `failed` is told if the rows
   * cannot be read. Rejects if the new thread fails.
   */
  async replace({ known, failed }: { readonly known: Known; failed(error: unknown): void }): Promise<void> {
    await this.#thread.restart();
    this.flush.endRound();
    // Steps that are left out must stay out: the next worker could only replay later ones without them.
    if (known !== 'all') this.flush.journal.clear();
    const rows = known === 'nothing' ? [] : await this.#rows(failed);
    await this.#thread.run(packBatch(this.#knowledge(rows, this.flush.journal.steps())));
  }

  /** Ends the thread at once, as a crash would. */
  kill(): Promise<void> {
    return this.#thread.kill();
  }

  memory(): Promise<ThreadMemory | undefined> {
    return this.#thread.memory();
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  /** The last-known rows of the shard's objects; none when the store fails: the shard is needed all the same. */
  async #rows(failed: (error: unknown) => void): Promise<readonly LastKnownRow[]> {
    let rows: readonly LastKnownRow[] = [];
    if (this.#options.recordsSteps === true && !this.#hasAdopted) return rows;
    try {
      rows = await this.#options.rows((kind, id) => this.#mirror.hasAdopted(kind, id));
    } catch (error) {
      failed(error);
    }
    return rows.filter(({ kind, id }) => this.#mirror.has(kind, id));
  }

  /** A batch that tells a worker what the last one knew. No deadline is due in it: those that were have fired. */
  #knowledge(rows: readonly LastKnownRow[], steps: readonly PackedStep[]): LaneBatch {
    const again = { seq: 0, receivedMs: 0 };
    const { rules, variants, suppressUntilMs } = this.#mirror;
    const items: (Item | LaneItem)[] = [
      { ...again, kind: 'rules', rules },
      ...this.#mirror.entities().map((item) => ({ ...item, ...again })),
      { ...again, kind: 'adopt', rows, steps, suppressUntilMs },
      // Last of all that may say something, so that nothing is rendered.
      { ...again, kind: 'variants', variants },
    ];
    return { nowMs: 0, sentMs: 0, items, flushBudget: 0 };
  }
}

function isAdoption({ kind }: LaneItem): boolean {
  return kind === 'adopt';
}
