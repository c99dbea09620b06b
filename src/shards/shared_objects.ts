import type { ChangesSince, ObjectIds } from '../core/item.ts';
import type { AdoptionChanges, RecentChanges, RecordedChanges } from './recent_changes.ts';
import type { ConfigCommand, EntityCommand } from './shard_commands.ts';

/** Whether a trackable is migrating to this hub. */
type InTransit = (id: string) => boolean;

/** Shared log of configuration changes. */
export interface SharedLog {
  /** Returns the sequence of the record being applied. */
  sequence(): number;
  /** Changes by the last records of the log. */
  readonly changes: RecentChanges;
  /** Returns a predicate of trackables that are migrating to this hub; undefined if none are. */
  inTransit?(): InTransit | undefined;
}

const NO_CHANGES: ChangesSince = { zones: [], fences: [], rules: false };

/** Returns the changes since a record of a log without changes. */
export function noChanges(config: number): AdoptionChanges {
  return { undo: { config, commands: [] }, reapply: [], surroundings: NO_CHANGES };
}

/**
 * Objects that several hubs share, as configured by the shared log. Tracks the objects of which shards may have state,
 * the changes since a record, and the changes that wait for the arrival of their trackable.
 */
export class SharedObjects {
  readonly #log: SharedLog;
  readonly #configured = { provider: new Set<string>(), trackable: new Set<string>() };
  /** Located providers that are not configured. */
  readonly #located = new Set<string>();
  readonly #deferred = new DeferredChanges();

  constructor(log: SharedLog) {
    this.#log = log;
  }

  /** Sequence number of the record being applied. */
  get sequence(): number {
    return this.#log.sequence();
  }

  /** Whether a provider is configured, located or not. hot */
  isConfigured(provider: string): boolean {
    return this.#configured.provider.has(provider);
  }

  /** Records a located provider, which may not be configured. hot */
  located(provider: string): void {
    if (!this.#configured.provider.has(provider)) this.#located.add(provider);
  }

  /** Returns the configured objects, and the located providers. */
  all(): ObjectIds {
    const { provider, trackable } = this.#configured;
    return { providers: [...provider, ...this.#located], trackables: [...trackable] };
  }

  /** Returns the objects that existed and were changed by records after `config`. */
  changedSince(config: number): ObjectIds {
    return this.#log.changes.objectsSince(config);
  }

  /** Handles the changes of the record being applied. Returns the changes that the shards apply now. */
  change(commands: readonly ConfigCommand[]): RecordedChanges {
    const recorded = { config: this.sequence, commands };
    this.#log.changes.note(recorded);
    this.#configure(commands);
    const isInTransit = this.#log.inTransit?.();
    return isInTransit === undefined
      ? recorded
      : { ...recorded, commands: this.#deferred.defer(commands, isInTransit) };
  }

  /** Returns the deferred changes of trackables that have arrived. */
  arrived(): RecordedChanges {
    return { config: this.sequence, commands: this.#deferred.takeArrived(this.#log.inTransit?.()) };
  }

  /**
   * Handles objects that arrive with the state as of record `config`. Returns the changes since: commands that undo
   * them before the arrival, and that apply them again after it.
   */
  adopt(config: number, objects: ObjectIds): AdoptionChanges {
    const since = this.#log.changes.since(config, objects);
    for (const id of objects.providers) this.located(id);
    for (const { commands } of since.reapply) this.#configure(commands);
    // Deferred changes are applied before the arrival, so that changes evaluated by the former owner are not evaluated
    // again.
    const deferred = this.#deferred.take(objects.trackables).map((command) => ({ ...command, force: false }));
    return { ...since, undo: { ...since.undo, commands: [...deferred, ...since.undo.commands] } };
  }

  #configure(commands: readonly ConfigCommand[]): void {
    for (const command of commands) {
      if (command.kind !== 'provider' && command.kind !== 'trackable') continue;
      if (command.kind === 'provider') this.#located.delete(command.id);
      if (command.entity === undefined) this.#configured[command.kind].delete(command.id);
      else this.#configured[command.kind].add(command.id);
    }
  }
}

/**
 * Last changes of trackables that are migrating to this hub. Each is applied when its trackable has arrived, because no
 * provider or parent of this hub may move the trackable before.
 */
class DeferredChanges {
  readonly #byId = new Map<string, EntityCommand>();

  /**
   * Defers the changes of migrating trackables. Returns the commands to apply now, in which migrating trackables have
   * no providers and parent that could move them.
   */
  defer(commands: readonly ConfigCommand[], isInTransit: InTransit): readonly ConfigCommand[] {
    return commands.map((command) => {
      if (command.kind !== 'trackable' || !isInTransit(command.id)) return command;
      this.#byId.set(command.id, command);
      if (command.entity === undefined) return command;
      const { location_providers: _, parent: __, ...entity } = command.entity;
      return { ...command, entity, force: false };
    });
  }

  /** Returns and removes the changes of trackables. */
  take(ids: readonly string[]): readonly EntityCommand[] {
    const taken = ids.flatMap((id) => this.#byId.get(id) ?? []);
    for (const { id } of taken) this.#byId.delete(id);
    return taken;
  }

  /** Returns and removes the changes of trackables that are no longer migrating. */
  takeArrived(isInTransit: InTransit | undefined): readonly EntityCommand[] {
    return this.take([...this.#byId.keys()].filter((id) => isInTransit?.(id) !== true));
  }
}
