import type { Zone } from '../../model/zone.ts';
import type { EventTopic } from '../event_rows.ts';

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

/** Cursors of lists of places: a time in microseconds, and how many places of it were told. */
export const PLACE_CURSOR = /^(-?\d{1,20})\.(\d{1,9})$/;
/** Cursors of lists of visits and events: a time in microseconds, and an id. */
export const EVENT_CURSOR = /^(-?\d{1,20})\.(.+)$/s;

/** Cursors of ways: a time in microseconds. */
export const WAY_CURSOR = /^-?\d{1,18}$/;

/** A part of a list: so many elements, behind where the last part ended. */
export interface Part {
  readonly limit: number;
  /** Of the answer with the part before. */
  readonly cursor: string | undefined;
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

/** Who was in fences, of these fences, and of this object. */
export interface VisitsAsked extends Span, Part {
  readonly ask: 'visits';
  readonly fenceIds: readonly string[] | undefined;
  readonly trackableId: string | undefined;
}

export interface DwellAsked extends Span {
  readonly ask: 'dwell';
  readonly fenceIds: readonly string[] | undefined;
}

export interface OccupancyAsked extends Span {
  readonly ask: 'occupancy';
  readonly fenceIds: readonly string[] | undefined;
  readonly stepMs: number;
}

export interface FlowsAsked extends Span {
  readonly ask: 'flows';
  readonly fenceIds: readonly string[] | undefined;
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

export type Question =
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

/** An answer: a text, and where the next part begins. */
export interface Told {
  readonly text: string;
  readonly next: string | undefined;
}

/** Fences have been entered so long before the span that is asked for, at most: who was in for longer is not known. */
export const LOOK_BACK_MS = 7 * 86_400_000;

/** Between two places on a way that are further apart in time nobody knows where the object was. */
export const GAP_MS = 600_000;

/** A question that cannot be answered as it is, in a sentence for who has asked. */
export class Unanswerable extends Error {}
