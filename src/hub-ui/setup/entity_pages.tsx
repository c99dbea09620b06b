import type { ComponentType } from 'preact';
import type { Anchor } from '../../model/anchor.ts';
import type { Fence } from '../../model/fence.ts';
import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';
import type { Zone } from '../../model/zone.ts';
import { type Kind, labelOf } from '../hub/entity_kinds.ts';
import { useEntities } from '../hub/stores.ts';
import { zoneNamed } from '../hub/zone_lookup.ts';
import { t } from '../languages/language.ts';
import { AnchorEditor } from './anchors/anchor_editor.tsx';
import { useSetupRoute } from './editor/use_editor.ts';
import { FenceEditor } from './fences/fence_editor.tsx';
import { PROVIDER_TYPES, ProviderEditor } from './providers/provider_editor.tsx';
import { SiteIndex, type SiteIndexProps } from './site_index.tsx';
import { TrackableEditor } from './trackables/trackable_editor.tsx';
import { ZoneEditor } from './zones/zone_editor.tsx';
import { PLACINGS, placingOf, ZONE_TYPES } from './zones/zone_georeference.ts';

interface EntityPage<K extends Kind> extends Omit<SiteIndexProps<K>, 'kind'> {
  readonly Editor: ComponentType<{ readonly id: string | undefined }>;
}

const PAGES: { readonly [K in Kind]: EntityPage<K> } = {
  zones: {
    title: t('Zones'),
    icon: 'zone',
    lead: t('The areas of locating systems, each with its own georeferenced coordinates.'),
    first: t(
      'Start with the area of a locating system: place its floor plan on the map, draw it, or click points with known coordinates.',
    ),
    about: aboutZone,
    isOnMap: true,
    Editor: ZoneEditor,
  },
  anchors: {
    title: t('Anchors'),
    icon: 'anchor',
    lead: t('Fixed devices of locating systems.'),
    first: t('Anchors with geographic and local positions help to georeference their zone.'),
    about: (anchor) => <AboutAnchor anchor={anchor} />,
    isOnMap: true,
    Editor: AnchorEditor,
  },
  fences: {
    title: t('Fences'),
    icon: 'fence',
    lead: t('Areas whose entries and exits the hub reports.'),
    first: t('Draw an area, and the hub reports objects that enter or leave it.'),
    about: aboutFence,
    isOnMap: true,
    Editor: FenceEditor,
  },
  trackables: {
    title: t('Trackables'),
    icon: 'trackable',
    lead: t('Objects that their providers locate: vehicles, tools, people.'),
    first: t('Create one for each object to locate, and assign its tags.'),
    about: aboutTrackable,
    isOnMap: false,
    Editor: TrackableEditor,
  },
  providers: {
    title: t('Providers'),
    icon: 'provider',
    lead: t('Sources of positions: tags, phones, readers. The hub creates them with their first position.'),
    first: t('They appear with their first position. You can also create one beforehand.'),
    about: aboutProvider,
    isOnMap: false,
    Editor: ProviderEditor,
  },
};

/** Page of a kind: an index, with a map if the kind has positions, or the editor of one entity. */
export function entityPage<K extends Kind>(kind: K): ComponentType {
  const { Editor, ...index } = PAGES[kind];
  return function EntityPage() {
    const route = useSetupRoute(kind);
    if (route.at === 'index') return <SiteIndex kind={kind} {...index} />;
    const id = route.at === 'one' ? route.id : undefined;
    return <Editor key={id ?? ''} id={id} />;
  };
}

function aboutZone(zone: Zone): string {
  const type = ZONE_TYPES.find(({ value }) => value === zone.type)?.label ?? zone.type;
  const placing = PLACINGS.find(({ value }) => value === placingOf(zone))?.label ?? '';
  return t('{type} · floor {floor} · {placing}', { type, floor: zone.floor ?? 0, placing });
}

function AboutAnchor({ anchor }: { readonly anchor: Anchor }) {
  const { zone_id: name, local_position: local, georeferenced_position: earth } = anchor;
  const zone = zoneNamed(useEntities('zones').values(), name);
  const positions = [local != null && t('in meters'), earth != null && t('on the earth')].filter(Boolean);
  return (
    <>{`${zone === undefined ? (name ?? t('no zone')) : labelOf(zone)} · ${positions.join(', ') || t('no position yet')}`}</>
  );
}

function aboutFence({ region, radius, floor }: Fence): string {
  const shape =
    region.type === 'Point'
      ? t('circle of {radius} m', { radius: radius ?? 0 })
      : t('{count} corners', { count: cornersOf(region.coordinates[0]) });
  return `${shape} · ${floor == null ? t('all floors') : t('floor {floor}', { floor })}`;
}

function cornersOf(ring: readonly unknown[] | undefined): number {
  return Math.max(0, (ring?.length ?? 0) - 1);
}

function aboutTrackable({ location_providers: ids, radius, geometry }: Trackable): string {
  const count = ids?.length ?? 0;
  const providers = count === 1 ? ids?.[0] : count === 0 ? t('no provider') : t('{count} providers', { count });
  const shape = geometry != null ? 'polygon' : radius != null ? t('round, {radius} m', { radius }) : t('a point');
  return `${providers} · ${shape}`;
}

function aboutProvider({ id, name, type }: LocationProvider): string {
  const label = PROVIDER_TYPES.find(({ value }) => value === type)?.label ?? type;
  return name ? `${label} · ${id}` : label;
}
