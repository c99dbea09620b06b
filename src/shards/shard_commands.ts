import { withCompactRegion } from '../core/fence/compact_polygon.ts';
import type { Item } from '../core/item.ts';
import type { StoredFence } from '../model/fence.ts';
import type { LaneItem } from '../wire/location_record.ts';

type Unnumbered<T> = T extends unknown ? Omit<T, 'seq' | 'receivedMs'> : never;

/** An item before it gets its number and time. */
export type ShardCommand = Unnumbered<Exclude<Item, { kind: 'location' }>>;

/** The same of what waits in a lane. */
export type LaneCommand = Unnumbered<Exclude<LaneItem, { kind: 'locations' }>>;

/** What the shards are told of a changed entity; without one it was deleted. */
export type EntityCommand = Extract<ShardCommand, { kind: 'zone' | 'fence' | 'trackable' | 'provider' }>;

/** The same of all that is configured. */
export type Configured = EntityCommand | Extract<ShardCommand, { kind: 'rules' }>;

/** An entity after a change; undefined when it was deleted. */
interface Changed {
  readonly kind: EntityCommand['kind'];
  readonly id: string;
  readonly after: unknown;
  readonly force?: boolean;
}

/** Changes of entities as the shards are told of them: large polygons in numbers, which cost a shard no garbage. */
export function commandsOf(changes: readonly Changed[]): EntityCommand[] {
  return changes.map(({ kind, id, after, force }) => {
    const isFence = kind === 'fence' && after !== undefined;
    const command = { kind, id, entity: isFence ? withCompactRegion(after as StoredFence) : after } as EntityCommand;
    return force === true && command.kind === 'trackable' ? { ...command, force } : command;
  });
}

/** Cuts a list before an entity that comes back after its deletion in the same list. */
export function withoutReturns(commands: readonly Configured[]): readonly (readonly Configured[])[] {
  const parts: Configured[][] = [[]];
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
