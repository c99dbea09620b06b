import type { CollisionEvent } from '../../model/events.ts';
import { wallClockOfEventTime } from '../../model/clock_steps.ts';
import { formatTime } from '../../model/time.ts';
import type { FilterFields } from '../../model/topics.ts';
import type { EventWriter } from '../event_writer.ts';
import { geodesicMeters } from '../geo/geodesic.ts';
import { roundDegrees, roundMeters } from '../geo/rounding.ts';
import { asciiBytes, NUMBER_BYTES_MAX, put, putNumber, UTF8_MAX } from '../json_bytes.ts';
import type { RecordBuffer } from '../location/record.ts';
import { OUT_OF_PLANE, type OutputPlane, POINT_BYTES_MAX, putPoint, putPosition } from '../motion/shape_bytes.ts';
import type { Body } from './body.ts';
import { areaOf } from './pairing.ts';
import { overlap } from './shapes.ts';
import type { CollisionState } from './state.ts';

/** A start, update or end of a collision to publish. */
export interface Announcement {
  readonly id: string;
  readonly type: CollisionEvent['collision_type'];
  /** The trackable that caused the event, and the other one. */
  readonly mover: Body;
  readonly other: Body;
  /** Event times of the start, and of this event. */
  readonly startMs: number;
  readonly timeMs: number;
}

const COLLISIONS = asciiBytes(',"collisions":[');
const AREA = asciiBytes('],"collision_area":');
const DISTANCE = asciiBytes(',"center_distance":');
const LINE = asciiBytes('{"type":"LineString","coordinates":[');
const [COMMA, CLOSE, CLOSING_BRACE] = [0x2c, 0x5d, 0x7d] as const;
/** Maximum bytes besides the head and the two trackables. */
const REST_MAX =
  COLLISIONS.length + AREA.length + LINE.length + 2 * POINT_BYTES_MAX + DISTANCE.length + NUMBER_BYTES_MAX;

/** Writes a CollisionEvent in every subscribed rendering whose plane reaches both trackables. */
export function writeCollision(
  announcement: Announcement,
  { renderings, texts, clockSteps }: Pick<CollisionState, 'renderings' | 'texts' | 'clockSteps'>,
  events: EventWriter,
): void {
  const { mover, other } = announcement;
  const fields: FilterFields = [
    mover.motion.id,
    other.motion.id,
    announcement.type,
    mover.motion.floor,
    other.motion.floor,
  ];
  const head = headOf(announcement, (ms) => formatTime(wallClockOfEventTime(ms, clockSteps)));
  const places = overlapOf(mover, other);
  const meters = geodesicMeters(mover.motion.lon, mover.motion.lat, other.motion.lon, other.motion.lat);
  for (const [index, { variant, plane }] of renderings.entries()) {
    if (plane === undefined || variant.wants?.(fields) === false) continue;
    const bodyBytes = texts.prepare(mover, other, { index, plane });
    if (bodyBytes === undefined) continue;
    const event = events.begin(variant.id, fields, UTF8_MAX * head.length + bodyBytes + REST_MAX);
    const { bytes } = event;
    let at = event.at + bytes.write(head, event.at);
    at = put(bytes, at, COLLISIONS);
    at = texts.copy(mover, index, bytes, at);
    bytes[at++] = COMMA;
    at = texts.copy(other, index, bytes, at);
    at = putArea(event, at, places, plane);
    at = put(bytes, at, DISTANCE);
    at = putNumber(event, at, roundMeters(meters));
    bytes[at++] = CLOSING_BRACE;
    event.end(at);
  }
}

/** Returns the members common to all renderings, without the closing brace. */
function headOf({ id, type, startMs, timeMs }: Announcement, format: (ms: number) => string): string {
  const start = `{"id":${JSON.stringify(id)},"collision_type":"${type}","start_time":"${format(startMs)}"`;
  if (type === 'collision_start') return start;
  const member = type === 'colliding' ? 'collision_time' : 'end_time';
  return `${start},"${member}":"${format(timeMs)}"`;
}

type Places = readonly (readonly [lon: number, lat: number])[];

/** Returns the overlap of two bodies in EPSG:4326; empty if they do not touch. */
function overlapOf(a: Body, b: Body): Places {
  return areaOf(a, b, 0) === 'touching' ? overlap(a, b) : [];
}

/**
 * Closes the list of trackables and appends the overlap: a line, a point if there is only one position, or nothing if
 * it is out of range of the plane.
 */
function putArea(to: RecordBuffer, start: number, [first, second]: Places, plane: OutputPlane): number {
  const { bytes } = to;
  bytes[start] = CLOSE;
  const none = start + 1;
  if (first === undefined) return none;
  let at = put(bytes, start, AREA);
  if (second === undefined) {
    at = putPoint(to, at, { lon: roundDegrees(first[0]), lat: roundDegrees(first[1]) }, plane);
    return at === OUT_OF_PLANE ? none : at;
  }
  at = putPosition(to, put(bytes, at, LINE), roundDegrees(first[0]), roundDegrees(first[1]), plane);
  if (at === OUT_OF_PLANE) return none;
  bytes[at++] = COMMA;
  at = putPosition(to, at, roundDegrees(second[0]), roundDegrees(second[1]), plane);
  if (at === OUT_OF_PLANE) return none;
  bytes[at++] = CLOSE;
  bytes[at++] = CLOSING_BRACE;
  return at;
}
