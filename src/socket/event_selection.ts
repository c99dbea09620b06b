import type { Access } from '../auth/authorizer.ts';
import { Visibility } from '../auth/visibility.ts';
import type { ZoneLookup } from '../core/zone/zone_table.ts';
import { viewTransform } from '../core/zone/view.ts';
import { hubError } from '../errors.ts';
import { collisionIn } from '../events/collision_view.ts';
import type { TopicSelection } from '../events/selection.ts';
import { both } from '../fanout/filter.ts';
import type { EventTopic } from '../model/logged_event.ts';
import type { View } from '../model/topics.ts';
import type { PubSubDeps } from './deps.ts';
import { type FrameParams, readInterest } from './params.ts';
import { cutterOf, ownerFilter } from './topic_owners.ts';

export interface SelectionDeps extends Pick<PubSubDeps, 'checkView' | 'site'> {
  readonly zones: ZoneLookup;
}

const NOTHING = { exists: () => false, zoneBy: () => undefined, zoneOfFence: () => undefined };

/**
 * Returns which logged events of a topic a subscription with the same params would receive, and how. Throws
 * HUB_BAD_REQUEST with the name of an invalid parameter, and like ownerFilter.
 */
export function selectTopic(
  topic: EventTopic,
  params: FrameParams,
  { access, deps }: { readonly access: Pick<Access, 'owned' | 'readable'>; readonly deps: SelectionDeps },
): TopicSelection {
  const { owned, readable } = access;
  const { checkView, site = NOTHING, zones } = deps;
  const visibility = readable && new Visibility(readable, site);
  const { view, filter } = readInterest({ topic, geojson: false }, params, (asked) => checkView(asked, visibility));
  if (view.geojson === true) throw hubError('no_geojson_of_log', { path: 'params.geojson' });
  const own = owned && ownerFilter(topic, params, { owned, visibility });
  const convert = topic === 'collision_events' ? converterOf(view, zones) : undefined;
  const cut = cutterOf(topic, view, visibility);
  return { filter: both(filter, own), rewrite: composed(convert, cut) };
}

/** Returns the conversion of collision events to a view; undefined if they need none. */
function converterOf(view: View, zones: ZoneLookup): ((json: string) => string | undefined) | undefined {
  if (view.crs === 'EPSG:4326') return undefined;
  // Zones move: each event is converted by the current plane of the zone.
  return (json) => {
    const plane = viewTransform(view, undefined, zones);
    return plane === undefined || plane === 'wgs84' ? undefined : collisionIn(json, plane);
  };
}

function composed(
  convert: ((json: string) => string | undefined) | undefined,
  cut: ((json: string) => string) | undefined,
): TopicSelection['rewrite'] {
  if (convert === undefined || cut === undefined) return convert ?? cut;
  return (json) => {
    const converted = convert(json);
    return converted === undefined ? undefined : cut(converted);
  };
}
