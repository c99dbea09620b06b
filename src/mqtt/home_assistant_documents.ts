import { grouped } from '../problem.ts';
import { placeJson, placeOf } from './uns.ts';

/** Kinds of entities that Home Assistant shows as devices. */
export const HOME_ASSISTANT_KINDS = ['trackable', 'fence'] as const;
export type HomeAssistantKind = (typeof HOME_ASSISTANT_KINDS)[number];

/** Settings of the discovery by Home Assistant. */
export interface HomeAssistantSettings {
  /** First level of discovery topics, and of the topic on which Home Assistant publishes its birth message. */
  readonly prefix: string;
  /** Level of discovery topics that identifies this hub, or its cluster. */
  readonly node: string;
  /** Topic of this hub's status and last will. */
  readonly statusTopic: string;
}

/** Maximum number of devices of a kind: Home Assistant is designed for homes, and has a registry entry per device. */
export const DEVICES_MAX = 1000;
/** Maximum length of a name, in characters. Home Assistant rejects longer states. */
const NAME_MAX = 200;
/** Maximum number of fences that the attributes of a trackable list. */
const FENCES_MAX = 50;

/** State of the room of a trackable that is in no fence. */
export const NO_ROOM = 'outside';

/** Returns the node of a hub or cluster: Home Assistant accepts letters, digits, `_` and `-`. */
export function nodeOf(hubId: string): string {
  return `omlox_${hubId.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}`;
}

type Topics = Pick<HomeAssistantSettings, 'prefix' | 'node'>;

/** Returns the retained topic of a device's discovery document. `level`: the id of the entity, see levelOf. */
export function discoveryTopic({ prefix, node }: Topics, kind: HomeAssistantKind, level: string): string {
  return `${prefix}/device/${node}/${kind}_${level}/config`;
}

/** Returns the filter of all discovery topics of this hub. */
export function discoveryFilter({ prefix, node }: Topics): string {
  return `${prefix}/device/${node}/+/config`;
}

/** Topic on which Home Assistant publishes `online` when it has started. */
export function birthTopic({ prefix }: Topics): string {
  return `${prefix}/status`;
}

/** Parses a discovery topic of this hub; undefined for another topic. */
export function readDiscoveryTopic(
  topics: Topics,
  topic: string,
): { readonly kind: HomeAssistantKind; readonly id: string } | undefined {
  const [start, end] = discoveryFilter(topics).split('+') as [string, string];
  if (!topic.startsWith(start) || !topic.endsWith(end)) return undefined;
  const device = topic.slice(start.length, -end.length);
  const kind = HOME_ASSISTANT_KINDS.find((each) => device.startsWith(`${each}_`));
  return kind && { kind, id: idOf(device.slice(kind.length + 1)) };
}

/** Returns the retained topics of a device's states. `level`: the id of the entity, see levelOf. */
export function stateTopics({ node }: Pick<HomeAssistantSettings, 'node'>, level: string) {
  const base = `omlox/home_assistant/${node}`;
  return {
    trackable: { position: `${base}/trackables/${level}/position`, room: `${base}/trackables/${level}/room` },
    fence: { occupancy: `${base}/fences/${level}/occupancy` },
  } as const;
}

/**
 * Returns an id as a part of a topic level: Home Assistant accepts letters, digits, `_` and `-`. Another character becomes its
 * code point, such as `_20_` for a space. UUIDs stay as they are.
 */
export function levelOf(id: string): string {
  return id.replaceAll(/[^a-zA-Z0-9-]/gu, (character) => `_${(character.codePointAt(0) as number).toString(16)}_`);
}

/** The inverse of levelOf. */
function idOf(level: string): string {
  return level.replaceAll(/_([0-9a-f]{1,5}|10[0-9a-f]{4})_/g, (_, hex: string) =>
    String.fromCodePoint(Number.parseInt(hex, 16)),
  );
}

/** An entity with its name. */
export interface NamedEntity {
  readonly id: string;
  readonly name?: string | null | undefined;
}

/** Returns the name of an entity as Home Assistant shows it. */
export function shownName({ id, name }: NamedEntity): string {
  return (name?.trim() || id).slice(0, NAME_MAX);
}

/**
 * Returns the discovery document of a trackable: a device with a position on the map, and the room that it is in.
 * Both are unavailable while the publishing hub is offline.
 */
export function trackableDocument(settings: HomeAssistantSettings, trackable: NamedEntity): string {
  const { id } = trackable;
  const { position, room } = stateTopics(settings, levelOf(id)).trackable;
  const unique = uniqueId(settings, 'trackable', id);
  return documentOf(
    settings,
    { ...trackable, unique },
    {
      position: {
        platform: 'device_tracker',
        unique_id: `${unique}_position`,
        // An entity without a name of its own has the name of its device.
        name: null,
        source_type: 'gps',
        json_attributes_topic: position,
      },
      room: {
        platform: 'sensor',
        unique_id: `${unique}_room`,
        name: 'Room',
        icon: 'mdi:map-marker-radius',
        state_topic: room,
        value_template: '{{ value_json.room }}',
        json_attributes_topic: room,
      },
    },
  );
}

/** Returns the discovery document of a fence: a room with its occupancy, and the number of trackables in it. */
export function fenceDocument(settings: HomeAssistantSettings, fence: NamedEntity): string {
  const { id } = fence;
  const { occupancy } = stateTopics(settings, levelOf(id)).fence;
  const unique = uniqueId(settings, 'fence', id);
  return documentOf(
    settings,
    { ...fence, unique },
    {
      occupancy: {
        platform: 'binary_sensor',
        unique_id: `${unique}_occupancy`,
        name: 'Occupancy',
        device_class: 'occupancy',
        state_topic: occupancy,
        value_template: '{{ value_json.occupied }}',
      },
      trackables: {
        platform: 'sensor',
        unique_id: `${unique}_trackables`,
        name: 'Trackables',
        icon: 'mdi:counter',
        state_class: 'measurement',
        state_topic: occupancy,
        value_template: '{{ value_json.trackables }}',
      },
    },
  );
}

/** Returns an id that differs from those of other kinds, and of other hubs with the same entity. */
function uniqueId({ node }: Pick<HomeAssistantSettings, 'node'>, kind: HomeAssistantKind, id: string): string {
  return `${node}_${kind}_${levelOf(id)}`;
}

interface DeviceEntity extends NamedEntity {
  readonly unique: string;
}

function documentOf({ statusTopic }: HomeAssistantSettings, entity: DeviceEntity, components: object): string {
  return JSON.stringify({
    device: { identifiers: [entity.unique], name: shownName(entity) },
    origin: { name: 'omlox hub' },
    availability: [{ topic: statusTopic, value_template: '{{ value_json.status }}' }],
    components,
  });
}

/** Returns the room of a trackable as JSON: the fence that it entered last, and all fences that it is in. */
export function roomText(fences: readonly NamedEntity[]): string {
  const last = fences.at(-1);
  const listed = fences.slice(-FENCES_MAX);
  const more = fences.length - listed.length;
  return JSON.stringify({
    room: last === undefined ? NO_ROOM : shownName(last),
    fences: [...listed.map(shownName), ...(more > 0 ? [`${grouped(more)} more`] : [])],
    fence_ids: listed.map(({ id }) => id),
  });
}

/** Returns the occupancy of a fence as JSON. */
export function occupancyText(trackables: number): string {
  return JSON.stringify({ occupied: trackables > 0 ? 'ON' : 'OFF', trackables });
}

/** Returns the attributes of a device tracker: the position of a TrackableMotion in EPSG:4326, as JSON. */
export function trackerText(motion: string): string {
  const { accuracy, ...place } = placeOf(motion);
  return placeJson({ ...place, gps_accuracy: accuracy });
}
