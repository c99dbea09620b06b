import { DIRECTION_PROPERTY, DIRECTIONS } from '../model/alert.ts';
import type { CollisionEvent, FenceEvent } from '../model/events.ts';
import { parseJson } from '../model/json.ts';
import type { MovingObject } from './alert_state.ts';
import type { WatchEvent } from './watch_state.ts';

/** Returns what a published fence event, as JSON, means for rules. */
export function fenceEvent(json: string): readonly WatchEvent[] {
  const event = parseJson(json) as FenceEvent;
  const object = objectOf(event);
  if (object === undefined) return [];
  const direction = DIRECTIONS.find((each) => event.properties?.[DIRECTION_PROPERTY] === each);
  if (direction !== undefined) return [{ what: 'crossed', fenceId: event.fence_id, direction, ...object }];
  return [{ what: event.event_type === 'region_entry' ? 'entered' : 'left', fenceId: event.fence_id, ...object }];
}

/** Returns the object of a fence event. The event of a trackable may also contain the provider that moved it. */
function objectOf({ trackable_id: trackableId, provider_id: providerId }: FenceEvent): MovingObject | undefined {
  if (trackableId != null) return { trackableId };
  return providerId == null ? undefined : { providerId };
}

/** Returns what a published collision event, as JSON, means for rules. */
export function collisionEvent(json: string): readonly WatchEvent[] {
  const { collision_type: type, collisions } = parseJson(json) as CollisionEvent;
  const [one, other] = collisions;
  if (one === undefined || other === undefined) return [];
  return [{ what: type === 'collision_end' ? 'parted' : 'collided', trackableId: one.id, otherId: other.id }];
}
