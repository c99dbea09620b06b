import type { Fence } from '../../model/fence.ts';
import { demoId } from '../../model/demo_id.ts';
import { type FloorName, HALL, type Meters, onEarth } from './plan.ts';
import { FLOORS } from './zones.ts';

/** A fence of the demo: the members of a fence, with a shape in meters of the hall or of the upper floor. */
interface Drawn extends Omit<Fence, 'id' | 'region' | 'radius' | 'crs' | 'zone_id'> {
  readonly name: string;
  readonly shape: FenceShape;
}

type Box = readonly [left: number, bottom: number, right: number, top: number];

/**
 * With `local`, the shape is in meters of that floor and sent like that; otherwise it is in meters of the hall, and
 * sent in degrees.
 */
export type FenceShape = { readonly local?: FloorName } & (
  | { readonly box: Box; readonly hole?: Box }
  | { readonly box?: never; readonly centre: Meters; readonly radius: number }
);

/** Thirteen fences that together use every feature of fences. */
export const DRAWN: readonly Drawn[] = [
  { name: 'Building', shape: { box: [0, 10, 100, 60] }, properties: { floors: 2 } },
  { name: 'Yard', shape: { box: [0, 0, 100, 10] }, floor: 0, exit_tolerance: 1, timeout: 30_000 },
  { name: 'Dock 1', shape: { box: [10, 10, 20, 18] }, floor: 0, timeout: 4000, foreign_id: 'dock-1' },
  {
    name: 'Dock 2',
    shape: { box: [30, 10, 40, 18], local: 'hall' },
    floor: 0,
    exit_tolerance: 2,
    tolerance_timeout: 3000,
    foreign_id: 'dock-2',
  },
  { name: 'Charging', shape: { centre: [90, 50], radius: 5 }, floor: 0, exit_delay: 2000 },
  { name: 'Racks', shape: { box: [45, 30, 75, 50], hole: [52, 36, 68, 44] }, floor: 0 },
  { name: 'Low shelves', shape: { box: [78, 28, 90, 40] }, floor: 0, extrusion: 1.5, elevation_ref: 'floor' },
  {
    name: 'Packing',
    shape: { box: [5, 40, 25, 55] },
    floor: 0,
    entry_tolerance: 1.5,
    entry_tolerance_timeout: 4000,
  },
  {
    name: 'Inspection',
    shape: { centre: [40, 52], radius: 4, local: 'hall' },
    floor: 0,
    entry_delay: 1500,
    exit_delay: 1000,
  },
  {
    name: 'Crossing',
    shape: { box: [46, 16, 58, 26] },
    floor: 0,
    crossing: 'segment',
    properties: { hazard: true },
  },
  {
    name: 'Office',
    shape: { box: [2, 2, 16, 12], local: 'upper' },
    floor: 1,
    timeout: 10_000,
    exit_tolerance: 1,
    tolerance_timeout: 2000,
  },
  {
    name: 'Workshop',
    shape: { centre: [30, 15], radius: 4, local: 'upper' },
    floor: 1,
    exit_tolerance: 1,
    exit_delay: 500,
  },
  { name: 'Break room', shape: { box: [2, 17, 10, 24], local: 'upper' }, floor: 1, untracked: true },
];

/** The fences as sent to the hub. */
export function demoFences(): Fence[] {
  return DRAWN.map(({ shape, ...fence }, index) => ({ id: demoId('fence', index + 1), ...fence, ...regionOf(shape) }));
}

function regionOf(shape: FenceShape): Pick<Fence, 'region' | 'radius' | 'crs' | 'zone_id'> {
  const { local } = shape;
  const place = (at: Meters) => (local === undefined ? onEarth(HALL, at) : [...at]);
  const crs = local === undefined ? { crs: 'EPSG:4326' } : { crs: 'local', zone_id: FLOORS[local].id };
  if (shape.box === undefined) {
    return { region: { type: 'Point', coordinates: place(shape.centre) }, radius: shape.radius, ...crs };
  }
  const rings = [shape.box, ...(shape.hole === undefined ? [] : [shape.hole])].map((box, index) => {
    const corners = cornersOf(box).map(place);
    return index === 0 ? corners : corners.toReversed();
  });
  return { region: { type: 'Polygon', coordinates: rings }, ...crs };
}

/** A closed ring, counter-clockwise. */
function cornersOf([left, bottom, right, top]: Box): Meters[] {
  return [
    [left, bottom],
    [right, bottom],
    [right, top],
    [left, top],
    [left, bottom],
  ];
}
