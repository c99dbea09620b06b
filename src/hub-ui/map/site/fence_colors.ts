import type { Fence } from '../../../model/fence.ts';
import { assignColors, type CategoryColors, NONE, OTHER, propertyText } from '../view/color_by.ts';

/** Fences with the same value of a property. */
export interface FenceGroup {
  /** Undefined for all values without a color of their own, and for fences without a value. */
  readonly value: string | undefined;
  /** Index of the color, from 1; see `colorOfGroup`. */
  readonly group: number;
  readonly count: number;
}

/** Groups fences by a property, the largest first. At most eight values have a color of their own. */
export function fenceGroups(fences: readonly Fence[], property: string): readonly FenceGroup[] {
  const counts = new Map<string, number>();
  let without = 0;
  for (const fence of fences) {
    const value = propertyText(fence.properties?.[property]);
    if (value === undefined) without++;
    else counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const colors = assignColors(counts, new Map());
  const named = [...colors].map(([value, group]) => ({ value, group, count: counts.get(value) ?? 0 }));
  const others = [...counts].reduce((sum, [value, count]) => sum + (colors.has(value) ? 0 : count), 0);
  return [
    ...named,
    { value: undefined, group: OTHER, count: others },
    { value: undefined, group: NONE, count: without },
  ].filter(({ count }) => count > 0);
}

/** Color of each fence by a property. */
export function fenceColors(
  fences: readonly Fence[],
  property: string,
  colors: CategoryColors,
): ReadonlyMap<string, string> {
  const groups = new Map(fenceGroups(fences, property).map(({ value, group }) => [value, group]));
  return new Map(
    fences.map((fence) => {
      const value = propertyText(fence.properties?.[property]);
      return [fence.id, colorOfGroup(value === undefined ? NONE : (groups.get(value) ?? OTHER), colors)];
    }),
  );
}

export function colorOfGroup(group: number, { values, other, none }: CategoryColors): string {
  return [...values, other, none][group - 1] ?? none;
}
