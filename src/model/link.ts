import Type, { type Static } from 'typebox';
import { MAYBE_REASON } from './error_body.ts';
import { isObject } from './json_tree.ts';
import { Maybe, Named, OneOf, Time } from './schema.ts';

/** Topics whose items a link sends to the ingest. */
export const LINK_ITEM_TOPICS = ['location_updates', 'proximity_updates'] as const;
export type LinkItemTopic = (typeof LINK_ITEM_TOPICS)[number];

/** Topic whose events a link publishes here as those of a third party, and catches up by cursor. */
export const LINK_EVENT_TOPIC = 'fence_events';

/** Topics of another hub that a link can subscribe to. */
export const LINK_TOPICS = [...LINK_ITEM_TOPICS, LINK_EVENT_TOPIC] as const;
export type LinkTopic = (typeof LINK_TOPICS)[number];

/** Prefix of the names of settings with the progress of links. */
export const LINK_PROGRESS_PREFIX = 'link_progress ';

/** How far a link has read the event log of another hub. */
export interface LinkProgress {
  /** Id of the other hub. */
  readonly hub: string;
  readonly cursor: string;
}

export const LINK_STATUSES = ['disabled', 'elsewhere', 'connecting', 'connected', 'waiting', 'self'] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

/** Property of a location or an event with the ids of the hubs through which it has come, the first one first. */
export const ORIGIN_PROPERTY = 'hub.origin';

/** Hubs on the way of a location beyond which it is considered to be in a loop of hubs without ids. */
const HUBS_MAX = 32;

/** Ids of the hubs through which a location has come, the first one first. */
export function hubsOf({ properties }: Readonly<Record<string, unknown>>): readonly string[] {
  const hubs = isObject(properties) ? properties[ORIGIN_PROPERTY] : undefined;
  return Array.isArray(hubs) ? hubs.filter((hub): hub is string => typeof hub === 'string') : [];
}

/** Whether a location that has come through `hubs` has already passed one of `ids`. */
export function isLoop(hubs: readonly string[], ids: readonly string[]): boolean {
  return hubs.length >= HUBS_MAX || ids.some((id) => hubs.includes(id));
}

/** Maximum interval between two locations of an object, in milliseconds: a day. */
const INTERVAL_MAX_MS = 86_400_000;

const time = Time('RFC 3339 date and time.');
const count = (description: string) => Type.Integer({ minimum: 0, description });
const url = (description: string) => Type.String({ minLength: 1, maxLength: 2000, description });

export const LinkOidc = Named('LinkOidc', {
  token_url: url('Token endpoint of the identity server.'),
  client_id: Type.String({ minLength: 1, maxLength: 1000, description: 'Id of this hub at the identity server.' }),
  client_secret: Maybe(
    Type.String({
      minLength: 1,
      maxLength: 4000,
      writeOnly: true,
      description: 'Its secret. Never returned; a PUT without it retains it.',
    }),
  ),
  scope: Maybe(Type.String({ maxLength: 1000, description: 'Requested scopes, separated by spaces.' })),
});

/** State of a link at the hub that runs it. Counters begin when that hub starts to run it. */
export const LinkState = Named('LinkState', {
  status: OneOf(LINK_STATUSES, {
    title: 'LinkStatus',
    description:
      'connected: events arrive. connecting: the connection is being established. waiting: it failed and is retried. ' +
      'self: the URL leads to this hub, so nothing is done. elsewhere: another hub of the cluster runs the link.',
  }),
  since: Maybe(time),
  hub_id: Maybe(Type.String({ description: 'Id of the other hub, or the host of its URL if it reports no id.' })),
  hub_name: Maybe(Type.String({ description: 'Name of the other hub.' })),
  last_error: Maybe(Type.String({ description: 'Last error, whether or not it is over.' })),
  last_error_at: Maybe(time),
  ...MAYBE_REASON,
  down_from: Maybe(Time('Begin of the last outage, RFC 3339.')),
  down_to: Maybe(Time('End of the last outage, RFC 3339. Absent while it lasts.')),
  read_at: Maybe(Time('When the last locations of all objects were read, RFC 3339.')),
  mirrored_at: Maybe(Time('When the mirrored entities were last compared with the other hub, RFC 3339.')),
  mirrored: Maybe(count('Mirrored zones, fences and trackables.')),
  not_mirrored: Maybe(count('Entities of the other hub that are invalid here, or whose id is taken.')),
  last_received: Maybe(Time('When the last event arrived, RFC 3339.')),
  lag_ms: Maybe(
    Type.Integer({
      minimum: 0,
      description: 'Delay of the last event, by the clocks of both hubs; the duration of an outage while one lasts.',
    }),
  ),
  received: count('Received locations, proximities and fence events: the sum of the next seven.'),
  accepted: count('Accepted by this hub.'),
  duplicates: count(
    'Not newer than the last one of the object, or the same event, which came by this or another link.',
  ),
  looped: count('Had already passed this hub or the other one.'),
  superseded: count('Replaced by a newer one of the object, because of min_interval or because this hub was busy.'),
  rejected: count('Rejected by this hub as invalid.'),
  dropped: count('Dropped because this hub could not accept them in time.'),
  queued: count('Wait for their turn.'),
  malformed: count('Messages and items that are not of the WebSocket protocol.'),
  origin_changes: count('How often an object came from another hub of origin than before.'),
  event_gaps: count('How often fence events were missed, because they could not be read after the last one.'),
  event_gap_at: Maybe(Time('When that was noticed the last time, RFC 3339.')),
});
export type LinkState = Static<typeof LinkState>;

/** State of a link in the health of the hub. */
export const LinkHealth = Named('LinkHealth', {
  id: Type.String({ description: 'Id of the link.' }),
  name: Type.String({ description: 'Name of the link.' }),
  status: LinkState.properties.status,
  since: LinkState.properties.since,
  last_error: LinkState.properties.last_error,
  lag_ms: LinkState.properties.lag_ms,
});
export type LinkHealth = Static<typeof LinkHealth>;

/** A link to another hub, whose locations this hub accepts as its own. */
export const Link = Named('Link', {
  id: Type.String({ description: 'Id of the link, assigned by the hub.' }),
  name: Type.String({ minLength: 1, maxLength: 200, description: 'Display name of the link.' }),
  enabled: Maybe(Type.Boolean({ description: 'Whether the link is active; true by default.' })),
  url: url('URL of the API of the other hub, such as http://hub-2:8081/v2. Without a version, /v2 is appended.'),
  topics: Maybe(
    Type.Array(OneOf(LINK_TOPICS, { title: 'LinkTopic', description: 'Topic of the other hub.' }), {
      minItems: 1,
      description: 'Topics that the link subscribes to; location_updates by default.',
    }),
  ),
  entities: Maybe(
    OneOf(['none', 'mirror'], {
      title: 'LinkEntities',
      description:
        'mirror: the zones, fences and trackables of the other hub exist here, too, read-only. none by default.',
    }),
  ),
  params: Maybe(
    Type.Record(Type.String(), Type.Unknown(), {
      title: 'LinkParams',
      description: 'Params of the subscriptions, as on the WebSocket: filters, and crs.',
    }),
  ),
  token: Maybe(
    Type.String({
      minLength: 1,
      maxLength: 16_000,
      writeOnly: true,
      description: 'Access token for the other hub. Never returned; a PUT without it retains it.',
    }),
  ),
  oidc: Maybe(LinkOidc),
  id_prefix: Maybe(Type.String({ maxLength: 100, description: 'Prefix of the ids of objects of the other hub here.' })),
  sources: Maybe(
    Type.Record(Type.String(), Type.String({ minLength: 1 }), {
      title: 'LinkSources',
      maxProperties: 10_000,
      description: 'Sources of the other hub, and the sources or zones that take their role here.',
    }),
  ),
  min_interval: Maybe(
    Type.Integer({
      minimum: 0,
      maximum: INTERVAL_MAX_MS,
      description: 'Minimum milliseconds between two locations of an object. The latest one always arrives.',
    }),
  ),
});
export type Link = Static<typeof Link>;
