import { after, type MovingObject, objectKey, type AlertSubject, subjectKey } from './alert_state.ts';
import { begin, end, recordChange, raiseUnraised, updateUnraisedRules } from './raising.ts';
import {
  FENCE_KINDS,
  concernsObject,
  concernsFence,
  type EntityLookup,
  objectsFor,
  type CompiledRule,
  compileRule,
} from './rule_match.ts';
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

function onEvent(state: WatchState, event: WatchEvent, context: StepContext): void {
  switch (event.what) {
    case 'rules':
      state.rules = event.rules.filter(({ enabled }) => enabled !== false).map(compileRule);
      seed(state, event.stays);
      reevaluate(state, context);
      updateUnraisedRules(state);
      return;
    case 'changed':
      reevaluate(state, context);
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
    case 'lastSeen':
      state.lastSeen = event.lastSeen;
      evaluateSilence(state, context);
      return;
    case 'acknowledge':
    case 'clear':
      for (const id of event.ids) {
        const alert = state.alerts.get(id);
        if (alert !== undefined) recordChange(state, after(alert, event.what, context.wallClockMs), context);
      }
  }
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
    if (each.rule.kind === 'more_inside') count(state, each, { fenceId, by: 1 }, context);
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
    if (each.rule.kind === 'more_inside') count(state, each, { fenceId, by: -1 }, context);
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
      FENCE_KINDS.has(each.rule.kind) && concernsFence(each, crossing.fenceId) && concernsObject(each, crossing, known),
  );
}

/** Replaces the objects inside of fences. An object that was inside before retains its earlier entry time. */
function seed(state: WatchState, stays: readonly FenceStay[]): void {
  const before = new Map(state.inside);
  state.inside.clear();
  for (const stay of stays) {
    const { fenceId, sinceMs } = stay;
    const key = objectKey(stay);
    const known = before.get(fenceId)?.get(key)?.sinceMs ?? Number.POSITIVE_INFINITY;
    const inFence = state.inside.get(fenceId) ?? new Map<string, FenceStay>();
    state.inside.set(fenceId, inFence.set(key, { ...stay, sinceMs: Math.min(known, sinceMs) }));
  }
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
        if (each.rule.kind === 'more_inside') {
          const key = subjectKey(each.rule.id, { fenceId });
          state.counts.set(key, (state.counts.get(key) ?? 0) + 1);
        }
      }
    }
  }
  const fences = new Set([...state.inside.keys(), ...fencesHeld(state)]);
  for (const each of state.rules.filter(({ rule }) => rule.kind === 'more_inside')) {
    for (const fenceId of fences) if (concernsFence(each, fenceId)) count(state, each, { fenceId, by: 0 }, context);
  }
  evaluateSilence(state, context);
}

function fencesHeld({ holding }: WatchState): readonly string[] {
  return [...holding.values()].flatMap(({ subject }) => (subject.fenceId === undefined ? [] : [subject.fenceId]));
}

function removeDeleted(state: WatchState, { entities: known }: StepContext): void {
  for (const [fenceId, stays] of state.inside) {
    if (!known.hasFence(fenceId)) state.inside.delete(fenceId);
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
  if (fenceId !== undefined && (!known.hasFence(fenceId) || !concernsFence(found, fenceId))) return false;
  if (kind === 'collision') {
    const ids = [trackableId, otherId].filter((id) => id !== undefined);
    return (
      ids.every((id) => known.trackable(id) !== undefined) &&
      ids.some((id) => concernsObject(found, { trackableId: id }, known))
    );
  }
  if (kind === 'more_inside') return trackableId === undefined && providerId === undefined && fenceId !== undefined;
  if (!concernsObject(found, subject, known)) return false;
  if (kind === 'silent') return fenceId === undefined;
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

function wait(
  state: WatchState,
  each: CompiledRule,
  { subject, sinceMs }: { readonly subject: AlertSubject; readonly sinceMs: number },
  context: StepContext,
): void {
  const atMs = sinceMs + (each.rule.longer_than ?? 0);
  if (atMs <= context.nowMs) {
    begin(state, each, { subject }, context);
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
  if (inside > (each.rule.more_than ?? 0)) begin(state, each, { subject: { fenceId }, count: inside }, context);
  else end(state, key, context);
}
