import type { ObjectKind } from '../../model/id.ts';
import type { Zone } from '../../model/zone.ts';
import type { EventTopic } from '../event_rows.ts';
import type { Cursor } from './cursor.ts';
import type { RowsAsked } from './selection.ts';

/** The questions that the history answers. Times in milliseconds since 1970; spans have their start, and not their end. */

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Whose places: a provider's, as they were sent, or a trackable's, as they moved it. */
export type Whose = 'locations' | 'motions';

/** Where on the earth, and on which floor; undefined is everywhere. */
export interface Area {
  /** Degrees: west, south, east, north. */
  readonly bbox: readonly [number, number, number, number] | undefined;
  readonly floor: number | undefined;
}

/** What is shown of a place besides: its x and y in the metres of a zone, or in a projection, and what it names. */
export interface Shown {
  readonly crs: string;
  readonly zone: Zone | undefined;
  /** Providers that are named, by idKey; undefined for all. */
  readonly providers: ReadonlySet<string> | undefined;
  /** Zones, by idKey, in whose metres nothing is shown: they are where somebody else is. */
  readonly hiddenZones: ReadonlySet<string>;
}

/** A part of a list: at most `limit` elements after those that the cursor's part ended with. */
export interface Part {
  readonly limit: number;
  /** Of the answer with the part before. */
  readonly cursor: Cursor | undefined;
}

export const FORMATS = ['json', 'geojson', 'csv', 'mfjson'] as const;
export type Format = (typeof FORMATS)[number];

/** The places of an object. With a step the last of each. */
export interface PlacesAsked extends Span, Part {
  readonly ask: 'places';
  readonly whose: Whose;
  readonly id: string;
  readonly stepMs: number | undefined;
  readonly shown: Shown;
  readonly format: Format;
  /** Whether a CSV begins with the names of its columns. */
  readonly hasHeader: boolean;
}

/** Where everything was at a moment: the last place of each object that is not older. */
export interface SnapshotAsked extends Part, Area {
  readonly ask: 'snapshot';
  readonly whose: Whose;
  readonly atMs: number;
  readonly maxAgeMs: number;
  readonly shown: Shown;
  /** Only these; undefined for all. */
  readonly only: readonly string[] | undefined;
}

/** The places of many objects, the last of each step, as columns. */
export interface TracksAsked extends Span, Part, Area {
  readonly ask: 'tracks';
  readonly whose: Whose;
  readonly stepMs: number;
  readonly only: readonly string[] | undefined;
}

export interface EventsAsked extends Span, Part {
  readonly ask: 'events';
  readonly topic: EventTopic;
  readonly fenceIds: readonly string[] | undefined;
  readonly trackableIds: readonly string[] | undefined;
  readonly providerIds: readonly string[] | undefined;
  readonly eventType: string | undefined;
}

export const COUNTED_KINDS = ['trackable', 'provider', 'all'] as const;
/** Which objects count in fences. `object`: each once, which is trackables, and providers that no trackable has. */
export type Counted = 'object' | (typeof COUNTED_KINDS)[number];

/** Fence timeouts in milliseconds that are set now, by the ids of what sets them; Infinity for an infinite one. */
export interface Timeouts {
  readonly fences: ReadonlyMap<string, number>;
  readonly trackables: ReadonlyMap<string, number>;
  readonly providers: ReadonlyMap<string, number>;
}

/** A question about visits: those of some fences, or of all where these are undefined. */
export interface OfVisits extends Span {
  readonly fenceIds: readonly string[] | undefined;
  readonly counted: Counted;
  readonly timeouts: Timeouts;
}

/** Visits of fences, by one trackable where it is named. */
export interface VisitsAsked extends OfVisits, Part {
  readonly ask: 'visits';
  readonly trackableId: string | undefined;
}

export interface DwellAsked extends OfVisits {
  readonly ask: 'dwell';
}

export interface OccupancyAsked extends OfVisits {
  readonly ask: 'occupancy';
  readonly stepMs: number;
}

export interface FlowsAsked extends OfVisits {
  readonly ask: 'flows';
}

export interface HeatmapAsked extends Span, Area {
  readonly ask: 'heatmap';
  readonly whose: Whose;
  readonly grid: 'metres' | 'h3';
  readonly cellMetres: number;
  readonly resolution: number;
  /** Longer than that nothing stands for: an object that is silent is nowhere. */
  readonly maxGapMs: number;
}

export interface TripsAsked extends Span {
  readonly ask: 'trips';
  readonly id: string;
  readonly radiusMetres: number;
  readonly minStopMs: number;
  readonly maxGapMs: number;
}

/** A box, as OGC API – Features has it. Degrees; across the antimeridian west is greater than east. */
export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
  /** Metres; a place without a height is in the box whatever they are. Both or none. */
  readonly low: number | undefined;
  readonly high: number | undefined;
}

/** Part of a document of OGC API – Moving Features. */
interface MovingAsked extends Span, Part {
  readonly whose: Whose;
  readonly box: Box | undefined;
  /** Address of the document, without its cursor. */
  readonly href: string;
}

/** Which objects were somewhere. */
export interface ObjectsAsked extends MovingAsked {
  readonly ask: 'objects';
  /** Only these; undefined for all. */
  readonly only: readonly string[] | undefined;
}

/** The way of an object. */
export interface WayAsked extends MovingAsked {
  readonly ask: 'way';
  readonly id: string;
  /** Where it was at these moments of the span alone; in their order. */
  readonly leafMs: readonly number[] | undefined;
  /** Where the way is cut: it has a place there as well. */
  readonly endsMs: readonly number[] | undefined;
}

/** Whether anything was recorded of an object or a fence, at any time. The answer is `true` or `false`. */
export interface KnownAsked {
  readonly ask: 'known';
  readonly kind: ObjectKind | 'fence';
  readonly id: string;
}

export type Question =
  | KnownAsked
  | PlacesAsked
  | SnapshotAsked
  | TracksAsked
  | EventsAsked
  | VisitsAsked
  | DwellAsked
  | OccupancyAsked
  | FlowsAsked
  | HeatmapAsked
  | TripsAsked
  | ObjectsAsked
  | WayAsked;

/** The objects whose last fixes the answer depends on, by the rows that are there. The answer is a list of LastFixesNeeded. */
export interface SoughtAsked {
  readonly ask: 'sought';
  readonly of: Question;
}

/** What a thread answers: a question of a client, or one that a hub of a cluster has for another or for itself. */
export type ThreadQuestion = Question | RowsAsked | SoughtAsked;

/** An answer: a text, and where the next part begins. */
export interface Told {
  readonly text: string;
  readonly next: string | undefined;
}

/** An open visit counts for so long after its entry at most: entries before that are not searched for. */
export const LOOK_BACK_MS = 7 * 86_400_000;

/** From the first to the last time that may be recorded. */
export const EVER: Span = { fromMs: -6.3e13, toMs: 2.6e14 };

/** Between two places on a way that are further apart in time nobody knows where the object was. */
export const GAP_MS = 600_000;

/** A question that cannot be answered as it is, in a sentence for who has asked. */
export class Unanswerable extends Error {}
