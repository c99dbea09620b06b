import { StartupError } from '../errors.ts';
import type { EntityKind, EntityWrite } from './store.ts';

/** An entity after a change; undefined when it was deleted. */
interface Changed {
  readonly kind: EntityKind;
  readonly id: string;
  readonly after: object | undefined;
}

/** Changes as the store keeps them. */
export function entityWrites(changes: readonly Changed[]): EntityWrite[] {
  return changes.map(({ kind, id, after }) => ({ kind, id, text: after && JSON.stringify(after) }));
}

/** The kept entities of a kind, in the order of creation. Throws a StartupError that names one that is damaged. */
export function keptEntities<T>(entities: readonly EntityWrite[], kind: EntityKind): T[] {
  const kept: T[] = [];
  for (const { kind: of, id, text } of entities) {
    if (of !== kind || text === undefined) continue;
    try {
      kept.push(JSON.parse(text) as T);
    } catch (cause) {
      const why = String((cause as Error).message).replaceAll(/\s+/g, ' ');
      throw new StartupError(`Cannot read ${kind} "${id}" from the database: ${why}`, { cause });
    }
  }
  return kept;
}
