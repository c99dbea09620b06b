import type { LastKnownRow, Query } from './item.ts';

/** The object that a query names, which whoever has it can answer alone; undefined for one that all must answer. */
export function askedObject(query: Query): Pick<LastKnownRow, 'kind' | 'id'> | undefined {
  switch (query.ask) {
    case 'provider_location':
    case 'provider_fences':
      return { kind: 'provider', id: query.id };
    case 'trackable_location':
    case 'trackable_locations':
    case 'trackable_motion':
    case 'trackable_fences':
      return { kind: 'trackable', id: query.id };
    default:
      return undefined;
  }
}
