import { type FilterFields, type KeyValue, keyOf, type Variant } from '../model/topics.ts';

/** A rendering that is wanted, and of which events. */
export interface WantedVariant extends Variant {
  /** Whether somebody may get the event; undefined: somebody gets all of them. */
  readonly wants?: ((fields: FilterFields) => boolean) | undefined;
}

/** A variant whose events are asked about before they are rendered. */
export function wantedVariant(variant: Variant): WantedVariant {
  const { wanted } = variant;
  if (wanted === undefined) return variant;
  const keys = wanted.keys.map(({ at, values }) => ({ at, values: new Set(values) }));
  const { limits } = wanted;
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
    return false;
  };
  return { ...variant, wants };
}
