import { DeadlineHeap, type Scheduled } from '../core/deadline_heap.ts';
import type { Alert, AlertKind, AlertRule } from '../model/alert.ts';
import { idKey } from '../model/id.ts';
import { after, isDone, isOpen, raised, type Subject, subjectKey, subjectOf } from './alert_state.ts';

/**
 * Which conditions of alert rules hold, and which alerts follow from that: `step(state, what has happened)` says which
 * alerts have changed. It reads no clock, and waits for nothing; whoever calls it comes again by `nextMs` at the latest.
 *
 *   kind            holds from                                    until
 *   --------------  --------------------------------------------  ---------------------------------------------
 *   entry           a trackable enters a fence                    it leaves
 *   exit            a trackable leaves a fence                    it enters again
 *   inside_longer   a trackable has been inside for so long       it leaves
 *   more_inside     more trackables are inside a fence            so many, or fewer
 *   silent          a trackable was not heard of for so long      it is heard of
 *   collision       two trackables begin to collide               that ends
 *
 * What is inside, and what was last heard of, is told as a whole at a start and whenever that may have been missed. That
 * is how it is, and no entry: a rule on entries is about those that come later. What does not follow from that, an entry, an
 * exit, a collision, holds as its alert says until the contrary is heard of. Where a rule, a fence or a trackable changes,
 * everything is looked at anew.
 */
export interface WatchState {
  rules: readonly Watched[];
  /** By id, the oldest first. */
  readonly alerts: Map<string, Alert>;
  /** Ids of alerts that are not done, by their subjects. */
  readonly current: Map<string, string>;
  /** Conditions that hold, by their subjects. */
  readonly holding: Map<string, Held>;
  /** Trackables in fences, and since when. */
  readonly inside: Map<string, Map<string, number>>;
  /** How many of those a rule counts are in a fence. */
  readonly counts: Map<string, number>;
  /** Stays that are not long enough yet. */
  readonly waiting: Map<string, Waiting>;
  readonly deadlines: DeadlineHeap<Waiting>;
  heard: ReadonlyMap<string, number>;
  raisedTotal: number;
  /** Alerts that were not raised, since too many are open. */
  dropped: number;
}

/** A trackable in a fence. */
export interface Stay {
  readonly fenceId: string;
  readonly trackableId: string;
  readonly sinceMs: number;
}

export type WatchEvent =
  /** All rules, and all that are inside of the fences that these watch. */
  | { readonly what: 'rules'; readonly rules: readonly AlertRule[]; readonly stays: readonly Stay[] }
  | { readonly what: 'entered' | 'left'; readonly fenceId: string; readonly trackableId: string }
  | { readonly what: 'collided' | 'parted'; readonly trackableId: string; readonly otherId: string }
  /** When trackables were last heard of; those that never were are left out. */
  | { readonly what: 'heard'; readonly heard: ReadonlyMap<string, number> }
  /** Fences or trackables are others than before. */
  | { readonly what: 'changed' }
  | { readonly what: 'acknowledge' | 'clear'; readonly ids: readonly string[] };

/** What there is. */
export interface KnownObjects {
  hasFence(id: string): boolean;
  trackable(id: string): { readonly properties?: object | null } | undefined;
  trackables(): Iterable<{ readonly id: string }>;
}

export interface StepInput {
  /** Running time, which stays, silence and deadlines are measured by. */
  readonly nowMs: number;
  /** The same moment as time of day, which alerts tell. */
  readonly dayMs: number;
  readonly events: readonly WatchEvent[];
  readonly known: KnownObjects;
  newId(): string;
  /** Alerts that are kept at most; of those that are too many the oldest cleared ones go. */
  readonly alertsMax: number;
}

/** Alerts by their ids as they are now; undefined for those that are kept no more. */
export type AlertChanges = ReadonlyMap<string, Alert | undefined>;

/** The state that kept alerts lead to, before anything else is known. */
export function watchState(kept: Iterable<Alert> = []): WatchState {
  const state: WatchState = {
    rules: [],
    alerts: new Map(),
    current: new Map(),
    holding: new Map(),
    inside: new Map(),
    counts: new Map(),
    waiting: new Map(),
    deadlines: new DeadlineHeap<Waiting>(),
    heard: new Map(),
    raisedTotal: 0,
    dropped: 0,
  };
  for (const alert of [...kept].sort((one, other) => (one.raised_at < other.raised_at ? -1 : 1))) {
    state.alerts.set(alert.id, alert);
    const subject = subjectOf(alert);
    const key = subjectKey(alert.rule_id, subject);
    if (!isDone(alert)) state.current.set(key, alert.id);
    if (alert.over_at == null) state.holding.set(key, { ruleId: alert.rule_id, subject });
  }
  return state;
}

/** Goes one step. The state that it is handed is used up, and returned as it is afterwards. */
export function step(
  state: WatchState,
  input: StepInput,
): { readonly state: WatchState; readonly changes: AlertChanges } {
  const context: Context = { ...input, changes: new Map() };
  for (const event of input.events) onEvent(state, event, context);
  for (;;) {
    const due = state.deadlines.popDue(input.nowMs);
    if (due === undefined) break;
    state.waiting.delete(due.key);
    begin(state, due.watched, { subject: due.subject }, context);
  }
  return { state, changes: context.changes };
}

/** When something becomes true with nothing happening; Infinity for never. */
export function nextMs(state: WatchState): number {
  return state.deadlines.nextMs;
}

/** A rule, with what it is looked up by. */
export interface Watched {
  readonly rule: AlertRule;
  readonly fences: ReadonlySet<string> | undefined;
  readonly trackables: ReadonlySet<string> | undefined;
}

export function watched(rule: AlertRule): Watched {
  const { fence_ids: fences, trackable_ids: trackables } = rule;
  return {
    rule,
    fences: fences == null ? undefined : new Set(fences.map(idKey)),
    trackables: trackables == null ? undefined : new Set(trackables.map(idKey)),
  };
}

/** Whether a rule is about a trackable, which must exist. */
export function isAbout({ rule, trackables }: Watched, id: string, known: KnownObjects): boolean {
  if (trackables !== undefined && !trackables.has(idKey(id))) return false;
  const { property } = rule;
  const found = known.trackable(id);
  if (found === undefined || property == null) return found !== undefined;
  const properties = (found.properties ?? {}) as Readonly<Record<string, unknown>>;
  return Object.hasOwn(properties, property.name) && String(properties[property.name]) === String(property.value);
}

export function isIn({ fences }: Watched, fenceId: string): boolean {
  return fences === undefined || fences.has(idKey(fenceId));
}

/** Rules on these kinds look at who is inside. */
export const FENCE_KINDS: ReadonlySet<AlertKind> = new Set(['entry', 'exit', 'inside_longer', 'more_inside']);

interface Held {
  readonly ruleId: string;
  readonly subject: Subject;
}

interface Waiting extends Scheduled {
  readonly key: string;
  readonly watched: Watched;
  readonly subject: Subject;
}

interface Context extends StepInput {
  readonly changes: Map<string, Alert | undefined>;
}

function onEvent(state: WatchState, event: WatchEvent, context: Context): void {
  switch (event.what) {
    case 'rules':
      state.rules = event.rules.filter(({ enabled }) => enabled !== false).map(watched);
      seed(state, event.stays);
      assess(state, context);
      return;
    case 'changed':
      assess(state, context);
      return;
    case 'entered':
      onEntry(state, event, context);
      return;
    case 'left':
      onExit(state, event, context);
      return;
    case 'collided':
    case 'parted':
      onCollision(state, event, context);
      return;
    case 'heard':
      state.heard = event.heard;
      assessSilence(state, context);
      return;
    case 'acknowledge':
    case 'clear':
      for (const id of event.ids) {
        const alert = state.alerts.get(id);
        if (alert !== undefined) note(state, after(alert, event.what, context.dayMs), context);
      }
  }
}

interface Crossing {
  readonly fenceId: string;
  readonly trackableId: string;
}

function onEntry(state: WatchState, { fenceId, trackableId }: Crossing, context: Context): void {
  const stays = state.inside.get(fenceId) ?? new Map<string, number>();
  if (stays.has(trackableId)) return;
  state.inside.set(fenceId, stays.set(trackableId, context.nowMs));
  const subject = { fenceId, trackableId };
  for (const each of concerned(state, subject, context)) {
    if (each.rule.kind === 'entry') begin(state, each, { subject }, context);
    if (each.rule.kind === 'exit') end(state, subjectKey(each.rule.id, subject), context);
    if (each.rule.kind === 'inside_longer') wait(state, each, { subject, sinceMs: context.nowMs }, context);
    if (each.rule.kind === 'more_inside') count(state, each, { fenceId, by: 1 }, context);
  }
}

function onExit(state: WatchState, { fenceId, trackableId }: Crossing, context: Context): void {
  state.inside.get(fenceId)?.delete(trackableId);
  const subject = { fenceId, trackableId };
  for (const each of concerned(state, subject, context)) {
    const key = subjectKey(each.rule.id, subject);
    if (each.rule.kind === 'exit') begin(state, each, { subject }, context);
    if (each.rule.kind === 'entry' || each.rule.kind === 'inside_longer') end(state, key, context);
    if (each.rule.kind === 'inside_longer') waitNoMore(state, key);
    if (each.rule.kind === 'more_inside') count(state, each, { fenceId, by: -1 }, context);
  }
}

function onCollision(
  state: WatchState,
  { what, trackableId, otherId }: Extract<WatchEvent, { what: 'collided' | 'parted' }>,
  context: Context,
): void {
  const subject = { trackableId, otherId };
  for (const each of state.rules) {
    if (each.rule.kind !== 'collision') continue;
    // A rule about some trackables is about their collisions with others, too.
    if (!isAbout(each, trackableId, context.known) && !isAbout(each, otherId, context.known)) continue;
    if (what === 'collided') begin(state, each, { subject }, context);
    else end(state, subjectKey(each.rule.id, subject), context);
  }
}

/** The rules on fences that a crossing concerns. */
function concerned(state: WatchState, { fenceId, trackableId }: Crossing, { known }: Context): readonly Watched[] {
  return state.rules.filter(
    (each) => FENCE_KINDS.has(each.rule.kind) && isIn(each, fenceId) && isAbout(each, trackableId, known),
  );
}

/** Who is inside now; of whom that was known, since when it was. */
function seed(state: WatchState, stays: readonly Stay[]): void {
  const before = new Map(state.inside);
  state.inside.clear();
  for (const { fenceId, trackableId, sinceMs } of stays) {
    const known = before.get(fenceId)?.get(trackableId) ?? Number.POSITIVE_INFINITY;
    const inFence = state.inside.get(fenceId) ?? new Map<string, number>();
    state.inside.set(fenceId, inFence.set(trackableId, Math.min(known, sinceMs)));
  }
}

/** Looks at everything anew. */
function assess(state: WatchState, context: Context): void {
  forgetGone(state, context);
  for (const waiting of state.waiting.values()) state.deadlines.remove(waiting);
  state.waiting.clear();
  state.counts.clear();
  for (const [key, held] of [...state.holding]) if (!mayHold(state, held, context)) end(state, key, context);
  for (const [fenceId, stays] of state.inside) {
    for (const [trackableId, sinceMs] of stays) {
      const subject = { fenceId, trackableId };
      for (const each of concerned(state, subject, context)) {
        if (each.rule.kind === 'inside_longer') wait(state, each, { subject, sinceMs }, context);
        if (each.rule.kind === 'more_inside') {
          const key = subjectKey(each.rule.id, { fenceId });
          state.counts.set(key, (state.counts.get(key) ?? 0) + 1);
        }
      }
    }
  }
  const fences = new Set([...state.inside.keys(), ...fencesHeld(state)]);
  for (const each of state.rules.filter(({ rule }) => rule.kind === 'more_inside')) {
    for (const fenceId of fences) if (isIn(each, fenceId)) count(state, each, { fenceId, by: 0 }, context);
  }
  assessSilence(state, context);
}

function fencesHeld({ holding }: WatchState): readonly string[] {
  return [...holding.values()].flatMap(({ subject }) => (subject.fenceId === undefined ? [] : [subject.fenceId]));
}

function forgetGone(state: WatchState, { known }: Context): void {
  for (const [fenceId, stays] of state.inside) {
    if (!known.hasFence(fenceId)) state.inside.delete(fenceId);
    for (const id of stays.keys()) if (known.trackable(id) === undefined) stays.delete(id);
  }
}

/** Whether a condition that has held may go on to hold. */
function mayHold(state: WatchState, { ruleId, subject }: Held, { nowMs, known }: Context): boolean {
  const found = state.rules.find(({ rule }) => rule.id === ruleId);
  if (found === undefined) return false;
  const { kind, longer_than: longerMs } = found.rule;
  const { fenceId, trackableId, otherId } = subject;
  if (fenceId !== undefined && (!known.hasFence(fenceId) || !isIn(found, fenceId))) return false;
  if (kind === 'collision') {
    const ids = [trackableId, otherId].filter((id) => id !== undefined);
    return ids.every((id) => known.trackable(id) !== undefined) && ids.some((id) => isAbout(found, id, known));
  }
  if (kind === 'more_inside') return trackableId === undefined && fenceId !== undefined;
  if (trackableId === undefined || !isAbout(found, trackableId, known)) return false;
  if (kind === 'silent') return fenceId === undefined;
  const sinceMs = fenceId === undefined ? undefined : state.inside.get(fenceId)?.get(trackableId);
  if (kind === 'exit') return sinceMs === undefined;
  return sinceMs !== undefined && (kind === 'entry' || sinceMs + (longerMs ?? 0) <= nowMs);
}

function assessSilence(state: WatchState, context: Context): void {
  const rules = state.rules.filter(({ rule }) => rule.kind === 'silent');
  if (rules.length === 0 || state.heard.size === 0) return;
  for (const { id } of context.known.trackables()) {
    const heardMs = state.heard.get(id);
    if (heardMs === undefined) continue;
    for (const each of rules) {
      if (!isAbout(each, id, context.known)) continue;
      const subject = { trackableId: id };
      if (context.nowMs - heardMs > (each.rule.longer_than ?? 0)) begin(state, each, { subject }, context);
      else end(state, subjectKey(each.rule.id, subject), context);
    }
  }
}

function wait(
  state: WatchState,
  each: Watched,
  { subject, sinceMs }: { readonly subject: Subject; readonly sinceMs: number },
  context: Context,
): void {
  const atMs = sinceMs + (each.rule.longer_than ?? 0);
  if (atMs <= context.nowMs) {
    begin(state, each, { subject }, context);
    return;
  }
  const key = subjectKey(each.rule.id, subject);
  const waiting: Waiting = { key, watched: each, subject, heapIndex: -1 };
  state.waiting.set(key, waiting);
  state.deadlines.push(atMs, waiting);
}

function waitNoMore(state: WatchState, key: string): void {
  const waiting = state.waiting.get(key);
  if (waiting === undefined) return;
  state.deadlines.remove(waiting);
  state.waiting.delete(key);
}

function count(
  state: WatchState,
  each: Watched,
  { fenceId, by }: { readonly fenceId: string; readonly by: number },
  context: Context,
): void {
  const key = subjectKey(each.rule.id, { fenceId });
  const inside = Math.max(0, (state.counts.get(key) ?? 0) + by);
  state.counts.set(key, inside);
  if (inside > (each.rule.more_than ?? 0)) begin(state, each, { subject: { fenceId }, count: inside }, context);
  else end(state, key, context);
}

function begin(
  state: WatchState,
  { rule }: Watched,
  { subject, count }: { readonly subject: Subject; readonly count?: number },
  context: Context,
): void {
  const key = subjectKey(rule.id, subject);
  if (state.holding.has(key)) return;
  state.holding.set(key, { ruleId: rule.id, subject });
  const current = state.alerts.get(state.current.get(key) ?? '');
  if (current !== undefined) {
    note(state, after(current, 'begins', context.dayMs), context);
    return;
  }
  if (!makeRoom(state, context)) {
    state.dropped++;
    return;
  }
  state.raisedTotal++;
  note(state, raised(rule, subject, { id: context.newId(), nowMs: context.dayMs, count }), context);
}

function end(state: WatchState, key: string, context: Context): void {
  if (!state.holding.delete(key)) return;
  const current = state.alerts.get(state.current.get(key) ?? '');
  if (current !== undefined) note(state, after(current, 'ends', context.dayMs), context);
}

function note(state: WatchState, alert: Alert, { changes }: Context): void {
  if (state.alerts.get(alert.id) === alert) return;
  state.alerts.set(alert.id, alert);
  changes.set(alert.id, alert);
  const key = subjectKey(alert.rule_id, subjectOf(alert));
  if (isDone(alert)) state.current.delete(key);
  else state.current.set(key, alert.id);
}

/** Whether there is room for one alert more. The oldest that is cleared goes. */
function makeRoom(state: WatchState, { alertsMax, changes }: Context): boolean {
  while (state.alerts.size >= alertsMax) {
    const oldest = [...state.alerts.values()].find((alert) => !isOpen(alert));
    if (oldest === undefined) return false;
    state.alerts.delete(oldest.id);
    const key = subjectKey(oldest.rule_id, subjectOf(oldest));
    if (state.current.get(key) === oldest.id) state.current.delete(key);
    changes.set(oldest.id, undefined);
  }
  return true;
}
