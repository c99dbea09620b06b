import Type, { type Static } from 'typebox';
import { checker } from '../../model/check.ts';
import { HISTORY_TOPICS, type HistoryTopic } from '../../model/history.ts';

/**
 * Rows that one hub of a cluster needs from the others to answer a query. Objects migrate between hubs, so partial
 * answers cannot be combined: if two hubs have half of a track each, neither has the time between the halves. So each
 * hub selects the rows that affect the answer, and the queried hub computes the answer once, from its own rows and
 * theirs.
 *
 * `keep` reduces the rows of a hub without changing the answer, however the rows are distributed:
 *
 *     all        all selected rows
 *     any        one row, if any
 *     first      the first `count` rows by `time` and, for events, `id`: a page of a list
 *     last       the last row of each object, or of each of its steps if `stepMs` is set; the first `count` of these, by id and time
 *     latest     time and provider of each object's latest position
 *     extremes   for each object, the rows with the least and greatest time, longitude and latitude, and one in the box
 *     visits     fence events of visits that started before `entryBeforeMs` and, for each fence and object, one of a later visit
 */
const Ids = Type.Optional(Type.Array(Type.String()));
const Box = Type.Optional(Type.Tuple([Type.Number(), Type.Number(), Type.Number(), Type.Number()]));
/** Microseconds since 1970. */
const Instant = Type.Optional(Type.String({ pattern: '^-?\\d{1,20}$' }));
const KEPT = ['all', 'any', 'first', 'last', 'latest', 'extremes', 'visits'] as const;
export const RowSelection = Type.Object({
  topic: Type.Unsafe<HistoryTopic>(Type.Enum([...HISTORY_TOPICS])),
  fromMs: Type.Number(),
  toMs: Type.Number(),
  /** Values by column. */
  id: Ids,
  fence_id: Ids,
  trackable_id: Ids,
  provider_id: Ids,
  object_id: Ids,
  object_type: Ids,
  event_type: Ids,
  collision_type: Ids,
  /** Either of a collision's trackables. */
  trackables: Ids,
  /** Only rows with this time or a later one. */
  sinceUs: Instant,
  /** Only rows after this one. Events are ordered by time and id, other rows by id and time; without a time, by id. */
  after: Type.Optional(Type.Object({ us: Instant, id: Type.String() })),
  bbox: Box,
  floor: Type.Optional(Type.Number()),
  stepMs: Type.Optional(Type.Number()),
  low: Type.Optional(Type.Number()),
  high: Type.Optional(Type.Number()),
  entryBeforeMs: Type.Optional(Type.Number()),
  keep: Type.Unsafe<(typeof KEPT)[number]>(Type.Enum([...KEPT])),
  count: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Whether properties and complete events are needed. */
  isWhole: Type.Boolean(),
});
export type RowSelection = Static<typeof RowSelection>;
const SELECTIONS = checker(Type.Array(RowSelection));

/** Parses selections of another hub. Throws an Error if they are malformed. */
export function readSelections(json: string): readonly RowSelection[] {
  const value: unknown = JSON.parse(json);
  const problem = SELECTIONS.explain(value, 'selections');
  if (problem !== undefined) throw new Error(String(problem));
  return value as readonly RowSelection[];
}

/** Rows for another hub, as files below a folder. */
export interface SharedRowsQuery {
  readonly ask: 'rows';
  readonly selection: RowSelection;
  readonly folder: string;
}
