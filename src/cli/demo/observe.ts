import type { Location, Proximity } from '../../model/location.ts';
import type { CrewMember } from './crew.ts';
import { FLOORS, GATE } from './zones.ts';

/** The location sent by a tag, in the coordinates of its floor; none while it sleeps. */
export function locationOf({ tag, floor, z, sleeps, mover }: CrewMember, nowMs: number): Location | undefined {
  if (sleeps && mover.restS > 0) return undefined;
  const { id, foreignId, frame } = FLOORS[floor];
  return {
    position: { type: 'Point', coordinates: [millimeters(mover.x), millimeters(mover.y), z] },
    // Sources may be named by foreign id or id. The demo uses both.
    source: floor === 'hall' ? foreignId : id,
    provider_type: 'uwb',
    provider_id: tag,
    timestamp_generated: new Date(nowMs).toISOString(),
    accuracy: 0.3,
    speed: millimeters(mover.speed),
    course: millimeters((mover.course - frame.turn + 360) % 360),
  };
}

/** The proximity read by the gate when an RFID tag is near. */
export function proximityOf({ rfid, mover }: CrewMember, nowMs: number): Proximity | undefined {
  if (rfid === undefined) return undefined;
  const [x, y] = GATE.at;
  if (Math.hypot(mover.x - x, mover.y - y) > GATE.radius) return undefined;
  return {
    source: GATE.foreignId,
    provider_type: 'rfid',
    provider_id: rfid,
    timestamp_generated: new Date(nowMs).toISOString(),
  };
}

function millimeters(value: number): number {
  return Math.round(value * 1000) / 1000;
}
