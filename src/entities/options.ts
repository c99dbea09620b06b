import type { ShapeChecks } from '../core/shape_checks.ts';
import type { Bounds } from '../model/bounds.ts';
import type { Body } from './body.ts';
import type { Change } from './change.ts';
import type { ChangeQueueOptions } from './change_queue.ts';

/** What the entities are given by the hub. */
export interface EntitiesDeps extends ChangeQueueOptions {
  /** Keeps the changes, all or none. Rejects with HUB_UNAVAILABLE when it cannot. */
  commit(changes: readonly Change[]): Promise<void>;
  /** Tells everybody else, in the order of the changes, as soon as they are kept. */
  committed(changes: readonly Change[]): void;
  newId(): string;
  /** By a geometry engine. */
  readonly shapes: ShapeChecks;
  /** What may be kept; DEFAULT_BOUNDS when left out. */
  readonly bounds?: Bounds;
}

export interface CreateOptions {
  /** Whether an id in the body is replaced by a generated one. */
  readonly replaceId?: boolean;
  readonly force?: boolean;
  /** Whether positions are added on the long edges of its polygon. */
  readonly subdivide?: boolean;
  /** Whether the body is what a hub has kept, with what no client can set. */
  readonly asKept?: boolean;
  /** Throws where the entity must not be made what was sent. Called before that is checked. */
  admit?(before: object | undefined, sent: Body): void;
}

export type ReplaceOptions = Omit<CreateOptions, 'replaceId' | 'asKept'>;
