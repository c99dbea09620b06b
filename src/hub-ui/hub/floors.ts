/** Whether something is to be seen: on the floor that is shown, or of all floors. */
export function isOnFloor(shown: number | undefined, floor: number | null | undefined): boolean {
  return shown === undefined || floor == null || floor === shown;
}

export function floorsOf(entities: readonly { readonly floor?: number | null }[]): number[] {
  return [...new Set(entities.flatMap(({ floor }) => floor ?? []))];
}
