import { type Publication, SOURCE_TOPICS, type TopicStyle } from '../model/mqtt.ts';

/**
 * MQTT topics of the omlox hub. Each message is one JSON object.
 *
 *     in    /omlox/json/location_updates/pub/{provider_id}                    Location, or a list of them
 *           /omlox/json/location_updates/pub                                  a list that names its providers
 *           /omlox/json/proximity_updates/{source}/{provider_id}              Proximity
 *     out   /omlox/json/location_updates/{local|epsg4326}/{provider_id}       Location
 *           /omlox/json/trackable_motions/{local|epsg4326}/{trackable_id}     TrackableMotion
 *           /omlox/json/fence_events/{fence_id}                               FenceEvent, and the same event under one of
 *           /omlox/json/fence_events/trackables/{trackable_id}
 *           /omlox/json/fence_events/providers/{provider_id}
 *           /omlox/json/collision_events/epsg4326                             CollisionEvent
 *           /omlox/json/collision_forecast/epsg4326                           CollisionForecast
 *           flowcate/json/{kind}_changes/{create|update|delete}/{id}          ChangeEvent
 *           /omlox/json/hub/{hub_id}/status                                   the hub's status and last will
 *
 * The standard writes a leading slash (`slash`), DeepHub none (`plain`), and its topics of collision events contain the
 * trackable: `omlox/json/collision_events/epsg4326/{trackable_id}`, once for each of both. The hub subscribes to both
 * styles. Topics of entity changes are DeepHub's own and never have a leading slash.
 */
const OMLOX = 'omlox/json';
const CHANGES = 'flowcate/json';
const [LOCATIONS_IN, PROXIMITIES_IN] = SOURCE_TOPICS.map((topic) => `${OMLOX}/${topic}`) as [string, string];

/**
 * Encodes an id as one topic level: `/ + # %`, control characters and noncharacters are percent-encoded. Mosquitto
 * disconnects a client that publishes to a topic with control characters or noncharacters.
 */
export function levelOf(id: string): string {
  return MEANT_OTHERWISE.test(id) ? id.replaceAll(ALL_MEANT_OTHERWISE, encoded) : id;
}

/** Characters that brokers reject in topics. */
export const UNFIT_FOR_TOPICS = /[\p{Cc}\p{Noncharacter_Code_Point}]/u;
const MEANT_OTHERWISE = /[/+#%\p{Cc}\p{Noncharacter_Code_Point}]/u;
const ALL_MEANT_OTHERWISE = /[/+#%\p{Cc}\p{Noncharacter_Code_Point}]/gu;
const encoded = (character: string): string => encodeURIComponent(character);

/** Returns a topic in the given style, or in both. */
export function styled(topic: string, style: TopicStyle): readonly string[] {
  if (style === 'slash') return [`/${topic}`];
  return style === 'plain' ? [topic] : [`/${topic}`, topic];
}

/**
 * Returns the filters of a subscription to sources, in both styles. `topics` are relative to `omlox/json/`, as in
 * `mqtt_subscriptions`; empty for all topics of sources. `share` is the name of a shared subscription.
 */
export function sourceFilters(topics: readonly string[], share?: string): readonly string[] {
  const all =
    topics.length === 0 ? [`${LOCATIONS_IN}/#`, `${PROXIMITIES_IN}/+/#`] : topics.map((topic) => `${OMLOX}/${topic}`);
  const filters = all.flatMap((topic) => styled(topic, 'both'));
  return share === undefined ? filters : filters.map((filter) => `$share/${share}/${filter}`);
}

/** Returns the topics of sources, in both styles, that readInbound() parses. */
export function inboundTopics(providerId: string, source: string) {
  const [provider, reader] = [levelOf(providerId), levelOf(source)];
  return {
    location: styled(`${LOCATIONS_IN}/${provider}`, 'both'),
    locations: styled(LOCATIONS_IN, 'both'),
    proximity: styled(`${PROXIMITIES_IN}/${reader}/${provider}`, 'both'),
  } as const;
}

/** Whether a topic belongs to sources, valid or not. hot */
export function isSourceTopic(topic: string): boolean {
  const start = topic.charCodeAt(0) === SLASH ? 1 : 0;
  return topic.startsWith(LOCATIONS_IN, start) || topic.startsWith(PROXIMITIES_IN, start);
}

/** A parsed topic of a source. */
export interface InboundTopic {
  readonly kind: 'location' | 'proximity';
  /** Percent-decoded id; undefined for a list whose locations contain their providers. */
  readonly providerId: string | undefined;
  readonly source?: string;
}

/** Parses a subscribed topic; returns the problem if it is invalid. hot */
export function readInbound(topic: string): InboundTopic | string {
  const start = topic.charCodeAt(0) === SLASH ? 1 : 0;
  const ofLocation = restOf(topic, start, LOCATIONS_IN);
  if (ofLocation !== undefined) {
    const providerId = ofLocation === '' ? undefined : decoded(ofLocation);
    return providerId === MALFORMED ? notDecoded(topic) : { kind: 'location', providerId };
  }
  const ofProximity = restOf(topic, start, PROXIMITIES_IN);
  if (ofProximity === undefined) return `topic: must be one of a source, found "${topic}"`;
  const end = ofProximity.indexOf('/');
  const [source, providerId] = [decoded(ofProximity.slice(0, end)), decoded(ofProximity.slice(end + 1))];
  if (source === MALFORMED || providerId === MALFORMED) return notDecoded(topic);
  if (end < 1 || providerId === '') return `topic: must name a source and a provider, found "${topic}"`;
  return { kind: 'proximity', source, providerId };
}

/** Returns the part of a topic after `parent` and a slash; undefined for another topic. */
function restOf(topic: string, start: number, parent: string): string | undefined {
  const end = start + parent.length;
  if (!topic.startsWith(parent, start) || (topic.length > end && topic.charCodeAt(end) !== SLASH)) return undefined;
  return topic.slice(end + 1);
}

const SLASH = 0x2f;
const MALFORMED = Symbol('malformed') as unknown as string;

function decoded(text: string): string {
  return decodedLevel(text) ?? MALFORMED;
}

/** Percent-decodes a level; undefined if it is not percent-encoded UTF-8. */
export function decodedLevel(level: string): string | undefined {
  if (!level.includes('%')) return level;
  try {
    return decodeURIComponent(level);
  } catch {
    return undefined;
  }
}

export function notDecoded(topic: string): string {
  return `topic: must be percent-encoded UTF-8, found "${topic}"`;
}

type Fields = readonly (string | number | boolean | undefined)[];

/** Returns the topics of an event, given the values of its filter fields (see TOPICS). hot */
export function topicsOf(publication: Publication, fields: Fields, style: TopicStyle): readonly string[] {
  switch (publication) {
    case 'location_updates/local':
    case 'location_updates/epsg4326':
    case 'trackable_motions/local':
    case 'trackable_motions/epsg4326':
      return styled(`${OMLOX}/${publication}/${levelOf(String(fields[0]))}`, style);
    case 'fence_events':
      return fenceTopics(fields, style);
    case 'collision_events':
      return collisionTopics(fields, style);
    case 'collision_forecast':
      return styled(`${OMLOX}/collision_forecast/epsg4326`, style);
    default: {
      const [id, eventType] = fields;
      return [`${CHANGES}/${publication}/${String(eventType)}/${levelOf(String(id))}`];
    }
  }
}

function fenceTopics(fields: Fields, style: TopicStyle): readonly string[] {
  const [fenceId, , providerId, trackableId] = fields;
  // A trackable's event is not published on the topic of the provider that moved it.
  const object =
    trackableId === undefined
      ? `providers/${levelOf(String(providerId))}`
      : `trackables/${levelOf(String(trackableId))}`;
  return [levelOf(String(fenceId)), object].flatMap((topic) => styled(`${OMLOX}/fence_events/${topic}`, style));
}

function collisionTopics(fields: Fields, style: TopicStyle): readonly string[] {
  const topic = `${OMLOX}/collision_events/epsg4326`;
  const omlox = `/${topic}`;
  if (style === 'slash') return [omlox];
  const each = fields.slice(0, 2).map((id) => `${topic}/${levelOf(String(id))}`);
  return style === 'plain' ? each : [omlox, ...each];
}

/** Returns the topics of the hub's status. */
export function statusTopics(hubId: string, style: TopicStyle): readonly string[] {
  return styled(`${OMLOX}/hub/${levelOf(hubId)}/status`, style);
}

/** Filters for the status of all hubs. */
export const STATUS_FILTERS = styled(`${OMLOX}/hub/+/status`, 'both');

/** Returns the id of the hub whose status is published on the topic; undefined for another topic. hot */
export function readStatusTopic(topic: string): string | undefined {
  const start = topic.charCodeAt(0) === SLASH ? 1 : 0;
  if (!topic.startsWith(HUBS, start) || !topic.endsWith(STATUS)) return undefined;
  return decodedLevel(topic.slice(start + HUBS.length, -STATUS.length));
}

const [HUBS, STATUS] = [`${OMLOX}/hub/`, '/status'];
