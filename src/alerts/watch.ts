import { DeadlineHeap, type Scheduled } from '../core/deadline_heap.ts';
import { type Alert, type AlertKind, type AlertRule, SEVERITIES } from '../model/alert.ts';
import { idKey } from '../model/id.ts';
import { type BySeverity, removalsFor, type Severity } from './alert_room.ts';
import {
  after,
  isDone,
  isOpen,
  type Moving,
  movingKey,
  raised,
  type Subject,
  severityOf,
  subjectKey,
  subjectOf,
} from './alert_state.ts';

/**
 * Which conditions of alert rules hold, and which alerts follow from that: `step(state, what has happened)` says which
 * alerts have changed. It reads no clock, and waits for nothing; whoever calls it comes again by `nextMs` at the latest.
 *
 *   kind            holds from                                    until
 *   --------------  --------------------------------------------  ---------------------------------------------
 *   entry           an object enters a fence                      it leaves
 *   exit            an object leaves a fence                      it enters again
 *   inside_longer   an object has been inside for so long         it leaves
 *   more_inside     more objects are inside a fence               so many, or fewer
 *   silent          an object was not heard of for so long        it is heard of
 *   collision       two trackables begin to collide               that ends
 *
 * Objects are trackables, unless the rule says that it is about location providers. A provider that moves a trackable is
 * no object of its own for rules about all of them, and one for those that name it.
 *
 * What is inside, and what was last heard of, is told as a whole at a start and whenever that may have been missed. That
 * is how it is, and no entry: a rule on entries is about those that come later. What does not follow from that, an entry, an
 * exit, a collision, holds as its alert says until the contrary is heard of. Where a rule, a fence or an object changes,
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
  /** Who is in fences, and since when: by the ids of fences and the keys of objects. */
  readonly inside: Map<string, Map<string, Stay>>;
  /** How many of those a rule counts are in a fence. */
  readonly counts: Map<string, number>;
  /** Stays that are not long enough yet. */
  readonly waiting: Map<string, Waiting>;
  readonly deadlines: DeadlineHeap<Waiting>;
  heard: Heard;
  /** Conditions that hold without an open alert because there is no room for one, by their subjects. */
  readonly unraised: Readonly<Record<Severity, Map<string, Unraised>>>;
  raisedTotal: number;
  /** Conditions that began and found no room for an alert. */
  dropped: number;
  /** Open alerts that were removed to make room for others. */
  displaced: number;
}

/** An object in a fence. */
export interface Stay extends Crossing {
  readonly sinceMs: number;
}

/** An object that enters a fence, or leaves it. */
export interface Crossing extends Moving {
  readonly fenceId: string;
}

/** When objects were last heard of, by their ids; those that never were are left out. */
export interface Heard {
  readonly trackables: ReadonlyMap<string, number>;
  /** Empty where no rule is about any. */
  readonly providers: ReadonlyMap<string, number>;
}

export const NOBODY_HEARD: Heard = { trackables: new Map(), providers: new Map() };

export type WatchEvent =
  /** All rules, and all that are inside of the fences that these watch. */
  | { readonly what: 'rules'; readonly rules: readonly AlertRule[]; readonly stays: readonly Stay[] }
  | ({ readonly what: 'entered' | 'left' } & Crossing)
  | { readonly what: 'collided' | 'parted'; readonly trackableId: string; readonly otherId: string }
  | { readonly what: 'heard'; readonly heard: Heard }
  /** Fences or objects are others than before. */
  | { readonly what: 'changed' }
  | { readonly what: 'acknowledge' | 'clear'; readonly ids: readonly string[] };

/** What there is. */
export interface KnownObjects {
  hasFence(id: string): boolean;
  trackable(id: string): WithProperties | undefined;
  trackables(): Iterable<{ readonly id: string }>;
  provider(id: string): WithProperties | undefined;
  providers(): Iterable<{ readonly id: string }>;
  /** Whether a provider moves any trackable. */
  isAssigned(providerId: string): boolean;
}

interface WithProperties {
  readonly properties?: object | null;
}

export interface StepInput {
  /** Running time, which stays, silence and deadlines are measured by. */
  readonly nowMs: number;
  /** The same moment as time of day, which alerts tell. */
  readonly dayMs: number;
  readonly events: readonly WatchEvent[];
  readonly known: KnownObjects;
  newId(): string;
  /** The most alerts that are stored. `alert_room.ts` says which of them go when there are more. */
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
    heard: NOBODY_HEARD,
    unraised: { info: new Map(), warning: new Map(), critical: new Map() },
    raisedTotal: 0,
    dropped: 0,
    displaced: 0,
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
  raiseUnraised(state, context);
  return { state, changes: context.changes };
}

/** How many conditions hold without an open alert because there is no room for one. */
export function unraisedCounts({ unraised: { info, warning, critical } }: WatchState): BySeverity {
  return { info: info.size, warning: warning.size, critical: critical.size };
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
  readonly providers: ReadonlySet<string> | undefined;
}

export function watched(rule: AlertRule): Watched {
  const { fence_ids: fences, trackable_ids: trackables, provider_ids: providers } = rule;
  return { rule, fences: keysOf(fences), trackables: keysOf(trackables), providers: keysOf(providers) };
}

function keysOf(ids: readonly string[] | null | undefined): ReadonlySet<string> | undefined {
  return ids == null ? undefined : new Set(ids.map(idKey));
}

/** Whether rules are about trackables, and about providers. */
export function watchesTrackables({ object_type: type }: AlertRule): boolean {
  return type !== 'location_provider';
}

export function watchesProviders({ object_type: type }: AlertRule): boolean {
  return type === 'location_provider' || type === 'any';
}

/** Whether a rule is about an object, which must exist. */
export function isAbout(each: Watched, { trackableId, providerId }: Moving, known: KnownObjects): boolean {
  if (providerId !== undefined) {
    if (!watchesProviders(each.rule)) return false;
    if (each.providers === undefined ? known.isAssigned(providerId) : !each.providers.has(idKey(providerId)))
      return false;
    return isAsWanted(each, known.provider(providerId));
  }
  if (trackableId === undefined || !watchesTrackables(each.rule)) return false;
  if (each.trackables !== undefined && !each.trackables.has(idKey(trackableId))) return false;
  return isAsWanted(each, known.trackable(trackableId));
}

function isAsWanted({ rule: { property } }: Watched, found: WithProperties | undefined): boolean {
  if (found === undefined || property == null) return found !== undefined;
  const properties = (found.properties ?? {}) as Readonly<Record<string, unknown>>;
  return Object.hasOwn(properties, property.name) && String(properties[property.name]) === String(property.value);
}

/** All objects of the kinds that a rule is about. */
export function* objectsFor({ rule }: Watched, known: KnownObjects): Iterable<Moving> {
  if (watchesTrackables(rule)) for (const { id } of known.trackables()) yield { trackableId: id };
  if (watchesProviders(rule)) for (const { id } of known.providers()) yield { providerId: id };
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

/** A condition that holds, and its rule. */
interface Unraised {
  readonly rule: AlertRule;
  readonly subject: Subject;
  readonly count?: number | undefined;
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
      updateUnraisedRules(state);
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

function onEntry(state: WatchState, subject: Crossing, context: Context): void {
  const { fenceId } = subject;
  const stays = state.inside.get(fenceId) ?? new Map<string, Stay>();
  const key = movingKey(subject);
  if (stays.has(key)) return;
  state.inside.set(fenceId, stays.set(key, { ...subject, sinceMs: context.nowMs }));
  for (const each of concerned(state, subject, context)) {
    if (each.rule.kind === 'entry') begin(state, each, { subject }, context);
    if (each.rule.kind === 'exit') end(state, subjectKey(each.rule.id, subject), context);
    if (each.rule.kind === 'inside_longer') wait(state, each, { subject, sinceMs: context.nowMs }, context);
    if (each.rule.kind === 'more_inside') count(state, each, { fenceId, by: 1 }, context);
  }
}

function onExit(state: WatchState, subject: Crossing, context: Context): void {
  const { fenceId } = subject;
  state.inside.get(fenceId)?.delete(movingKey(subject));
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
    if (![trackableId, otherId].some((id) => isAbout(each, { trackableId: id }, context.known))) continue;
    if (what === 'collided') begin(state, each, { subject }, context);
    else end(state, subjectKey(each.rule.id, subject), context);
  }
}

/** The rules on fences that a crossing concerns. */
function concerned(state: WatchState, crossing: Crossing, { known }: Context): readonly Watched[] {
  return state.rules.filter(
    (each) => FENCE_KINDS.has(each.rule.kind) && isIn(each, crossing.fenceId) && isAbout(each, crossing, known),
  );
}

/** Who is inside now; of whom that was known, since when it was. */
function seed(state: WatchState, stays: readonly Stay[]): void {
  const before = new Map(state.inside);
  state.inside.clear();
  for (const stay of stays) {
    const { fenceId, sinceMs } = stay;
    const key = movingKey(stay);
    const known = before.get(fenceId)?.get(key)?.sinceMs ?? Number.POSITIVE_INFINITY;
    const inFence = state.inside.get(fenceId) ?? new Map<string, Stay>();
    state.inside.set(fenceId, inFence.set(key, { ...stay, sinceMs: Math.min(known, sinceMs) }));
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
    for (const { sinceMs, ...subject } of stays.values()) {
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
    for (const [key, stay] of stays) if (!exists(stay, known)) stays.delete(key);
  }
}

function exists({ trackableId, providerId }: Moving, known: KnownObjects): boolean {
  if (providerId !== undefined) return known.provider(providerId) !== undefined;
  return trackableId !== undefined && known.trackable(trackableId) !== undefined;
}

/** Whether a condition that has held may go on to hold. */
function mayHold(state: WatchState, { ruleId, subject }: Held, { nowMs, known }: Context): boolean {
  const found = state.rules.find(({ rule }) => rule.id === ruleId);
  if (found === undefined) return false;
  const { kind, longer_than: longerMs } = found.rule;
  const { fenceId, trackableId, otherId, providerId } = subject;
  if (fenceId !== undefined && (!known.hasFence(fenceId) || !isIn(found, fenceId))) return false;
  if (kind === 'collision') {
    const ids = [trackableId, otherId].filter((id) => id !== undefined);
    return (
      ids.every((id) => known.trackable(id) !== undefined) &&
      ids.some((id) => isAbout(found, { trackableId: id }, known))
    );
  }
  if (kind === 'more_inside') return trackableId === undefined && providerId === undefined && fenceId !== undefined;
  if (!isAbout(found, subject, known)) return false;
  if (kind === 'silent') return fenceId === undefined;
  const sinceMs = fenceId === undefined ? undefined : state.inside.get(fenceId)?.get(movingKey(subject))?.sinceMs;
  if (kind === 'exit') return sinceMs === undefined;
  return sinceMs !== undefined && (kind === 'entry' || sinceMs + (longerMs ?? 0) <= nowMs);
}

function assessSilence(state: WatchState, context: Context): void {
  if (state.heard.trackables.size + state.heard.providers.size === 0) return;
  for (const each of state.rules.filter(({ rule }) => rule.kind === 'silent')) {
    for (const subject of objectsFor(each, context.known)) {
      const heardMs = heardAt(state.heard, subject);
      if (heardMs === undefined || !isAbout(each, subject, context.known)) continue;
      if (context.nowMs - heardMs > (each.rule.longer_than ?? 0)) begin(state, each, { subject }, context);
      else end(state, subjectKey(each.rule.id, subject), context);
    }
  }
}

/** When an object was last heard of. */
export function heardAt({ trackables, providers }: Heard, { trackableId, providerId }: Moving): number | undefined {
  return providerId === undefined ? trackables.get(trackableId ?? '') : providers.get(providerId);
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
  const condition: Unraised = { rule, subject, count };
  if (raise(state, condition, context)) return;
  state.dropped++;
  state.unraised[severityOf(rule)].set(key, condition);
}

/** Makes room for an alert and raises it. Returns false without room. With `onlyFree`, no open alert is removed. */
function raise(state: WatchState, { rule, subject, count }: Unraised, context: Context, onlyFree = false): boolean {
  const removals = removalsFor(severityOf(rule), state.alerts, { max: context.alertsMax, onlyFree });
  if (removals === undefined) return false;
  for (const alert of removals) remove(state, alert, context);
  state.raisedTotal++;
  note(state, raised(rule, subject, { id: context.newId(), nowMs: context.dayMs, count }), context);
  return true;
}

/** Removes an alert to make room. If its condition holds and it is open, the condition is left without an alert. */
function remove(state: WatchState, alert: Alert, { changes }: Context): void {
  state.alerts.delete(alert.id);
  changes.set(alert.id, undefined);
  const subject = subjectOf(alert);
  const key = subjectKey(alert.rule_id, subject);
  if (state.current.get(key) === alert.id) state.current.delete(key);
  if (!isOpen(alert)) return;
  state.displaced++;
  const rule = state.rules.find((each) => each.rule.id === alert.rule_id)?.rule;
  if (rule === undefined || !state.holding.has(key)) return;
  state.unraised[severityOf(rule)].set(key, { rule, subject, count: alert.count ?? undefined });
}

/** Raises the conditions that still hold without an alert, the most severe first, as far as there is free room. */
function raiseUnraised(state: WatchState, context: Context): void {
  for (const severity of SEVERITIES.toReversed()) {
    const unraised = state.unraised[severity];
    for (const [key, condition] of unraised) {
      if (!raise(state, condition, context, true)) break;
      unraised.delete(key);
    }
  }
}

/** Gives the conditions without an alert the rules as they are now. */
function updateUnraisedRules(state: WatchState): void {
  const rules = new Map(state.rules.map(({ rule }) => [rule.id, rule]));
  const all = SEVERITIES.flatMap((severity) => [...state.unraised[severity]]);
  for (const severity of SEVERITIES) state.unraised[severity].clear();
  for (const [key, condition] of all) {
    const rule = rules.get(condition.rule.id);
    if (rule !== undefined) state.unraised[severityOf(rule)].set(key, { ...condition, rule });
  }
}

function end(state: WatchState, key: string, context: Context): void {
  if (!state.holding.delete(key)) return;
  for (const severity of SEVERITIES) state.unraised[severity].delete(key);
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
