import type { Collision, CollisionEvent } from '../../model/events.ts';
import type { LineString, Point, Polygon } from '../../model/geojson.ts';
import { timeOfDay } from '../../model/set_back.ts';
import { formatTime } from '../../model/time.ts';
import type { EventText, FilterFields } from '../../model/topics.ts';
import { geodesicMetres } from '../geo/geodesic.ts';
import { roundDegrees, roundMetres } from '../geo/rounding.ts';
import { circlePolygon, ringPolygon } from '../motion/shape.ts';
import { pointInPlane, polygonInPlane } from '../zone/view.ts';
import { type Body, type Contact, otherOf } from './body.ts';
import { areaOf } from './pairing.ts';
import { overlap } from './shapes.ts';
import type { CollisionState, Plane } from './state.ts';

/** What is to be told of a contact. */
export interface Announcement {
  readonly id: string;
  readonly type: CollisionEvent['collision_type'];
  readonly contact: Contact;
  /** The first of the two: the one that caused the event. */
  readonly mover: Body;
  readonly timeMs: number;
}

/**
 * Renders a CollisionEvent once for each rendering that can show it. The text of each trackable, polygon included, is
 * kept until it moves or `epoch` changes: in a crowd most events repeat those of the neighbours.
 */
export function collisionTexts(
  told: Announcement,
  { renderings, epoch, setBacks }: Pick<CollisionState, 'renderings' | 'epoch' | 'setBacks'>,
): EventText[] {
  const { mover, contact } = told;
  const other = otherOf(contact, mover);
  const fields: FilterFields = [mover.motion.id, other.motion.id, told.type, mover.motion.floor, other.motion.floor];
  const head = headOf(told, (ms) => formatTime(timeOfDay(ms, setBacks)));
  const area = placesOf(mover, other);
  const metres = geodesicMetres(mover.motion.lon, mover.motion.lat, other.motion.lon, other.motion.lat);
  const texts: EventText[] = [];
  for (const [index, { variant, plane }] of renderings.entries()) {
    if (plane === undefined || variant.wants?.(fields) === false) continue;
    const first = bodyText(mover, { index, epoch, plane });
    const second = bodyText(other, { index, epoch, plane });
    if (first === undefined || second === undefined) continue;
    const shown = area === undefined ? undefined : areaIn(area, plane);
    const shownText = shown === undefined ? '' : `,"collision_area":${JSON.stringify(shown)}`;
    const text = `${head},"collisions":[${first},${second}]${shownText},"center_distance":${roundMetres(metres)}}`;
    texts.push({ variant: variant.id, fields, text });
  }
  return texts;
}

/** The members that are the same in every rendering, without the closing brace. */
function headOf({ id, type, contact, timeMs }: Announcement, shown: (ms: number) => string): string {
  const start = `{"id":${JSON.stringify(id)},"collision_type":"${type}","start_time":"${shown(contact.startMs)}"`;
  if (type === 'collision_start') return start;
  const member = type === 'colliding' ? 'collision_time' : 'end_time';
  return `${start},"${member}":"${shown(timeMs)}"`;
}

/** Text of one of the two trackables; undefined when the plane does not reach it. */
function bodyText(
  body: Body,
  { index, epoch, plane }: { readonly index: number; readonly epoch: number; readonly plane: Plane },
): string | undefined {
  if (body.textsEpoch !== epoch) {
    body.texts = [];
    body.textsEpoch = epoch;
  }
  const kept = body.texts[index];
  if (kept !== undefined) return kept;
  const { id, floor } = body.motion;
  const position = pointIn(positionOf(body), plane);
  const geometry = geometryIn(body, plane);
  if (position === undefined || geometry === undefined) return undefined;
  const text = JSON.stringify({ id, object_type: 'trackable', position, geometry, floor } satisfies Collision);
  body.texts[index] = text;
  return text;
}

function positionOf({ motion }: Body): Point {
  const { lon, lat, z } = motion;
  return { type: 'Point', coordinates: z === undefined ? [lon, lat] : [lon, lat, z] };
}

function geometryIn(body: Body, plane: Plane): Point | Polygon | undefined {
  const { ring, radiusMetres, lon, lat } = body.motion;
  if (ring === undefined && radiusMetres <= 0) return pointIn(positionOf(body), plane);
  const polygon = ring === undefined ? circlePolygon(lon, lat, radiusMetres) : ringPolygon(ring);
  return plane === 'wgs84' ? polygon : polygonInPlane(polygon, plane);
}

function pointIn(point: Point, plane: Plane): Point | undefined {
  return plane === 'wgs84' ? point : pointInPlane(point, plane);
}

/** Where the two overlap, in EPSG:4326; undefined when they do not touch, or not any more. */
function placesOf(a: Body, b: Body): readonly (readonly [lon: number, lat: number])[] | undefined {
  return areaOf(a, b, 0) === 'touching' ? overlap(a, b) : undefined;
}

/** A line through the places, or a point where there is but one; undefined when the plane does not reach them. */
function areaIn(places: readonly (readonly [number, number])[], plane: Plane): Point | LineString | undefined {
  const coordinates: number[][] = [];
  for (const [lon, lat] of places) {
    const shown = pointIn({ type: 'Point', coordinates: [roundDegrees(lon), roundDegrees(lat)] }, plane);
    if (shown === undefined) return undefined;
    coordinates.push(shown.coordinates);
  }
  const [first, second] = coordinates;
  if (first === undefined) return undefined;
  return second === undefined ? { type: 'Point', coordinates: first } : { type: 'LineString', coordinates };
}
