import type { Way } from './message.ts';

/** Who sends what: all that the generator needs to make the messages, as a plain value. */
export type Plan = WalkPlan | FlipPlan | RecordingPlan;

interface Common {
  readonly way: Way;
  readonly connections: number;
  /** Locations in a message. */
  readonly perMessage: number;
}

/** People on smooth walks in a square. */
export interface WalkPlan extends Common {
  readonly kind: 'walk';
  readonly providers: number;
  readonly sideMetres: number;
  readonly stepMetres: number;
  /** Providers are the first of new ids after each round: for memory that must be freed. */
  readonly seed?: number;
}

/** Providers that leave their own fence and come back, each with each location. */
export interface FlipPlan extends Common {
  readonly kind: 'flip';
  readonly providers: number;
  readonly spacingMetres: number;
}

/** A recording, interpolated and sent faster than it was recorded. */
export interface RecordingPlan extends Common {
  readonly kind: 'recording';
  readonly path: string;
  readonly hz: number;
  readonly speed: number;
}

/** Id of a provider of a made-up scene. All have the same length. */
export function providerId(index: number): string {
  return `tag-${String(index).padStart(6, '0')}`;
}
