import type { EntityDraft } from '../../drafts/entity_draft.ts';
import { t } from '../../languages/language.ts';
import { floorPlanOf, georeference } from '../../map/plane/georeference.ts';
import { EARTH, fromMap, type MapPoint } from '../../map/plane/plane.ts';
import type { Draft } from '../../hub/rest.ts';
import type { PlanImage } from './image_layer.tsx';
import { pairsOf } from './pairs.ts';
import { withPlacedPlan } from './plan_area.ts';
import { readPlan } from './plan_image.ts';
import { pairsAround } from './plan_move.ts';
import { drawable } from './zone_georeference.ts';

/** Position for a plan that has none. */
export interface FirstPosition {
  readonly center: MapPoint;
  /** Width on the ground, unless the file declares its unit. */
  readonly widthMeters: number;
}

/**
 * Adds a file as the floor plan of a zone. A plan that replaces another one keeps its control points, and the first plan of a
 * georeferenced zone fills it. Otherwise it is placed at `first`; without that, it is not placed. Rejects with the reason if
 * the file is not a plan.
 */
export async function addPlan(draft: EntityDraft<'zones'>, file: File, first?: FirstPosition): Promise<void> {
  const zone = draft.value.peek();
  const rows = floorPlanOf(drawable(zone))?.ground_control_points ?? [];
  const { floor_plan: _, ...others } = zone.properties ?? {};
  const { image, widthMeters = first?.widthMeters } = await readPlanFile(file, { ...others, rows });
  const now = draft.value.peek();
  const known = rows.length > 0 ? rows : rowsThatFill(now, image);
  const change = { properties: { ...now.properties, floor_plan: { image: image.url, ground_control_points: known } } };
  if (known.length > 0 || first === undefined || widthMeters === undefined) {
    draft.change(change);
    return;
  }
  const pairs = pairsAround(first.center, image, widthMeters);
  draft.change({ ...change, ...withPlacedPlan({ ...now, ...change }, image, pairs) });
}

interface PlanFile {
  readonly image: PlanImage;
  /** Width on the ground, if the file declares it. */
  readonly widthMeters?: number;
}

async function readPlanFile(file: File, others: object): Promise<PlanFile> {
  if (/\.pdf$/i.test(file.name) || file.type === 'application/pdf') {
    throw new Error(t('A PDF cannot be read here: save its page as PNG or SVG'));
  }
  if (!/\.dxf$/i.test(file.name)) return { image: await readPlan(file, others) };
  const { drawDxf } = await import('../../formats/dxf_plan.ts');
  const { svg, widthMeters } = drawDxf(new Uint8Array(await file.arrayBuffer()));
  return { image: await readPlan(new Blob([svg], { type: 'image/svg+xml' }), others), widthMeters };
}

/** Control points of a plan that fills the bounding box of a georeferenced zone; none for other zones. */
function rowsThatFill({ ground_control_points: rows }: Draft<'zones'>, { width, height }: PlanImage): number[][] {
  const placed = rows == null ? undefined : georeference(rows);
  if (rows == null || placed === undefined) return [];
  const own = pairsOf(rows).map(({ own: [x = 0, y = 0] }) => [x, y] as const);
  const [left, right] = [Math.min(...own.map(([x]) => x)), Math.max(...own.map(([x]) => x))];
  const [bottom, top] = [Math.min(...own.map(([, y]) => y)), Math.max(...own.map(([, y]) => y))];
  const corners = [
    [left, top, 0, 0],
    [right, top, width, 0],
    [right, bottom, width, height],
    [left, bottom, 0, height],
  ] as const;
  return corners.flatMap(([x, y, column, row]) => [fromMap(EARTH, placed.toMap([x, y])), [column, row]]);
}
