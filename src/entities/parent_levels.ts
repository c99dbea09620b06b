import { grouped } from '../model/bounds.ts';
import { badRequest } from './body.ts';
import type { Kind, Known } from './known.ts';

interface Carried {
  readonly kind: Kind;
  readonly id: string;
}

/**
 * Throws HUB_BAD_REQUEST when a chain of parents would be deeper than the hub follows it: `above` levels over the entity
 * that gets a parent, and whatever it carries below.
 */
export function checkLevels(carrier: Carried, above: number, known: Known): void {
  const { parents: max } = known.bounds;
  const levels = above + levelsBelow(carrier, max - above, known);
  if (levels <= max) return;
  throw badRequest(`parent: must be at most ${grouped(max)} levels deep, found ${grouped(levels)} or more`);
}

/** How deep a chain of what the entity carries is; counting ends beyond `max`. */
function levelsBelow({ kind, id }: Carried, max: number, known: Known): number {
  let level: readonly Carried[] = [{ kind, id }];
  let levels = 0;
  while (levels <= max) {
    level = level.flatMap((each) =>
      known.carriedBy(each.kind, each.id).map((by) => ({ kind: by.kind, id: by.entity.id })),
    );
    if (level.length === 0) return levels;
    levels++;
  }
  return levels;
}
