import type { Way } from './message.ts';

/** Messages to send, as a plain value: the complete input of the generator. */
export type Plan = WalkPlan | FlipPlan | RecordingPlan;

interface Common {
  /** To the hub; or `resp`, to a Tile38 for comparison. */
  readonly way: Way | 'resp';
  readonly connections: number;
  /** Locations per message. Providers are assigned to connections in units of whole messages. */
  readonly perMessage: number;
}

/** People on smooth walks in a square. */
export interface WalkPlan extends Common {
  readonly kind: 'walk';
  readonly providers: number;
  readonly sideMeters: number;
  readonly stepMeters: number;
  readonly seed?: number;
  /** Numbers of their ids, if other generators send the rest; from 0 by default. */
  readonly numbers?: readonly number[];
}

/** Providers that leave or enter their own fence with each location. */
export interface FlipPlan extends Common {
  readonly kind: 'flip';
  readonly providers: number;
  readonly spacingMeters: number;
}

/** A recording, as if each of its providers had sent `hz` times a second. `perMessage`: the average number of locations. */
export interface RecordingPlan extends Common {
  readonly kind: 'recording';
  readonly way: 'put-many';
  readonly path: string;
  readonly hz: number;
  /** Length of the repeated part. */
  readonly lengthMs: number;
}

/** Id of a provider of a synthetic scene. All have the same length. */
export function providerId(index: number): string {
  return `tag-${String(index).padStart(6, '0')}`;
}
