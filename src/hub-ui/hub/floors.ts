/** Returns whether something is visible: on the selected floor, or without a floor. Undefined selects all floors. */
export function isOnFloor(shown: number | undefined, floor: number | null | undefined): boolean {
  return shown === undefined || floor == null || floor === shown;
}

export function floorsOf(entities: readonly { readonly floor?: number | null }[]): number[] {
  return [...new Set(entities.flatMap(({ floor }) => floor ?? []))];
}

/** Names of floors, from the property `floor_name` of the first zone on each that has one. */
export function floorNames(
  zones: Iterable<{ readonly floor?: number | null; readonly properties?: Readonly<Record<string, unknown>> | null }>,
): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (const { floor, properties } of zones) {
    const name = properties?.['floor_name'];
    if (typeof name === 'string' && name !== '' && !names.has(floor ?? 0)) names.set(floor ?? 0, name);
  }
  return names;
}

/** Numbers of visible objects on each floor; objects without a floor are not counted. */
export function objectsByFloor(
  objects:
    | { readonly count: number; readonly floor: ArrayLike<number>; readonly removed: ArrayLike<number> }
    | undefined,
): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (let i = 0; objects !== undefined && i < objects.count; i++) {
    const floor = objects.floor[i] ?? Number.NaN;
    if (objects.removed[i] === 0 && !Number.isNaN(floor)) counts.set(floor, (counts.get(floor) ?? 0) + 1);
  }
  return counts;
}
