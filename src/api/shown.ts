import { Children } from '../model/schema.ts';
import { Trackable } from '../model/trackable.ts';
import { Zone } from '../model/zone.ts';
import { shownWith } from './docs/schemas.ts';

/** Entities as replies have them, where that is more than what is sent. */
export const ZoneShown = shownWith(Zone, { children: Children });
export const TrackableShown = shownWith(Trackable, { children: Children });
