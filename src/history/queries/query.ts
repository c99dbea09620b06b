import type { Problem } from '../../problem.ts';
import type { ObjectKind } from '../../model/id.ts';
import type { Zone } from '../../model/zone.ts';
import type { EventTopic } from '../event_rows.ts';
import type { Cursor } from './cursor.ts';
import type { SharedRowsQuery } from './selection.ts';

/**
 * A span of time. In all queries, times are in milliseconds since 1970; spans include their start and exclude their
 * end.
 */

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Kind of positions: locations of providers, or motions of trackables. */
export type PositionKind = 'locations' | 'motions';

/** An area and a floor. An undefined member does not restrict. */
export interface AreaFilter {
  /** Degrees: west, south, east, north. */
  readonly bbox: readonly [number, number, number, number] | undefined;
  readonly floor: number | undefined;
}

/** Options for the additional members of positions: coordinates x and y, and names. */
export interface PositionFields {
  readonly crs: string;
  readonly zone: Zone | undefined;
  /** Visible providers, by idKey; undefined for all. */
  readonly providers: ReadonlySet<string> | undefined;
  /** Zones that are not visible, by idKey: no positions are returned in their coordinates. */
  readonly hiddenZones: ReadonlySet<string>;
}

/** A page of a list: at most `limit` elements after the cursor. */
export interface Page {
  readonly limit: number;
  /** Cursor in the response of the previous page. */
  readonly cursor: Cursor | undefined;
}

export const FORMATS = ['json', 'geojson', 'csv', 'mfjson'] as const;
export type Format = (typeof FORMATS)[number];

/** Positions of an object; with a step, the last one of each step. */
export interface PositionsQuery extends Span, Page {
  readonly ask: 'places';
  readonly whose: PositionKind;
  readonly id: string;
  readonly stepMs: number | undefined;
  readonly shown: PositionFields;
  /** `fixes`: times of measurement and receipt, for computations of the hub. */
  readonly format: Format | 'fixes';
  /** Whether a CSV has a header line. */
  readonly hasHeader: boolean;
}

/** Positions at a time: the last one of each object, unless it is too old. */
export interface SnapshotQuery extends Page, AreaFilter {
  readonly ask: 'snapshot';
  readonly whose: PositionKind;
  readonly atMs: number;
  readonly maxAgeMs: number;
  readonly shown: PositionFields;
  /** Ids to which the query is restricted; undefined for all. */
  readonly only: readonly string[] | undefined;
}

/** Positions of many objects as columns: the last position of each step. */
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
/** Objects that count in fences. `object` stands for trackables, and for providers without a trackable. */
export type CountedObjects = 'object' | (typeof COUNTED_KINDS)[number];

/** Current fence timeouts in milliseconds, by the ids of the entities that set them; Infinity for an infinite one. */
export interface Timeouts {
  readonly fences: ReadonlyMap<string, number>;
  readonly trackables: ReadonlyMap<string, number>;
  readonly providers: ReadonlyMap<string, number>;
}

/** Restricts visits to some fences. */
export interface VisitFilter extends Span {
  readonly fenceIds: readonly string[] | undefined;
  readonly counted: CountedObjects;
  readonly timeouts: Timeouts;
}

/** Visits of fences, optionally of one trackable only. */
export interface VisitsQuery extends VisitFilter, Page {
  readonly ask: 'visits';
  readonly trackableId: string | undefined;
}

export interface DwellQuery extends VisitFilter {
  readonly ask: 'dwell';
  /** Length of the steps whose dwell times are listed, too; undefined for none. */
  readonly stepMs?: number | undefined;
}

export interface OccupancyQuery extends VisitFilter {
  readonly ask: 'occupancy';
  readonly stepMs: number;
}

export interface FlowsQuery extends VisitFilter {
  readonly ask: 'flows';
}

/** Crossings of a gate, by steps from the start of the span. */
export interface CrossingsQuery extends Span {
  readonly ask: 'crossings';
  readonly fenceId: string;
  readonly stepMs: number;
}

export interface HeatmapQuery extends Span, AreaFilter {
  readonly ask: 'heatmap';
  readonly whose: PositionKind;
  readonly grid: 'metres' | 'h3';
  readonly cellMeters: number;
  readonly resolution: number;
  /** Maximum time for which a fix counts. After that, the position of a silent object is unknown. */
  readonly maxGapMs: number;
}

/** Quality of positions by square cells. */
export interface QualityQuery extends Span, AreaFilter {
  readonly ask: 'quality';
  readonly whose: PositionKind;
  readonly cellMeters: number;
  /** Time between two fixes of an object above which it is a gap. */
  readonly maxGapMs: number;
  /** Meters per second between two fixes of an object above which it is a jump. */
  readonly maxSpeed: number;
}

export interface TripsQuery extends Span {
  readonly ask: 'trips';
  readonly id: string;
  readonly radiusMeters: number;
  readonly minStopMs: number;
  readonly maxGapMs: number;
}

/** A bounding box of OGC API – Features. Degrees; across the antimeridian, west is greater than east. */
export interface BoundingBox {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
  /** Height range in meters; both or neither are set. A position without height is in every range. */
  readonly low: number | undefined;
  readonly high: number | undefined;
}

/** Query for a page of a document of OGC API – Moving Features. */
interface MovingFeaturesQuery extends Span, Page {
  readonly whose: PositionKind;
  readonly box: BoundingBox | undefined;
  /** URL of the document without its cursor. */
  readonly href: string;
}

/** Objects that were in a box. */
export interface ObjectsQuery extends MovingFeaturesQuery {
  readonly ask: 'objects';
  /** Ids to which the query is restricted; undefined for all. */
  readonly only: readonly string[] | undefined;
}

/** Track of an object. */
export interface TrackQuery extends MovingFeaturesQuery {
  readonly ask: 'way';
  readonly id: string;
  /** Times in the span, in order, at which positions are interpolated; undefined for the recorded positions. */
  readonly leafMs: readonly number[] | undefined;
  /** Times at which the track is split. Positions are also interpolated at these. */
  readonly endsMs: readonly number[] | undefined;
}

/** Whether anything was ever recorded for an object or a fence. The answer is `true` or `false`. */
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
  | CrossingsQuery
  | HeatmapQuery
  | QualityQuery
  | TripsQuery
  | ObjectsQuery
  | TrackQuery;

/**
 * Objects whose last fixes affect the answer, determined from the available rows. The answer is a list of
 * LastFixesNeeded.
 */
export interface LastFixesQuery {
  readonly ask: 'sought';
  readonly of: HistoryQuery;
}

/** A query that the pool answers: from a client, or from a hub of the cluster. */
export type PoolQuery = HistoryQuery | SharedRowsQuery | LastFixesQuery;

/** An answer: its content, and the cursor of the next page. */
export interface AnswerContent {
  readonly text: string;
  readonly next: string | undefined;
}

/** Maximum time for which an open visit counts. Earlier entries are not searched. */
export const LOOK_BACK_MS = 7 * 86_400_000;

/** The span from the first to the last time that can be recorded. */
export const EVER: Span = { fromMs: -6.3e13, toMs: 2.6e14 };

/** If the gap between two positions of a track is longer, the position in between is unknown. */
export const GAP_MS = 600_000;

/** Thrown for a query that cannot be answered in this form. The message is for the client. */
export class Unanswerable extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(String(problem));
    this.problem = problem;
  }
}
