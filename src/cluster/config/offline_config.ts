import { randomUUID } from 'node:crypto';
import type { EntityWrite } from '../../core/entity_write.ts';
import { StartupError, hubError } from '../../errors.ts';
import { schedule } from '../../time/clock.ts';
import { reached } from '../membership/admission.ts';
import type { StreamSettings } from '../nats/bus.ts';
import { changesIn, settingsIn } from './config_changes.ts';
import { type AppliedRecord, type ConfigLog, openConfigLog } from './config_log.ts';
import { restored } from './snapshot_messages.ts';
import type { ConfigBody, EntityChange } from './config_record.ts';
import { applied, type ConfigState, EMPTY_STATE } from './config_state.ts';
import type { BusSettings } from '../nats/frames.ts';
import { type NatsBus, openNatsBus } from '../nats/nats_bus.ts';
import { ObjectPartitions } from './object_partitions.ts';
import { changeRecord } from './repartition.ts';

export interface OfflineConfigOptions extends Pick<StreamSettings, 'replicas' | 'storage'> {
  readonly bus: BusSettings;
  /** Name of the cluster. */
  readonly name: string;
  /** Writer of the changes, for the log. */
  readonly by: string;
  /** Monotonic time in milliseconds. */
  elapsed(): number;
}

/** Outcome of `change`. `overtaken`: that many writes were committed before another writer was first. */
export type Changed = { readonly at: 'committed' } | { readonly at: 'overtaken'; readonly committed: number };

/** Time that changes wait for migrations to complete. */
const SETTLED_MS = 10_000;
const AGAIN_MS = 500;
/** Most bytes of the strings in a record, whose message may have 8 MB. */
const RECORD_BYTES = 4_000_000;

/**
 * Opens the entities and settings of a cluster for a program that is no member of it, whether hubs are running or not. Throws a
 * StartupError if NATS cannot be reached, or the configuration cannot be read.
 */
export async function openOfflineConfig(options: OfflineConfigOptions): Promise<OfflineConfig> {
  const bus = openNatsBus(options.bus);
  const config = new OfflineConfig(options, bus);
  try {
    await reached({ bus, schedule });
    await config.open();
    return config;
  } catch (error) {
    await bus.close();
    if (error instanceof StartupError) throw error;
    throw new StartupError(`Cannot read the configuration of cluster "${options.name}": ${(error as Error).message}`, {
      cause: error,
    });
  }
}

export class OfflineConfig {
  readonly #options: OfflineConfigOptions;
  readonly #bus: NatsBus;
  readonly #entries = new Map<string, EntityWrite>();
  readonly #partitions = new ObjectPartitions();
  #state: ConfigState = EMPTY_STATE;
  /** Last record that has changed entities or settings. */
  #changedAt = 0;
  readonly #watchers = new Set<() => void>();
  #log!: ConfigLog;

  /** Called by openKeptConfig only. */
  constructor(options: OfflineConfigOptions, bus: NatsBus) {
    this.#options = options;
    this.#bus = bus;
  }

  /** Called by openKeptConfig only. */
  async open(): Promise<void> {
    const { name, replicas, storage, elapsed } = this.#options;
    this.#log = await openConfigLog({
      ...{ bus: this.#bus, name, replicas, storage, schedule, elapsed, newId: randomUUID },
      restore: (parts) => {
        const { state, entities } = restored(parts);
        this.#state = state;
        this.#partitions.follow(state.map);
        this.#partitions.apply(entities);
        for (const [id, text] of state.settings) this.#set({ kind: 'setting', id, text });
        for (const entity of entities) this.#set(entity);
      },
      apply: (record) => this.#apply(record),
      // Only hubs write snapshots.
      snapshot: () => [],
      shouldSnapshot: () => false,
      stopped: () => undefined,
      notice: () => undefined,
    });
  }

  /** Current entities and settings, each kind in order of creation. */
  get entities(): readonly EntityWrite[] {
    return [...this.#entries.values()];
  }

  /** Last change that `entities` includes. */
  get sequence(): number {
    return this.#log.applied;
  }

  /**
   * Commits writes that were made for the configuration at that sequence: those that fit into one record atomically, otherwise
   * in several records. Rejects with HUB_UNAVAILABLE.
   */
  async change(writes: readonly EntityWrite[], sequence: number): Promise<Changed> {
    let committed = 0;
    let expected = sequence;
    for (const group of groupsOf(writes)) {
      const changes = group.map(({ kind, id, text }): EntityChange => [kind, id, text ?? null, false]);
      const record = await this.#record(changes);
      // Records about ownership may come in between.
      if (this.#changedAt <= expected) expected = this.#log.applied;
      const appended = await this.#log.append(record, expected);
      if (appended.at === 'overtaken') return { at: 'overtaken', committed };
      expected = appended.sequence;
      committed += group.length;
    }
    return { at: 'committed' };
  }

  async close(): Promise<void> {
    this.#log.close();
    await this.#bus.close();
  }

  /**
   * Makes the record of some changes, once these are possible. Rejects with HUB_UNAVAILABLE if migrations do not complete in
   * time.
   */
  async #record(changes: readonly EntityChange[]): Promise<ConfigBody> {
    const untilMs = this.#options.elapsed() + SETTLED_MS;
    for (;;) {
      const record = changeRecord(this.#options.by, changes, { state: this.#state, partitions: this.#partitions });
      if (record !== undefined) return record;
      if (this.#options.elapsed() >= untilMs) {
        throw hubError('migrating');
      }
      await this.#next();
    }
  }

  /** Resolves with the next record, or after a while. */
  #next(): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#watchers.delete(end);
        cancel();
        resolve();
      };
      const cancel = schedule(AGAIN_MS, end);
      this.#watchers.add(end);
    });
  }

  #apply(record: AppliedRecord): void {
    const { body } = record;
    this.#state = applied(this.#state, record);
    this.#partitions.follow(this.#state.map);
    this.#partitions.apply(changesIn(body));
    if (changesIn(body).length > 0 || settingsIn(body).length > 0) this.#changedAt = record.sequence;
    for (const watcher of [...this.#watchers]) watcher();
    for (const [id, text] of settingsIn(body)) this.#set({ kind: 'setting', id, text });
    for (const change of changesIn(body)) {
      if (change.ifAbsent !== true || !this.#entries.has(keyOf(change))) this.#set(change);
    }
  }

  #set({ kind, id, text }: Pick<EntityWrite, 'kind' | 'id'> & { readonly text?: string | null | undefined }): void {
    const key = keyOf({ kind, id });
    if (text === null || text === undefined) this.#entries.delete(key);
    else this.#entries.set(key, { kind, id, text });
  }
}

function keyOf({ kind, id }: Pick<EntityWrite, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}

function* groupsOf(writes: readonly EntityWrite[]): Generator<readonly EntityWrite[]> {
  let group: EntityWrite[] = [];
  let bytes = 0;
  for (const write of writes) {
    const size = Buffer.byteLength(write.id) + Buffer.byteLength(write.text ?? '');
    if (bytes + size > RECORD_BYTES && group.length > 0) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(write);
    bytes += size;
  }
  if (group.length > 0) yield group;
}
