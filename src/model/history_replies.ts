import Type from 'typebox';
import { CollisionEvent, FenceEvent } from './events.ts';
import { ArrayOf, Choice, Named, Time } from './schema.ts';

/** Replies to history queries. Times are RFC 3339, durations in milliseconds. */

/** Members that describe the completeness of a reply of a cluster. */
export const OF_HUBS = {
  missing_hubs: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Names of the hubs of the cluster that did not reply: their rows are missing. Absent if none is.',
    }),
  ),
};

const SPAN = {
  ...OF_HUBS,
  from: Type.Optional(Time('Start of the span, inclusive.')),
  to: Type.Optional(Time('End of the span, exclusive.')),
};
const NEXT = {
  next_cursor: Type.Union([Type.String(), Type.Null()], {
    description: 'Cursor of the next part; null after the last.',
  }),
};
const id = (what: string) => Type.String({ description: `Id of the ${what}.` });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const ms = (description: string) => Type.Integer({ minimum: 0, description: `${description}, in milliseconds.` });
const lon = Type.Number({ description: 'Longitude in degrees.' });
const lat = Type.Number({ description: 'Latitude in degrees.' });
const some = (description: string) => Type.Optional(Type.Number({ description }));

const PLACE = {
  time: Time('Time of the position.'),
  longitude: lon,
  latitude: lat,
  z: some('Height in meters.'),
  floor: some('The floor.'),
  zone_id: Type.Optional(id('zone whose coordinates x and y are')),
  x: some('Meters in that zone, or in the requested crs.'),
  y: some('Meters in that zone, or in the requested crs.'),
  accuracy: some('Accuracy in meters.'),
  speed: some('Meters per second.'),
  course: some('Degrees clockwise from north.'),
  provider_id: Type.Optional(id('provider')),
  source: Type.Optional(Type.String({ description: 'The source of the location.' })),
};

const HistoryPlace = Named('HistoryPlace', PLACE);
const ObjectPlace = Named('ObjectPlace', { id: id('trackable or provider'), ...PLACE });

/** What a DELETE of the history of an object has done. */
export const ErasureReply = Named('ErasureReply', {
  ...OF_HUBS,
  id: id('trackable or provider'),
  from: Type.Optional(Time('Start of the span; absent without one.')),
  to: Type.Optional(Time('End of the span, exclusive; absent without one.')),
  locations: count('Erased locations of the provider.'),
  motions: count('Erased motions of the trackable.'),
  fence_events: count('Erased fence events.'),
  collision_events: count('Erased collision events.'),
  damaged_files: count('Files of the span that cannot be read, so that they may still have rows of the object.'),
});

export const PlacesReply = Named('PlacesReply', {
  id: id('trackable or provider'),
  ...SPAN,
  points: ArrayOf(HistoryPlace),
  ...NEXT,
});

export const SnapshotReply = Named('SnapshotReply', {
  ...OF_HUBS,
  at: Time('The moment.'),
  objects: ArrayOf(ObjectPlace),
  ...NEXT,
});

const HistoryTrack = Named('HistoryTrack', {
  id: id('trackable or provider'),
  t: Type.Array(Type.Integer(), { description: 'Milliseconds since the beginning of the span.' }),
  lon: Type.Array(lon, { description: 'Longitudes in degrees.' }),
  lat: Type.Array(lat, { description: 'Latitudes in degrees.' }),
  floor: Type.Array(Type.Union([Type.Number(), Type.Null()]), { description: 'Floors; null where it is not known.' }),
});

export const TracksReply = Named('TracksReply', {
  ...SPAN,
  step: ms('The step'),
  tracks: ArrayOf(HistoryTrack),
  ...NEXT,
});

const PastEvent = Choice([FenceEvent, CollisionEvent], {
  title: 'PastEvent',
  description: 'A fence event or a collision event.',
});

export const HistoryEventsReply = Named('HistoryEventsReply', {
  ...SPAN,
  events: ArrayOf(PastEvent),
  ...NEXT,
});

const VisitingObject = Named('VisitingObject', {
  type: Type.String({ description: 'trackable or provider.' }),
  id: id('trackable or provider'),
});

const Visit = Named('Visit', {
  id: Type.String({ description: 'Id of its first event.' }),
  fence_id: id('fence'),
  object: VisitingObject,
  entry_time: Time('Start of the visit.'),
  exit_time: Type.Union([Time('End of the visit.'), Type.Null()], { description: 'null: no exit was recorded.' }),
  duration_ms: ms('Duration; without an exit, up to the last fix of the object plus its fence timeout'),
  still_inside: Type.Boolean({ description: 'Whether no exit was recorded.' }),
});

export const VisitsReply = Named('VisitsReply', { ...SPAN, visits: ArrayOf(Visit), ...NEXT });

const DWELL = {
  visits: count('Visits with an exit that overlap the span.'),
  entries: count('Visits that began in the span, with an exit or without.'),
  objects: count('Objects that made these visits and the open ones.'),
  median_ms: Type.Union([ms('The median of the durations of whole visits'), Type.Null()], {
    description: 'The median of the durations of whole visits; null without any.',
  }),
  p95_ms: Type.Union([ms('The 95th percentile'), Type.Null()], {
    description: 'The 95th percentile; null without any.',
  }),
  total_ms: ms('The time of these visits within the span'),
  open_visits: count('Visits without an exit that overlap the span. No other number of visits includes them.'),
  open_ms: ms('The time of open visits within the span, each up to the last fix of its object plus its fence timeout'),
};

const DwellStep = Named('DwellStep', { from: Time('Start of the step.'), ...DWELL });
const FenceDwell = Named('FenceDwell', {
  fence_id: id('fence'),
  ...DWELL,
  steps: Type.Optional(ArrayOf(DwellStep)),
});

export const DwellReply = Named('DwellReply', {
  ...SPAN,
  step: Type.Optional(ms('Length of a step')),
  fences: ArrayOf(FenceDwell),
});

const OccupancySample = Named('OccupancySample', {
  time: Time('The moment.'),
  count: count('Objects in the fence at that moment.'),
});
const FenceOccupancy = Named('FenceOccupancy', { fence_id: id('fence'), samples: ArrayOf(OccupancySample) });

export const OccupancyReply = Named('OccupancyReply', {
  ...SPAN,
  step: ms('Between two samples'),
  fences: ArrayOf(FenceOccupancy),
});

const Flow = Named('Flow', {
  from_fence: id('fence that objects left'),
  to_fence: id('next fence that they entered'),
  count: count('Number of transitions.'),
  median_ms: Type.Union([ms('The median of the time between'), Type.Null()], {
    description: 'The median of the time between; null where it is not known.',
  }),
});

export const FlowsReply = Named('FlowsReply', { ...SPAN, flows: ArrayOf(Flow) });

const CrossedStep = Named('CrossedStep', {
  from: Time('Start of the step.'),
  left: count('Crossings to the left, looking along the line.'),
  right: count('Crossings to the right.'),
});

export const CrossingsReply = Named('CrossingsReply', {
  ...SPAN,
  since: Type.Union([Time('Time since which the hub has counted.'), Type.Null()], {
    description: 'Time since which the hub has counted; null for counts of the history.',
  }),
  step: Type.Integer({ minimum: 1, description: 'Length of a step in milliseconds.' }),
  left: count('Crossings to the left, looking along the line.'),
  right: count('Crossings to the right.'),
  steps: ArrayOf(CrossedStep),
});

const HeatCell = Named('HeatCell', {
  longitude: lon,
  latitude: lat,
  h3: Type.Optional(Type.String({ description: 'Index of the cell.' })),
  seconds: Type.Number({ minimum: 0, description: 'Dwell time of objects in the cell.' }),
});

export const HeatmapReply = Named('HeatmapReply', {
  ...SPAN,
  grid: Type.String({ description: 'metres, or h3.' }),
  cell_metres: some('Length of a side of a cell.'),
  resolution: Type.Optional(Type.Integer({ description: 'Resolution of H3.' })),
  cells: ArrayOf(HeatCell),
});

const QualityCell = Named('QualityCell', {
  longitude: lon,
  latitude: lat,
  positions: count('Number of positions.'),
  accuracy: Type.Union([Type.Number(), Type.Null()], {
    description: 'Median of their accuracy in meters; null if none has one.',
  }),
  gaps: count('Gaps that begin in the cell.'),
  jumps: count('Jumps that end in the cell.'),
});

export const QualityReply = Named('QualityReply', {
  ...SPAN,
  cell_metres: Type.Number({ description: 'Length of a side of a cell.' }),
  cells: ArrayOf(QualityCell),
});

const TIMES = {
  start_time: Time('Start.'),
  end_time: Time('End.'),
  duration_ms: ms('Duration'),
};
const Position = Type.Array(Type.Number(), {
  minItems: 2,
  maxItems: 2,
  description: 'Longitude and latitude in degrees.',
});

const Trip = Named('Trip', {
  ...TIMES,
  distance_metres: Type.Number({ minimum: 0, description: 'Length of the path, in meters.' }),
  from: Position,
  to: Position,
});

const Stop = Named('Stop', {
  ...TIMES,
  longitude: lon,
  latitude: lat,
  points: count('Number of positions.'),
});

export const TripsReply = Named('TripsReply', {
  id: id('trackable'),
  ...SPAN,
  trips: ArrayOf(Trip),
  stops: ArrayOf(Stop),
});
