import Type from 'typebox';
import { birthTopic, discoveryTopic, type HomeAssistantSettings, stateTopics } from '../home_assistant_documents.ts';
import type { TopicUse } from './uses.ts';

const Document = Type.Object(
  {
    device: Type.Object({}, { description: 'Identifier and name of the device.' }),
    origin: Type.Object({}, { description: 'Name of the publisher.' }),
    availability: Type.Array(Type.Object({}), { description: 'Topic of the status of the publishing hub.' }),
    components: Type.Object({}, { description: 'Entities of the device, each with its topics.' }),
  },
  {
    title: 'HomeAssistantDevice',
    description: 'Device of Home Assistant, in the format of its discovery. An empty message removes it.',
  },
);

const Tracker = Type.Object(
  {
    latitude: Type.Number({ description: 'Degrees north.' }),
    longitude: Type.Number({ description: 'Degrees east.' }),
    gps_accuracy: Type.Optional(Type.Number({ description: 'Meters.' })),
    altitude: Type.Optional(Type.Number({ description: 'Meters, as in the location.' })),
    floor: Type.Optional(Type.Number({ description: 'The floor of the location.' })),
    speed: Type.Optional(Type.Number({ description: 'Meters per second.' })),
    course: Type.Optional(Type.Number({ description: 'Degrees clockwise from north.' })),
    timestamp: Type.Optional(Type.String({ description: 'Time of the position.', format: 'date-time' })),
  },
  { title: 'HomeAssistantTracker', description: 'Position of a trackable in WGS 84. An empty message removes it.' },
);

const Room = Type.Object(
  {
    room: Type.String({ description: 'Name of the fence that the trackable entered last, or `outside`.' }),
    fences: Type.Array(Type.String(), { description: 'Names of the fences that it is in.' }),
    fence_ids: Type.Array(Type.String(), { description: 'Their ids.' }),
  },
  { title: 'HomeAssistantRoom', description: 'Fences that a trackable is in. An empty message removes it.' },
);

const Occupancy = Type.Object(
  {
    occupied: Type.String({ description: '`ON` if a trackable is in the fence, else `OFF`.' }),
    trackables: Type.Number({ description: 'Number of trackables in the fence.' }),
  },
  { title: 'HomeAssistantOccupancy', description: 'Occupancy of a fence. An empty message removes it.' },
);

const Birth = Type.String({
  title: 'HomeAssistantBirth',
  description: '`online` when Home Assistant has started: the hub publishes its devices again.',
});

/** Returns the uses of topics for the discovery by Home Assistant. */
export function homeAssistantUses(settings: Pick<HomeAssistantSettings, 'prefix' | 'node'>): readonly TopicUse[] {
  const retained = { action: 'send', qos: 1, isRetained: true } as const;
  const { position, room } = stateTopics(settings, '{trackable_id}').trackable;
  const { occupancy } = stateTopics(settings, '{fence_id}').fence;
  const summary = 'Publishes for Home Assistant';
  return [
    {
      ...retained,
      summary: `${summary}: the devices of trackables and fences`,
      topics: [
        discoveryTopic(settings, 'trackable', '{trackable_id}'),
        discoveryTopic(settings, 'fence', '{fence_id}'),
      ],
      payload: Document,
    },
    { ...retained, summary: `${summary}: the position of a trackable`, topics: [position], payload: Tracker },
    { ...retained, summary: `${summary}: the fences that a trackable is in`, topics: [room], payload: Room },
    { ...retained, summary: `${summary}: the occupancy of a fence`, topics: [occupancy], payload: Occupancy },
    {
      action: 'receive',
      qos: 0,
      isRetained: false,
      summary: 'Receives the birth message of Home Assistant',
      topics: [birthTopic(settings)],
      payload: Birth,
    },
  ];
}
