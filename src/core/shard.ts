import { NO_CLOCK_STEPS, type ClockStep, wallClockTime } from '../model/clock_steps.ts';
import { TOPICS, type Topic, type Variant } from '../model/topics.ts';
import { emptyDraft, type ShardContext, type ShardOptions } from './context.ts';
import { EffectWriter } from './effects.ts';
import { EventWriter } from './event_writer.ts';
import { onExportState, onImportState } from './handlers/hand_over.ts';
import { onKeep, onRestore, writeBackgroundRows, writeUrgentRows } from './handlers/last_known.ts';
import { onStand } from './handlers/move.ts';
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
import { sentTimeText } from './location/text.ts';
import type { Outcome } from './outcome.ts';
import { PlaceWriter } from './recorded.ts';
import { RowWriter } from './row_bytes.ts';
import { emptyState, type ProviderState, type ShardState, type TrackableState } from './state.ts';
import { type WantedVariant, wantedVariant } from './wanted.ts';

/**
 * The heart of the hub: all providers and trackables of one shard, and all zones and fences.
 *
 * A step takes items in order and says what is to be published, stored and answered. It reads no clock: each item
 * carries its time of receipt, the batch carries the time now, and deadlines fire when these times have passed them.
 * So a batch may be cut anywhere, or joined with the next one, without a change to the events but for when they are sent.
 */
export interface Shard {
  readonly state: ShardState;
  step(batch: Batch): Outcome;
  /** Gives back memory that is not used any more. Between two steps. */
  tidy(): void;
}

export interface Batch {
  readonly nowMs: number;
  /** When its locations and motions are sent, for their timestamp_sent; nowMs when left out, which may be held back. */
  readonly sentMs?: number;
  readonly items: readonly Item[];
  /** How running times and event times become wall-clock times; they are the same if left out. */
  readonly setBacks?: readonly ClockStep[] | undefined;
  /** Whether the names of what is recorded for the history are numbered anew (recorded.ts). */
  readonly namesAnew?: boolean | undefined;
  /**
   * Pacing of what is kept: how many rows the step may bring in the background at most, besides those that must be kept
   * before their events are published. The caller spreads them over time; the core only keeps count.
   */
  readonly flushBudget: number;
}

/** Opens an empty shard. */
export function openShard(options: ShardOptions): Shard {
  const state = emptyState(options.newBuffer);
  const { index } = options;
  const context: ShardContext = {
    options,
    index,
    state,
    zones: state.zones.find,
    variants: new Map(),
    sentTime: '',
    sentTimeBytes: new Uint8Array(0),
    events: new EventWriter(options.newBuffer),
    rows: new RowWriter(options.newBuffer),
    backgroundRows: new RowWriter(options.newBuffer),
    places: options.recorded && new PlaceWriter(options.recorded, options.newBuffer),
    effects: new EffectWriter(options.newBuffer),
    setBacks: NO_CLOCK_STEPS,
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
      context.places?.tidy();
      context.effects.tidy();
    },
  };
}

function step(context: ShardContext, batch: Batch): Outcome {
  const { nowMs, sentMs = nowMs, items, flushBudget, setBacks = NO_CLOCK_STEPS } = batch;
  if (batch.namesAnew === true) context.places?.forgetNames();
  context.draft = emptyDraft();
  context.setBacks = setBacks;
  context.sentTime = sentTimeText(wallClockTime(sentMs, setBacks));
  context.sentTimeBytes = asciiBytes(context.sentTime);
  let zonesHaveChanged = false;
  for (const item of items) {
    zonesHaveChanged ||= item.kind === 'zone';
    advance(context, item.receivedMs);
    const handle = HANDLERS[item.kind] as (context: ShardContext, item: Item) => void;
    handle(context, item);
  }
  advance(context, nowMs);
  const { state, rows, backgroundRows, effects } = context;
  const { zoneMoves, ...draft } = context.draft;
  writeUrgentRows(state, rows);
  writeBackgroundRows(state, backgroundRows, flushBudget);
  writeEffects(state, effects, zonesHaveChanged);
  const outcome = {
    ...draft,
    events: context.events.take(),
    zoneMoves: [...zoneMoves.values()],
    rows: rows.take(),
    backgroundRows: backgroundRows.take(),
    places: context.places?.take(),
    effects: effects.take(),
    dirtyCount: state.dirty.size,
    nextDeadlineMs: state.deadlines.nextMs,
  };
  state.fixes.endStep();
  return outcome;
}

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
  keep: onKeep,
  exportState: onExportState,
  importState: onImportState,
  stand: onStand,
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

function byTopic(variants: readonly Variant[]): Map<Topic, readonly WantedVariant[]> {
  const topics = Object.keys(TOPICS) as Topic[];
  const wanted = variants.map(wantedVariant);
  return new Map(topics.map((topic) => [topic, wanted.filter((variant) => variant.topic === topic)]));
}
