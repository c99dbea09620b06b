import { randomUUID } from 'node:crypto';
import type { EntityWrite } from '../core/kept.ts';
import { StartupError } from '../errors.ts';
import { schedule } from '../time/clock.ts';
import type { StreamSettings } from './bus.ts';
import { changesIn, reached } from './cluster.ts';
import { type AppliedRecord, type ConfigLog, openConfigLog } from './config_log.ts';
import type { EntityChange } from './config_record.ts';
import { restored } from './config_state.ts';
import type { BusSettings } from './nats/frames.ts';
import { type NatsBus, openNatsBus } from './nats_bus.ts';

export interface KeptConfigOptions extends Pick<StreamSettings, 'replicas' | 'storage'> {
  readonly bus: BusSettings;
  /** Of the cluster. */
  readonly name: string;
  /** Who changes something, for the log. */
  readonly by: string;
  /** Milliseconds since some fixed moment. */
  elapsed(): number;
}

/** What `change` has come to. `overtaken`: of the writes, these were kept, and then somebody else was first. */
export type Changed = { readonly at: 'kept' } | { readonly at: 'overtaken'; readonly kept: number };

/** Of the texts in a record, whose message may have 8 MB. */
const RECORD_BYTES = 4_000_000;

/**
 * The entities and settings of a cluster, for a program that is no member of it: hubs may be running, or none. Throws a
 * StartupError when NATS cannot be reached, or the configuration not be read.
 */
export async function openKeptConfig(options: KeptConfigOptions): Promise<KeptConfig> {
  const bus = openNatsBus(options.bus);
  const config = new KeptConfig(options, bus);
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

export class KeptConfig {
  readonly #options: KeptConfigOptions;
  readonly #bus: NatsBus;
  readonly #kept = new Map<string, EntityWrite>();
  #log!: ConfigLog;

  /** Only for openKeptConfig. */
  constructor(options: KeptConfigOptions, bus: NatsBus) {
    this.#options = options;
    this.#bus = bus;
  }

  /** Only for openKeptConfig. */
  async open(): Promise<void> {
    const { name, replicas, storage, elapsed } = this.#options;
    this.#log = await openConfigLog({
      ...{ bus: this.#bus, name, replicas, storage, schedule, elapsed, newId: randomUUID },
      restore: (parts) => {
        const { state, entities } = restored(parts);
        for (const [id, text] of state.settings) this.#set({ kind: 'setting', id, text });
        for (const entity of entities) this.#set(entity);
      },
      apply: (record) => this.#apply(record),
      // Hubs write snapshots.
      snapshot: () => [],
      shouldSnapshot: () => false,
      stopped: () => undefined,
      notice: () => undefined,
    });
  }

  /** Entities and settings as they are now, each kind in the order of creation. */
  get entities(): readonly EntityWrite[] {
    return [...this.#kept.values()];
  }

  /** The last change that `entities` includes. */
  get sequence(): number {
    return this.#log.applied;
  }

  /**
   * Keeps writes that were made for the configuration as it was at that sequence: what fits into a record all or none,
   * more of it in several. Rejects with HUB_UNAVAILABLE.
   */
  async change(writes: readonly EntityWrite[], sequence: number): Promise<Changed> {
    let kept = 0;
    let expected = sequence;
    for (const group of groupsOf(writes)) {
      const changes = group.map(({ kind, id, text }): EntityChange => [kind, id, text ?? null, false]);
      const appended = await this.#log.append({ kind: 'change', by: this.#options.by, changes }, expected);
      if (appended.at === 'overtaken') return { at: 'overtaken', kept };
      expected = appended.sequence;
      kept += group.length;
    }
    return { at: 'kept' };
  }

  async close(): Promise<void> {
    this.#log.close();
    await this.#bus.close();
  }

  #apply(record: AppliedRecord): void {
    const { body } = record;
    if (body.kind === 'change') {
      for (const [kind, id, text] of body.changes) if (kind === 'setting') this.#set({ kind, id, text });
    }
    for (const change of changesIn(record)) {
      if (change.ifAbsent !== true || !this.#kept.has(keyOf(change))) this.#set(change);
    }
  }

  #set({ kind, id, text }: Pick<EntityWrite, 'kind' | 'id'> & { readonly text?: string | null | undefined }): void {
    const key = keyOf({ kind, id });
    if (text === null || text === undefined) this.#kept.delete(key);
    else this.#kept.set(key, { kind, id, text });
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
