import Type, { type TSchema } from 'typebox';
import { Location, Proximity } from '../../model/location.ts';
import { PUBLICATIONS, type Publication, qosOf, type TopicStyle } from '../../model/mqtt.ts';
import { OneOf } from '../../model/schema.ts';
import { TOPIC_PAYLOADS } from '../../model/topic_payloads.ts';
import type { FilterFields } from '../../model/topics.ts';
import { inboundTopics, statusTopics, topicsOf } from '../topics.ts';
import { type UnsSettings, unsTopic } from '../uns.ts';

/** What the hub does with some topics of its broker. */
export interface TopicUse {
  readonly action: 'receive' | 'send';
  readonly summary: string;
  /** What topics name stands in braces: `…/pub/{provider_id}`. */
  readonly topics: readonly string[];
  readonly payload: TSchema;
  /** Of what the hub publishes; the highest that it takes. */
  readonly qos: 0 | 1;
  readonly isRetained?: boolean;
  readonly expirySeconds?: number;
  /** Where the answers are. */
  readonly replyTopic?: string;
}

/** The settings that say what the hub publishes. */
export interface PublishSettings {
  readonly style: TopicStyle;
  readonly wanted: readonly { readonly publication: Publication }[];
  readonly uns: UnsSettings | undefined;
  readonly hubId: string;
}

const HubStatus = Type.Object(
  { status: OneOf(['online', 'offline'], { title: 'HubStatusWord', description: 'Whether the hub is there.' }) },
  { title: 'HubStatus', description: 'Whether the hub is there; offline is its last will, too.' },
);

const NamespacePlace = Type.Object(
  {
    longitude: Type.Number({ description: 'Degrees east.' }),
    latitude: Type.Number({ description: 'Degrees north.' }),
    altitude: Type.Optional(Type.Number({ description: 'Metres, as the location has it.' })),
    floor: Type.Optional(Type.Number({ description: 'The floor of the location.' })),
    accuracy: Type.Optional(Type.Number({ description: 'Metres.' })),
    speed: Type.Optional(Type.Number({ description: 'Metres a second.' })),
    course: Type.Optional(Type.Number({ description: 'Degrees clockwise from north.' })),
    timestamp: Type.Optional(Type.String({ description: 'When it was there.', format: 'date-time' })),
  },
  { title: 'NamespacePlace', description: 'Where a trackable is, in WGS 84. An empty message takes it back.' },
);

/** What sources publish, and the hub takes. */
export function inboundUses(): readonly TopicUse[] {
  const topics = inboundTopics('{provider_id}', '{source}');
  const receive = { action: 'receive', qos: 1, isRetained: false } as const;
  const named = 'What it leaves out of the names in the topic is taken from there.';
  return [
    {
      ...receive,
      summary: `Takes a location, or a list of them, of a provider. ${named}`,
      topics: topics.location,
      payload: Type.Union([Location, Type.Array(Location)]),
    },
    {
      ...receive,
      summary: 'Takes a list of locations, of any providers',
      topics: topics.locations,
      payload: Type.Array(Location),
    },
    { ...receive, summary: `Takes a proximity. ${named}`, topics: topics.proximity, payload: Proximity },
  ];
}

/** What the hub publishes, as its settings say. */
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
    summary: 'Says whether the hub is there',
    topics: statusTopics(hubId, style),
    payload: HubStatus,
  };
  if (uns === undefined) return [...events, status];
  const place = unsTopic(uns.root, '{uns}');
  const summary = 'Keeps the place of a trackable in the unified namespace';
  return [...events, status, { ...retained, summary, topics: [place], payload: NamespacePlace }];
}

/** The filter fields by which topicsOf() names a topic, as names in braces. */
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
