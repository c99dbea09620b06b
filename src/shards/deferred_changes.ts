import type { ConfigCommand, EntityCommand } from './shard_commands.ts';

/** Whether a trackable is migrating to this hub. */
export type InTransit = (id: string) => boolean;

/**
 * Last changes of trackables that are migrating to this hub. Each is applied when its trackable has arrived: until then
 * no provider or parent here may move it.
 */
export class DeferredChanges {
  readonly #byId = new Map<string, EntityCommand>();

  /**
   * Defers the changes of migrating trackables. Returns the commands to apply now: those of migrating trackables without
   * the providers and the parent that could move them, all others as they are.
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
