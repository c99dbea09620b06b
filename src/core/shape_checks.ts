import type { Fence } from '../model/fence.ts';
import type { Polygon } from '../model/geojson.ts';

/** Checks of geometries whose form fits the schema already. Each says why it cannot be used, naming field and value. */
export interface ShapeChecks {
  /** Undefined for a fence whose region is one. */
  regionProblem(fence: Fence): string | undefined;
  /** Undefined for a polygon of a plane that has an area and does not cross itself. `path` is where it stands. */
  polygonProblem(polygon: Polygon, path: string): string | undefined;
}
