import { type Change, Entities, type EntitiesDeps } from '../../src/entities/entities.ts';
import { NeverLong } from '../support/never_long.ts';

export const UUID_A = '0b680db2-b39b-45be-be77-40d7d2296cb4';
export const UUID_B = '6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b11';
export const UUID_C = 'aaaaaaaa-0000-4000-8000-00000000000c';

export const SQUARE = [
  [
    [8.6822, 50.111],
    [8.6824, 50.111],
    [8.6824, 50.1112],
    [8.6822, 50.1112],
    [8.6822, 50.111],
  ],
];

export const POINTS = [
  [8.6821, 50.1109],
  [0, 0],
  [8.6835, 50.1109],
  [100, 0],
  [8.6835, 50.1118],
  [100, 100],
];

export const polygon = (coordinates: number[][][] = SQUARE) => ({ type: 'Polygon', coordinates });
export const line = (coordinates: number[][]) => ({ type: 'LineString', coordinates });
export const point = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] });
export const uwbZone = (more: object = {}) => ({ type: 'uwb', ground_control_points: POINTS, ...more });
export const rfidZone = (more: object = {}) => ({ type: 'rfid', position: point(8.68, 50.11), ...more });

/** A geometry engine that accepts every geometry. */
const NO_SHAPE_CHECKS = { regionProblem: () => undefined, polygonProblem: () => undefined };

/** Entities whose commits succeed, with the changes that were reported after each commit. */
export function openEntities(deps: Partial<EntitiesDeps> = {}): { entities: Entities; reported: Change[] } {
  const reported: Change[] = [];
  let ids = 0;
  const entities = new Entities({
    commit: async () => undefined,
    committed: (changes) => reported.push(...changes),
    newId: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}`,
    shapes: NO_SHAPE_CHECKS,
    turns: new NeverLong(),
    ...deps,
  });
  return { entities, reported };
}
