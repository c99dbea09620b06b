import type { TSchema } from 'typebox';
import { AlertChangeEvent } from './alert.ts';
import { ChangeEvent, CollisionEvent, FenceEvent, TrackableMotion } from './events.ts';
import { CollisionForecast } from './forecast.ts';
import { Location, Proximity } from './location.ts';
import { XcmdBroadcast } from './rpc.ts';
import type { Topic } from './topics.ts';

/** Schema of an event of each topic, unless GeoJSON is requested. */
export const TOPIC_PAYLOADS: Readonly<Record<Topic, TSchema>> = {
  location_updates: Location,
  trackable_motions: TrackableMotion,
  fence_events: FenceEvent,
  collision_events: CollisionEvent,
  collision_forecast: CollisionForecast,
  proximity_updates: Proximity,
  provider_changes: ChangeEvent,
  trackable_changes: ChangeEvent,
  fence_changes: ChangeEvent,
  zone_changes: ChangeEvent,
  anchor_changes: ChangeEvent,
  xcmd_broadcast: XcmdBroadcast,
  alert_changes: AlertChangeEvent,
};
