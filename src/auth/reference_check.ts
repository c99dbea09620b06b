import { hubError, HubError } from '../errors.ts';
import { problemOf, type Problem } from '../problem.ts';
import { idKey } from '../model/id.ts';
import { show } from '../model/error_value_text.ts';
import { KIND_OF_RESOURCE } from '../model/permission.ts';
import type { Zone } from '../model/zone.ts';
import { type ReferenceSource, namesOf, REFERENCE_PATHS, type ReferencePath } from './names.ts';
import type { Visibility } from './visibility.ts';

/**
 * Throws HUB_NOT_AUTHORIZED for the first reference that is new in `after` and not readable. The values are not
 * validated; invalid ids are skipped, because the validation of the entity rejects them.
 */
export function checkNewNames(
  naming: ReferenceSource,
  { before, after }: { readonly before: object | undefined; readonly after: unknown },
  visibility: Visibility,
): void {
  for (const place of REFERENCE_PATHS[naming]) {
    if (place.isOurs === true) continue;
    const known = new Set(before === undefined ? [] : namesOf(place, before).map(({ id }) => idKey(id)));
    for (const { field, id } of namesOf(place, after)) {
      if (!known.has(idKey(id)) && !mayName(place, id, visibility)) throw unreadable(field, place, id);
    }
  }
}

/** Throws HUB_NOT_AUTHORIZED unless the token may know the position of the zone to which a field refers. */
export function checkZonePlace(field: string, zoneName: string, visibility: Visibility | undefined): void {
  if (visibility?.seesPlaceOf(zoneName) === false) throw unreadable(field, { of: [] }, zoneName);
}

/** Like checkZonePlace, for the outline of a zone, which may reveal the positions of its anchors. */
export function checkZoneOutline(field: string, zone: Zone, visibility: Visibility | undefined): void {
  checkZonePlace(field, zone.id, visibility);
  const anchors = REFERENCE_PATHS.zone
    .filter(({ of }) => of.includes('anchor_id'))
    .flatMap((place) => namesOf(place, zone));
  if (visibility === undefined || anchors.every(({ id }) => visibility.sees(['anchor_id'], id))) return;
  throw hubError('unreadable_anchors', { path: field, found: show(zone.id) });
}

/** Throws HUB_NOT_AUTHORIZED unless the token may read the entity to which a field refers. */
export function checkName(
  field: string,
  { of, id }: Pick<ReferencePath, 'of'> & { readonly id: string },
  visibility: Visibility,
): void {
  if (!visibility.sees(of, id)) throw unreadable(field, { of }, id);
}

function mayName({ of }: ReferencePath, id: string, visibility: Visibility): boolean {
  return of.length === 0 ? visibility.seesPlaceOf(id) : visibility.sees(of, id);
}

function unreadable(field: string, { of }: Pick<ReferencePath, 'of'>, id: string): HubError {
  return new HubError(unreadableProblem(of, { path: field, found: show(id) }));
}

function unreadableProblem(of: ReferencePath['of'], where: { readonly path: string; readonly found: string }): Problem {
  const [kind, other] = of.map((resource) => KIND_OF_RESOURCE[resource]);
  if (kind === undefined) return problemOf('unreadable_carrier', where);
  if (other !== undefined) return problemOf('unreadable_kinds', { ...where, kind, other_kind: other });
  return kind === 'anchor' ? problemOf('unreadable_anchor', where) : problemOf('unreadable_kind', { ...where, kind });
}
