/** A trackable has come to a place, or stands there: what the pairwise collision stage needs of it. */
export interface Moved {
  /** `stands`: it was there before, and nothing happens; a stage that does not know it yet takes note of it. */
  readonly kind: 'moved' | 'stands';
  /** Number of the item that caused it, and below it the order among motions of one item. */
  readonly seq: number;
  readonly id: string;
  /** Time of receipt. */
  readonly receivedMs: number;
  /** Event time of the location: the time that events carry. */
  readonly eventTimeMs: number;
  readonly lon: number;
  readonly lat: number;
  /** Height above `elevationRef`; undefined when unknown. */
  readonly z: number | undefined;
  readonly elevationRef: string;
  /** Height of the floor of the location's zone above the ellipsoid, where the zone says it. */
  readonly levelMetres: number | undefined;
  /** Effective floor of the location. */
  readonly floor: number;
  readonly extrusion: number | undefined;
  /** Whether the trackable takes part in collisions. */
  readonly collides: boolean;
  readonly radiusMetres: number;
  /** Closed ring lon, lat …, of a trackable with a polygon, already turned by the course; else undefined. */
  readonly ring: Float64Array | undefined;
  /** Effective values: provider of the location, else trackable; undefined when neither sets it. -1 is infinite. */
  readonly exitToleranceMetres: number;
  readonly toleranceTimeoutMs: number | undefined;
  readonly exitDelayMs: number | undefined;
  /** Providers of the trackable: no collisions between trackables that share one. */
  readonly providers: readonly string[];
  /** Ids of the trackables that carry it, nearest first: no collisions with these either. */
  readonly ancestors: readonly string[];
}

/** The trackable has no place any more, or takes part no more. */
export interface Gone {
  readonly kind: 'gone';
  readonly seq: number;
  readonly id: string;
  readonly receivedMs: number;
}

/** Motions are evaluated in the order of `seq`, whatever shard they come from. */
export type Motion = Moved | Gone;
