import { isUnset } from '../model/id.ts';
import type { Trackable } from '../model/trackable.ts';
import type { Change } from './change.ts';
import type { Entities } from './entities.ts';
import type { EntityKindName } from './entity_lookup.ts';

/** A change relevant to locating. */
export type GeoreferencedChange = Change<Exclude<EntityKindName, 'anchor'>>;

/**
 * Translates changes for locating. A zone is georeferenced by its anchors, a changed anchor becomes changes of the
 * zones that it georeferences, and a trackable's parent id gets the spelling of the parent. Locating therefore needs
 * neither anchors nor case-insensitive UUIDs.
 */
export function georeferencedChanges(changes: readonly Change[], entities: Entities): GeoreferencedChange[] {
  const placed: GeoreferencedChange[] = [];
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
    } else if (isTrackable(change) && change.after !== undefined) {
      placed.push({ ...change, after: withParent(change.after, entities) });
    } else placed.push(change as GeoreferencedChange);
  }
  return placed;
}

function isAnchor(change: Change): change is Change<'anchor'> {
  return change.kind === 'anchor';
}

function isZone(change: Change): change is Change<'zone'> {
  return change.kind === 'zone';
}

function isTrackable(change: Change): change is Change<'trackable'> {
  return change.kind === 'trackable';
}

function withParent(trackable: Trackable, entities: Entities): Trackable {
  const { parent, ...orphan } = trackable;
  if (parent == null) return trackable;
  if (isUnset(parent)) return orphan;
  const { id = parent } = entities.get('trackable', parent) ?? {};
  return id === parent ? trackable : { ...trackable, parent: id };
}

/** Other changes of an anchor, such as its name, move no zone. */
function hasMoved({ before, after }: Change<'anchor'>): boolean {
  const places = [before, after].map((anchor) => [anchor?.local_position, anchor?.georeferenced_position]);
  return JSON.stringify(places[0]) !== JSON.stringify(places[1]);
}
