import Type, { type Static } from 'typebox';
import { Fence } from './fence.ts';
import { PROVIDER_TYPES, type ProviderType } from './location.ts';
import { Named, Time } from './schema.ts';
import { Zone } from './zone.ts';

/** What is counted by month. `sent` is plain JSON, `geojson_sent` is GeoJSON; one event for two subscribers counts 2. */
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

const Count = Type.Integer({ minimum: 0 });
const Timestamp = Time('RFC 3339 date and time.');
const Counters = Type.Object(
  Object.fromEntries(USAGE_COUNTERS.map((name) => [name, Count])) as Record<UsageCounter, typeof Count>,
);

/** What the hub has done in a month, all its runs together. */
export const UsageStatistics = Named('UsageStatistics', {
  id: Type.String(),
  instance_id: Type.String(),
  data_db_id: Type.Optional(Type.String()),
  stats_db_id: Type.Optional(Type.String()),
  uptime: Type.Integer({ minimum: 0, description: 'Seconds that the hub has run within the range.' }),
  range: Type.Object({ from: Timestamp, to: Timestamp }),
  ...Counters.properties,
});
export type UsageStatistics = Static<typeof UsageStatistics>;

const ByType = Type.Object(
  Object.fromEntries(PROVIDER_TYPES.map((type) => [type, Count])) as Record<ProviderType, typeof Count>,
);

/** A month: what was configured at its end, or is now, and what was done in it. */
export const Consumption = Named('Consumption', {
  id: Type.String(),
  timestamp_generated: Timestamp,
  year: Type.Integer(),
  month: Type.Integer({ minimum: 1, maximum: 12 }),
  config: Type.Object({
    fences: Type.Array(Fence),
    zones: Type.Array(
      Type.Object({
        ...Zone.properties,
        sqm: Type.Number({
          description: 'Area in square metres; negative: of the convex hull, where the control points make no polygon.',
        }),
      }),
    ),
    trackables_no: Count,
    trackables_no_active: Count,
    locationproviders_no: Count,
    locationproviders_no_active: Count,
    locationproviders_by_type_no: ByType,
    locationproviders_by_type_no_active: ByType,
  }),
  statistics: UsageStatistics,
});
export type Consumption = Static<typeof Consumption>;
