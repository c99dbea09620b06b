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

/** Splits a list of commands before an entity that is created again after its deletion in the same list. */
export function withoutReturns(commands: readonly ConfigCommand[]): readonly (readonly ConfigCommand[])[] {
  const parts: ConfigCommand[][] = [[]];
  const deleted = new Set<string>();
  for (const command of commands) {
    if (command.kind === 'rules') {
      parts.at(-1)?.push(command);
      continue;
    }
    const key = `${command.kind} ${command.id}`;
    if (deleted.has(key)) {
      deleted.clear();
      parts.push([]);
    }
    parts.at(-1)?.push(command);
    if (command.entity === undefined) deleted.add(key);
  }
  return parts;
}
