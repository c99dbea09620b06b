import type { Zone } from '../../model/zone.ts';
import { demoId } from '../../model/demo_id.ts';
import { type FloorName, type SiteFrame, HALL, type Meters, onEarth, UPPER } from './plan.ts';

/** A floor of the warehouse, with its locating system. */
export interface Floor {
  readonly id: string;
  readonly foreignId: string;
  readonly floor: number;
  readonly frame: SiteFrame;
  readonly width: number;
  readonly depth: number;
}

export const FLOORS: Readonly<Record<FloorName, Floor>> = {
  hall: { id: demoId('zone', 1), foreignId: 'demo-hall', floor: 0, frame: HALL, width: 100, depth: 60 },
  upper: { id: demoId('zone', 2), foreignId: 'demo-upper', floor: 1, frame: UPPER, width: 40, depth: 25 },
};

/** The RFID gate across the lane in the yard, which the forklifts pass continuously, in meters of the hall. */
export const GATE = { foreignId: 'demo-gate', at: [50, 4] as Meters, radius: 3 };

/** The zones of the warehouse: two UWB systems, georeferenced by ground control points at their corners, and a gate. */
export function demoZones(): Zone[] {
  const gate: Zone = {
    id: demoId('zone', 3),
    foreign_id: GATE.foreignId,
    type: 'rfid',
    name: 'Gate',
    position: { type: 'Point', coordinates: onEarth(HALL, GATE.at) },
    radius: GATE.radius,
    floor: 0,
  };
  return [uwbZone(FLOORS.hall, 'Hall and yard'), uwbZone(FLOORS.upper, 'Upper floor'), gate];
}

function uwbZone({ id, foreignId, floor, frame, width, depth }: Floor, name: string): Zone {
  const corners: Meters[] = [
    [0, 0],
    [width, 0],
    [width, depth],
    [0, depth],
  ];
  const points = corners.flatMap((corner) => [onEarth(frame, corner), [...corner]]);
  return { id, foreign_id: foreignId, type: 'uwb', name, floor, ground_control_points: points };
}
