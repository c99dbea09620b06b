import type { LastFixesNeeded } from './last_fixes.ts';
import {
  EVER,
  GAP_MS,
  type ExistsQuery,
  LOOK_BACK_MS,
  type VisitFilter,
  type HistoryQuery,
  type Span,
} from './query.ts';
import type { RowSelection } from './selection.ts';

/**
 * Returns the selections of other hubs' rows that affect the answer to a query. Last fixes are not included, because
 * their objects are known only after the rows of all hubs have been collected.
 */
export function selectionsOf(question: HistoryQuery): readonly RowSelection[] {
  switch (question.ask) {
    case 'known':
      return ofAnything(question);
    case 'places': {
      const { whose, id, stepMs, limit, cursor } = question;
      const since = cursor && { sinceUs: cursor.us };
      const reduced =
        stepMs === undefined
          ? ({ keep: 'first', count: limit + 1 + (cursor?.skip ?? 0) } as const)
          : ({ keep: 'last', stepMs } as const);
      return [{ topic: whose, id: [id], isWhole: false, ...spanOf(question), ...since, ...reduced }];
    }
    case 'trips':
      return [{ topic: 'motions', id: [question.id], keep: 'all', isWhole: false, ...spanOf(question) }];
    case 'way': {
      const { whose, id, fromMs, toMs } = question;
      const span = { fromMs: fromMs - GAP_MS, toMs: toMs + GAP_MS };
      return [{ topic: whose, id: [id], keep: 'all', isWhole: false, ...span }];
    }
    case 'snapshot': {
      const { whose, atMs, maxAgeMs, only, cursor } = question;
      // A selection excludes the end of its span, but a snapshot includes its time, so the span ends a microsecond
      // later.
      const span = { fromMs: atMs - maxAgeMs + MICROSECOND_MS, toMs: atMs + MICROSECOND_MS };
      const after = cursor && { after: { id: cursor.id } };
      return [{ topic: whose, keep: 'last', isWhole: false, ...span, ...idsOf(only), ...after }];
    }
    case 'tracks': {
      const { whose, stepMs, limit, only, cursor } = question;
      const part = { ...idsOf(only), ...afterRow(cursor), keep: 'last', stepMs, count: limit + 1 } as const;
      return [{ topic: whose, isWhole: false, ...part, ...spanOf(question), ...areaIn(question) }];
    }
    case 'quality':
      return [{ topic: question.whose, keep: 'all', isWhole: false, ...spanOf(question) }];
    case 'heatmap': {
      const { whose, fromMs, toMs, maxGapMs } = question;
      // The first fix after the span limits how long the last one in it counts.
      const around = { fromMs: fromMs - maxGapMs, toMs: toMs + maxGapMs };
      return [{ topic: whose, keep: 'all', isWhole: false, ...around }];
    }
    case 'objects': {
      const { whose, only, cursor, box } = question;
      const { west, south, east, north, low, high } = box ?? {};
      const inBox = box && {
        bbox: [west, south, east, north] as [number, number, number, number],
        ...(low !== undefined && high !== undefined && { low, high }),
      };
      const after = cursor && { after: { id: cursor.id } };
      return [
        {
          ...{ topic: whose, keep: 'extremes', isWhole: false },
          ...{ ...spanOf(question), ...idsOf(only), ...after, ...inBox },
        },
      ];
    }
    case 'events': {
      const { topic, fenceIds, trackableIds, providerIds, eventType, limit, cursor } = question;
      const isFence = topic === 'fence_events';
      // Collisions have neither fences nor providers.
      if (!isFence && (fenceIds !== undefined || providerIds !== undefined)) return [];
      return [
        {
          ...{ topic, keep: 'first', count: limit + 1, isWhole: true, ...spanOf(question) },
          ...(fenceIds && { fence_id: [...fenceIds] }),
          ...(providerIds && { provider_id: [...providerIds] }),
          ...(trackableIds && { [isFence ? 'trackable_id' : 'trackables']: [...trackableIds] }),
          ...(eventType !== undefined && { [isFence ? 'event_type' : 'collision_type']: [eventType] }),
          ...afterRow(cursor),
        },
      ];
    }
    case 'crossings':
      return [{ topic: 'fence_events', fence_id: [question.fenceId], keep: 'all', isWhole: true, ...spanOf(question) }];
    case 'visits':
      return [ofVisits(question, question.trackableId)];
    default:
      return [ofVisits(question)];
  }
}

/** Returns selections of the last fixes of objects, in lists short enough for a message between hubs. */
export function selectionsOfLastFixes(needed: readonly LastFixesNeeded[]): readonly (readonly RowSelection[])[] {
  return needed.flatMap(({ topic, fromMs, ids }) =>
    inParts(ids).map((id) => [
      { ...{ topic, fromMs, toMs: EVER.toMs, id: [...id] }, keep: 'latest' as const, isWhole: false },
    ]),
  );
}

const MICROSECOND_MS = 0.001;
/** Maximum number of characters of ids in a message. */
const PART_CHARACTERS = 200_000;

function inParts(ids: readonly string[]): readonly (readonly string[])[] {
  const parts: string[][] = [];
  let characters = 0;
  for (const id of ids) {
    if (parts.length === 0 || characters + id.length > PART_CHARACTERS) {
      parts.push([]);
      characters = 0;
    }
    characters += id.length + 3;
    parts.at(-1)?.push(id);
  }
  return parts;
}

/** Returns selections of any row of an object or a fence, at any time. */
function ofAnything({ kind, id }: ExistsQuery): readonly RowSelection[] {
  const any = { ...EVER, keep: 'any', isWhole: false } as const;
  if (kind === 'fence') return [{ ...any, topic: 'fence_events', fence_id: [id] }];
  return [
    { ...any, topic: kind === 'trackable' ? 'motions' : 'locations', id: [id] },
    { ...any, topic: 'fence_events', object_type: [kind], object_id: [id] },
  ];
}

/**
 * Selects events of visits that started before the end of the span. Later events contain the exits, and show which
 * visits are open.
 */
function ofVisits({ fromMs, toMs, fenceIds }: VisitFilter, trackableId?: string): RowSelection {
  return {
    ...{ topic: 'fence_events', fromMs: fromMs - LOOK_BACK_MS, toMs: EVER.toMs, entryBeforeMs: toMs },
    ...{ keep: 'visits', isWhole: false },
    ...(fenceIds && { fence_id: [...fenceIds] }),
    ...(trackableId !== undefined && { object_type: ['trackable'], object_id: [trackableId] }),
  };
}

function spanOf({ fromMs, toMs }: Span): Span {
  return { fromMs, toMs };
}

function idsOf(only: readonly string[] | undefined) {
  return only && { id: [...only] };
}

function afterRow(cursor: { readonly us: string; readonly id: string } | undefined) {
  return cursor && { after: { us: cursor.us, id: cursor.id } };
}

function areaIn({ bbox, floor }: { readonly bbox: readonly number[] | undefined; readonly floor: number | undefined }) {
  return {
    ...(bbox && { bbox: [...bbox] as [number, number, number, number] }),
    ...(floor !== undefined && { floor }),
  };
}
