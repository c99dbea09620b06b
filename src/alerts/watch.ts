import { afterAction } from './actions.ts';
import { type MovingObject, objectKey, type AlertSubject, subjectKey } from './alert_state.ts';
import { begin, end, recordChange, raiseUnraised, updateUnraisedRules } from './raising.ts';
import {
  dependsOnFenceEvents,
  dependsOnSamples,
  concernsObject,
  concernsFence,
  type EntityLookup,
  objectsFor,
  type CompiledRule,
  compileRule,
  watchesProviders,
  watchesTrackables,
} from './rule_match.ts';
import { sampledSubjects } from './sampled.ts';
import {
  type AlertChanges,
  type StepContext,
  type FenceCrossing,
  type HeldCondition,
  lastSeenMs,
  type StepInput,
  type FenceStay,
  type WaitingStay,
  type WatchEvent,
  type WatchState,
} from './watch_state.ts';

/**
 * Evaluates events and due deadlines. Modifies and returns `state`. Reads no clock and does no I/O. The caller must
 * call it again at `nextMs` at the latest.
 */
export function step(
  state: WatchState,
  input: StepInput,
): { readonly state: WatchState; readonly changes: AlertChanges } {
  const context: StepContext = { ...input, changes: new Map() };
  const { evaluatedMs, untilMs } = state.schedules;
  const isDue = input.wallClockMs >= untilMs || input.wallClockMs < evaluatedMs;
  if (isDue && applySchedules(state, context)) reevaluate(state, context);
  for (const event of input.events) onEvent(state, event, context);
  for (;;) {
    const due = state.deadlines.popDue(input.nowMs);
    if (due === undefined) break;
    state.waiting.delete(due.key);
    begin(state, due.watched, { subject: due.subject, count: state.counts.get(due.key) }, context);
  }
  raiseUnraised(state, context);
  state.schedulesDueMs = input.nowMs + (state.schedules.untilMs - input.wallClockMs);
  return { state, changes: context.changes };
}

function onEvent(state: WatchState, event: WatchEvent, context: StepContext): void {
  switch (event.what) {
    case 'rules': {
      const before = event.isComplete === true ? state.enabled : [];
      state.enabled = event.rules.filter(({ enabled }) => enabled !== false).map(compileRule);
      applySchedules(state, context);
      state.sample = undefined;
      seed(state, event.stays, (stay) => isFollowed(before, stay) && isFollowed(state.enabled, stay));
      reevaluate(state, context);
      return;
    }
    case 'changed':
      reevaluate(state, context);
      return;
    case 'entered':
      onEntry(state, event, context);
      return;
    case 'left':
      onExit(state, event, context);
      return;
    case 'crossed':
      onCrossing(state, event, context);
      return;
    case 'collided':
    case 'parted':
      onCollision(state, event, context);
      return;
    case 'lastSeen':
      state.lastSeen = event.lastSeen;
      evaluateSilence(state, context);
      return;
    case 'sampled':
      state.sample = event.sample;
      evaluateSample(state, context);
      return;
    case 'acted':
      for (const id of event.ids) {
        const alert = state.alerts.get(id);
        if (alert !== undefined) recordChange(state, afterAction(alert, event.action, context.wallClockMs), context);
      }
  }
}

/** Updates the rules in effect. Returns whether they have changed. */
function applySchedules(state: WatchState, { wallClockMs }: StepContext): boolean {
  let untilMs = Number.POSITIVE_INFINITY;
  const rules = state.enabled.filter(({ schedule }) => {
    const now = schedule(wallClockMs);
    untilMs = Math.min(untilMs, now.untilMs);
    return now.isActive;
  });
  const before = state.rules;
  state.rules = rules;
  state.schedules = { evaluatedMs: wallClockMs, untilMs };
  return rules.length !== before.length || rules.some((rule, i) => rule !== before[i]);
}

function onEntry(state: WatchState, subject: FenceCrossing, context: StepContext): void {
  const { fenceId } = subject;
  const stays = state.inside.get(fenceId) ?? new Map<string, FenceStay>();
  const key = objectKey(subject);
  if (stays.has(key)) return;
  state.inside.set(fenceId, stays.set(key, { ...subject, sinceMs: context.nowMs }));
  for (const each of concernedRules(state, subject, context)) {
    if (each.rule.kind === 'entry') begin(state, each, { subject }, context);
    if (each.rule.kind === 'exit') end(state, subjectKey(each.rule.id, subject), context);
    if (each.rule.kind === 'inside_longer') wait(state, each, { subject, sinceMs: context.nowMs }, context);
    if (counts(each)) count(state, each, { fenceId, by: 1 }, context);
  }
}

function onExit(state: WatchState, subject: FenceCrossing, context: StepContext): void {
  const { fenceId } = subject;
  state.inside.get(fenceId)?.delete(objectKey(subject));
  for (const each of concernedRules(state, subject, context)) {
    const key = subjectKey(each.rule.id, subject);
    if (each.rule.kind === 'exit') begin(state, each, { subject }, context);
    if (each.rule.kind === 'entry' || each.rule.kind === 'inside_longer') end(state, key, context);
    if (each.rule.kind === 'inside_longer') cancelWait(state, key);
    if (counts(each)) count(state, each, { fenceId, by: -1 }, context);
  }
}

/** A crossing of a gate is momentary: its condition ends as soon as it begins. */
function onCrossing(
  state: WatchState,
  { fenceId, trackableId, providerId, direction }: Extract<WatchEvent, { what: 'crossed' }>,
  context: StepContext,
): void {
  const subject = { fenceId, trackableId, providerId };
  for (const each of concernedRules(state, subject, context)) {
    if (each.rule.kind !== 'gate' || each.rule.direction !== direction) continue;
    begin(state, each, { subject }, context);
    end(state, subjectKey(each.rule.id, subject), context);
  }
}

function onCollision(
  state: WatchState,
  { what, trackableId, otherId }: Extract<WatchEvent, { what: 'collided' | 'parted' }>,
  context: StepContext,
): void {
  const subject = { trackableId, otherId };
  for (const each of state.rules) {
    if (each.rule.kind !== 'collision') continue;
    // A rule on specific trackables also applies to their collisions with others.
    if (![trackableId, otherId].some((id) => concernsObject(each, { trackableId: id }, context.entities))) continue;
    if (what === 'collided') begin(state, each, { subject }, context);
    else end(state, subjectKey(each.rule.id, subject), context);
  }
}

/** Returns the rules on fences that apply to a crossing. */
function concernedRules(
  state: WatchState,
  crossing: FenceCrossing,
  { entities: known }: StepContext,
): readonly CompiledRule[] {
  return state.rules.filter(
    (each) =>
      dependsOnFenceEvents(each.rule) && concernsFence(each, crossing.fenceId) && concernsObject(each, crossing, known),
  );
}

/**
 * Replaces the objects inside of fences by the answers of the shards. An object that was inside before retains its earlier
 * entry time. Stays whose events are followed are not replaced: a shard knows an entry before its event arrives, and the
 * event must still raise an alert.
 */
function seed(state: WatchState, stays: readonly FenceStay[], isFollowedStay: (stay: FenceStay) => boolean): void {
  const before = new Map(state.inside);
  state.inside.clear();
  const followed = [...before.values()].flatMap((inside) => [...inside.values()].filter(isFollowedStay));
  for (const stay of [...followed, ...stays.filter((each) => !isFollowedStay(each))]) {
    const { fenceId, sinceMs } = stay;
    const key = objectKey(stay);
    const known = before.get(fenceId)?.get(key)?.sinceMs ?? Number.POSITIVE_INFINITY;
    const inFence = state.inside.get(fenceId) ?? new Map<string, FenceStay>();
    state.inside.set(fenceId, inFence.set(key, { ...stay, sinceMs: Math.min(known, sinceMs) }));
  }
}

/** Whether the events that rules depend on include the entries and exits of a stay. */
function isFollowed(rules: readonly CompiledRule[], { fenceId, providerId }: FenceStay): boolean {
  const watches = providerId === undefined ? watchesTrackables : watchesProviders;
  return rules.some((each) => dependsOnFenceEvents(each.rule) && concernsFence(each, fenceId) && watches(each.rule));
}

/** Re-evaluates all conditions. */
function reevaluate(state: WatchState, context: StepContext): void {
  removeDeleted(state, context);
  for (const waiting of state.waiting.values()) state.deadlines.remove(waiting);
  state.waiting.clear();
  state.counts.clear();
  for (const [key, held] of [...state.holding]) if (!mayHold(state, held, context)) end(state, key, context);
  for (const [fenceId, stays] of state.inside) {
    for (const { sinceMs, ...subject } of stays.values()) {
      for (const each of concernedRules(state, subject, context)) {
        if (each.rule.kind === 'inside_longer') wait(state, each, { subject, sinceMs }, context);
        if (counts(each)) {
          const key = subjectKey(each.rule.id, { fenceId });
          state.counts.set(key, (state.counts.get(key) ?? 0) + 1);
        }
      }
    }
  }
  const fences = new Set([...state.inside.keys(), ...fencesHeld(state)]);
  for (const each of state.rules.filter(counts)) {
    const named = each.rule.fence_ids?.flatMap((id) => context.entities.fence(id)?.id ?? []) ?? fences;
    for (const fenceId of new Set(named)) {
      if (concernsFence(each, fenceId)) count(state, each, { fenceId, by: 0 }, context);
    }
  }
  evaluateSilence(state, context);
  evaluateSample(state, context);
  forgetTimes(state);
  updateUnraisedRules(state);
}

/** Whether a rule depends on the number of objects in a fence. */
function counts({ rule: { kind } }: CompiledRule): boolean {
  return kind === 'more_inside' || kind === 'count_below';
}

/** Removes the times of conditions whose rule, fence or objects are gone. */
function forgetTimes({ since, rules, waiting, holding }: WatchState): void {
  const active = new Map(rules.map((each) => [each.rule.id, each.rule]));
  for (const [key, { ruleId }] of since) {
    const rule = active.get(ruleId);
    // Without a sample, conditions that depend on one are unknown.
    const isTrue = rule !== undefined && (dependsOnSamples(rule) || waiting.has(key) || holding.has(key));
    if (!isTrue) since.delete(key);
  }
}

function fencesHeld({ holding }: WatchState): readonly string[] {
  return [...holding.values()].flatMap(({ subject }) => (subject.fenceId === undefined ? [] : [subject.fenceId]));
}

function removeDeleted(state: WatchState, { entities: known }: StepContext): void {
  for (const [fenceId, stays] of state.inside) {
    if (known.fence(fenceId) === undefined) state.inside.delete(fenceId);
    for (const [key, stay] of stays) if (!exists(stay, known)) stays.delete(key);
  }
}

function exists({ trackableId, providerId }: MovingObject, known: EntityLookup): boolean {
  if (providerId !== undefined) return known.provider(providerId) !== undefined;
  return trackableId !== undefined && known.trackable(trackableId) !== undefined;
}

/** Whether a condition that held before may still hold. */
function mayHold(
  state: WatchState,
  { ruleId, subject }: HeldCondition,
  { nowMs, entities: known }: StepContext,
): boolean {
  const found = state.rules.find(({ rule }) => rule.id === ruleId);
  if (found === undefined) return false;
  const { kind, longer_than: longerMs } = found.rule;
  const { fenceId, trackableId, otherId, providerId } = subject;
  if (fenceId !== undefined && (known.fence(fenceId) === undefined || !concernsFence(found, fenceId))) return false;
  if (kind === 'collision' || kind === 'separated' || kind === 'together') {
    const ids = [trackableId, otherId].filter((id) => id !== undefined);
    return (
      ids.every((id) => known.trackable(id) !== undefined) &&
      ids.some((id) => concernsObject(found, { trackableId: id }, known))
    );
  }
  if (counts(found)) return trackableId === undefined && providerId === undefined && fenceId !== undefined;
  if (!concernsObject(found, subject, known)) return false;
  if (kind === 'silent') return fenceId === undefined;
  if (kind === 'speed') return (fenceId !== undefined) === (found.rule.fence_ids != null);
  const sinceMs = fenceId === undefined ? undefined : state.inside.get(fenceId)?.get(objectKey(subject))?.sinceMs;
  if (kind === 'exit') return sinceMs === undefined;
  return sinceMs !== undefined && (kind === 'entry' || sinceMs + (longerMs ?? 0) <= nowMs);
}

function evaluateSilence(state: WatchState, context: StepContext): void {
  if (state.lastSeen.trackables.size + state.lastSeen.providers.size === 0) return;
  for (const each of state.rules.filter(({ rule }) => rule.kind === 'silent')) {
    for (const subject of objectsFor(each, context.entities)) {
      const seenMs = lastSeenMs(state.lastSeen, subject);
      if (seenMs === undefined || !concernsObject(each, subject, context.entities)) continue;
      if (context.nowMs - seenMs > (each.rule.longer_than ?? 0)) begin(state, each, { subject }, context);
      else end(state, subjectKey(each.rule.id, subject), context);
    }
  }
}

/** Begins and ends conditions on speeds and distances. */
function evaluateSample(state: WatchState, context: StepContext): void {
  const { sample, inside, rules } = state;
  if (sample === undefined) return;
  const sampled = new Set<string>();
  const trueNow = new Set<string>();
  for (const each of rules.filter(({ rule }) => dependsOnSamples(rule))) {
    sampled.add(each.rule.id);
    for (const [key, subject] of sampledSubjects(each, { sample, inside, entities: context.entities })) {
      trueNow.add(key);
      becomesTrue(state, each, { key, subject }, context);
    }
  }
  for (const [key, { ruleId }] of [...state.since, ...state.holding]) {
    if (sampled.has(ruleId) && !trueNow.has(key)) becomesFalse(state, key, context);
  }
}

/** Records that a condition is true, which holds as soon as it has lasted for `longer_than`. */
function becomesTrue(
  state: WatchState,
  each: CompiledRule,
  { key, subject }: { readonly key: string; readonly subject: AlertSubject },
  context: StepContext,
): void {
  const sinceMs = state.since.get(key)?.sinceMs ?? context.nowMs;
  state.since.set(key, { ruleId: each.rule.id, sinceMs });
  if (!state.holding.has(key) && !state.waiting.has(key)) wait(state, each, { subject, sinceMs }, context);
}

function becomesFalse(state: WatchState, key: string, context: StepContext): void {
  state.since.delete(key);
  cancelWait(state, key);
  end(state, key, context);
}

function wait(
  state: WatchState,
  each: CompiledRule,
  { subject, sinceMs }: { readonly subject: AlertSubject; readonly sinceMs: number },
  context: StepContext,
): void {
  const atMs = sinceMs + (each.rule.longer_than ?? 0);
  if (atMs <= context.nowMs) {
    begin(state, each, { subject, count: state.counts.get(subjectKey(each.rule.id, subject)) }, context);
    return;
  }
  const key = subjectKey(each.rule.id, subject);
  const waiting: WaitingStay = { key, watched: each, subject, heapIndex: -1 };
  state.waiting.set(key, waiting);
  state.deadlines.push(atMs, waiting);
}

function cancelWait(state: WatchState, key: string): void {
  const waiting = state.waiting.get(key);
  if (waiting === undefined) return;
  state.deadlines.remove(waiting);
  state.waiting.delete(key);
}

function count(
  state: WatchState,
  each: CompiledRule,
  { fenceId, by }: { readonly fenceId: string; readonly by: number },
  context: StepContext,
): void {
  const key = subjectKey(each.rule.id, { fenceId });
  const inside = Math.max(0, (state.counts.get(key) ?? 0) + by);
  state.counts.set(key, inside);
  const { kind, more_than: most, fewer_than: least } = each.rule;
  const isTrue = kind === 'more_inside' ? inside > (most ?? 0) : inside < (least ?? 1);
  if (isTrue) becomesTrue(state, each, { key, subject: { fenceId } }, context);
  else becomesFalse(state, key, context);
}
