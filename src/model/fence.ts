import Type, { type Static } from 'typebox';
import { Geometry } from './geojson.ts';
import { ElevationRef } from './location.ts';
import { Crs, Maybe, Meters, Named, OneOf, Properties } from './schema.ts';
import {
  entryDelay,
  entryToleranceTimeout,
  exitDelay,
  exitTolerance,
  fenceTimeout,
  toleranceTimeout,
} from './timing.ts';
import type { Zone } from './zone.ts';

/** A region whose entries and exits are events. */
export const Fence = Named('Fence', {
  id: Type.String({ description: 'Id of the fence.' }),
  region: Geometry,
  radius: Meters('Radius of a round fence, whose region is a Point.'),
  extrusion: Meters('Height of the fence.'),
  floor: Maybe(Type.Number({ description: 'Floor of the fence; all floors if absent.' })),
  foreign_id: Maybe(Type.String({ description: 'Id of the fence in its source system.' })),
  name: Maybe(Type.String({ description: 'Name for people.' })),
  timeout: fenceTimeout,
  exit_tolerance: exitTolerance,
  entry_tolerance: Meters('Depth inside the fence below which an entry is delayed.'),
  tolerance_timeout: toleranceTimeout,
  entry_tolerance_timeout: entryToleranceTimeout,
  exit_delay: exitDelay,
  entry_delay: entryDelay,
  crossing: Maybe(
    OneOf(['none', 'segment'], {
      title: 'FenceCrossing',
      description:
        'Whether the way between two locations enters and leaves the fence; default: setting fence_crossing.',
    }),
  ),
  untracked: Maybe(
    Type.Boolean({
      description:
        'Whether locations inside are neither published nor recorded: an object inside has no location, and the fence no members.',
    }),
  ),
  crs: Maybe(Crs('EPSG:4326 (default), local, a UTM or a UPS code.')),
  zone_id: Maybe(Type.String({ description: 'Id or foreign id of the zone of a local region.' })),
  elevation_ref: Maybe(ElevationRef),
  properties: Maybe(Properties),
});
export type Fence = Static<typeof Fence>;

/** A fence as the hub stores it. */
export type StoredFence = Fence & {
  /** Deleted zone that still georeferences a local region. Not part of the API. */
  readonly former_zone?: Zone;
};

/** Returns a fence in its API form. */
export function publicFence({ former_zone: _plane, ...fence }: StoredFence): Fence {
  return fence;
}
