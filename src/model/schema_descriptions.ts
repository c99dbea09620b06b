/**
 * Descriptions and examples of schemas in the API's documents. All examples share one small site:
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

/** The location as sent, in coordinates of the hall. */
const LOCATION_EXAMPLE = {
  position: { type: 'Point', coordinates: [20, 20] },
  source: 'hall-1',
  provider_type: 'uwb',
  provider_id: TAG,
  crs: 'local',
  accuracy: 0.3,
};

/** The location as returned, in longitude and latitude. */
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

const COLLISION_FORECAST_EXAMPLE = {
  trackable_id: VEHICLE,
  other_trackable_id: OTHER,
  timestamp: '2026-11-20T10:01:56.000Z',
  time: '2026-11-20T10:02:00.400Z',
  distance: 0.62,
  probability: 0.87,
  position: { type: 'Point', coordinates: [8.68231, 50.11107] },
  floor: 0,
};

const CHANGE_EVENT_EXAMPLE = {
  timestamp: '2026-11-20T10:00:00.000Z',
  event_type: 'update',
  id: TAG,
  object: PROVIDER_EXAMPLE,
};

const ANCHOR_EXAMPLE = { id: 'anchor-1', zone_id: 'hall-1', local_position: { type: 'Point', coordinates: [1, 2] } };

const LOCATING_RULE_EXAMPLE = { expression: "type = 'uwb' AND accuracy < 1", priority: 2 };

/** Descriptions and examples of schemas by title. */
export const SCHEMA_DESCRIPTIONS = {
  Zone: {
    description:
      'An installation with its own coordinate system, georeferenced by ground control points; a proximity zone ' +
      '(rfid, ibeacon) by its position.',
    examples: [ZONE_EXAMPLE],
  },
  ProximityResolution: {
    description: 'When a tag changes from one proximity zone to another. Without it, each sighting moves the tag.',
  },
  Fence: {
    description:
      'A region whose entries and exits are events: a polygon, or a point with a radius. Timing values of a provider ' +
      'override those of its trackable, which override those of the fence.',
    examples: [FENCE_EXAMPLE],
  },
  Filter: {
    description:
      'How positions are smoothed for motions, fences and collisions. Absent members have the value of the trackable, ' +
      'of the type of provider, or of the configuration.',
    examples: [{ kind: 'cv', default_accuracy: 0.3, max_speed: 3 }],
  },
  LocationProvider: {
    description: 'A source of positions: a tag, a phone, a reader.',
    examples: [PROVIDER_EXAMPLE],
  },
  Trackable: {
    description:
      'A thing that is located through its providers. Its geometry is in meters around its position: x east and y ' +
      'north at course 0, turned clockwise by the course.',
    examples: [TRACKABLE_EXAMPLE],
  },
  LocatingRule: {
    description: 'Ranks the locations of a trackable: the highest priority of all true expressions wins.',
    examples: [LOCATING_RULE_EXAMPLE],
  },
  Location: {
    description: 'A position of a location provider at a point in time.',
    examples: [LOCATION_EXAMPLE],
  },
  Proximity: {
    description: 'A provider is near a proximity zone, whose position it takes.',
    examples: [PROXIMITY_EXAMPLE],
  },
  SimpleTransform: {
    description: 'A position to transform from one crs to the other, and the result.',
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
    description: 'A device at a fixed position from which a locating system measures.',
    examples: [ANCHOR_EXAMPLE],
  },
  CreationParameters: {
    description:
      'Source of a fence measured in local coordinates: local_coordinates georeferenced by a ' +
      'global_reference or by the zone of zone_id, or a radius around the local_reference in that zone.',
  },
  ZoneCreationParameters: { description: 'Source of a zone measured in local coordinates.' },
  Demo: { description: 'A simulated site that the hub runs itself.' },
  EntityDocumentMembers: {
    description: 'Members available in the source of a document, such as the columns of a table.',
  },
  EntityDocument: { description: 'All entities, or some of them, in one document, as the command export writes it.' },
  Import: { description: 'An import of a document, running or finished.' },
  ImportCounts: { description: 'Effect of an import on the entities of one kind.' },
  ImportCountsByKind: { description: 'Effect of an import on each kind whose list is in the document.' },
  ImportMemberChange: { description: 'Change of one member of an entity, or of one of its properties.' },
  ImportProblem: { description: 'An invalid field of a document.' },
  HealthSource: { description: 'Input from a zone, or from a source of locations that is not a zone.' },
  SystemHealth: { description: 'Health of the hub itself, since its start.' },
  ClusterHealth: { description: 'The hub as a member of a cluster.' },
  ClusterMember: { description: 'A hub of the cluster, as seen by the hub that replies.' },
  ClusterOwners: {
    description:
      'Owners of the partitions of objects, so that clients can send the locations of a provider to the hub that processes them.',
  },
  ProviderOwner: { description: 'The hub of a cluster that owns a provider.' },
  MqttHealth: { description: 'Health of the hub as a client of an MQTT broker.' },
  UnsHealth: { description: 'The unified namespace on the MQTT broker.' },
  UnsRefusal: {
    description: 'A trackable whose claim of a topic of the unified namespace was rejected. At most 20 are listed.',
  },
  MqttSubscription: { description: 'A subscription to topics of sources, held by one hub for the whole cluster.' },
  EventLogHealth: { description: 'How far back the event log reaches, and its size.' },
  HistoryHealth: { description: 'Health and size of the recorded history.' },
  HistoryPlace: { description: 'Position of an object at a time.' },
  ObjectPlace: { description: 'Last position of an object.' },
  ErasureReply: { description: 'Numbers of erased rows of an object, at all hubs.' },
  PlacesReply: { description: 'Positions of an object in the order of time.' },
  SnapshotReply: { description: 'Positions of all objects at a point in time.' },
  HistoryTrack: { description: 'Positions of an object, as columns of equal length.' },
  TracksReply: { description: 'Positions of many objects.' },
  HistoryEventsReply: { description: 'Recorded events, as published.' },
  VisitingObject: { description: 'An object in a fence.' },
  Visit: { description: 'A stay of an object in a fence.' },
  VisitsReply: { description: 'Visits in the order of their start.' },
  FenceDwell: { description: 'Dwell times of objects in a fence.' },
  DwellReply: { description: 'Dwell times of objects in fences.' },
  DwellStep: { description: 'Dwell times of objects in a fence during a step of the span.' },
  OccupancySample: { description: 'Number of objects in a fence at a point in time.' },
  FenceOccupancy: { description: 'Number of objects in a fence over time.' },
  OccupancyReply: { description: 'Number of objects in fences over time. Fences without objects are left out.' },
  Flow: { description: 'Transitions of objects from one fence to another.' },
  FlowsReply: { description: 'Transitions of objects between fences.' },
  CrossedStep: { description: 'Crossings of a gate in a step of time.' },
  CrossingsReply: { description: 'Crossings of a gate, and of each step that has any.' },
  QualityCell: { description: 'A cell of a map of the quality of positions.' },
  QualityReply: { description: 'Quality of positions by the cells of a grid.' },
  HeatCell: { description: 'A cell of a heatmap.' },
  HeatmapReply: { description: 'Dwell time of objects by cell.' },
  Trip: { description: 'A path from one stop to the next.' },
  Stop: { description: 'A period in which an object stayed within a circle.' },
  TripsReply: { description: 'The stops of a trackable, and its trips between.' },
  DocumentLink: { description: 'Another document.' },
  LandingPage: { description: 'Entry point of OGC API – Moving Features.' },
  Conformance: { description: 'Conformance classes of the documents.' },
  SpatialExtent: { description: 'Spatial extent.' },
  TemporalExtent: { description: 'Temporal extent.' },
  Extent: { description: 'Spatial and temporal extent of a collection.' },
  MovingCollection: { description: 'Moving objects of one kind.' },
  MovingCollections: { description: 'All collections.' },
  MovingKind: { description: 'Kind of a moving object.' },
  MovingFeatureOfList: { description: 'A moving object in a list.' },
  MovingFeature: { description: 'A moving object without its path.' },
  MovingFeatures: { description: 'Moving objects in the order of their ids.' },
  MovingPoint: { description: 'A continuous path, or positions at discrete times.' },
  TemporalGeometrySequence: { description: 'Where an object was, in the order of the times.' },
  RecordedTopic: { description: 'Recorded rows of one kind.' },
  SocketTopic: { description: 'Subscriptions to a topic, and the events delivered to them.' },
  HubSockets: { description: 'WebSocket clients of one hub of a cluster. Hubs that did not reply are left out.' },
  SocketHealth: { description: 'Clients and subscriptions, GeoJSON included.' },
  LicenseInfo: { description: 'Human-readable information about the license.' },
  LicenseKeyBody: { description: 'A license key.' },
  Lease: { description: 'The effective license: that of the key, or a trial.' },
  DatabaseHealth: { description: 'Whether changes reach the database.' },
  UsageRange: { description: 'Counted period.' },
  ProvidersByType: { description: 'Numbers of location providers by their type.' },
  ConfiguredZone: { description: 'A zone, with its area.' },
  Configured: { description: 'Number of configured entities.' },
  UsageStatistics: { description: 'Activity of the hub in a month, across restarts.' },
  Consumption: { description: 'One month: the configuration at its end (or now), and the activity in it.' },
  Collision: { description: 'One of the two trackables of a collision.' },
  CollisionForecast: {
    description:
      'Two trackables with a filter are expected to collide if they continue with their velocities. The position is in the ' +
      'middle between the two, in EPSG:4326.',
    examples: [COLLISION_FORECAST_EXAMPLE],
  },
  FenceForecast: { description: 'What a trackable is expected to do at a fence.' },
  TrackableForecast: {
    description:
      'Where a trackable with a filter is expected to be at the horizon, in EPSG:4326, and what it is expected to do at ' +
      'fences until then.',
  },
  Point: { description: 'A GeoJSON point.' },
  Polygon: { description: 'A GeoJSON polygon: rings of positions, the exterior first, then holes.' },
  LineString: { description: 'A GeoJSON line.' },
  Feature: { description: 'A GeoJSON feature: an object by its geometry; its properties are the other members.' },
  FeatureCollection: { description: 'A list of GeoJSON features.' },
  FenceEventFeature: { description: 'A fence event as a GeoJSON feature: its geometry is that of the fence.' },
  Sink: {
    description: 'A target to which the hub delivers events.',
    examples: [
      {
        id: '0e2a4c0e-6f1b-4f0a-9d0c-0b5f6f2f9d11',
        name: 'Warehouse system',
        type: 'webhook',
        url: 'https://wms.example.com/hooks/rtls',
        topics: ['fence_events', 'alert_changes'],
        params: { event_type: 'region_entry' },
      },
    ],
  },
  Source: {
    description: 'A system whose payloads the hub maps to locations or proximities.',
    examples: [
      {
        id: '5d3c1f66-1a0b-4a53-9a8e-7a0c8d1f0e21',
        name: 'Forklift tags',
        kind: 'http',
        format: 'json',
        map: {
          items: '/tags/*',
          provider_id: '/id',
          provider_type: { value: 'uwb' },
          x: '/position/0',
          y: '/position/1',
          source: { path: '$/map', lookup: { 'Map 1': 'hall-1' } },
          timestamp_generated: { path: '/time', unit: 'ms' },
        },
      },
    ],
  },
  SourceMap: {
    description:
      'How the members of locations are found in a payload. x and y are longitude and latitude, easting and northing, or ' +
      'local coordinates in meters. By default provider_type is unknown, crs is local, and timestamp_generated is the ' +
      'time of receipt. accuracy is the distance in a proximity.',
  },
  SourceValue: { description: 'A value of a payload, and its conversion.' },
  SourceCondition: { description: 'A condition that items meet whose value is one of a list.' },
  SourceStatus: { description: 'State of a source at the replying hub.' },
  SourceRefusal: { description: 'The last payload that was refused completely or in part.' },
  SourcePreset: { description: 'A source of a known system, as a template.' },
  SourceSample: { description: 'A source, and a sample of its payloads.' },
  SourceProblem: { description: 'A problem of a payload, an item or a location.' },
  SourcePreview: { description: 'What a map makes of a sample. Nothing is stored.' },
  SourcePreviewItem: { description: 'An item of a sample, as a location or proximity.' },
  SourceToken: { description: 'A new token of an http source.' },
  SinkQuietHours: { description: 'Daily time in which an email sink sends nothing.' },
  SinkStatus: { description: 'State of the delivery to a sink.' },
  SinkDelivery: { description: 'An event and its delivery.' },
  SinkTest: { description: 'Result of a test delivery.' },
  SinkReplay: { description: 'Position from which events are delivered again: a cursor or a time.' },
  AuditEntry: {
    description:
      'An entry of the audit log: a change of one entity, document or setting, or a read or an erasure of the history.',
  },
  AuditErasure: { description: 'An erasure of the history: the kind of its object, and its span.' },
  AuditRead: { description: 'A read of the history: its objects, its span and its area.' },
  AuditEntries: { description: 'Entries of the audit log after a cursor, in order.' },
  AuditPatchOperation: {
    description: 'An operation of a JSON Patch (RFC 6902) from the former value to the current one. Secrets are `***`.',
  },
  LoggedEvent: { description: 'An event of the event log.' },
  LoggedEvents: { description: 'Events of the event log after a cursor, in order.' },
  SearchRequest: {
    description: 'Conditions of a search for objects by their last positions. At least region or near is required.',
  },
  SearchMatch: { description: 'A found object: the location of a provider, or the motion of a trackable.' },
  SearchResult: { description: 'Objects found by a search.' },
  AlertSchedule: { description: 'Weekly times at which a rule is in effect.' },
  AlertProperty: { description: 'A property that objects must have, with its value.' },
  AlertRule: {
    description: 'A rule that raises alerts. The hub evaluates it, whether a page is open or not.',
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
    description: 'A condition of a rule that holds or held, with the reaction of operators.',
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
  AlertChangeEvent: { description: 'An alert was raised, changed, or removed; in the last case with its last state.' },
  AlertMatch: { description: 'A condition of a rule that holds now.' },
  AlertPreview: { description: 'Objects watched by a rule, and the conditions that hold now.' },
  AlertRate: {
    description:
      'How often the condition of a rule would have begun in a recent span, by the event log. Absent for rules that depend on positions, and without events.',
  },
  AlertCounts: { description: 'A number for each severity.' },
  AlertSummary: {
    description:
      'How many alerts the hub stores at most, how many are open, and how many conditions hold without an alert.',
  },
  AlertSelection: { description: 'Selects alerts by id, or all open ones.' },
  AlertComment: { description: 'A comment on an alert.' },
  AlertAssignment: { description: 'Selects alerts, and names the person who handles them.' },
  AlertRemark: { description: 'Selects alerts, and adds a comment to them.' },
  AlertSnooze: {
    description:
      'A time until which alerts of a rule, a fence or an object are snoozed. They are raised, but need no attention.',
  },
  MapView: {
    description: 'A saved view of the map: a name and the query string of the page.',
    examples: [{ id: '2f0f1d6a-6d0c-4c38-9a35-0a9f6f1c8d21', name: 'Hall 1', address: '?at=50.1100,8.6820,19' }],
  },
  WalkPoint: { description: 'A surveyed point that a tag is carried past.' },
  WalkPass: { description: 'A mark that the tag is at a point.' },
  WalkTest: {
    description: 'A test of the accuracy of positions: a tag is carried past surveyed points.',
    examples: [
      {
        id: '5b0f6e0a-9f3b-4f0e-8b49-0f6a4f2c7d11',
        name: 'Hall 1 after the move of anchor 7',
        object_type: 'provider',
        object_id: 'tag-1',
        points: [{ id: 'P1', position: { type: 'Point', coordinates: [8.6828, 50.1113] }, floor: 0 }],
        passes: [{ point_id: 'P1', time: '2026-11-20T10:00:10Z' }],
        started_at: '2026-11-20T10:00:00Z',
      },
    ],
  },
  OwnedResources: { description: 'Entities to which OWN permissions of an API key are limited.' },
  ApiKey: {
    description: 'A key with which a client authenticates in place of an access token.',
    examples: [
      {
        id: '4f1c29a07be3d851',
        name: 'Dashboard of hall 1',
        roles: ['viewer'],
        expires_at: '2027-11-20T10:00:00Z',
        created_at: '2026-11-20T10:00:00Z',
      },
    ],
  },
  MeasuredPass: { description: 'The pass of a point, and the errors of the position.' },
  WalkZone: { description: 'Availability of positions from one source.' },
  WalkResult: { description: 'Figures of a walk test, by ISO/IEC 18305.' },
  LinkOidc: { description: 'How the hub gets access tokens for another hub: by client credentials (OAuth 2.0).' },
  LinkHealth: { description: 'State of a link to another hub.' },
  LinkState: { description: 'State of a link at the hub that runs it. Counters begin when that hub starts to run it.' },
  Link: {
    description: 'A link to another hub, whose locations this hub accepts as its own.',
    examples: [
      {
        id: '7a0c5f4e-3c1b-4e61-9d0b-5f2f6e0f1a20',
        name: 'Plant 2',
        url: 'https://hub.plant-2.example/v2',
        topics: ['location_updates'],
        id_prefix: 'plant-2-',
      },
    ],
  },
  FenceEventCollection: { description: 'A list of fence events as GeoJSON features.' },
} as const;
