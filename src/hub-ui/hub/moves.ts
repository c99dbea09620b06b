import type { TrackableMotion } from '../../model/events.ts';
import { type Collected, Collector, type LiveItem, locationOf } from './collector.ts';

/** Numbers of a row: index, x, y, heading, accuracy, floor, time in milliseconds. Absent ones are NaN. */
export const ROW = 7;

/** Objects that have moved since the last batch, one row each, packed for transfer to the page without a copy. */
export interface MoveBatch extends Pick<Collected<NewObject>, 'added' | 'isReset'> {
  readonly rows: Float64Array;
  /** Outlines of the objects in `rows` that have one: index, number of points, x, y, x, y … */
  readonly outlines: Float64Array;
}

export interface NewObject {
  readonly index: number;
  readonly id: string;
  readonly name: string | undefined;
  /** Type of the first provider. */
  readonly providerType: string;
}

/** Collects the newest location or motion of each object until the batch is taken. */
export class MoveCollector extends Collector<NewObject, MoveBatch> {
  protected override idOf(item: LiveItem): string | null | undefined {
    return 'location' in item ? item.id : item.provider_id;
  }

  protected override addedOf(id: string, index: number, item: LiveItem): NewObject {
    const name = 'location' in item ? (item.name ?? undefined) : undefined;
    return { index, id, name, providerType: locationOf(item).provider_type };
  }

  protected override pack({ newest, times, added, isReset }: Collected<NewObject>): MoveBatch {
    const rows = new Float64Array(newest.size * ROW);
    const outlines: number[] = [];
    let at = 0;
    for (const [index, item] of newest) {
      const location = locationOf(item);
      const [x = 0, y = 0] = location.position.coordinates;
      rows[at] = index;
      rows[at + 1] = x;
      rows[at + 2] = y;
      rows[at + 3] = location.true_heading ?? location.course ?? Number.NaN;
      rows[at + 4] = location.accuracy ?? Number.NaN;
      rows[at + 5] = location.floor ?? Number.NaN;
      rows[at + 6] = times[index] ?? Number.NaN;
      at += ROW;
      if ('location' in item) addOutline(outlines, index, item);
    }
    return { added, rows, outlines: Float64Array.from(outlines), isReset };
  }
}

function addOutline(outlines: number[], index: number, { geometry }: TrackableMotion): void {
  if (geometry?.type !== 'Polygon') return;
  const [ring = []] = geometry.coordinates;
  outlines.push(index, ring.length);
  for (const [x = 0, y = 0] of ring) outlines.push(x, y);
}
