import { idKey } from '../../model/id.ts';
import type { Trackable } from '../../model/trackable.ts';
import type { DocumentNote, HubDocument, HubEntities } from '../formats/entity_document.ts';
import { labelOf } from '../hub/entity_kinds.ts';
import { t } from '../languages/language.ts';

/** Warnings about trackables of a file that have no name, or share a provider with another trackable. */
export function warningsOf({ lists, origins }: HubDocument, hub: HubEntities): readonly DocumentNote[] {
  const given = (lists.get('trackables') ?? []) as readonly Trackable[];
  const found = (hub.get('trackables') ?? new Map()) as ReadonlyMap<string, Trackable>;
  const whereOf = (each: Trackable): string => origins?.get(each.id) ?? labelOf(each);
  const nameless = given.filter((each) => !(each.name ?? found.get(idKey(each.id))?.name));
  return [
    ...nameless.map((each) => ({ where: whereOf(each), what: t('It has no name.') })),
    ...sharedTags(given, found).map(({ tag, of, other }) => {
      const what = t('Its provider {tag} is also the provider of {other}.', { tag, other: labelOf(other) });
      return { where: whereOf(of), what };
    }),
  ];
}

interface Shared {
  readonly tag: string;
  readonly of: Trackable;
  readonly other: Trackable;
}

/** Providers that a trackable of the file would share with another trackable after the import. */
function sharedTags(given: readonly Trackable[], found: ReadonlyMap<string, Trackable>): readonly Shared[] {
  const named = new Set(given.map(({ id }) => idKey(id)));
  const owners = new Map<string, Trackable>();
  for (const each of found.values()) {
    if (!named.has(idKey(each.id))) for (const tag of each.location_providers ?? []) owners.set(idKey(tag), each);
  }
  return given.flatMap((each) => {
    const before = found.get(idKey(each.id));
    const merged = { ...before, ...each };
    return (merged.location_providers ?? []).flatMap((tag) => {
      const other = owners.get(idKey(tag));
      if (other === undefined) owners.set(idKey(tag), merged);
      return other === undefined || idKey(other.id) === idKey(each.id) ? [] : { tag, of: each, other };
    });
  });
}
