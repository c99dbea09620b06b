/**
 * What the API's documents say of the main schemas: their meaning and an example. All examples play in one small world:
 * a hall of 100 m by 100 m, a dock in it, a vehicle and its tag.
 */
const HALL = '6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b11';
const DOCK = '9d2c4f7e-52b6-4c0b-8a0e-3a1f6a1de001';
const VEHICLE = '0b680db2-b39b-45be-be77-40d7d2296cb4';
const OTHER = '3f7b6a52-8d0e-4f0c-9a77-1c5f0e6b2d42';
const TAG = 'tag-1';

const DOCK_REGION = {
  type: 'Polygon',
  coordinates: [
    [
      [8.6822, 50.111],
      [8.6824, 50.111],
      [8.6824, 50.1112],
      [8.6822, 50.1112],
      [8.6822, 50.111],
    ],
  ],
};

const ZONE_EXAMPLE = {
  id: HALL,
  type: 'uwb',
  name: 'Hall 1',
  foreign_id: 'hall-1',
  floor: 0,
  ground_control_points: [
    [8.6821, 50.1109],
    [0, 0],
    [8.6835, 50.1109],
    [100, 0],
    [8.6835, 50.1118],
    [100, 100],
    [8.6821, 50.1118],
    [0, 100],
  ],
};

const FENCE_EXAMPLE = {
  id: DOCK,
  name: 'Dock A',
  region: DOCK_REGION,
  timeout: 60000,
  exit_tolerance: 0.5,
  tolerance_timeout: 5000,
};

const PROVIDER_EXAMPLE = { id: TAG, type: 'uwb', name: 'Tag of vehicle 7' };

const TRACKABLE_EXAMPLE = {
  id: VEHICLE,
  type: 'omlox',
  name: 'Vehicle 7',
  location_providers: [TAG],
  radius: 1.5,
  fence_timeout: 30000,
};

/** As it is sent: in the coordinates of the hall. */
const LOCATION_EXAMPLE = {
  position: { type: 'Point', coordinates: [20, 20] },
  source: 'hall-1',
  provider_type: 'uwb',
  provider_id: TAG,
  crs: 'local',
  accuracy: 0.3,
};

/** As it is served: placed on the earth. */
const PLACED = {
  position: { type: 'Point', coordinates: [8.68231, 50.11107] },
  source: HALL,
  provider_type: 'uwb',
  provider_id: TAG,
  trackables: [VEHICLE],
  timestamp_generated: '2026-11-20T10:00:00.120Z',
  crs: 'EPSG:4326',
  floor: 0,
  elevation_ref: 'floor',
  speed: 1.2,
  course: 87.4,
};

const PROXIMITY_EXAMPLE = { source: 'reader-3', provider_type: 'rfid', provider_id: TAG, accuracy: 1.5 };

const SIMPLE_TRANSFORM_EXAMPLE = { position: { type: 'Point', coordinates: [20, 20] }, crs: 'local' };

const FENCE_EVENT_EXAMPLE = {
  id: '5d8e7a36-6f1c-4b8e-8a5c-5f0f6d8a9c01',
  fence_id: DOCK,
  event_type: 'region_exit',
  provider_id: null,
  trackable_id: VEHICLE,
  trackables: [VEHICLE],
  entry_time: '2026-11-20T10:00:00.120Z',
  exit_time: '2026-11-20T10:01:05.120Z',
  properties: {},
};

const MOTION_EXAMPLE = {
  id: VEHICLE,
  name: 'Vehicle 7',
  location: PLACED,
  geometry: { type: 'Point', coordinates: [8.68231, 50.11107] },
};

const collided = (id: string) => ({
  id,
  object_type: 'trackable',
  position: PLACED.position,
  geometry: PLACED.position,
  floor: 0,
});

const COLLISION_EVENT_EXAMPLE = {
  id: 'a3c1f3de-0f53-4f0e-9a86-2f8a36a0c5d7',
  collision_type: 'collision_start',
  start_time: '2026-11-20T10:02:00.000Z',
  collisions: [collided(VEHICLE), collided(OTHER)],
  center_distance: 2.41,
};

const CHANGE_EVENT_EXAMPLE = {
  timestamp: '2026-11-20T10:00:00.000Z',
  event_type: 'update',
  id: TAG,
  object: PROVIDER_EXAMPLE,
};

const ANCHOR_EXAMPLE = { id: 'anchor-1', zone_id: 'hall-1', local_position: { type: 'Point', coordinates: [1, 2] } };

const LOCATING_RULE_EXAMPLE = { expression: "type = 'uwb' AND accuracy < 1", priority: 2 };

/** By the names of the schemas, which are their titles. */
export const SCHEMA_DESCRIPTIONS = {
  Zone: {
    description:
      'An installation with coordinates of its own, placed on the earth by ground control points; a proximity zone ' +
      '(rfid, ibeacon) by its position.',
    examples: [ZONE_EXAMPLE],
  },
  Fence: {
    description:
      'A region whose entries and exits are events: a polygon, or a point with a radius. Timing values of a provider go before those of its trackable, and ' +
      'these before those of the fence.',
    examples: [FENCE_EXAMPLE],
  },
  LocationProvider: {
    description: 'A source of positions: a tag, a phone, a reader.',
    examples: [PROVIDER_EXAMPLE],
  },
  Trackable: {
    description:
      'A thing that is located through its providers. Its geometry is in metres around its position: x east and y ' +
      'north at course 0, turned clockwise by the course.',
    examples: [TRACKABLE_EXAMPLE],
  },
  LocatingRule: {
    description: 'Ranks the locations of a trackable: the highest priority of all true expressions wins.',
    examples: [LOCATING_RULE_EXAMPLE],
  },
  Location: {
    description: 'A position of a location provider at a moment.',
    examples: [LOCATION_EXAMPLE],
  },
  Proximity: {
    description: 'A provider is near a proximity zone, whose position it takes.',
    examples: [PROXIMITY_EXAMPLE],
  },
  SimpleTransform: {
    description: 'A position to be moved from one crs to the other, and what came of it.',
    examples: [SIMPLE_TRANSFORM_EXAMPLE],
  },
  FenceEvent: {
    description: 'An object entered or left a fence. The properties are those of the fence.',
    examples: [FENCE_EVENT_EXAMPLE],
  },
  TrackableMotion: {
    description:
      'The movement of a trackable, with its shape on the map: a point, or a polygon where it has an extent.',
    examples: [MOTION_EXAMPLE],
  },
  CollisionEvent: {
    description: 'Two trackables touch. The first of the collisions is the one that moved.',
    examples: [COLLISION_EVENT_EXAMPLE],
  },
  ChangeEvent: {
    description: 'An entity was created, updated or deleted.',
    examples: [CHANGE_EVENT_EXAMPLE],
  },
  Anchor: {
    description: 'A device of a fixed place by which a locating system measures.',
    examples: [ANCHOR_EXAMPLE],
  },
  CreationParameters: {
    description:
      'From what a fence is made that was measured in local coordinates: local_coordinates placed by a ' +
      'global_reference or by the zone of zone_id, or a radius around the local_reference in that zone.',
  },
  ZoneCreationParameters: { description: 'From what a zone is made that was measured in local coordinates.' },
  Demo: { description: 'A simulated site that the hub runs itself.' },
  EntityDocumentMembers: {
    description: 'Members that the source of a document can give, such as the columns of a table.',
  },
  EntityDocument: { description: 'All entities, or some of them, in one document, as the command export writes it.' },
  Import: { description: 'An import of a document, while it is under way and afterwards.' },
  ImportCounts: { description: 'What an import does to the entities of one kind.' },
  ImportCountsByKind: { description: 'What an import does to each kind whose list is in the document.' },
  ImportMemberChange: { description: 'How an import changes one member of an entity, or one of its properties.' },
  ImportProblem: { description: 'A field of a document that does not fit.' },
  HealthSource: { description: 'What has come from a zone, or from a source of locations that is no zone.' },
  SystemHealth: { description: 'The hub itself, since its start.' },
  ClusterHealth: { description: 'The hub as one of several, where it is in a cluster.' },
  ClusterMember: { description: 'A hub of the cluster, as the one that is asked sees it.' },
  MqttHealth: { description: 'How the hub is doing as a client of an MQTT broker.' },
  UnsHealth: { description: 'The unified namespace on the MQTT broker.' },
  UnsRefusal: {
    description: 'A trackable that claims a topic of the unified namespace in vain. The first 20 are named.',
  },
  MqttSubscription: { description: 'A subscription to topics of sources, which one hub of the cluster has for all.' },
  HistoryHealth: { description: 'Whether the hub records its history, and what there is of it.' },
  HistoryPlace: { description: 'Where an object was.' },
  ObjectPlace: { description: 'Where an object was last.' },
  PlacesReply: { description: 'Where an object was, in the order of the times.' },
  SnapshotReply: { description: 'Where everything was at a moment.' },
  HistoryTrack: { description: 'Where an object was, as columns of the same length.' },
  TracksReply: { description: 'Where many objects were.' },
  HistoryEventsReply: { description: 'Events of the past, as they were published.' },
  VisitingObject: { description: 'Who was in a fence.' },
  Visit: { description: 'An object was in a fence.' },
  VisitsReply: { description: 'Visits in the order of their beginnings.' },
  FenceDwell: { description: 'How long objects stay in a fence.' },
  DwellReply: { description: 'How long objects stay in fences.' },
  OccupancySample: { description: 'How many objects were in a fence at a moment.' },
  FenceOccupancy: { description: 'How many objects were in a fence.' },
  OccupancyReply: { description: 'How many objects were in fences. A fence that nobody was in is left out.' },
  Flow: { description: 'How often objects went from one fence to another.' },
  FlowsReply: { description: 'From which fence to which next one objects went.' },
  HeatCell: { description: 'A cell in which objects were.' },
  HeatmapReply: { description: 'How long objects were where.' },
  Trip: { description: 'A way from one stop to the next.' },
  Stop: { description: 'A time in which an object stayed within a circle.' },
  TripsReply: { description: 'The stops of a trackable, and its trips between.' },
  DocumentLink: { description: 'Another document.' },
  LandingPage: { description: 'Where the documents of OGC API – Moving Features are.' },
  Conformance: { description: 'What the documents conform to.' },
  SpatialExtent: { description: 'Where.' },
  TemporalExtent: { description: 'When.' },
  Extent: { description: 'Where and when there may be something.' },
  MovingCollection: { description: 'Objects of a kind that move.' },
  MovingCollections: { description: 'The collections that there are.' },
  MovingKind: { description: 'What moves.' },
  MovingFeatureOfList: { description: 'An object that moves, in a list.' },
  MovingFeature: { description: 'An object that moves, without its way.' },
  MovingFeatures: { description: 'Objects that move, in the order of their ids.' },
  MovingPoint: { description: 'A way without a gap, or places at moments.' },
  TemporalGeometrySequence: { description: 'Where an object was, in the order of the times.' },
  RecordedTopic: { description: 'What is recorded of a kind.' },
  SocketTopic: { description: 'Subscriptions to a topic, and what they have got.' },
  HubSockets: { description: 'WebSocket clients of one hub of a cluster. Those that have not answered are left out.' },
  SocketHealth: { description: 'Clients and subscriptions; those for GeoJSON count as the others do.' },
  LicenseInfo: { description: 'What there is to say about the license, in words.' },
  LicenseKeyBody: { description: 'A license key.' },
  Lease: { description: 'A license in force: that of the key, or a trial.' },
  DatabaseHealth: { description: 'Whether what the hub is told reaches its database.' },
  UsageRange: { description: 'From when to when was counted.' },
  ProvidersByType: { description: 'Numbers of location providers by their type.' },
  ConfiguredZone: { description: 'A zone, with its area.' },
  Configured: { description: 'What was configured.' },
  UsageStatistics: { description: 'What the hub has done in a month, all its runs together.' },
  Consumption: { description: 'A month: what was configured at its end, or is now, and what was done in it.' },
  Collision: { description: 'One of the two trackables of a collision.' },
  Point: { description: 'A GeoJSON point.' },
  Polygon: { description: 'A GeoJSON polygon: rings of positions, the exterior first, then holes.' },
  LineString: { description: 'A GeoJSON line.' },
  Feature: { description: 'A GeoJSON feature: an object by its geometry; its properties are the other members.' },
  FeatureCollection: { description: 'A list of GeoJSON features.' },
  FenceEventFeature: { description: 'A fence event as a GeoJSON feature: its geometry is that of the fence.' },
  AlertProperty: { description: 'A property that objects must have, with its value.' },
  AlertRule: {
    description: 'What people want to be alerted of. The hub evaluates it, whether a page is open or not.',
    examples: [
      {
        id: '5b0a6f0e-4a55-4a3c-8f0e-2d5c2c7f9a10',
        name: 'A vehicle stands in Dock A',
        kind: 'inside_longer',
        severity: 'warning',
        fence_ids: [DOCK],
        trackable_ids: [VEHICLE],
        longer_than: 600000,
      },
    ],
  },
  Alert: {
    description: 'A condition of a rule that holds, or held, and what people have done about it.',
    examples: [
      {
        id: 'e6b1c1c2-9c5d-4b53-9a6e-7a2b0f0f4f55',
        rule_id: '5b0a6f0e-4a55-4a3c-8f0e-2d5c2c7f9a10',
        name: 'A vehicle stands in Dock A',
        kind: 'inside_longer',
        severity: 'warning',
        state: 'raised',
        fence_id: DOCK,
        trackable_id: VEHICLE,
        times: 1,
        raised_at: '2026-03-01T10:10:00Z',
      },
    ],
  },
  AlertChangeEvent: { description: 'An alert was raised, has changed, or is kept no more: then as it was last.' },
  AlertMatch: { description: 'What a rule would alert of now.' },
  AlertPreview: { description: 'What a rule is about, and what of it holds now.' },
  AlertCounts: { description: 'A number for each severity.' },
  AlertSummary: {
    description:
      'How many alerts the hub stores at most, how many are open, and how many conditions hold without an alert.',
  },
  AlertSelection: { description: 'Alerts by their ids, or all that are open.' },
  MapView: {
    description: 'A view of the map that is kept under a name: the address by which the page shows it.',
    examples: [{ id: '2f0f1d6a-6d0c-4c38-9a35-0a9f6f1c8d21', name: 'Hall 1', address: '?at=50.1100,8.6820,19' }],
  },
  FenceEventCollection: { description: 'A list of fence events as GeoJSON features.' },
} as const;
