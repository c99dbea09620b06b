import type { StepPosition } from '../model/event_batch.ts';
import { NO_CLOCK_STEPS, type ClockStep, wallClockTime } from '../model/clock_steps.ts';
import { TOPICS, type Topic, type Variant } from '../model/topics.ts';
import { emptyDraft, type ShardContext, type ShardOptions } from './context.ts';
import { EffectWriter } from './effects.ts';
import { EventWriter } from './event_writer.ts';
import { onExportState, onImportState } from './handlers/transfer.ts';
import { onRewriteRows, onRestore, writeBackgroundRows, writeUrgentRows } from './handlers/last_known.ts';
import { onReportPositions } from './handlers/move.ts';
import { advance } from './handlers/on_deadline.ts';
import { onFence } from './handlers/on_fence.ts';
import { onLocation } from './handlers/on_location.ts';
import { onForget, onProvider } from './handlers/on_provider.ts';
import { onRules } from './handlers/on_rules.ts';
import { onTrackable } from './handlers/on_trackable.ts';
import { onZone } from './handlers/on_zone.ts';
import { onRead } from './handlers/read.ts';
import { onRelease } from './handlers/release.ts';
import { onReplay, writeEffects } from './handlers/replay.ts';
import { onTakeOver } from './handlers/take_over.ts';
import type { Item } from './item.ts';
import { asciiBytes } from './json_bytes.ts';
import { sentTimeJson } from './location/location_json.ts';
import type { Outcome } from './outcome.ts';
import { PositionWriter } from './history_rows.ts';
import { RowWriter } from './row_bytes.ts';
import { ObjectIndex } from './search/object_index.ts';
import { emptyState, type ProviderState, type ShardState, type TrackableState } from './state.ts';
import { type FilteredVariant, filteredVariant } from './variant_filter.ts';

/**
 * State machine of all providers and trackables of one shard, and of all zones and fences.
 *
 * A step processes items in order and returns the events to publish, the rows to store and the answers to reads. It
 * reads no clock: each item has its time of receipt, the batch has the current time, and deadlines fire when these
 * times have passed them. So splitting or joining batches changes nothing but the sending times of events.
 */
export interface Shard {
  readonly state: ShardState;
  step(batch: StepBatch): Outcome;
  /** Frees unused memory. Call it between two steps. */
  tidy(): void;
}

export interface StepBatch {
  readonly nowMs: number;
  /** timestamp_sent of the published locations and motions; by default nowMs, which may lag behind it. */
  readonly sentMs?: number;
  readonly items: readonly Item[];
  /** Clock steps that convert monotonic times and event times to wall-clock times; by default the times are equal. */
  readonly clockSteps?: readonly ClockStep[] | undefined;
  /** Position in the journal of the hub, if it has one. */
  readonly position?: StepPosition | undefined;
  /** Whether the numbering of names for the history restarts from 1 (history_rows.ts). */
  readonly namesAnew?: boolean | undefined;
  /**
   * Maximum number of background rows that the step may write, besides those stored before their events are published.
   * The caller spreads them over time.
   */
  readonly flushBudget: number;
}

/** Opens an empty shard. */
export function openShard(options: ShardOptions): Shard {
  const state = emptyState(options.newBuffer, options.crossing);
  state.isFiltering = options.filters !== undefined;
  const { index } = options;
  const context: ShardContext = {
    options,
    index,
    state,
    zones: state.zones.find,
    search: new ObjectIndex(),
    variants: new Map(),
    sentTime: '',
    sentTimeBytes: new Uint8Array(0),
    events: new EventWriter(options.newBuffer),
    rows: new RowWriter(options.newBuffer),
    backgroundRows: new RowWriter(options.newBuffer),
    positions: options.recorded && new PositionWriter(options.recorded, options.newBuffer),
    effects: new EffectWriter(options.newBuffer),
    clockSteps: NO_CLOCK_STEPS,
    isJournaled: false,
    draft: emptyDraft(),
  };
  return {
    state,
    step: (batch) => step(context, batch),
    tidy: () => {
      state.fixes.tidy(objectsOf(state));
      context.events.tidy();
      context.rows.tidy();
      context.backgroundRows.tidy();
      context.positions?.tidy();
      context.effects.tidy();
    },
  };
}

function step(context: ShardContext, batch: StepBatch): Outcome {
  const { nowMs, sentMs = nowMs, items, flushBudget, clockSteps = NO_CLOCK_STEPS } = batch;
  if (batch.namesAnew === true) context.positions?.resetNames();
  context.draft = emptyDraft();
  context.clockSteps = clockSteps;
  context.isJournaled = batch.position !== undefined;
  context.sentTime = sentTimeJson(wallClockTime(sentMs, clockSteps));
  if (context.state.crossing.countedSinceMs === 0)
    context.state.crossing.countedSinceMs = wallClockTime(nowMs, clockSteps);
  context.sentTimeBytes = asciiBytes(context.sentTime);
  let zonesHaveChanged = false;
  for (const item of items) {
    zonesHaveChanged ||= item.kind === 'zone';
    advance(context, item.receivedMs);
    const handle = HANDLERS[item.kind] as (context: ShardContext, item: Item) => void;
    handle(context, item);
    if (MOVES_STATE.has(item.kind)) context.search.reset();
  }
  advance(context, nowMs);
  const { state, rows, backgroundRows, effects } = context;
  const { zoneMoves, ...draft } = context.draft;
  writeUrgentRows(state, rows);
  writeBackgroundRows(state, backgroundRows, flushBudget);
  context.search.refresh(state, nowMs);
  writeEffects(state, effects, zonesHaveChanged);
  const outcome = {
    ...draft,
    events: context.events.take(batch.position),
    zoneMoves: [...zoneMoves.values()],
    rows: rows.take(),
    backgroundRows: backgroundRows.take(),
    positions: context.positions?.take(),
    effects: effects.take(),
    dirtyCount: state.dirty.size,
    nextDeadlineMs: state.deadlines.nextMs,
  };
  state.fixes.endStep();
  return outcome;
}

/** Items that replace the state of objects, or remove it, without recording a change. */
const MOVES_STATE: ReadonlySet<Item['kind']> = new Set([
  'restore',
  'replay',
  'takeOver',
  'release',
  'exportState',
  'importState',
]);

type Handlers = { readonly [K in Item['kind']]: (context: ShardContext, item: Item & { kind: K }) => void };

const HANDLERS: Handlers = {
  location: onLocation,
  zone: onZone,
  fence: onFence,
  trackable: onTrackable,
  provider: onProvider,
  forget: onForget,
  read: onRead,
  restore: onRestore,
  replay: onReplay,
  takeOver: onTakeOver,
  release: onRelease,
  keep: onRewriteRows,
  exportState: onExportState,
  importState: onImportState,
  stand: onReportPositions,
  rules: onRules,
  variants(context, item) {
    context.events.retain(item.variants);
    context.variants = byTopic(item.variants);
  },
};

function* objectsOf({ providers, trackables }: ShardState): Generator<ProviderState | TrackableState> {
  yield* providers.values();
  yield* trackables.values();
}

function byTopic(variants: readonly Variant[]): Map<Topic, readonly FilteredVariant[]> {
  const topics = Object.keys(TOPICS) as Topic[];
  const filtered = variants.map(filteredVariant);
  return new Map(topics.map((topic) => [topic, filtered.filter((variant) => variant.topic === topic)]));
}
