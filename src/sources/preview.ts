import { flatRing, ringCovers } from '../core/geo/rings.ts';
import { projection } from '../core/geo/crs.ts';
import { roundDegrees } from '../core/geo/rounding.ts';
import type { AcceptedLocation } from '../core/location/accepted.ts';
import { zoneOutline } from '../core/zone/outline.ts';
import { zoneTransform } from '../core/zone/zone_transform.ts';
import { type CheckedLocation, checkLocation } from '../ingest/check_location.ts';
import { checkProximity } from '../ingest/check_proximity.ts';
import { compileMap, type MappedItem } from '../mapping/compile_map.ts';
import { decodePayload } from '../mapping/decode.ts';
import type { Source, SourcePreview } from '../model/source.ts';
import type { Zone } from '../model/zone.ts';
import { Problem, problemOf } from '../problem.ts';

/** A sample of the payloads of a source. */
export interface Sample {
  readonly payload: string;
  readonly topic: string | undefined;
  readonly sender: string | undefined;
}

export interface PreviewContext {
  /** Wall-clock time. */
  readonly nowMs: number;
  zones(): readonly Zone[];
  /** Finds a zone by id or foreign id. */
  zone(name: string): Zone | undefined;
}

const SHOWN_MAX = 100;
const DAY_MS = 86_400_000;

type PreviewItem = SourcePreview['items'][number];

/** Maps a sample as the source would, checks the results as the hub would, and adds warnings. Changes nothing. */
export function previewOf(source: Source, { payload, topic, sender }: Sample, context: PreviewContext): SourcePreview {
  const { format, columns, map } = source;
  const value = decodePayload(payload, { format, columns: columns ?? undefined }, context.nowMs);
  if (value instanceof Problem) return { items: [], count: 0, skipped: 0, problems: [shown(value)] };
  const compiled = compileMap(map);
  const { mapped, problems, skipped } = compiled.run({ value, topic, sender });
  const outlines = context.zones().flatMap((zone) => {
    const outline = zoneOutline(zone);
    return outline === undefined ? [] : [flatRing(outline, true)];
  });
  return {
    items: mapped.slice(0, SHOWN_MAX).map((item) => itemOf(item, compiled.as, { ...context, outlines })),
    count: mapped.length,
    skipped,
    problems: problems.slice(0, SHOWN_MAX).map(shown),
  };
}

interface ItemContext extends PreviewContext {
  readonly outlines: readonly Float64Array[];
}

function itemOf({ at, value }: MappedItem, as: 'location' | 'proximity', context: ItemContext): PreviewItem {
  const check = as === 'location' ? checkLocation : checkProximity;
  const { nowMs, zone } = context;
  const checked = check(value, { at: '', receivedMs: nowMs, zone, knownId: (id) => id });
  const item = { at, [as]: value };
  if (checked instanceof Problem) return { ...item, problem: shown(checked), warnings: [] };
  const position = positionOf(checked.location, context);
  return {
    ...item,
    ...(position !== undefined && { position: [...position] }),
    warnings: warningsOf(checked, position, context).map(shown),
  };
}

/** Longitude and latitude of a location; undefined if its coordinates have none. */
function positionOf(
  { crs, coordinates, source }: AcceptedLocation,
  { zone }: PreviewContext,
): readonly [number, number] | undefined {
  const [x = 0, y = 0] = coordinates;
  if (crs === 'EPSG:4326') return [x, y];
  const itsZone = zone(source);
  const plane = crs === 'local' ? itsZone && zoneTransform(itsZone) : projection(crs);
  const out: [number, number] = [Number.NaN, Number.NaN];
  plane?.toWgs84(x, y, out);
  return out.every(Number.isFinite) ? [roundDegrees(out[0]), roundDegrees(out[1])] : undefined;
}

function warningsOf(
  { generatedMs }: CheckedLocation,
  position: readonly [number, number] | undefined,
  { nowMs, outlines }: ItemContext,
): readonly Problem[] {
  const warnings: Problem[] = [];
  if (position !== undefined && outlines.length > 0) {
    const [lon, lat] = position;
    const isInside = outlines.some((ring) => ringCovers(ring, { lon, lat }));
    if (!isInside) warnings.push(problemOf('outside_zones', { path: 'position', found: `${lon}, ${lat}` }));
  }
  if (Math.abs(generatedMs - nowMs) > DAY_MS) {
    const found = new Date(generatedMs).toISOString();
    warnings.push(problemOf('time_far_off', { path: 'timestamp_generated', found }));
  }
  return warnings;
}

function shown(problem: Problem): SourcePreview['problems'][number] {
  return { message: String(problem), reason: problem.reason, params: problem.params };
}
