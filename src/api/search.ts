import { redactor } from '../auth/redaction.ts';
import type { SearchQuery } from '../core/item.ts';
import type { ApiDeps } from './deps.ts';
import type { ApiCall } from './route.ts';

/** Maximum number of slices of a search. With 1,000 objects each, it is reached only by millions of objects. */
const SLICES_MAX = 5000;

/** An object found by a search: its distance in meters, and its location or motion as JSON. */
interface Found {
  readonly id: string;
  readonly distance: number;
  readonly json: string;
}

/**
 * Searches the shards of all hubs, in slices, so that no shard is busy with it for more than some milliseconds at a
 * time. Shards continue from the code at which the first of them has stopped: objects that are found again replace
 * themselves. An object that moves between slices of a long search may be missed.
 */
export async function searched(query: Omit<SearchQuery, 'most' | 'from'>, most: number, hub: ApiDeps) {
  const found = new Map<string, Found>();
  let { radius } = query;
  let from: number | undefined;
  for (let slices = 1; ; slices++) {
    const asked = {
      ...query,
      most: most + 1,
      ...(radius !== undefined && { radius }),
      ...(from !== undefined && { from }),
    };
    let next: number | undefined;
    for (const answer of await hub.read(asked)) {
      if (!('found' in answer)) continue;
      for (const [id, distance, json] of answer.found) found.set(id, { id, distance, json });
      if (answer.next !== undefined) next = Math.min(next ?? answer.next, answer.next);
    }
    const isFull = found.size > most;
    if (isFull && query.near !== undefined) {
      // Only nearer objects can still be among the result.
      const nearest = sorted(found).slice(0, most + 1);
      found.clear();
      for (const each of nearest) found.set(each.id, each);
      radius = nearest[most]?.distance;
    }
    const isDone = next === undefined || (isFull && query.near === undefined);
    if (!isDone && slices < SLICES_MAX) {
      from = next;
      continue;
    }
    return { found: sorted(found).slice(0, most), isComplete: next === undefined && !isFull };
  }
}

/** Returns the reply to a search, redacted for the token of a call. */
export function searchJson(
  { kind, near }: Pick<SearchQuery, 'kind' | 'near'>,
  { found, isComplete }: Awaited<ReturnType<typeof searched>>,
  { visibility }: Pick<ApiCall, 'visibility'>,
): string {
  const [member, naming] = kind === 'trackable' ? (['motion', 'motion'] as const) : (['location', 'location'] as const);
  const cut = redactor(visibility, naming, 'plain') ?? ((json: string) => json);
  const matches = found.map(({ distance, json }) => {
    const meters = near === undefined ? '' : `"distance":${Math.round(distance * 1000) / 1000},`;
    return `{${meters}"${member}":${cut(json)}}`;
  });
  return `{"matches":[${matches.join(',')}],"complete":${isComplete}}`;
}

function sorted(found: ReadonlyMap<string, Found>): Found[] {
  return [...found.values()].sort((one, other) => {
    return one.distance - other.distance || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
  });
}
