import { hubError } from '../errors.ts';
import Type, { type TObject } from 'typebox';
import { fenceIn, fenceRangeProblem } from '../core/fence/fence_view.ts';
import { roundDegrees } from '../core/geo/rounding.ts';
import { feature } from '../core/zone/view.ts';
import { zoneTransform } from '../core/zone/zone_transform.ts';
import { publicForms, publicForm } from '../entities/public_form.ts';
import type { EntityMap, EntityKindName } from '../entities/entity_lookup.ts';
import type { ReplyBody } from '../exchange.ts';
import type { Anchor } from '../model/anchor.ts';
import { type Fence, type StoredFence, publicFence } from '../model/fence.ts';
import type { View } from '../model/topics.ts';
import type { Trackable } from '../model/trackable.ts';
import type { Zone } from '../model/zone.ts';
import type { ApiDeps } from './deps.ts';
import { shownCollection, shownList } from './list_body.ts';
import { seenText, zonesSeen } from './naming.ts';
import type { ApiCall } from './route.ts';
import { zoneIn } from './versions.ts';
import { VIEW_QUERY, type ViewQuery, viewOf } from './view.ts';

/** Serializes entities of a kind as JSON, redacted for the token of the call. */
export interface Presenter<K extends EntityKindName> {
  /** Parameters of the representation. */
  readonly query: TObject;
  one(entity: EntityMap[K], call: ApiCall, hub: ApiDeps): string;
  /** A list of entities. */
  many(entities: readonly EntityMap[K][], call: ApiCall, hub: ApiDeps): ReplyBody;
}

/** Presents entities in stored form. */
const plain = {
  query: Type.Object({}),
  one: (entity: unknown): string => JSON.stringify(entity),
  many: (entities: readonly unknown[]) => shownList(entities, (entity) => JSON.stringify(entity)),
};

const zones: Presenter<'zone'> = {
  query: Type.Object({}),
  one: (zone, call, { entities }) => zoneText(publicForm('zone', zone, entities), call),
  many: (list, call, { entities }) => shownList(publicForms('zone', list, entities), (zone) => zoneText(zone, call)),
};

const trackables: Presenter<'trackable'> = {
  query: Type.Object({}),
  one: (trackable, call, { entities }) => trackableText(publicForm('trackable', trackable, entities), call),
  many: (list, call, { entities }) =>
    shownList(publicForms('trackable', list, entities), (trackable) => trackableText(trackable, call)),
};

const ANCHOR_QUERY = {
  georef: Type.Optional(
    Type.Boolean({
      description: 'Whether to compute georeferenced positions from local ones, if possible.',
    }),
  ),
};

const anchors: Presenter<'anchor'> = {
  query: Type.Object(ANCHOR_QUERY),
  one: (anchor, call, hub) => JSON.stringify(anchorIn(call, anchor, zonesSeen(call, hub))),
  many(list, call, hub) {
    const zoneBy = zonesNow(list, zonesSeen(call, hub));
    return shownList(list, (anchor) => JSON.stringify(anchorIn(call, anchor, zoneBy)));
  },
};

const fences: Presenter<'fence'> = {
  query: Type.Object(VIEW_QUERY),
  one(fence, call, hub) {
    const view = fenceViewOf(call, hub);
    const shown = shownIn(view, fence, zonesSeen(call, hub));
    if (shown !== undefined) return fenceText(view, shown);
    const what = { path: 'crs', kind: 'fence', id: fence.id, crs: view.crs } as const;
    const range = fenceRangeProblem(view, fence, zonesSeen(call, hub));
    if (range !== undefined) throw hubError('out_of_crs_range', { ...what, ...range });
    const { crs = 'EPSG:4326', zone_id: zoneId = '' } = fence;
    throw hubError('fence_not_in_crs', { ...what, fence_crs: crs ?? 'EPSG:4326', zone_id: zoneId ?? '' });
  },
  many(list, call, hub) {
    const view = fenceViewOf(call, hub);
    const zoneBy = zonesNow([...list, { zone_id: view.zoneId }], zonesSeen(call, hub));
    const show = (fence: StoredFence): string | undefined => {
      const shown = shownIn(view, fence, zoneBy);
      return shown && fenceText(view, shown);
    };
    return view.geojson ? shownCollection(list, show) : shownList(list, show);
  },
};

export const PRESENT: { readonly [K in EntityKindName]: Presenter<K> } = {
  zone: zones,
  fence: fences,
  trackable: trackables,
  provider: plain,
  anchor: anchors,
};

type ZoneBy = ReturnType<typeof zonesSeen>;

interface AnchorQuery {
  readonly georef?: boolean;
}

function zoneText(shown: Zone, call: ApiCall): string {
  return seenText('zone', JSON.stringify(zoneIn(call.version, shown)), call);
}

function trackableText(shown: Trackable, call: ApiCall): string {
  return seenText('trackable', JSON.stringify(shown), call);
}

function anchorIn(call: ApiCall, anchor: Anchor, zoneBy: ZoneBy): Anchor {
  const { georef } = call.query as AnchorQuery;
  return georef === true ? georeferenced(anchor, zoneBy) : anchor;
}

/** Lookup of the zones in a list, computed once. */
function zonesNow(list: readonly { readonly zone_id?: string | null | undefined }[], zoneBy: ZoneBy): ZoneBy {
  const zones = new Map<string, Zone | undefined>();
  for (const { zone_id: name } of list) {
    if (name != null && !zones.has(name)) zones.set(name, zoneBy(name));
  }
  return (name) => zones.get(name);
}

interface FenceView extends View {
  /** Whether the client requested a crs. */
  readonly asked: boolean;
}

/** A fence has a zone only if its region is local, so crs `local` requires a zone_id. */
function fenceViewOf(call: ApiCall, hub: ApiDeps): FenceView {
  const query = call.query as ViewQuery;
  const view = viewOf({ ...call, query }, hub);
  if (view.crs === 'local' && view.zoneId === undefined) {
    throw hubError('missing_for', { path: 'zone_id', purpose: 'local_fences', found: 'nothing' });
  }
  return { ...view, asked: query.crs !== undefined };
}

/**
 * A local fence cannot be georeferenced if its zone was deleted before the hub stored planes, or if its zone is hidden.
 * It is returned as stored, unless the request names a crs or GeoJSON, whose coordinates are never meters.
 */
function shownIn(view: FenceView, fence: StoredFence, zoneBy: ZoneBy): Fence | undefined {
  const shown = fenceIn(view, fence, zoneBy);
  return shown ?? (view.asked || view.geojson === true ? undefined : publicFence(fence));
}

function fenceText(view: View, fence: Fence): string {
  if (view.geojson !== true) return JSON.stringify(fence);
  const { region, ...rest } = fence;
  return feature(JSON.stringify(region), JSON.stringify(rest));
}

/**
 * The anchor with its georeferenced position computed by its zone; unchanged if it has no local position or its zone is
 * not georeferenced.
 */
function georeferenced(anchor: Anchor, zoneBy: (idOrForeignId: string) => Zone | undefined): Anchor {
  const zone = anchor.zone_id == null ? undefined : zoneBy(anchor.zone_id);
  const plane = zone && zoneTransform(zone);
  const [x, y, z] = anchor.local_position?.coordinates ?? [];
  if (plane === undefined || x === undefined || y === undefined || !plane.covers(x, y)) return anchor;
  const out: [number, number] = [0, 0];
  plane.toWgs84(x, y, out);
  const coordinates = out.map(roundDegrees);
  if (z !== undefined) coordinates.push(z);
  return { ...anchor, georeferenced_position: { type: 'Point', coordinates } };
}
