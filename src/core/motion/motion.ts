/** Position of a trackable for the collision stage. */
export interface TrackableMotion {
  /** `stands` is a reported position, not a movement, for a collision stage that does not have the position yet. */
  readonly kind: 'moved' | 'stands';
  /** Number of the item that caused the motion; motions of one item are ordered. */
  readonly seq: number;
  readonly id: string;
  /** Time of receipt. */
  readonly receivedMs: number;
  /** Event time of the location, as published in events. */
  readonly eventTimeMs: number;
  readonly lon: number;
  readonly lat: number;
  /** Height above `elevationRef`; undefined if unknown. */
  readonly z: number | undefined;
  readonly elevationRef: string;
  /** Height of the floor of the location's zone above the ellipsoid, if the zone defines it. */
  readonly levelMeters: number | undefined;
  /** Effective floor of the location. */
  readonly floor: number;
  readonly extrusion: number | undefined;
  /** Whether the trackable takes part in collisions. */
  readonly collides: boolean;
  readonly radiusMeters: number;
  /** Closed ring lon, lat … of a trackable with a polygon, already rotated by the course; otherwise undefined. */
  readonly ring: Float64Array | undefined;
  /**
   * Effective values: those of the location's provider, else the trackable's; undefined if neither sets one. -1 is
   * infinite.
   */
  readonly exitToleranceMeters: number;
  readonly toleranceTimeoutMs: number | undefined;
  readonly exitDelayMs: number | undefined;
  /** Providers of the trackable: trackables that share one do not collide. */
  readonly providers: readonly string[];
  /** Ids of the trackables that carry it, nearest first: it does not collide with these. */
  readonly ancestors: readonly string[];
}

/** The trackable has lost its position or no longer takes part in collisions. */
export interface TrackableRemoved {
  readonly kind: 'gone';
  readonly seq: number;
  readonly id: string;
  readonly receivedMs: number;
}

/** Motions are evaluated in the order of `seq`, whatever shard they come from. */
export type Motion = TrackableMotion | TrackableRemoved;
