import type { Fence } from '../model/fence.ts';
import type { Polygon } from '../model/geojson.ts';

/**
 * Checks of geometries whose form fits the schema already. Each says why it cannot be used, naming field and value, or
 * throws NotChecked.
 */
export interface ShapeChecks {
  /** Undefined for a fence whose region is one. */
  regionProblem(fence: Fence): string | undefined;
  /** Undefined for a polygon of a plane that has an area and does not cross itself. `path` is where it stands. */
  polygonProblem(polygon: Polygon, path: string): string | undefined;
}

/** The geometry is too large to be checked while others wait. Once it was looked at, the same check knows the answer. */
export class NotChecked extends Error {
  override name = 'NotChecked';
  /** Has it looked at elsewhere. Rejects with a HubError where that takes too long. */
  readonly look: () => Promise<void>;

  constructor(look: () => Promise<void>) {
    super('The geometry was not checked yet');
    this.look = look;
  }
}
