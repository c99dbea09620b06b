import { withCompactRegion } from '../core/fence/compact_polygon.ts';
import type { Item } from '../core/item.ts';
import type { StoredFence } from '../model/fence.ts';
import type { LaneItem } from '../wire/location_record.ts';

type Unnumbered<T> = T extends unknown ? Omit<T, 'seq' | 'receivedMs'> : never;

/** An item before it gets its number and time. */
export type ShardCommand = Unnumbered<Exclude<Item, { kind: 'location' }>>;

/** A lane item before it gets its number and time. */
export type LaneCommand = Unnumbered<Exclude<LaneItem, { kind: 'locations' }>>;

/** Command that applies a changed entity; `entity` is undefined after its deletion. */
export type EntityCommand = Extract<ShardCommand, { kind: 'zone' | 'fence' | 'trackable' | 'provider' }>;

/** Command that applies a configuration change. */
export type ConfigCommand = EntityCommand | Extract<ShardCommand, { kind: 'rules' }>;

/** An entity after a change; undefined if it was deleted. */
interface EntityChange {
  readonly kind: EntityCommand['kind'];
  readonly id: string;
  readonly after: unknown;
  readonly force?: boolean;
}

/**
 * Converts changes of entities to commands. Large polygons become flat arrays of numbers, which cost a shard no
 * garbage.
 */
export function commandsOf(changes: readonly EntityChange[]): EntityCommand[] {
  return changes.map(({ kind, id, after, force }) => {
    const isFence = kind === 'fence' && after !== undefined;
    const command = { kind, id, entity: isFence ? withCompactRegion(after as StoredFence) : after } as EntityCommand;
    return force === true && command.kind === 'trackable' ? { ...command, force } : command;
  });
}

/**
 * Commands of one list that are either all deletions of providers and trackables, or none. Deletions are evaluated
 * before the objects that they separate change their shards: a trackable that a deleted one carries still reacts to it.
 * Other commands are evaluated after the objects that they connect have moved to one shard.
 */
export interface CommandGroup {
  readonly areDeletions: boolean;
  readonly commands: readonly ConfigCommand[];
}

/** Divides a list of commands, in order, where deletions of objects begin or end. */
export function groupsOf(commands: readonly ConfigCommand[]): readonly CommandGroup[] {
  const groups: (CommandGroup & { readonly commands: ConfigCommand[] })[] = [];
  for (const command of commands) {
    const areDeletions = isDeletedObject(command);
    if (groups.at(-1)?.areDeletions !== areDeletions) groups.push({ areDeletions, commands: [] });
    groups.at(-1)?.commands.push(command);
  }
  return groups;
}

function isDeletedObject(command: ConfigCommand): boolean {
  return (command.kind === 'provider' || command.kind === 'trackable') && command.entity === undefined;
}
