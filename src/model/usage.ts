import Type, { type Static } from 'typebox';
import { Fence } from './fence.ts';
import type { ProviderType } from './location.ts';
import { PROVIDER_TYPES } from './provider_type.ts';
import { ArrayOf, Named, Time } from './schema.ts';
import { Zone } from './zone.ts';

/**
 * Counters by month. `sent` is plain JSON, `geojson_sent` is GeoJSON. An event for two subscribers counts 2, and so
 * does an event published on two MQTT topics.
 */
export const USAGE_COUNTERS = [
  'locationupdates_processed',
  'locationupdates_sent',
  'locationupdates_geojson_sent',
  'fenceevents_entry_processed',
  'fenceevents_entry_sent',
  'fenceevents_entry_geojson_sent',
  'fenceevents_exit_processed',
  'fenceevents_exit_sent',
  'fenceevents_exit_geojson_sent',
  'proximityupdates_processed',
  'trackablemotions_processed',
  'trackablemotions_sent',
  'trackablemotions_geojson_sent',
  'collisions_start_processed',
  'collisions_start_sent',
  'collisions_colliding_processed',
  'collisions_colliding_sent',
  'collisions_end_processed',
  'collisions_end_sent',
] as const;
export type UsageCounter = (typeof USAGE_COUNTERS)[number];
export type UsageCounts = Readonly<Record<UsageCounter, number>>;

const count = (description: string) => Type.Integer({ minimum: 0, description });
const id = (of: string) => Type.String({ description: `Id of the ${of}.` });
const Timestamp = Time('RFC 3339 date and time.');
const Counters = Type.Object(
  Object.fromEntries(USAGE_COUNTERS.map((name) => [name, count(meaningOf(name))])) as Counts<UsageCounter>,
);

type Counts<Name extends string> = Record<Name, ReturnType<typeof count>>;

function meaningOf(name: UsageCounter): string {
  if (name.endsWith('_processed')) return 'Number of processed messages.';
  if (name.endsWith('_geojson_sent')) return 'Number sent to subscribers as GeoJSON.';
  return 'Number sent as plain JSON, to subscribers and to the MQTT broker.';
}

const UsageRange = Named('UsageRange', {
  from: Time('Start of the range, RFC 3339.'),
  to: Time('End of the range, RFC 3339.'),
});

/** Activity of the hub in a month, across restarts. */
export const UsageStatistics = Named('UsageStatistics', {
  id: id('statistics'),
  instance_id: id('hub'),
  data_db_id: Type.Optional(id('database')),
  stats_db_id: Type.Optional(id('database of the statistics')),
  uptime: Type.Integer({
    minimum: 0,
    description: 'Uptime of the hub within the range in seconds; in a cluster, that of the hub with the longest.',
  }),
  range: UsageRange,
  ...Counters.properties,
});
export type UsageStatistics = Static<typeof UsageStatistics>;

const ProvidersByType = Named(
  'ProvidersByType',
  Object.fromEntries(PROVIDER_TYPES.map((type) => [type, count(`Providers of type ${type}.`)])) as Counts<ProviderType>,
);

const ConfiguredZone = Named('ConfiguredZone', {
  ...Zone.properties,
  sqm: Type.Number({
    description: 'Area in square meters; negative: of the convex hull, if the control points form no polygon.',
  }),
});

const Configured = Named('Configured', {
  fences: ArrayOf(Fence),
  zones: ArrayOf(ConfiguredZone),
  trackables_no: count('Trackables.'),
  trackables_no_active: count('Trackables that were located in the month.'),
  locationproviders_no: count('Location providers.'),
  locationproviders_no_active: count('Location providers seen in the month.'),
  locationproviders_by_type_no: ProvidersByType,
  locationproviders_by_type_no_active: ProvidersByType,
});

/** One month: the configuration at its end (or now), and the activity in it. */
export const Consumption = Named('Consumption', {
  id: id('month'),
  timestamp_generated: Timestamp,
  year: Type.Integer({ description: 'Four digits.' }),
  month: Type.Integer({ minimum: 1, maximum: 12, description: '1 is January; months are those of UTC.' }),
  config: Configured,
  statistics: UsageStatistics,
});
export type Consumption = Static<typeof Consumption>;
