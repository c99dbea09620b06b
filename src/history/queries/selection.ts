import Type, { type Static } from 'typebox';
import { checker } from '../../model/check.ts';
import { HISTORY_TOPICS, type HistoryTopic } from '../../model/history.ts';

/**
 * The rows that one hub of a cluster needs of the others to answer a question. Objects move between hubs, so partial answers do
 * not add up: of two hubs with half of a track each, neither knows the time between the halves. So each hub selects the rows on
 * which the answer depends, and the hub that was asked computes the answer once, from its own rows and theirs.
 *
 * `keep` reduces the rows of a hub without changing the answer, whichever hubs the rows are at:
 *
 *     all        all that are selected
 *     any        one row, if there is one
 *     first      the first `count` in the order of `time` and, for events, `id`: a page of a list
 *     last       the last of each object, or of each of its steps where there is `stepMs`; the first `count` of them, by id and time
 *     latest     the time and the provider of the latest position of each object
 *     extremes   of each object those with the least and greatest time, longitude and latitude, and one in the box
 *     visits     fence events of visits that began before `entryBeforeMs`, and for each fence and object one of a later visit
 */
const Ids = Type.Optional(Type.Array(Type.String()));
const Box = Type.Optional(Type.Tuple([Type.Number(), Type.Number(), Type.Number(), Type.Number()]));
/** Microseconds since 1970. */
const Instant = Type.Optional(Type.String({ pattern: '^-?\\d{1,20}$' }));
const KEPT = ['all', 'any', 'first', 'last', 'latest', 'extremes', 'visits'] as const;
export const Selection = Type.Object({
  topic: Type.Unsafe<HistoryTopic>(Type.Enum([...HISTORY_TOPICS])),
  fromMs: Type.Number(),
  toMs: Type.Number(),
  /** By column. */
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
  /** Only rows with that time or a later one. */
  sinceUs: Instant,
  /** Only rows after that one: of events by time and id, otherwise by id and time, or by id alone where it has no time. */
  after: Type.Optional(Type.Object({ us: Instant, id: Type.String() })),
  bbox: Box,
  floor: Type.Optional(Type.Number()),
  stepMs: Type.Optional(Type.Number()),
  low: Type.Optional(Type.Number()),
  high: Type.Optional(Type.Number()),
  entryBeforeMs: Type.Optional(Type.Number()),
  keep: Type.Unsafe<(typeof KEPT)[number]>(Type.Enum([...KEPT])),
  count: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Whether properties and whole events are needed. */
  isWhole: Type.Boolean(),
});
export type Selection = Static<typeof Selection>;
const SELECTIONS = checker(Type.Array(Selection));

/** Reads selections of another hub. Throws an Error that says what is wrong with them. */
export function readSelections(json: string): readonly Selection[] {
  const value: unknown = JSON.parse(json);
  const problem = SELECTIONS.explain(value, 'selections');
  if (problem !== undefined) throw new Error(problem);
  return value as readonly Selection[];
}

/** Rows for another hub, as files below a folder. */
export interface RowsAsked {
  readonly ask: 'rows';
  readonly selection: Selection;
  readonly folder: string;
}
