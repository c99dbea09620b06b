import { hubError, HubError } from '../../errors.ts';
import { normalizeFence } from '../../core/fence/region_normal.ts';
import { placeLocal } from '../../core/geo/geodesic.ts';
import { roundDegrees } from '../../core/geo/rounding.ts';
import { checkGroundControlPoints, zoneTransform } from '../../core/zone/zone_transform.ts';
import { checkLonLat } from '../../entities/body.ts';
import type { Entities } from '../../entities/entities.ts';
import { checker } from '../../model/check.ts';
import { CreationParameters, ZoneCreationParameters } from '../../model/creation.ts';
import { Fence } from '../../model/fence.ts';
import { pathOf, show } from '../../model/error_value_text.ts';
import { Zone } from '../../model/zone.ts';
import { type ApiRoute, route } from '../route.ts';
import { zoneIn } from '../versions.ts';

/**
 * Creates zones and fences from on-site measurements: positions in local coordinates, georeferenced by a point known in
 * both systems (the local reference, 0 0 if absent, lies at the global reference, and the axes are turned clockwise by
 * rotation and meridian convergence) or by a zone. Nothing is stored.
 */

const schema = checker(CreationParameters);

type Position = readonly number[];
type Place = (position: Position, path: string) => number[];

export const FROM_LOCAL_ROUTES: readonly ApiRoute[] = [
  route({
    method: 'PUT',
    path: '/zones/fromlocal',
    summary: 'Compute a zone from local coordinates and a reference point; it is not stored',
    permission: { operation: 'UPDATE' },
    body: ZoneCreationParameters,
    replies: { 200: { description: 'The zone.', schema: Zone } },
    handle({ body, version, reply }, { entities }) {
      return reply.json(JSON.stringify(zoneIn(version, zoneFromLocal(body, entities))));
    },
  }),
  route({
    method: 'PUT',
    path: '/fences/fromlocal',
    summary: 'Compute a fence from local coordinates and a reference point or a zone; it is not stored',
    permission: { operation: 'UPDATE' },
    body: CreationParameters,
    replies: { 200: { description: 'The fence.', schema: Fence } },
    handle: ({ body, reply }, { entities }) => reply.json(JSON.stringify(fenceFromLocal(body, entities))),
  }),
];

/** A zone georeferenced by the local coordinates. Throws HUB_BAD_REQUEST for invalid parameters. */
function zoneFromLocal(body: unknown, entities: Entities): Zone {
  const parameters = schema.parse(body);
  const place = byReference(parameters);
  if (place === undefined)
    throw hubError('missing_for', { path: 'global_reference', purpose: 'zone', found: 'nothing' });
  const positions = coordinatesOf(parameters);
  if (positions === undefined)
    throw hubError('missing_for', { path: 'local_coordinates', purpose: 'zone', found: 'nothing' });
  const rows = open(positions).flatMap((position, i) => [place(position, pathAt(i)), [...position]]);
  const problem = checkGroundControlPoints(rows);
  if (problem !== undefined) {
    throw hubError('no_placement', { path: 'local_coordinates' }, { detail: `that ${problem}` });
  }
  return { id: entities.newId(), type: 'unknown', ground_control_points: rows };
}

/**
 * A fence in EPSG:4326: the polygon of the local coordinates, georeferenced by the global reference or by the zone, or
 * a circle around the local reference in the zone. Throws HUB_BAD_REQUEST for invalid parameters.
 */
function fenceFromLocal(body: unknown, entities: Entities): Fence {
  const parameters = schema.parse(body);
  const positions = coordinatesOf(parameters);
  const id = entities.newId();
  const fence =
    positions === undefined ? circle(id, parameters, entities) : polygon(id, positions, placing(parameters, entities));
  const problem = entities.shapes.regionProblem(fence);
  if (problem !== undefined) throw new HubError(problem.at('local_coordinates'));
  return fence;
}

function circle(id: string, parameters: CreationParameters, entities: Entities): Fence {
  const { radius, local_reference: centre } = parameters;
  const place = byZone(parameters, entities);
  if (place === undefined || radius == null) {
    throw hubError('missing_for', { path: 'local_coordinates', purpose: 'fence', found: 'nothing' });
  }
  if (radius <= 0) throw hubError('not_positive', { path: 'radius', found: String(radius) });
  const coordinates = place(centre?.coordinates ?? [0, 0], 'local_reference.coordinates');
  return { id, region: { type: 'Point', coordinates }, radius };
}

function polygon(id: string, positions: readonly Position[], place: Place): Fence {
  const ring = positions.map((position, i) => place(position, pathAt(i)));
  return normalizeFence({ id, region: { type: 'Polygon', coordinates: [ring] } });
}

function placing(parameters: CreationParameters, entities: Entities): Place {
  const place = byReference(parameters) ?? byZone(parameters, entities);
  if (place !== undefined) return place;
  throw hubError('missing_without_zone', { path: 'global_reference', found: 'nothing' });
}

function byReference(parameters: CreationParameters): Place | undefined {
  const {
    global_reference: reference,
    local_reference: local,
    rotation,
    meridian_convergence: convergence,
  } = parameters;
  if (reference == null) return undefined;
  checkLonLat(reference.coordinates, 'global_reference.coordinates', 180);
  const clockwiseDegrees = (rotation ?? 0) + (convergence ?? 0);
  const known = { global: reference.coordinates, local: local?.coordinates ?? [0, 0], clockwiseDegrees };
  return (position, path) => {
    const placed = placeLocal(position, known);
    if (placed.every(Number.isFinite)) return placed;
    throw hubError('not_on_earth', { path, found: show(position) });
  };
}

function byZone({ zone_id: name }: CreationParameters, entities: Entities): Place | undefined {
  if (name == null) return undefined;
  const zone = entities.zoneBy(name);
  if (zone === undefined) throw hubError('unknown_zone', { path: 'zone_id', found: show(name) });
  const plane = zoneTransform(zone);
  if (plane === undefined) throw hubError('zone_not_placed', { path: 'zone_id', found: show(name) });
  return ([x = 0, y = 0, z], path) => {
    if (!plane.covers(x, y)) throw hubError('out_of_zone', { path, zone_id: zone.id, found: show([x, y]) });
    const out: [number, number] = [0, 0];
    plane.toWgs84(x, y, out);
    const placed = [roundDegrees(out[0]), roundDegrees(out[1])];
    return z === undefined ? placed : [...placed, z];
  };
}

function coordinatesOf({ local_coordinates: line }: CreationParameters): readonly Position[] | undefined {
  return line?.coordinates;
}

/** Removes the repeated position of a closed line. */
function open(positions: readonly Position[]): readonly Position[] {
  const [first, last] = [positions[0], positions.at(-1)];
  const closed = positions.length > 2 && first?.[0] === last?.[0] && first?.[1] === last?.[1];
  return closed ? positions.slice(0, -1) : positions;
}

function pathAt(index: number): string {
  return pathOf('local_coordinates.coordinates', [String(index)]);
}
