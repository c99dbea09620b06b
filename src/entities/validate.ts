import type { Body } from './body.ts';
import type { EntityMap, Kind, Known } from './known.ts';
import { validateAnchor } from './validate_anchor.ts';
import { validateFence } from './validate_fence.ts';
import { validateProvider } from './validate_provider.ts';
import { validateTrackable } from './validate_trackable.ts';
import { validateZone } from './validate_zone.ts';

/** The check of each kind: the entity as it is kept, in place of `before`, or HUB_BAD_REQUEST. */
export const VALIDATE: {
  readonly [K in Kind]: (body: Body, known: Known, before: EntityMap[K] | undefined) => EntityMap[K];
} = {
  zone: validateZone,
  fence: validateFence,
  trackable: validateTrackable,
  provider: validateProvider,
  anchor: validateAnchor,
};
