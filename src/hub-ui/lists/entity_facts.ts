import { metersText, positionText } from '../controls/number_text.ts';
import type { Entities, Kind } from '../hub/kinds.ts';
import { storeOf } from '../hub/stores.ts';

/** What a list shows of an entity beside its name and id. */
export interface Fact<K extends Kind> {
  readonly key: string;
  readonly title: string;
  readonly isNumber?: boolean;
  /** What is shown, and by what is sorted; undefined where there is nothing. */
  readonly value: (entity: Entities[K]) => string | number | undefined;
}

export const FACTS: { readonly [K in Kind]: readonly Fact<K>[] } = {
  zones: [
    { key: 'type', title: 'Type', value: ({ type }) => type },
    { key: 'foreign', title: 'Foreign id', value: ({ foreign_id: id }) => id ?? undefined },
    { key: 'floor', title: 'Floor', isNumber: true, value: ({ floor }) => floor ?? undefined },
    { key: 'placed', title: 'Placed by', value: placing },
  ],
  fences: [
    { key: 'shape', title: 'Shape', value: shape },
    { key: 'floor', title: 'Floor', isNumber: true, value: ({ floor }) => floor ?? undefined },
    { key: 'zone', title: 'Zone', value: ({ zone_id: id }) => zoneName(id) },
    { key: 'foreign', title: 'Foreign id', value: ({ foreign_id: id }) => id ?? undefined },
  ],
  trackables: [
    { key: 'type', title: 'Type', value: ({ type }) => type },
    { key: 'providers', title: 'Providers', value: ({ location_providers: ids }) => few(ids ?? []) },
    { key: 'radius', title: 'Radius, m', isNumber: true, value: ({ radius }) => radius ?? undefined },
  ],
  providers: [
    { key: 'type', title: 'Type', value: ({ type }) => type },
    { key: 'trackables', title: 'Trackables', value: ({ id }) => few(trackablesOf(id)) },
  ],
  anchors: [
    { key: 'zone', title: 'Zone', value: ({ zone_id: id }) => zoneName(id) },
    {
      key: 'local',
      title: 'Local',
      value: ({ local_position: at }) => (at == null ? undefined : positionText(at.coordinates, 'zone')),
    },
    {
      key: 'earth',
      title: 'On earth',
      value: ({ georeferenced_position: at }) => (at == null ? undefined : positionText(at.coordinates, 'earth')),
    },
  ],
};

/** A text and all entities of a kind that it names, the first of them at most. */
function few(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  return names.length > 2 ? `${names.slice(0, 2).join(', ')} and ${names.length - 2} more` : names.join(', ');
}

function placing({ ground_control_points: points, position, radius }: Entities['zones']): string | undefined {
  if (points != null) return `${points.length / 2} control points`;
  if (position == null) return undefined;
  return radius == null ? 'position' : `position, ${metersText(radius)}`;
}

function shape({ region, radius }: Entities['fences']): string {
  if (region.type === 'Point') return `circle, ${metersText(radius ?? 0)}`;
  return `${(region.coordinates[0]?.length ?? 1) - 1} corners`;
}

function zoneName(idOrForeignId: string | null | undefined): string | undefined {
  if (idOrForeignId == null) return undefined;
  const zones = storeOf('zones').items.peek();
  return zones.get(idOrForeignId)?.name ?? idOrForeignId;
}

function trackablesOf(providerId: string): string[] {
  const all = [...storeOf('trackables').items.peek().values()];
  const its = all.filter(({ location_providers: ids }) => ids?.includes(providerId));
  return its.map(({ id, name }) => name || id);
}
