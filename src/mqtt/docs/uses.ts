import Type, { type TSchema } from 'typebox';
import { Location, Proximity } from '../../model/location.ts';
import { PUBLICATIONS, type Publication, qosOf, type TopicStyle } from '../../model/mqtt.ts';
import { OneOf } from '../../model/schema.ts';
import { TOPIC_PAYLOADS } from '../../model/topic_payloads.ts';
import type { FilterFields } from '../../model/topics.ts';
import { inboundTopics, statusTopics, topicsOf } from '../topics.ts';
import { type UnsSettings, unsTopic } from '../uns.ts';

/** A use of some topics by the hub. */
export interface TopicUse {
  readonly action: 'receive' | 'send';
  readonly summary: string;
  /** Parameters are in braces: `…/pub/{provider_id}`. */
  readonly topics: readonly string[];
  readonly payload: TSchema;
  /** QoS of published messages, or the maximum QoS of the subscription. */
  readonly qos: 0 | 1;
  readonly isRetained?: boolean;
  readonly expirySeconds?: number;
  /** Topic of the answers. */
  readonly replyTopic?: string;
}

/** Settings that determine which messages the hub publishes. */
export interface PublishSettings {
  readonly style: TopicStyle;
  readonly wanted: readonly { readonly publication: Publication }[];
  readonly uns: UnsSettings | undefined;
  readonly hubId: string;
}

const HubStatus = Type.Object(
  { status: OneOf(['online', 'offline'], { title: 'HubStatusWord', description: 'Whether the hub is connected.' }) },
  { title: 'HubStatus', description: 'Whether the hub is connected. Offline is also its last will.' },
);

const NamespacePlace = Type.Object(
  {
    longitude: Type.Number({ description: 'Degrees east.' }),
    latitude: Type.Number({ description: 'Degrees north.' }),
    altitude: Type.Optional(Type.Number({ description: 'Meters, as in the location.' })),
    floor: Type.Optional(Type.Number({ description: 'The floor of the location.' })),
    accuracy: Type.Optional(Type.Number({ description: 'Meters.' })),
    speed: Type.Optional(Type.Number({ description: 'Meters per second.' })),
    course: Type.Optional(Type.Number({ description: 'Degrees clockwise from north.' })),
    timestamp: Type.Optional(Type.String({ description: 'Time of the position.', format: 'date-time' })),
  },
  { title: 'NamespacePlace', description: 'Position of a trackable in WGS 84. An empty message removes it.' },
);

/** Returns the uses of topics to which sources publish. */
export function inboundUses(): readonly TopicUse[] {
  const topics = inboundTopics('{provider_id}', '{source}');
  const receive = { action: 'receive', qos: 1, isRetained: false } as const;
  const named = 'Ids missing in the payload are taken from the topic.';
  return [
    {
      ...receive,
      summary: `Receives a location, or a list of them, of a provider. ${named}`,
      topics: topics.location,
      payload: Type.Union([Location, Type.Array(Location)]),
    },
    {
      ...receive,
      summary: 'Receives a list of locations of any providers',
      topics: topics.locations,
      payload: Type.Array(Location),
    },
    { ...receive, summary: `Receives a proximity. ${named}`, topics: topics.proximity, payload: Proximity },
  ];
}

/** Returns the uses of topics to which the hub publishes with these settings. */
export function outboundUses({ style, wanted, uns, hubId }: PublishSettings): readonly TopicUse[] {
  const events = wanted.map(({ publication }): TopicUse => {
    const { topic, crs } = PUBLICATIONS[publication];
    return {
      action: 'send',
      summary: `Publishes ${topic}, in ${crs}`,
      topics: [...new Set(namedFields(publication).flatMap((fields) => topicsOf(publication, fields, style)))],
      payload: TOPIC_PAYLOADS[topic],
      qos: qosOf(publication),
      isRetained: false,
    };
  });
  const retained = { action: 'send', qos: 1, isRetained: true } as const;
  const status: TopicUse = {
    ...retained,
    summary: 'Publishes whether the hub is connected',
    topics: statusTopics(hubId, style),
    payload: HubStatus,
  };
  if (uns === undefined) return [...events, status];
  const place = unsTopic(uns.root, '{uns}');
  const summary = 'Publishes the position of a trackable in the unified namespace';
  return [...events, status, { ...retained, summary, topics: [place], payload: NamespacePlace }];
}

/** Returns filter fields for which topicsOf() returns topics with parameters in braces. */
function namedFields(publication: Publication): readonly FilterFields[] {
  const [provider, trackable] = ['{provider_id}', '{trackable_id}'];
  switch (PUBLICATIONS[publication].topic) {
    case 'location_updates':
      return [[provider]];
    case 'trackable_motions':
      return [[trackable]];
    case 'fence_events':
      return [
        ['{fence_id}', undefined, provider, trackable],
        ['{fence_id}', undefined, provider, undefined],
      ];
    case 'collision_events':
      return [[trackable, trackable]];
    default:
      return [['{id}', '{event_type}']];
  }
}
