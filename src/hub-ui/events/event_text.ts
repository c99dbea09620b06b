import { type Kind, labelOf } from '../hub/entity_kinds.ts';
import { type Searched, searchedTexts } from '../hub/entity_search.ts';
import type { LoggedEvent } from '../hub/event_log.ts';
import { mapPath } from '../hub/page_paths.ts';
import { storeOf } from '../hub/stores.ts';
import { t, tParts } from '../languages/language.ts';
import { countedText, fixedText, metersText } from '../languages/numbers.ts';

/** An entity that an event refers to. */
export interface Subject {
  readonly kind: Kind;
  readonly id: string;
  readonly label: string;
}

/** Describes an event in words, as strings and the entities between them. */
export function describeEvent(logged: LoggedEvent): readonly (string | Subject)[] {
  switch (logged.is) {
    case 'entry':
    case 'exit': {
      const { trackable_id: trackable, provider_id: provider, fence_id: fence } = logged.event;
      const object = trackable != null ? subject('trackables', trackable) : provided(provider);
      const parts = { object, fence: subject('fences', fence) };
      return logged.is === 'entry' ? tParts('{object} entered {fence}', parts) : tParts('{object} left {fence}', parts);
    }
    case 'collision_start':
    case 'collision_end': {
      const { collisions, center_distance: meters, start_time: start } = logged.event;
      const one = collider(collisions[0]?.id);
      const other = collider(collisions[1]?.id);
      if (logged.is === 'collision_start') {
        return tParts('{one} and {other} touch, centers {distance} apart', {
          one,
          other,
          distance: metersText(meters),
        });
      }
      const seconds = Math.max(0, logged.atMs - Date.parse(start)) / 1_000;
      const long = `${fixedText(seconds, seconds < 10 ? 1 : 0)} s`;
      return tParts('{one} and {other} came apart after {long}', { one, other, long });
    }
    case 'create':
    case 'update':
    case 'delete': {
      const { event, kind, times } = logged;
      const description = tParts<(typeof DONE)[keyof typeof DONE], Subject>(DONE[logged.is], {
        object: subject(kind, event.id, event.object),
      });
      return times > 1 ? [...description, ` ${countedText(times, 'time')}`] : description;
    }
  }
}

const DONE = {
  create: '{object} was created',
  update: '{object} was changed',
  delete: '{object} was deleted',
} as const;

/** Searchable strings of an event: its description, and the ids and kinds of its entities. */
export function searchedIn(logged: LoggedEvent): Searched {
  const parts = describeEvent(logged);
  return searchedTexts(parts.flatMap((part) => (typeof part === 'string' ? part : [part.label, part.id, part.kind])));
}

/** Current name of an entity; for a deleted one, the last name if known. */
function subject(kind: Kind, id: string, object: { readonly id: string } = { id }): Subject {
  const entity = storeOf(kind).items.peek().get(id) ?? object;
  return { kind, id, label: labelOf(entity) };
}

/** Subject of a provider, or a generic word if the user may not read it. */
function provided(id: string | null | undefined): Subject | string {
  return id == null ? t('Something') : subject('providers', id);
}

/** Subject of a colliding trackable, whose id is missing if the user may not read it. */
function collider(id = ''): Subject | string {
  return id === '' ? t('something else') : subject('trackables', id);
}

/** URL of the map at the location of an event. */
export function placeOf(logged: LoggedEvent): string {
  if (logged.is === 'collision_start' || logged.is === 'collision_end') {
    const first = logged.event.collisions.find(({ position }) => position !== undefined);
    const [x, y] = first?.position?.coordinates ?? [];
    return `${mapPath('trackables', first?.id ?? '')}&at=${x},${y}&z=21`;
  }
  if (logged.is === 'entry' || logged.is === 'exit') return mapPath('fences', logged.event.fence_id);
  return 'kind' in logged ? mapPath(logged.kind, logged.event.id) : '/';
}

/** Whether the map can show the location of an event. */
export function hasPlace(logged: LoggedEvent): boolean {
  if (!('kind' in logged)) return true;
  return logged.is !== 'delete' && logged.kind !== 'anchors';
}
