import { cutTo } from '../auth/names.ts';
import type { Owned } from '../auth/owned.ts';
import type { Readable } from '../auth/readable.ts';
import { asText } from '../fanout/coerce.ts';
import type { Filter } from '../fanout/filter.ts';
import type { Resource } from '../model/permission.ts';
import { show } from '../model/show.ts';
import { type FilterFields, keyOf, TOPICS, type Topic, type View } from '../model/topics.ts';
import type { Params } from './params.ts';
import { CommandError } from './wire.ts';

/** Whose the events of a topic are. */
export interface TopicOwner {
  /** What has to be owned. */
  readonly resource: Resource;
  /** Parameters of a subscription that name it, which are also the parameters of paths in permissions.yaml. */
  readonly params: readonly string[];
  /** Fields of an event, by their names in TOPICS, that name it. One that is owned is enough. */
  readonly fields: readonly string[];
}

function changes(resource: Resource): TopicOwner {
  return { resource, params: ['id'], fields: ['id'] };
}

export const TOPIC_OWNERS: Readonly<Record<Topic, TopicOwner>> = {
  location_updates: { resource: 'provider_id', params: ['provider_id'], fields: ['provider_id'] },
  trackable_motions: { resource: 'trackable_id', params: ['id', 'trackable_id'], fields: ['id'] },
  fence_events: { resource: 'fence_id', params: ['fence_id'], fields: ['fence_id'] },
  // The other one of a pair is not looked at: who owns a vehicle is told of all its collisions.
  collision_events: {
    resource: 'trackable_id',
    params: ['collision_id_1', 'object_id_1'],
    fields: ['id_1', 'id_2'],
  },
  proximity_updates: { resource: 'provider_id', params: ['provider_id'], fields: ['provider_id'] },
  provider_changes: changes('provider_id'),
  trackable_changes: changes('trackable_id'),
  fence_changes: changes('fence_id'),
  zone_changes: changes('zone_id'),
  anchor_changes: changes('anchor_id'),
};

/**
 * The filter that lets through what is owned. Throws a CommandError when the params ask for what is not: they are how a
 * client says what it owns, and silence would look as if nothing happened there.
 */
export function ownerFilter(topic: Topic, params: Params, owned: Owned): Filter {
  const { resource, params: names, fields } = TOPIC_OWNERS[topic];
  for (const name of names) {
    const value = Object.hasOwn(params, name) ? (params[name] ?? []) : [];
    for (const item of Array.isArray(value) ? value : [value]) {
      const id = asText(name, item);
      if (owned.has(resource, id)) continue;
      throw new CommandError(
        'notAuthorized',
        `params.${name}: the access token permits what its holder owns alone, found ${show(id)}`,
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

const NAMING = { location_updates: 'location', trackable_motions: 'motion', fence_events: 'fence_event' } as const;

/** How events of a topic are cut to what the subscriber may read; undefined where they are shown as they are. */
export function cutterOf(
  topic: Topic,
  { geojson }: View,
  readable: Readable | undefined,
): ((text: string) => string) | undefined {
  if (!(topic in NAMING)) return undefined;
  return cutTo(readable, NAMING[topic as keyof typeof NAMING], geojson === true ? 'collection' : 'plain');
}
