import Type, { type TObject } from 'typebox';
import { feature } from '../core/location/text.ts';
import { asShown } from '../entities/as_shown.ts';
import type { EntityMap, Kind } from '../entities/known.ts';
import { HubError } from '../errors.ts';
import type { Anchor } from '../model/anchor.ts';
import { type Fence, type KeptFence, shownFence } from '../model/fence.ts';
import { show } from '../model/show.ts';
import type { View } from '../model/topics.ts';
import { ANCHOR_QUERY, georeferenced } from './anchor_view.ts';
import { fenceIn } from './fence_view.ts';
import { collectionText, listText } from './list_text.ts';
import type { ApiDeps, Call } from './route.ts';
import { zoneIn } from './versions.ts';
import { VIEW_QUERY, type ViewQuery, viewOf } from './view.ts';

/** How entities of a kind are shown, as JSON text. */
export interface Presenter<K extends Kind> {
  /** Parameters that change it. */
  readonly query: TObject;
  one(entity: EntityMap[K], call: Call, hub: ApiDeps): string;
  /** A list of them, as UTF-8 where it is too long to be a text. */
  many(entities: readonly EntityMap[K][], call: Call, hub: ApiDeps): string | Uint8Array;
}

/** As they are kept. */
const plain = {
  query: Type.Object({}),
  one: (entity: unknown): string => JSON.stringify(entity),
  many: (entities: readonly unknown[]) => listText(entities.map((entity) => JSON.stringify(entity))),
};

const zones: Presenter<'zone'> = {
  query: Type.Object({}),
  one: (zone, { version }, hub) => JSON.stringify(zoneIn(version, asShown('zone', zone, hub.entities))),
  many: (list, { version }, hub) => {
    return listText(list.map((zone) => JSON.stringify(zoneIn(version, asShown('zone', zone, hub.entities)))));
  },
};

const trackables: Presenter<'trackable'> = {
  query: Type.Object({}),
  one: (trackable, _call, hub) => JSON.stringify(asShown('trackable', trackable, hub.entities)),
  many: (list, _call, hub) => {
    return listText(list.map((trackable) => JSON.stringify(asShown('trackable', trackable, hub.entities))));
  },
};

const anchors: Presenter<'anchor'> = {
  query: Type.Object(ANCHOR_QUERY),
  one: (anchor, { query }, hub) => JSON.stringify(anchorIn(query as AnchorQuery, anchor, hub)),
  many: (list, { query }, hub) => {
    return listText(list.map((anchor) => JSON.stringify(anchorIn(query as AnchorQuery, anchor, hub))));
  },
};

const fences: Presenter<'fence'> = {
  query: Type.Object(VIEW_QUERY),
  one(fence, call, hub) {
    const view = fenceViewOf(call.query as ViewQuery, hub);
    const shown = shownIn(view, fence, hub);
    if (shown !== undefined) return fenceText(view, shown);
    const found = `a region in ${fence.crs ?? 'EPSG:4326'} of zone ${show(fence.zone_id)}`;
    throw new HubError(
      'HUB_BAD_REQUEST',
      `crs: fence ${show(fence.id)} cannot be shown in ${view.crs}: found ${found}`,
    );
  },
  many(list, call, hub) {
    const view = fenceViewOf(call.query as ViewQuery, hub);
    const texts = list.map((fence) => shownIn(view, fence, hub)).filter((fence) => fence !== undefined);
    const rendered = texts.map((fence) => fenceText(view, fence));
    return view.geojson ? collectionText(rendered) : listText(rendered);
  },
};

export const PRESENT: { readonly [K in Kind]: Presenter<K> } = {
  zone: zones,
  fence: fences,
  trackable: trackables,
  provider: plain,
  anchor: anchors,
};

interface AnchorQuery {
  readonly georef?: boolean;
}

function anchorIn({ georef }: AnchorQuery, anchor: Anchor, { entities }: ApiDeps): Anchor {
  return georef === true ? georeferenced(anchor, (id) => entities.zoneBy(id)) : anchor;
}

interface FenceView extends View {
  /** Whether the client has asked for a crs. */
  readonly asked: boolean;
}

/** A fence has no zone of its own to be local to unless it was given so: `local` needs one to be named. */
function fenceViewOf(query: ViewQuery, { entities }: ApiDeps): FenceView {
  const view = viewOf(query, entities);
  if (view.crs === 'local' && view.zoneId === undefined) {
    throw new HubError('HUB_BAD_REQUEST', 'zone_id: is required for fences in crs local, found nothing');
  }
  return { ...view, asked: query.crs !== undefined };
}

/**
 * A local fence whose zone was gone before the hub kept planes has no place on the earth. It is shown as kept unless a
 * crs was asked for, or GeoJSON, whose coordinates are never metres.
 */
function shownIn(view: FenceView, fence: KeptFence, { entities }: ApiDeps): Fence | undefined {
  const shown = fenceIn(view, fence, (id) => entities.zoneBy(id));
  return shown ?? (view.asked || view.geojson === true ? undefined : shownFence(fence));
}

function fenceText(view: View, fence: Fence): string {
  if (view.geojson !== true) return JSON.stringify(fence);
  const { region, ...rest } = fence;
  return feature(JSON.stringify(region), JSON.stringify(rest));
}
