import type { Way } from './message.ts';

/** Plan of the messages to send, as a plain value: the complete input of the generator. */
export type Plan = WalkPlan | FlipPlan | RecordingPlan;

interface Common {
  /** To the hub; or `resp`, to a Tile38 that it is compared with. */
  readonly way: Way | 'resp';
  readonly connections: number;
  /** Locations in a message; providers are shared out to connections by whole messages. */
  readonly perMessage: number;
}

/** People on smooth walks in a square. */
export interface WalkPlan extends Common {
  readonly kind: 'walk';
  readonly providers: number;
  readonly sideMetres: number;
  readonly stepMetres: number;
  readonly seed?: number;
  /** The index of the first of them, where others send the rest; 0 when left out. */
  readonly firstProvider?: number;
}

/** Providers that leave their own fence and come back, each with each location. */
export interface FlipPlan extends Common {
  readonly kind: 'flip';
  readonly providers: number;
  readonly spacingMetres: number;
}

/** A recording, as if each of its providers had sent `hz` times a second. `perMessage`: the average number of locations. */
export interface RecordingPlan extends Common {
  readonly kind: 'recording';
  readonly way: 'put-many';
  readonly path: string;
  readonly hz: number;
  /** Length of the part that is sent, again and again. */
  readonly lengthMs: number;
}

/** Id of a provider of a made-up scene. All have the same length. */
export function providerId(index: number): string {
  return `tag-${String(index).padStart(6, '0')}`;
}
