import { problemOf } from '../problem.ts';
import { checkName } from '../auth/reference_check.ts';
import type { ReferenceSource } from '../auth/names.ts';
import type { OwnedEntities } from '../auth/ownership.ts';
import { redactor } from '../auth/redaction.ts';
import type { Visibility } from '../auth/visibility.ts';
import { asText } from '../fanout/coerce.ts';
import type { Filter } from '../fanout/filter.ts';
import type { Resource } from '../model/permission.ts';
import { show } from '../model/error_value_text.ts';
import { type FilterFields, keyOf, TOPICS, type Topic, type View } from '../model/topics.ts';
import type { FrameParams } from './params.ts';
import { SocketCommandError } from './wire.ts';

/** Ownership of the events of a topic. */
export interface TopicOwner {
  /** Type of the owned resource. */
  readonly resource: Resource;
  /** Params of a subscription that select the resource; also parameters of paths in permissions.yaml. */
  readonly params: readonly string[];
  /** Fields of an event that contain ids of the resource, by their names in TOPICS. Owning one of these suffices. */
  readonly fields: readonly string[];
  /**
   * Params that select other resources. These must be readable, because the filter would reveal ids that are redacted
   * in the events.
   */
  readonly naming?: Readonly<Record<string, Resource>>;
}

function changes(resource: Resource): TopicOwner {
  return { resource, params: ['id'], fields: ['id'] };
}

/** The owner of a vehicle receives all its collisions, with the other object redacted if it is not readable. */
const OF_PAIR: TopicOwner = {
  resource: 'trackable_id',
  params: ['collision_id_1', 'object_id_1'],
  fields: ['id_1', 'id_2'],
  naming: { collision_id_2: 'trackable_id', object_id_2: 'trackable_id' },
};

export const TOPIC_OWNERS: Readonly<Record<Topic, TopicOwner>> = {
  location_updates: { resource: 'provider_id', params: ['provider_id'], fields: ['provider_id'] },
  trackable_motions: {
    resource: 'trackable_id',
    params: ['id', 'trackable_id'],
    fields: ['id'],
    naming: { provider_id: 'provider_id' },
  },
  fence_events: {
    resource: 'fence_id',
    params: ['fence_id'],
    fields: ['fence_id'],
    naming: { provider_id: 'provider_id', trackable_id: 'trackable_id' },
  },
  collision_events: OF_PAIR,
  collision_forecast: OF_PAIR,
  proximity_updates: { resource: 'provider_id', params: ['provider_id'], fields: ['provider_id'] },
  provider_changes: changes('provider_id'),
  trackable_changes: changes('trackable_id'),
  fence_changes: changes('fence_id'),
  zone_changes: changes('zone_id'),
  anchor_changes: changes('anchor_id'),
  // Broadcasts of a core zone have no owner: the topic needs a permission for ANY.
  xcmd_broadcast: { resource: 'zone_id', params: [], fields: [] },
  // The owner of a trackable receives its alerts. Alerts of several objects, or of a provider, have no owner.
  alert_changes: {
    resource: 'trackable_id',
    params: ['trackable_id'],
    fields: ['trackable_id', 'other_trackable_id'],
    naming: { fence_id: 'fence_id', other_trackable_id: 'trackable_id', provider_id: 'provider_id' },
  },
};

/**
 * Returns the filter for owned events. Throws a SocketCommandError if the params select resources that are not owned,
 * because a subscription without events would look as if nothing happened. Throws HUB_NOT_AUTHORIZED if they select
 * other resources that are not readable.
 */
export function ownerFilter(
  topic: Topic,
  params: FrameParams,
  { owned, visibility }: { readonly owned: OwnedEntities; readonly visibility: Visibility | undefined },
): Filter {
  const { resource, params: names, fields, naming = {} } = TOPIC_OWNERS[topic];
  if (fields.length === 0) {
    throw new SocketCommandError('notAuthorized', problemOf('topic_never_owned', { path: 'topic', topic }));
  }
  for (const [name, kind] of Object.entries(naming)) {
    if (visibility !== undefined)
      for (const id of textsOf(name, params)) checkName(`params.${name}`, { of: [kind], id }, visibility);
  }
  for (const name of names) {
    for (const id of textsOf(name, params)) {
      if (owned.has(resource, id)) continue;
      throw new SocketCommandError(
        'notAuthorized',
        problemOf('id_not_owned', { path: `params.${name}`, found: show(id) }),
      );
    }
  }
  const all: readonly string[] = TOPICS[topic];
  const places = fields.map((field) => all.indexOf(field));
  const test = (event: FilterFields): boolean => {
    return places.some((place) => {
      const id = event[place];
      return typeof id === 'string' && owned.has(resource, id);
    });
  };
  const [at, second] = places;
  if (at === undefined || second !== undefined) return test;
  return Object.assign(test, { key: { at, values: owned.all(resource).map(keyOf) } });
}

function textsOf(name: string, params: FrameParams): readonly string[] {
  const value = Object.hasOwn(params, name) ? (params[name] ?? []) : [];
  return (Array.isArray(value) ? value : [value]).map((item) => asText(name, item));
}

const NAMING: Readonly<Record<Topic, ReferenceSource>> = {
  location_updates: 'location',
  trackable_motions: 'motion',
  fence_events: 'fence_event',
  collision_events: 'collision',
  collision_forecast: 'collision_forecast',
  proximity_updates: 'proximity',
  provider_changes: 'provider',
  trackable_changes: 'trackable',
  fence_changes: 'fence',
  zone_changes: 'zone',
  anchor_changes: 'anchor',
  xcmd_broadcast: 'broadcast',
  alert_changes: 'alert',
};

/** Returns the function that redacts events of a topic for a subscriber; undefined if nothing is redacted. */
export function cutterOf(
  topic: Topic,
  { geojson }: View,
  visibility: Visibility | undefined,
): ((text: string) => string) | undefined {
  const form = topic.endsWith('_changes') ? 'change' : geojson === true ? 'collection' : 'plain';
  return redactor(visibility, NAMING[topic], form);
}
