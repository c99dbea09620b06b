import Type, { type Static } from 'typebox';
import { show } from '../model/error_value_text.ts';
import { Filter } from '../model/filter.ts';
import { isObject } from '../model/json_tree.ts';
import { ProviderType } from '../model/location.ts';
import { memberProblems, type PartProblem } from './part_problems.ts';

/** An element of `filters`: the filter of all objects, or of those with providers of a type. */
export const ConfiguredFilter = Type.Object({ provider_type: Type.Optional(ProviderType), ...Filter.properties });
type ConfiguredFilter = Static<typeof ConfiguredFilter>;

const problemsOfMembers = memberProblems(ConfiguredFilter.properties, 'a filter');

/** Problems of the value of `filters`. */
export function filterProblems(value: unknown): readonly PartProblem[] {
  if (!Array.isArray(value)) {
    return [{ path: [], text: `must be a list of {provider_type, kind, default_accuracy …}, found ${show(value)}` }];
  }
  const types = new Set<unknown>();
  return value.flatMap((filter: unknown, index): readonly PartProblem[] => {
    if (!isObject(filter)) return [{ path: [index], text: `must have members such as kind, found ${show(filter)}` }];
    const values = filter as Readonly<Record<string, unknown>>;
    const problems = problemsOfMembers(values, [index]);
    const { provider_type: type } = values;
    if (types.has(type)) {
      const text =
        type === undefined
          ? 'must have a provider_type, because an earlier filter has none'
          : `must have a provider_type of its own, found ${show(type)} again`;
      problems.push({ path: [index], text });
    }
    types.add(type);
    return problems;
  });
}

/** Returns the filters by type of provider, and the filter of all objects; undefined if none is set. */
export function filterDefaults(filters: readonly ConfiguredFilter[]) {
  if (filters.length === 0) return undefined;
  const typed = filters.flatMap(({ provider_type: type, ...filter }) => (type === undefined ? [] : [[type, filter]]));
  return {
    all: filters.find(({ provider_type: type }) => type === undefined),
    types: Object.fromEntries(typed) as Readonly<Partial<Record<ProviderType, Filter>>>,
  };
}
