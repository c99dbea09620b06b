import type { PlaneTransform } from '../geo/crs.ts';
import { MovingPlane } from './moving_plane.ts';
import {
  AGE,
  CANDIDATE,
  CANDIDATES,
  COURSE,
  EAST,
  LAT,
  LON,
  MAIN,
  NORTH,
  P12,
  P22,
  setFlag,
  STILL_UNKNOWN,
  type Track,
} from './track.ts';

/** Variance of an unknown velocity, in m²/s². */
const UNKNOWN_VELOCITY = 100 * 100;

const plane = new MovingPlane();
const local: [number, number] = [0, 0];
const ahead: [number, number] = [0, 0];

/**
 * Moves a track together with its zone, whose coordinates `from` converted and `to` converts: position and directions
 * stay the same in the zone. Returns false, with the track unusable, if a position has no coordinates in the zone.
 */
export function carryTrack(track: Track, from: PlaneTransform, to: PlaneTransform): boolean {
  const isCarried = carryMotion(track, MAIN, from, to);
  if (!isCarried) return false;
  track[COURSE] = (track[COURSE] as number) + turnDegrees;
  if (track[CANDIDATES] !== 0 && !carryMotion(track, CANDIDATE, from, to)) track[CANDIDATES] = 0;
  return true;
}

/** Places a track at a position, with unknown velocity. */
export function placeTrack(track: Track, lon: number, lat: number): void {
  track[LON] = lon;
  track[LAT] = lat;
  track[EAST] = 0;
  track[NORTH] = 0;
  track[P12] = 0;
  track[P22] = UNKNOWN_VELOCITY;
  track[AGE] = 0;
  track[CANDIDATES] = 0;
  track[COURSE] = Number.NaN;
  setFlag(track, STILL_UNKNOWN, true);
}

/** By how much the last motion turned, clockwise. */
let turnDegrees = 0;

function carryMotion(track: Track, at: number, from: PlaneTransform, to: PlaneTransform): boolean {
  const lon = track[at + LON] as number;
  const lat = track[at + LAT] as number;
  plane.touch(lon, lat);
  // A point one meter to the north shows how directions turn.
  plane.toEarth(0, 1);
  if (!carry(plane.position[0], plane.position[1], from, to, ahead)) return false;
  const [aheadLon, aheadLat] = ahead;
  if (!carry(lon, lat, from, to, ahead)) return false;
  const [newLon, newLat] = ahead;
  plane.touch(newLon, newLat);
  plane.measure(aheadLon, aheadLat);
  const turn = Math.atan2(plane.east, plane.north);
  const [sin, cos] = [Math.sin(turn), Math.cos(turn)];
  const [east, north] = [track[at + EAST] as number, track[at + NORTH] as number];
  track[at + LON] = newLon;
  track[at + LAT] = newLat;
  track[at + EAST] = east * cos + north * sin;
  track[at + NORTH] = north * cos - east * sin;
  turnDegrees = (turn * 180) / Math.PI;
  return true;
}

function carry(lon: number, lat: number, from: PlaneTransform, to: PlaneTransform, out: [number, number]): boolean {
  from.fromWgs84(lon, lat, local);
  to.toWgs84(local[0], local[1], out);
  return Number.isFinite(out[0]) && Number.isFinite(out[1]);
}
