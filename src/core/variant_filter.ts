import { type FilterFields, isInBox, type KeyValue, keyOf, type Variant } from '../model/topics.ts';

/** A subscribed rendering, and the filter of its events. */
export interface FilteredVariant extends Variant {
  /** Whether any subscriber's filter accepts the event; undefined if a subscriber receives all events. */
  readonly wants?: ((fields: FilterFields) => boolean) | undefined;
}

/** Returns a variant with a filter that is evaluated before rendering. */
export function filteredVariant(variant: Variant): FilteredVariant {
  const { wanted } = variant;
  if (wanted === undefined) return variant;
  const keys = wanted.keys.map(({ at, values }) => ({ at, values: new Set(values) }));
  const { limits, boxes = [] } = wanted;
  // hot
  const wants = (fields: FilterFields): boolean => {
    for (const { at, values } of keys) {
      const field = fields[at];
      if (field !== undefined && values.has(keyOf(field as KeyValue))) return true;
    }
    for (const { at, most } of limits) {
      const field = fields[at];
      if (typeof field === 'number' && field <= most) return true;
    }
    for (const box of boxes) {
      const [lon, lat] = [fields[box.at], fields[box.at + 1]];
      if (typeof lon === 'number' && typeof lat === 'number' && isInBox(box, lon, lat)) return true;
    }
    return false;
  };
  return { ...variant, wants };
}
