import { metersPerLatitude, metersPerLongitude } from '../../core/geo/ellipsoid.ts';
import type { Anchor } from '../../model/anchor.ts';
import type { Fence } from '../../model/fence.ts';
import { positionLists, withPositionLists } from '../../model/position_lists.ts';
import type { Zone } from '../../model/zone.ts';
import { MIRROR_PROPERTY } from '../../model/mirror_mark.ts';

/** Copies of fences, zones and anchors: to another floor, or in a grid. Lengths are meters in every plane. */

/** Values for the name pattern of copies. */
export interface NameParts {
  readonly name: string;
  readonly floor: number | undefined;
  /** Counted from 1; the original of a grid is the first. */
  readonly n: number;
  readonly row: number;
  readonly column: number;
}

/** Fills a pattern such as `{name} on floor {floor}`; unknown parameters stay. */
export function nameFrom(pattern: string, parts: NameParts): string {
  return pattern.replace(/\{(name|floor|n|row|column)\}/g, (_, key: keyof NameParts) => String(parts[key] ?? ''));
}

/** Copies of fences for another floor. `zoneIds` maps copied zones to their copies. */
export function fencesOnFloor(
  fences: readonly Fence[],
  {
    floor,
    pattern,
    zoneIds = new Map(),
  }: { readonly floor: number; readonly pattern: string; readonly zoneIds?: ReadonlyMap<string, string> },
): readonly Partial<Fence>[] {
  return fences.map((fence, index) => {
    const zoneId = fence.zone_id == null ? undefined : zoneIds.get(fence.zone_id);
    return {
      ...withoutIdentity(fence),
      ...(zoneId !== undefined && { zone_id: zoneId }),
      floor,
      name: nameFrom(pattern, { name: fence.name || fence.id, floor, n: index + 1, row: 1, column: index + 1 }),
    };
  });
}

/** Copy of a zone for another floor. */
export function zoneOnFloor(
  zone: Zone,
  { floor, pattern, n }: { readonly floor: number; readonly pattern: string; readonly n: number },
): Partial<Zone> {
  const name = nameFrom(pattern, { name: zone.name || zone.id, floor, n, row: 1, column: n });
  return { ...withoutIdentity(zone), floor, name };
}

/** Returns the anchors of zones. An anchor references its zone by id or foreign id. */
export function anchorsIn(anchors: readonly Anchor[], zones: readonly Zone[]): readonly Anchor[] {
  const names = new Set(zones.flatMap(({ id, foreign_id: foreignId }) => [id, foreignId]));
  return anchors.filter(({ zone_id: zoneId }) => zoneId != null && names.has(zoneId));
}

/**
 * Copies of anchors for the copies of their zones. Anchors of other zones are skipped. The hub does not generate ids of
 * anchors, so copies append the floor to the id.
 */
export function anchorsOnFloor(
  anchors: readonly Anchor[],
  {
    floor,
    pattern,
    zoneIds,
  }: { readonly floor: number; readonly pattern: string; readonly zoneIds: ReadonlyMap<string, string> },
): readonly Partial<Anchor>[] {
  return anchors.flatMap((anchor, index) => {
    const zoneId = zoneIds.get(anchor.zone_id ?? '');
    if (zoneId === undefined) return [];
    const parts = { name: anchor.name || anchor.id, floor, n: index + 1, row: 1, column: index + 1 };
    return [{ ...anchor, id: `${anchor.id}-floor-${floor}`, zone_id: zoneId, name: nameFrom(pattern, parts) }];
  });
}

export interface FenceGrid {
  readonly columns: number;
  readonly rows: number;
  /** Spacing in meters, between columns and between rows. */
  readonly stepX: number;
  readonly stepY: number;
  /** Direction of the columns in degrees, counterclockwise from the x axis or from east. */
  readonly angle: number;
  readonly pattern: string;
}

/** Returns copies that form a grid with the fence as its first cell, row by row. */
export function gridOf(
  fence: Fence,
  { columns, rows, stepX, stepY, angle, pattern }: FenceGrid,
): readonly Partial<Fence>[] {
  const [cos, sin] = [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)];
  const copies: Partial<Fence>[] = [];
  for (let row = 1; row <= rows; row++) {
    for (let column = 1; column <= columns; column++) {
      if (row === 1 && column === 1) continue;
      const [along, across] = [(column - 1) * stepX, (row - 1) * stepY];
      const moved = movedBy(fence, [along * cos - across * sin, along * sin + across * cos]);
      const n = (row - 1) * columns + column;
      const parts = { name: fence.name || fence.id, floor: fence.floor ?? undefined, n, row, column };
      copies.push({ ...withoutIdentity(moved), name: nameFrom(pattern, parts) });
    }
  }
  return copies;
}

/** Extent of a fence in meters, along an angle and across it. */
export function sizeOf(fence: Fence, angle: number): { readonly width: number; readonly height: number } {
  const [cos, sin] = [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)];
  if (fence.region.type === 'Point') return { width: 2 * (fence.radius ?? 0), height: 2 * (fence.radius ?? 0) };
  const points = ringInMeters(fence);
  const along = points.map(([x, y]) => x * cos + y * sin);
  const across = points.map(([x, y]) => y * cos - x * sin);
  return { width: Math.max(...along) - Math.min(...along), height: Math.max(...across) - Math.min(...across) };
}

/** Angle of the longest edge, reduced to -45° to 45°; aligns a grid with the fence. */
export function angleOf(fence: Fence): number {
  const points = ringInMeters(fence);
  let longest = 0;
  let angle = 0;
  for (const [i, [x, y]] of points.entries()) {
    const [nextX, nextY] = points[i + 1] ?? [x, y];
    const length = Math.hypot(nextX - x, nextY - y);
    if (length <= longest * 1.000_001) continue;
    longest = length;
    angle = (Math.atan2(nextY - y, nextX - x) * 180) / Math.PI;
  }
  const turned = ((((angle + 45) % 90) + 90) % 90) - 45;
  return Math.round(turned * 100) / 100;
}

/** Outer ring in meters relative to its first corner; only the center of a circle. */
export function ringInMeters(fence: Fence): readonly (readonly [number, number])[] {
  const { region } = fence;
  const [ring = []] = positionLists(region);
  const [first = []] = ring;
  const [firstX = 0, firstY = 0] = first;
  const [perX, perY] = unitsPerMeter(fence, first);
  return ring.map(([x = 0, y = 0]) => [(x - firstX) / perX, (y - firstY) / perY]);
}

/** Translates a fence by meters; heights do not change. */
function movedBy(fence: Fence, [dx, dy]: readonly [number, number]): Fence {
  const { region } = fence;
  const first = positionLists(region)[0]?.[0] ?? [];
  const [perX, perY] = unitsPerMeter(fence, first);
  const move = ([x = 0, y = 0, ...heights]: readonly number[]): number[] => [x + dx * perX, y + dy * perY, ...heights];
  return { ...fence, region: withPositionLists(region, (list) => list.map(move)) };
}

/** Units of a fence's coordinates per meter, at one of its positions. */
function unitsPerMeter({ crs }: Fence, [, y = 0]: readonly number[]): readonly [number, number] {
  if (crs != null && crs !== 'EPSG:4326') return [1, 1];
  return [1 / metersPerLongitude(y), 1 / metersPerLatitude(y)];
}

interface Copied {
  readonly id: string;
  readonly foreign_id?: string | null;
  readonly properties?: Readonly<Record<string, unknown>> | null;
}

/** Removes the id, the foreign id and the mark of a mirrored entity: a copy is a new entity of this hub. */
function withoutIdentity<T extends Copied>(entity: T): Omit<T, 'id' | 'foreign_id'> {
  const { id: _id, foreign_id: _foreignId, ...rest } = entity;
  if (entity.properties == null) return rest;
  const { [MIRROR_PROPERTY]: _mark, ...properties } = entity.properties;
  return { ...rest, properties };
}
