import type { Zone } from '../../../model/zone.ts';
import type { Draft } from '../../hub/rest.ts';
import { equal } from '../../json/equal.ts';
import { floorPlanOf, type Georeference, georeferencePlan, type Matrix } from '../../map/plane/georeference.ts';
import { EARTH } from '../../map/plane/plane.ts';
import { type Pair, pairsOf, pairsOfArea, rowsOf } from './pairs.ts';
import type { PlanImage } from './image_layer.tsx';
import { cornersOf, movedPairs } from './plan_move.ts';
import { drawable } from './zone_georeference.ts';

/** Change that sets the control points of a zone's plan. */
export function withPlanPairs(zone: Draft<'zones'>, pairs: readonly Pair[]): Draft<'zones'> {
  const plan = zone.properties?.['floor_plan'] as object | undefined;
  return { properties: { ...zone.properties, floor_plan: { ...plan, ground_control_points: rowsOf(pairs) } } };
}

/** Transform from the pixels of a zone's plan to the map; undefined while the plan is not georeferenced. */
export function placementOfPlan(zone: Zone): Georeference | undefined {
  const plan = floorPlanOf(zone);
  return plan && georeferencePlan(zone, plan, EARTH);
}

/** Control points of a zone with the extent of its plan; undefined while the plan is not georeferenced. */
export function areaOfPlan(zone: Zone, image: PlanImage): number[][] | undefined {
  const placed = placementOfPlan(zone);
  return placed && rowsOf(pairsOfArea(cornersOf(image).map((corner) => placed.toMap(corner))));
}

/**
 * Change that places the plan of a zone. A zone without control points, or with the extent of its plan, gets the new extent:
 * a zone that begins with its plan moves with it.
 */
export function withPlacedPlan(zone: Draft<'zones'>, image: PlanImage, pairs: readonly Pair[]): Draft<'zones'> {
  const change = withPlanPairs(zone, pairs);
  const rows = zone.ground_control_points ?? [];
  const isOfPlan = rows.length === 0 || equal(rows, areaOfPlan(drawable(zone), image));
  const area = isOfPlan ? areaOfPlan(drawable({ ...zone, ...change }), image) : undefined;
  return area === undefined ? change : { ...change, ground_control_points: area };
}

/** Control points of the plan of a zone; none without a plan. */
export function planPairsOf(zone: Draft<'zones'>): readonly Pair[] {
  return pairsOf(floorPlanOf(drawable(zone))?.ground_control_points);
}

/** Change that moves the plan of a zone on the map. */
export function withMovedPlan(zone: Draft<'zones'>, image: PlanImage, movement: Matrix): Draft<'zones'> {
  return withPlacedPlan(zone, image, movedPairs(planPairsOf(zone), movement));
}
