import type { Problem } from '../problem.ts';
import type { Fence } from '../model/fence.ts';
import type { Polygon } from '../model/geojson.ts';

/**
 * Validation of geometries that already match the schema. Each function returns the problem or throws
 * NotChecked.
 */
export interface ShapeChecks {
  /** Returns undefined for a valid region. */
  regionProblem(fence: Fence): Problem | undefined;
  /** Returns undefined for a polygon of a plane that has an area and does not cross itself. `path` is its JSON path. */
  polygonProblem(polygon: Polygon, path: string): Problem | undefined;
}

/**
 * Thrown if the geometry is too large to check on this thread. Once `check` has resolved, the result is cached and the
 * same check succeeds.
 */
export class NotChecked extends Error {
  override name = 'NotChecked';
  /** Checks the geometry on another thread. Rejects with a HubError on timeout. */
  readonly check: () => Promise<void>;

  constructor(check: () => Promise<void>) {
    super('The geometry was not checked yet');
    this.check = check;
  }
}
