import type { EntityTelling } from './shards.ts';

/** An entity after a change; undefined when it was deleted. */
interface Changed {
  readonly kind: EntityTelling['kind'];
  readonly id: string;
  readonly after: unknown;
  readonly force?: boolean;
}

/** Changes of entities as the shards are told of them. */
export function tellingsOf(changes: readonly Changed[]): EntityTelling[] {
  return changes.map(({ kind, id, after, force }) => {
    const telling = { kind, id, entity: after } as EntityTelling;
    return force === true && telling.kind === 'trackable' ? { ...telling, force } : telling;
  });
}

/** Cuts a list before an entity that comes back after its deletion in the same list. */
export function withoutReturns(tellings: readonly EntityTelling[]): readonly (readonly EntityTelling[])[] {
  const parts: EntityTelling[][] = [[]];
  const deleted = new Set<string>();
  for (const telling of tellings) {
    const key = `${telling.kind} ${telling.id}`;
    if (deleted.has(key)) {
      deleted.clear();
      parts.push([]);
    }
    parts.at(-1)?.push(telling);
    if (telling.entity === undefined) deleted.add(key);
  }
  return parts;
}
