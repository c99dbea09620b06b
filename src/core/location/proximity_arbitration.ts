import type { ProximityResolution, Zone } from '../../model/zone.ts';
import { destination, distanceAndBearing } from '../geo/geodesic.ts';
import { RADIANS } from '../geo/ellipsoid.ts';
import type { ZoneLookup } from '../zone/zone_table.ts';
import { isProximityZone } from '../zone/zone_type.ts';

/**
 * Arbitration between the readers that sight a tag: the tag stays in its zone until another one wins.
 *
 * | the zone that holds the tag | the tag |
 * |---|---|
 * | none, deleted, or without any sighting for its `stale_state_ttl` | enters the zone of the sighting |
 * | has sighted it for less than `min_dwell_duration` | stays |
 * | was silent for its `exit_grace_duration` | enters the strongest zone of the last 3 s |
 * | lost two windows in a row to the same zone, by 6 dB | enters that zone |
 * | otherwise | stays |
 *
 * A window has 3 s of event time and begins at a multiple of 3 s since 1970. Its value per zone is the median RSSI, as
 * single values of Bluetooth and Wi-Fi fade by 10 dB and more. A window in which either zone is silent changes nothing.
 * Entering from another zone requires the `entry_confidence_min` of the entered zone. Between
 * two zones of which one has no `proximity_resolution`, its values are the defaults; between two zones without it, each
 * sighting moves the tag, without arbitration.
 *
 * The state depends only on the sightings of one tag, in their order. It is not stored: the zone that holds the tag is
 * the source of its last location, which is. A hub that starts with that location alone needs up to two windows longer
 * for the next decision, and never returns a tag to a zone that it has left.
 */
export interface ProximityState {
  /** Id of the zone that holds the tag, and its name as the source of locations. */
  zoneId: string;
  source: string;
  /** Event times of the entry, the last sighting in the zone, and the last sighting anywhere. */
  sinceMs: number;
  lastInZoneMs: number;
  lastMs: number;
  /** Number of the window that is not over. */
  windowNumber: number;
  /** Id of the zone that won the last windows, and their number. */
  challengerId: string | undefined;
  wins: number;
  /** Readers with sightings in this window, the one before, or the last 3 s; at most READERS_MAX. */
  readers: ReaderState[];
}

interface ReaderState {
  readonly zoneId: string;
  /** Name of the zone in the last sighting. */
  source: string;
  lastMs: number;
  /** Confidence in the last sighting, if sent. */
  confidence: number | undefined;
  /** RSSI in dBm with event times, oldest first; at most SAMPLES_MAX. */
  readonly samples: Sample[];
}

interface Sample {
  readonly atMs: number;
  readonly rssi: number;
}

/** A tag near a reader. */
export interface Sighting {
  readonly zone: Zone;
  /** Name of the zone as sent. */
  readonly source: string;
  readonly eventTimeMs: number;
  /** Signal strength in dBm. */
  readonly rssi: number | undefined;
  /** Confidence of the sender in its sighting, 0 to 1. */
  readonly confidence: number | undefined;
}

/** Position of a tag between readers; accuracy is the weighted root mean square of its distances to them, in meters. */
export interface Centroid {
  readonly lon: number;
  readonly lat: number;
  readonly accuracy: number;
}

const WINDOW_MS = 3000;
const WINDOWS_TO_WIN = 2;
const ADVANTAGE_DB = 6;
const READERS_MAX = 8;
const SAMPLES_MAX = 16;
const CENTROID_READERS_MIN = 3;

const DEFAULTS = { exitGraceMs: 15_000, minDwellMs: 5000, staleMs: 600_000 };

/** Returns the state of a tag whose last location has a proximity zone as its source. */
export function heldBy(zone: Zone, source: string, eventTimeMs: number): ProximityState {
  return {
    zoneId: zone.id,
    source,
    sinceMs: eventTimeMs,
    lastInZoneMs: eventTimeMs,
    lastMs: eventTimeMs,
    windowNumber: windowOf(eventTimeMs),
    challengerId: undefined,
    wins: 0,
    readers: [],
  };
}

/** Applies a sighting. Event times of a tag do not decrease. Returns the zone that holds the tag from then on. */
export function arbitrate(state: ProximityState, sighting: Sighting, zones: ZoneLookup): Zone {
  const { eventTimeMs: nowMs } = sighting;
  const held = proximityZone(zones, state.zoneId);
  if (held === undefined || nowMs - state.lastMs > durationOf(held, 'stale_state_ttl', DEFAULTS.staleMs)) {
    state.readers.length = 0;
    hear(state, sighting);
    return enter(state, sighting.zone, sighting.source, nowMs);
  }
  closeWindow(state, nowMs);
  hear(state, sighting);
  if (sighting.zone.id === held.id) state.lastInZoneMs = nowMs;
  state.lastMs = nowMs;
  const winner = winnerOver(state, held, sighting, zones);
  return winner === undefined ? held : enter(state, winner.zone, winner.source, nowMs);
}

interface Candidate {
  readonly zone: Zone;
  readonly source: string;
}

/** Returns the zone that takes the tag from the one that holds it. */
function winnerOver(state: ProximityState, held: Zone, sighting: Sighting, zones: ZoneLookup): Candidate | undefined {
  const { eventTimeMs: nowMs } = sighting;
  if (nowMs - state.sinceMs < durationOf(held, 'min_dwell_duration', DEFAULTS.minDwellMs)) return undefined;
  if (state.wins >= WINDOWS_TO_WIN) return candidate(state, state.challengerId, nowMs, zones);
  if (sighting.zone.id === held.id) return undefined;
  const strongest = strongestOf(state, nowMs - WINDOW_MS, Number.POSITIVE_INFINITY, held.id);
  const next = candidate(state, strongest?.zoneId ?? sighting.zone.id, nowMs, zones);
  if (next === undefined || nowMs - state.lastInZoneMs < graceMs(held, next.zone)) return undefined;
  return next;
}

/** Returns the zone as one that may take the tag, unless it was deleted or its confidence is too low. */
function candidate(
  state: ProximityState,
  zoneId: string | undefined,
  nowMs: number,
  zones: ZoneLookup,
): Candidate | undefined {
  const reader = state.readers.find((each) => each.zoneId === zoneId);
  const zone = reader && proximityZone(zones, reader.zoneId);
  if (reader === undefined || zone === undefined) return undefined;
  const leastConfidence = zone.proximity_resolution?.entry_confidence_min ?? 0;
  if (leastConfidence > 0 && confidenceOf(state, reader, nowMs) < leastConfidence) return undefined;
  return { zone, source: reader.source };
}

/** How long the zone must be silent before another one takes the tag. */
function graceMs(held: Zone, next: Zone): number {
  const grace = durationOf(held, 'exit_grace_duration', DEFAULTS.exitGraceMs);
  const gap = held.proximity_resolution?.boundary_grace_distance;
  if (gap == null) return grace;
  const reach = (held.radius ?? 0) + (next.radius ?? 0) + gap;
  return metersBetween(held, next) > reach ? Math.min(grace, WINDOW_MS) : grace;
}

function enter(state: ProximityState, zone: Zone, source: string, nowMs: number): Zone {
  state.zoneId = zone.id;
  state.source = source;
  state.sinceMs = nowMs;
  state.lastInZoneMs = state.readers.find(({ zoneId }) => zoneId === zone.id)?.lastMs ?? nowMs;
  state.lastMs = nowMs;
  state.windowNumber = windowOf(nowMs);
  state.challengerId = undefined;
  state.wins = 0;
  return zone;
}

/** Counts the window that is over, if the time is in another one, and removes readers without sightings any more. */
function closeWindow(state: ProximityState, nowMs: number): void {
  const { windowNumber, readers, zoneId } = state;
  const now = windowOf(nowMs);
  if (now === windowNumber) return;
  state.windowNumber = now;
  const [fromMs, toMs] = [windowNumber * WINDOW_MS, (windowNumber + 1) * WINDOW_MS];
  const own = readers.find((reader) => reader.zoneId === zoneId);
  const ownMedian = own && medianOf(own, fromMs, toMs);
  const best = strongestOf(state, fromMs, toMs, zoneId);
  if (ownMedian !== undefined && best !== undefined) {
    const isWon = best.median - ownMedian >= ADVANTAGE_DB;
    state.wins = !isWon ? 0 : best.zoneId === state.challengerId ? state.wins + 1 : 1;
    state.challengerId = isWon ? best.zoneId : undefined;
  }
  const oldestMs = Math.min(now * WINDOW_MS, nowMs - WINDOW_MS);
  state.readers = readers.filter((reader) => reader.lastMs >= oldestMs || reader.zoneId === state.challengerId);
  for (const { samples } of state.readers) {
    samples.splice(0, samples.findLastIndex(({ atMs }) => atMs < oldestMs) + 1);
  }
}

/** Adds a sighting to its reader. If there are too many readers, it replaces the one that was silent longest. */
function hear(state: ProximityState, { zone, source, eventTimeMs, rssi, confidence }: Sighting): void {
  const { readers, zoneId } = state;
  let reader = readers.find((each) => each.zoneId === zone.id);
  if (reader === undefined) {
    if (readers.length >= READERS_MAX) {
      const others = readers.filter((each) => each.zoneId !== zoneId);
      const oldest = others.reduce((a, b) => (b.lastMs < a.lastMs ? b : a));
      readers.splice(readers.indexOf(oldest), 1);
    }
    reader = { zoneId: zone.id, source, lastMs: eventTimeMs, confidence, samples: [] };
    readers.push(reader);
  }
  reader.source = source;
  reader.lastMs = eventTimeMs;
  reader.confidence = confidence;
  if (rssi === undefined) return;
  if (reader.samples.length >= SAMPLES_MAX) reader.samples.shift();
  reader.samples.push({ atMs: eventTimeMs, rssi });
}

/** Returns the zone with the highest median RSSI from `fromMs` to before `toMs`, the first sighted among equals. */
function strongestOf(
  { readers }: ProximityState,
  fromMs: number,
  toMs: number,
  exceptId: string,
): { readonly zoneId: string; readonly median: number } | undefined {
  let best: { readonly zoneId: string; readonly median: number } | undefined;
  for (const reader of readers) {
    const median = reader.zoneId === exceptId ? undefined : medianOf(reader, fromMs, toMs);
    if (median !== undefined && (best === undefined || median > best.median)) best = { zoneId: reader.zoneId, median };
  }
  return best;
}

function medianOf({ samples }: ReaderState, fromMs: number, toMs: number): number | undefined {
  const values: number[] = [];
  for (const { atMs, rssi } of samples) if (atMs >= fromMs && atMs < toMs) values.push(rssi);
  if (values.length === 0) return undefined;
  values.sort((a, b) => a - b);
  const middle = values.length >> 1;
  const upper = values[middle] as number;
  return values.length % 2 === 1 ? upper : (upper + (values[middle - 1] as number)) / 2;
}

/** Confidence as sent, else the share of the reader in the received power of the last 3 s; 1 without any RSSI. */
function confidenceOf(state: ProximityState, reader: ReaderState, nowMs: number): number {
  if (reader.confidence !== undefined) return reader.confidence;
  let own = 0;
  let all = 0;
  for (const each of state.readers) {
    const median = medianOf(each, nowMs - WINDOW_MS, Number.POSITIVE_INFINITY);
    const milliwatts = median === undefined ? 0 : 10 ** (median / 10);
    all += milliwatts;
    if (each === reader) own = milliwatts;
  }
  return all === 0 ? 1 : own / all;
}

/**
 * Returns the centroid of the readers that sighted the tag in the last 3 s on the floor of its zone, weighted by
 * the inverse of the distance that free space implies, 10^(RSSI/20). Undefined if there are fewer than three, or if the
 * zone does not ask for it.
 *
 * Source: Blumenthal, Grossmann, Golatowski, Timmermann, Weighted Centroid Localization in Zigbee-based Sensor
 * Networks, WISP 2007.
 */
export function centroidOf(state: ProximityState, held: Zone, zones: ZoneLookup): Centroid | undefined {
  if (held.proximity_resolution?.position_mode !== 'centroid' || held.position == null) return undefined;
  const [lon, lat] = held.position.coordinates as [number, number];
  const points: { readonly east: number; readonly north: number; readonly weight: number }[] = [];
  for (const reader of state.readers) {
    const median = medianOf(reader, state.lastMs - WINDOW_MS, Number.POSITIVE_INFINITY);
    const zone = proximityZone(zones, reader.zoneId);
    if (median === undefined || zone?.position == null || (zone.floor ?? 0) !== (held.floor ?? 0)) continue;
    const [toLon, toLat] = zone.position.coordinates as [number, number];
    distanceAndBearing(lon, lat, toLon, toLat, scratch);
    const [meters, bearing] = scratch;
    const angle = bearing * RADIANS;
    points.push({ east: meters * Math.sin(angle), north: meters * Math.cos(angle), weight: 10 ** (median / 20) });
  }
  if (points.length < CENTROID_READERS_MIN) return undefined;
  let [east, north, sum, squares] = [0, 0, 0, 0];
  for (const { weight } of points) sum += weight;
  for (const point of points) {
    east += (point.east * point.weight) / sum;
    north += (point.north * point.weight) / sum;
  }
  for (const { east: x, north: y, weight } of points) squares += ((x - east) ** 2 + (y - north) ** 2) * (weight / sum);
  destination(lon, lat, Math.atan2(east, north) / RADIANS, Math.hypot(east, north), scratch);
  return { lon: scratch[0], lat: scratch[1], accuracy: Math.sqrt(squares) };
}

const scratch: [number, number] = [0, 0];

/** Distance between the positions of two zones; NaN if one has none. */
function metersBetween(a: Zone, b: Zone): number {
  if (a.position == null || b.position == null) return Number.NaN;
  const [lon, lat] = a.position.coordinates as [number, number];
  const [toLon, toLat] = b.position.coordinates as [number, number];
  distanceAndBearing(lon, lat, toLon, toLat, scratch);
  return scratch[0];
}

function proximityZone(zones: ZoneLookup, name: string): Zone | undefined {
  const zone = zones(name);
  return zone !== undefined && isProximityZone(zone) && zone.position != null ? zone : undefined;
}

/** Returns a duration of the zone in milliseconds: infinite for -1. */
function durationOf(
  { proximity_resolution: resolution }: Zone,
  field: keyof ProximityResolution & ('exit_grace_duration' | 'min_dwell_duration' | 'stale_state_ttl'),
  defaultMs: number,
): number {
  const value = resolution?.[field] ?? defaultMs;
  return value === -1 ? Number.POSITIVE_INFINITY : value;
}

function windowOf(eventTimeMs: number): number {
  return Math.floor(eventTimeMs / WINDOW_MS);
}
