/** Returns whether something is visible: on the selected floor, or without a floor. Undefined selects all floors. */
export function isOnFloor(shown: number | undefined, floor: number | null | undefined): boolean {
  return shown === undefined || floor == null || floor === shown;
}

export function floorsOf(entities: readonly { readonly floor?: number | null }[]): number[] {
  return [...new Set(entities.flatMap(({ floor }) => floor ?? []))];
}
