import type { Change, Entities } from './entities.ts';
import type { Kind } from './known.ts';

/** A change of an entity that those who locate must know of. */
export type PlacedChange = Change<Exclude<Kind, 'anchor'>>;

/**
 * Changes as they matter to whoever locates by them: a zone as its anchors place it, and in place of an anchor the
 * zones that it places. So nobody but the entities knows of anchors.
 */
export function placedChanges(changes: readonly Change[], entities: Entities): PlacedChange[] {
  const placed: PlacedChange[] = [];
  const moved = new Set<string>();
  for (const change of changes) {
    if (isAnchor(change)) {
      if (!hasMoved(change)) continue;
      for (const zone of entities.zonesAt(change.id)) {
        if (moved.has(zone.id)) continue;
        moved.add(zone.id);
        placed.push({ kind: 'zone', id: zone.id, before: zone, after: entities.placed(zone) });
      }
    } else if (isZone(change) && change.after !== undefined) {
      placed.push({ ...change, after: entities.placed(change.after) });
    } else placed.push(change as PlacedChange);
  }
  return placed;
}

function isAnchor(change: Change): change is Change<'anchor'> {
  return change.kind === 'anchor';
}

function isZone(change: Change): change is Change<'zone'> {
  return change.kind === 'zone';
}

/** Whatever else changes about an anchor, such as its name, moves no zone. */
function hasMoved({ before, after }: Change<'anchor'>): boolean {
  const places = [before, after].map((anchor) => [anchor?.local_position, anchor?.georeferenced_position]);
  return JSON.stringify(places[0]) !== JSON.stringify(places[1]);
}
