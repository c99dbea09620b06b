import { checker } from '../model/check.ts';
import { idKey, isUnset, isUuid } from '../model/id.ts';
import { pathOf, show } from '../model/show.ts';
import { Trackable } from '../model/trackable.ts';
import { type Body, badRequest, checkIntegers, DURATIONS, onlyMembers } from './body.ts';
import { checkRules } from './check_rules.ts';
import type { Known } from './known.ts';
import { checkLevels } from './parent_levels.ts';

const schema = checker(Trackable);

/** The trackable as it is kept. Throws HUB_BAD_REQUEST naming the field and the value that do not fit. */
export function validateTrackable(body: Body, known: Known, before?: Trackable): Trackable {
  if (Object.hasOwn(body, 'collision_tolerance')) {
    throw badRequest(`collision_tolerance: was renamed exit_tolerance, found ${show(body['collision_tolerance'])}`);
  }
  const trackable = onlyMembers(Trackable, schema.parse(body));
  checkIntegers(trackable, DURATIONS);
  if (!isUuid(trackable.id)) throw badRequest(`id: must be a UUID, found ${show(trackable.id)}`);
  checkProviders(trackable.location_providers ?? []);
  checkGeometry(trackable, known);
  checkRules(trackable.locating_rules ?? [], 'locating_rules');
  checkParent(trackable, known, before);
  return trackable;
}

function checkProviders(ids: readonly string[]): void {
  const seen = new Map<string, number>();
  for (const [i, id] of ids.entries()) {
    const path = pathOf('location_providers', [String(i)]);
    if (id === '') throw badRequest(`${path}: must not be empty, found ""`);
    const before = seen.get(idKey(id));
    if (before !== undefined) {
      throw badRequest(`${path}: must differ from location_providers[${before}], found ${show(id)}`);
    }
    seen.set(idKey(id), i);
  }
}

/** A polygon in metres around the position. */
function checkGeometry({ geometry }: Trackable, known: Known): void {
  const problem = geometry == null ? undefined : known.shapes.polygonProblem(geometry, 'geometry');
  if (problem !== undefined) throw badRequest(problem);
}

/** The parent must exist, must not be carried by the trackable itself, and a new one not make the chain too deep. */
function checkParent(trackable: Trackable, known: Known, before: Trackable | undefined): void {
  const own = idKey(trackable.id);
  const isNew = trackable.parent !== before?.parent;
  let next = trackable.parent;
  let above = 0;
  while (!isUnset(next)) {
    if (idKey(next) === own) {
      throw badRequest(`parent: must not be carried by the trackable itself, found ${show(trackable.parent)}`);
    }
    const ancestor = known.get('trackable', next);
    if (ancestor === undefined) {
      throw badRequest(`parent: must be the id of a trackable, found ${show(trackable.parent)}`);
    }
    next = ancestor.parent;
    above++;
  }
  if (isNew && above > 0) checkLevels({ kind: 'trackable', id: trackable.id }, above, known);
}
