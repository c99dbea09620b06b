import { hubError } from '../errors.ts';
import Type from 'typebox';
import { checkZonePlace } from '../auth/reference_check.ts';
import type { Visibility } from '../auth/visibility.ts';
import { CRS_CHOICES, isCrs } from '../core/geo/crs.ts';
import type { Entities } from '../entities/entities.ts';
import { Crs } from '../model/schema.ts';
import { show } from '../model/error_value_text.ts';
import type { View } from '../model/topics.ts';

/** Parameters of every endpoint with coordinates. */
export const VIEW_QUERY = {
  crs: Type.Optional(Crs(`CRS of coordinates: ${CRS_CHOICES}. EPSG:4326 if absent.`)),
  zone_id: Type.Optional(
    Type.String({
      description: 'Id or foreign id of the zone of crs `local`. Ignored with any other crs.',
    }),
  ),
  geojson: Type.Optional(Type.Boolean({ description: 'Whether the reply is GeoJSON.' })),
};

export const SPATIAL_QUERY = {
  spatial_query: Type.Optional(
    Type.Boolean({ description: 'Whether last positions decide, not entries and exits with their timeouts.' }),
  ),
};

export const SUBDIVIDE_QUERY = {
  subdivide: Type.Optional(
    Type.Boolean({ description: 'Whether positions are added on long edges, to be at most 10 m apart.' }),
  ),
};

export interface ViewQuery {
  readonly crs?: string;
  readonly zone_id?: string;
  readonly geojson?: boolean;
}

/** The parts of a call that determine its view. */
interface Viewing {
  readonly query: ViewQuery;
  readonly visibility: Visibility | undefined;
}

/**
 * The requested view. `zone_id` only applies to crs local. Throws HUB_BAD_REQUEST for an unsupported crs and for an
 * unknown zone_id, and HUB_NOT_AUTHORIZED for a zone whose position the token may not know.
 */
export function viewOf({ query, visibility }: Viewing, { entities }: { readonly entities: Entities }): View {
  const crs = query.crs ?? 'EPSG:4326';
  if (!isCrs(crs)) throw hubError('not_a_crs', { path: 'crs', found: show(crs) });
  const view = { crs, geojson: query.geojson === true };
  const { zone_id: name } = query;
  if (crs !== 'local' || name === undefined) return view;
  const zone = entities.zoneBy(name);
  if (zone === undefined) {
    throw hubError('unknown_zone', { path: 'zone_id', found: show(name) });
  }
  checkZonePlace('zone_id', zone.id, visibility);
  return { ...view, zoneId: zone.id };
}
