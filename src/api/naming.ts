import { hubError, HubError } from '../errors.ts';
import { checkNewNames } from '../auth/reference_check.ts';
import type { ReferenceSource } from '../auth/names.ts';
import { redactor, withHidden } from '../auth/redaction.ts';
import type { Visibility, EntityIndex } from '../auth/visibility.ts';
import type { QueryResult, Query } from '../core/item.ts';
import type { Entities, EntityMap, Kind, ReplaceOptions } from '../entities/entities.ts';
import type { Resource } from '../model/permission.ts';
import type { Zone } from '../model/zone.ts';
import type { ApiDeps } from './deps.ts';
import type { ApiCall } from './route.ts';

/** Lookup of entities for the visibility of tokens. */
export function siteOf(entities: Entities): EntityIndex {
  return {
    exists: (resource, id) => {
      const kind = KINDS[resource];
      return kind !== undefined && entities.has(kind, id);
    },
    zoneBy: (name) => entities.zoneBy(name),
    zoneOfFence: (id) => entities.get('fence', id)?.zone_id ?? undefined,
  };
}

const KINDS: Readonly<Partial<Record<Resource, Kind>>> = {
  trackable_id: 'trackable',
  zone_id: 'zone',
  provider_id: 'provider',
  fence_id: 'fence',
  anchor_id: 'anchor',
};

/** Throws HUB_NOT_AUTHORIZED if the input adds a reference that the token of the call may not read. */
export function admitNames(
  naming: ReferenceSource,
  change: { readonly before: object | undefined; readonly after: unknown },
  { visibility }: Pick<ApiCall, 'visibility'>,
): void {
  if (visibility !== undefined) checkNewNames(naming, change, visibility);
}

/** The same for locations and proximities: coordinates in a moving zone would reveal its position. hot */
export function admitSources(
  naming: 'location' | 'proximity',
  values: readonly unknown[],
  { visibility }: Pick<ApiCall, 'visibility'>,
  { entities }: ApiDeps,
): void {
  if (visibility === undefined || !entities.hasMobileZones) return;
  for (const after of values) checkNewNames(naming, { before: undefined, after }, visibility);
}

/**
 * Replaces the entity of a call's path by the result of `revise`, and preserves members hidden from the token of the
 * call. Rejects like Entities.edit, without revealing hidden values.
 */
export async function editSeen<K extends Kind>(
  kind: K,
  { id, visibility }: Pick<ApiCall, 'id' | 'visibility'>,
  { entities, revise, options }: Editing<K>,
): Promise<EntityMap[K]> {
  if (visibility === undefined) return entities.edit(kind, id, revise, options);
  let kept: readonly string[] = [];
  const reviseSeen = (before: EntityMap[K]): unknown => {
    kept = [];
    const after = revise(before);
    const whole = withHidden(kind, before, after, visibility);
    kept = whole === after ? [] : membersThatDiffer(whole as Members, after as Members);
    return whole;
  };
  try {
    return await entities.edit(kind, id, reviseSeen, options);
  } catch (error) {
    if (!(error instanceof HubError) || error.code !== 'HUB_BAD_REQUEST') throw error;
    const field = /^\w+/.exec(String(error.params['path']))?.[0] ?? '';
    if (!kept.includes(field)) throw error;
    throw hubError('unreadable_change', { path: field });
  }
}

interface Editing<K extends Kind> {
  readonly entities: Entities;
  revise(before: EntityMap[K]): unknown;
  readonly options: ReplaceOptions;
}

type Members = Readonly<Record<string, unknown>>;

function membersThatDiffer(one: Members, other: Members): readonly string[] {
  return Object.keys(one).filter((name) => one[name] !== other[name]);
}

/** Looks up the zones whose position the token of a call may know. */
export function zonesSeen(
  { visibility }: Pick<ApiCall, 'visibility'>,
  { entities }: ApiDeps,
): (idOrForeignId: string) => Zone | undefined {
  return (name) => (visibility?.seesPlaceOf(name) === false ? undefined : entities.zoneBy(name));
}

/** The JSON of an entity, redacted for the token of a call. */
export function seenText(kind: Kind, text: string, { visibility }: Pick<ApiCall, 'visibility'>): string {
  return visibility === undefined ? text : (redactor(visibility, kind, 'plain')?.(text) ?? text);
}

/** Function that redacts the answers of the shards for the token of a call; undefined if nothing is redacted. */
export function cutOf(
  query: Query,
  { visibility }: Pick<ApiCall, 'visibility'>,
): ((text: string) => string) | undefined {
  if (!('view' in query)) return undefined;
  const naming = query.ask.includes('motion') ? 'motion' : 'location';
  return redactor(visibility, naming, query.view.geojson === true ? 'feature' : 'plain');
}

/** Queries the shards for a call. The answers are redacted. */
export async function answersTo(
  query: Query,
  { visibility }: Pick<ApiCall, 'visibility'>,
  hub: ApiDeps,
): Promise<readonly QueryResult[]> {
  const answers = await hub.read(query);
  if (visibility === undefined || !('view' in query)) return answers;
  const cut = cutOf(query, { visibility });
  const isWanted = query.ask === 'trackable_locations' ? (text: string) => isOfSeen(text, visibility) : () => true;
  return answers.map((answer) => {
    if ('texts' in answer) {
      const texts = answer.texts.filter(isWanted);
      return { ...answer, texts: cut === undefined ? texts : texts.map(cut) };
    }
    // The source of a trackable's location belongs to its provider.
    return 'unplaced' in answer && query.ask !== 'provider_location' ? { ...answer, unplaced: '' } : answer;
  });
}

/** Locations of individual providers belong to them, and are not the location of their trackable. */
function isOfSeen(text: string, visibility: Visibility): boolean {
  const location = JSON.parse(text) as {
    readonly properties?: { readonly provider_id?: string };
    provider_id?: string;
  };
  const id = location.provider_id ?? location.properties?.provider_id;
  return id !== undefined && visibility.sees(['provider_id'], id);
}
