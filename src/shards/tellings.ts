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
