import { openShapeChecks } from '../../src/fence_index/shape_checks.ts';
import { openEntities, point, rfidZone, SQUARE, uwbZone } from './open_entities.ts';

const shapes = await openShapeChecks();

/** The square with a hole. */
export const hole = [
  ...SQUARE,
  [
    [8.68225, 50.11105],
    [8.6823, 50.11105],
    [8.6823, 50.1111],
    [8.68225, 50.11105],
  ],
];
/** Id of a trackable. */
export const carrier = 'cccccccc-0000-4000-8000-000000000001';

/**
 * Initial entities of every table: the zones `hall` (local coordinates), `reader` and `sketch`, the trackable
 * `carrier`, and the anchors `a1` and `a2` with positions in both planes, and `a3` with only one.
 */
export async function beside() {
  const { entities } = openEntities({ shapes });
  await entities.create('zone', uwbZone({ id: 'hall', foreign_id: 'hall-1' }));
  await entities.create('zone', rfidZone({ id: 'reader' }));
  await entities.create('zone', { id: 'sketch', type: 'uwb', incomplete_configuration: true });
  await entities.create('trackable', { id: carrier, type: 'omlox' });
  await entities.create('anchor', {
    id: 'a1',
    local_position: point(0, 0),
    georeferenced_position: point(8.68, 50.11),
  });
  await entities.create('anchor', {
    id: 'a2',
    local_position: point(9, 9),
    georeferenced_position: point(8.69, 50.12),
  });
  await entities.create('anchor', { id: 'a3', local_position: point(5, 5) });
  return entities;
}
