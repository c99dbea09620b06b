import { type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { labelOf } from '../../hub/entity_kinds.ts';
import { storeOf } from '../../hub/stores.ts';
import type { CanvasLayer } from '../view/canvas_layer.ts';
import { assignColors, type ColorBy, colorValue, NONE, OTHER } from '../view/color_by.ts';
import type { MovingObjects } from './moving_objects.ts';
import type { LayerSymbol } from './sprites.ts';

/** Number of objects in a color group, and its value; undefined for the groups of other values and of no value. */
export interface GroupCount {
  readonly group: number;
  readonly value: string | undefined;
  readonly count: number;
}

/** Interval of regrouping, since floors change and objects appear. */
const GROUP_MS = 1_000;
const NO_GROUPS: readonly GroupCount[] = [];

/** Color groups of the last grouped layer, for the legend. */
export const groupCounts: Readonly<Record<LayerSymbol, Signal<readonly GroupCount[]>>> = {
  trackable: signal(NO_GROUPS),
  provider: signal(NO_GROUPS),
};

/** Groups the objects of a layer by an attribute, and publishes the counts. */
export function useGroups(
  { objects, layer }: { readonly objects: MovingObjects; readonly layer: CanvasLayer },
  { symbol, colorBy }: { readonly symbol: LayerSymbol; readonly colorBy: ColorBy },
): void {
  useEffect(() => {
    const published = groupCounts[symbol];
    if (colorBy === 'state') {
      objects.group.fill(0);
      layer.redraw();
      return;
    }
    let colors: ReadonlyMap<string, number> = new Map();
    const group = (): void => {
      const counts = countGroups(objects, { symbol, colorBy, before: colors });
      colors = counts.colors;
      if (JSON.stringify(counts.groups) === JSON.stringify(published.peek())) return;
      published.value = counts.groups;
      layer.redraw();
    };
    group();
    const timer = setInterval(group, GROUP_MS);
    return () => {
      clearInterval(timer);
      published.value = NO_GROUPS;
    };
  }, [objects, layer, symbol, colorBy]);
}

function countGroups(
  objects: MovingObjects,
  {
    symbol,
    colorBy,
    before,
  }: { readonly symbol: LayerSymbol; readonly colorBy: ColorBy; readonly before: ReadonlyMap<string, number> },
): { readonly groups: readonly GroupCount[]; readonly colors: ReadonlyMap<string, number> } {
  const entities = storeOf(symbol === 'trackable' ? 'trackables' : 'providers').items.peek();
  const values: (string | undefined)[] = [];
  const counts = new Map<string, number>();
  let without = 0;
  for (let i = 0; i < objects.count; i++) {
    const facts = objects.facts[i];
    if (facts === undefined || objects.removed[i] === 1) continue;
    const entity = entities.get(facts.id);
    const value = colorValue({ entity, providerType: facts.providerType, floor: objects.floor[i]! }, colorBy);
    values[i] = value;
    if (value === undefined) without++;
    else counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const colors = assignColors(counts, before);
  for (let i = 0; i < objects.count; i++) {
    const value = values[i];
    objects.group[i] = value === undefined ? NONE : (colors.get(value) ?? OTHER);
  }
  const groups: GroupCount[] = [...colors]
    .map(([value, group]) => ({ group, value: nameOf(value, colorBy), count: counts.get(value) ?? 0 }))
    .sort((a, b) => b.count - a.count);
  const others = [...counts].filter(([value]) => !colors.has(value)).reduce((sum, [, count]) => sum + count, 0);
  if (others > 0) groups.push({ group: OTHER, value: undefined, count: others });
  if (without > 0) groups.push({ group: NONE, value: undefined, count: without });
  return { groups, colors };
}

/** Display name of a value; for a parent, the label of that trackable. */
function nameOf(value: string, by: ColorBy): string {
  const parent = by === 'parent' ? storeOf('trackables').items.peek().get(value) : undefined;
  return parent === undefined ? value : labelOf(parent);
}
