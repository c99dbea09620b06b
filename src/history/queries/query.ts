import type { Problem } from '../../problem.ts';
import type { ObjectKind } from '../../model/id.ts';
import type { Zone } from '../../model/zone.ts';
import type { EventTopic } from '../event_rows.ts';
import type { Cursor } from './cursor.ts';
import type { SharedRowsQuery } from './selection.ts';

/** Queries on the history. Times are in milliseconds since 1970; spans include their start and exclude their end. */

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Kind of positions: of a provider, as sent, or of a trackable, as moved by its providers. */
export type PositionKind = 'locations' | 'motions';

/** An area and a floor; undefined members are unrestricted. */
export interface AreaFilter {
  /** Degrees: west, south, east, north. */
  readonly bbox: readonly [number, number, number, number] | undefined;
  readonly floor: number | undefined;
}

/** Additional members of a position: x and y in the meters of a zone or in a projection, and names. */
export interface PositionFields {
  readonly crs: string;
  readonly zone: Zone | undefined;
  /** Providers that are visible, by idKey; undefined for all. */
  readonly providers: ReadonlySet<string> | undefined;
  /** Zones, by idKey, in whose meters no positions are returned, as they are not visible. */
  readonly hiddenZones: ReadonlySet<string>;
}

/** A page of a list: at most `limit` elements after the cursor's page. */
export interface Page {
  readonly limit: number;
  /** From the response with the page before. */
  readonly cursor: Cursor | undefined;
}

export const FORMATS = ['json', 'geojson', 'csv', 'mfjson'] as const;
export type Format = (typeof FORMATS)[number];

/** Positions of an object. With a step, the last of each. */
export interface PositionsQuery extends Span, Page {
  readonly ask: 'places';
  readonly whose: PositionKind;
  readonly id: string;
  readonly stepMs: number | undefined;
  readonly shown: PositionFields;
  readonly format: Format;
  /** Whether a CSV has a header line. */
  readonly hasHeader: boolean;
}

/** Positions at a time: the last one of each object that is not older than allowed. */
export interface SnapshotQuery extends Page, AreaFilter {
  readonly ask: 'snapshot';
  readonly whose: PositionKind;
  readonly atMs: number;
  readonly maxAgeMs: number;
  readonly shown: PositionFields;
  /** Only these; undefined for all. */
  readonly only: readonly string[] | undefined;
}

/** Positions of many objects, the last of each step, as columns. */
export interface TracksQuery extends Span, Page, AreaFilter {
  readonly ask: 'tracks';
  readonly whose: PositionKind;
  readonly stepMs: number;
  readonly only: readonly string[] | undefined;
}

export interface EventsQuery extends Span, Page {
  readonly ask: 'events';
  readonly topic: EventTopic;
  readonly fenceIds: readonly string[] | undefined;
  readonly trackableIds: readonly string[] | undefined;
  readonly providerIds: readonly string[] | undefined;
  readonly eventType: string | undefined;
}

export const COUNTED_KINDS = ['trackable', 'provider', 'all'] as const;
/** Objects that count in fences. `object`: trackables, and providers without a trackable, each once. */
export type CountedObjects = 'object' | (typeof COUNTED_KINDS)[number];

/** Current fence timeouts in milliseconds, by the ids of the entities that set them; Infinity for none. */
export interface Timeouts {
  readonly fences: ReadonlyMap<string, number>;
  readonly trackables: ReadonlyMap<string, number>;
  readonly providers: ReadonlyMap<string, number>;
}

/** A query on visits: of some fences, or of all if undefined. */
export interface VisitFilter extends Span {
  readonly fenceIds: readonly string[] | undefined;
  readonly counted: CountedObjects;
  readonly timeouts: Timeouts;
}

/** Visits of fences, optionally by one trackable. */
export interface VisitsQuery extends VisitFilter, Page {
  readonly ask: 'visits';
  readonly trackableId: string | undefined;
}

export interface DwellQuery extends VisitFilter {
  readonly ask: 'dwell';
}

export interface OccupancyQuery extends VisitFilter {
  readonly ask: 'occupancy';
  readonly stepMs: number;
}

export interface FlowsQuery extends VisitFilter {
  readonly ask: 'flows';
}

export interface HeatmapQuery extends Span, AreaFilter {
  readonly ask: 'heatmap';
  readonly whose: PositionKind;
  readonly grid: 'metres' | 'h3';
  readonly cellMetres: number;
  readonly resolution: number;
  /** Longest time that a fix counts: a silent object is nowhere. */
  readonly maxGapMs: number;
}

export interface TripsQuery extends Span {
  readonly ask: 'trips';
  readonly id: string;
  readonly radiusMetres: number;
  readonly minStopMs: number;
  readonly maxGapMs: number;
}

/** A bounding box of OGC API – Features. Degrees; across the antimeridian, west is greater than east. */
export interface BoundingBox {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
  /** Meters; a position without a height is inside of any. Set both or none. */
  readonly low: number | undefined;
  readonly high: number | undefined;
}

/** Page of a document of OGC API – Moving Features. */
interface MovingFeaturesQuery extends Span, Page {
  readonly whose: PositionKind;
  readonly box: BoundingBox | undefined;
  /** URL of the document without its cursor. */
  readonly href: string;
}

/** Objects that were in a box. */
export interface ObjectsQuery extends MovingFeaturesQuery {
  readonly ask: 'objects';
  /** Only these; undefined for all. */
  readonly only: readonly string[] | undefined;
}

/** Track of an object. */
export interface TrackQuery extends MovingFeaturesQuery {
  readonly ask: 'way';
  readonly id: string;
  /** Only interpolated positions at these times of the span, in order. */
  readonly leafMs: readonly number[] | undefined;
  /** Times at which the track is split; it has a position at them as well. */
  readonly endsMs: readonly number[] | undefined;
}

/** Whether anything was ever recorded of an object or a fence. The answer is `true` or `false`. */
export interface ExistsQuery {
  readonly ask: 'known';
  readonly kind: ObjectKind | 'fence';
  readonly id: string;
}

export type HistoryQuery =
  | ExistsQuery
  | PositionsQuery
  | SnapshotQuery
  | TracksQuery
  | EventsQuery
  | VisitsQuery
  | DwellQuery
  | OccupancyQuery
  | FlowsQuery
  | HeatmapQuery
  | TripsQuery
  | ObjectsQuery
  | TrackQuery;

/** Objects whose last fixes the answer depends on, by the available rows. The answer is a list of LastFixesNeeded. */
export interface LastFixesQuery {
  readonly ask: 'sought';
  readonly of: HistoryQuery;
}

/** A query that the pool answers: of a client, or of a hub of the cluster, for another one or for itself. */
export type PoolQuery = HistoryQuery | SharedRowsQuery | LastFixesQuery;

/** An answer: its content, and the cursor of the next page. */
export interface AnswerContent {
  readonly text: string;
  readonly next: string | undefined;
}

/** Longest time that an open visit counts after its entry. Entries before that are not searched. */
export const LOOK_BACK_MS = 7 * 86_400_000;

/** From the first to the last time that may be recorded. */
export const EVER: Span = { fromMs: -6.3e13, toMs: 2.6e14 };

/** Between two positions of a track with a longer gap, the position is unknown. */
export const GAP_MS = 600_000;

/** A query that cannot be answered as it is. The message is for the client. */
export class Unanswerable extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(String(problem));
    this.problem = problem;
  }
}
