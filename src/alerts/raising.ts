import { type Alert, SEVERITIES } from '../model/alert.ts';
import { removalsFor } from './alert_room.ts';
import {
  after,
  isClosed,
  isOpen,
  raised,
  type AlertSubject,
  severityOf,
  subjectKey,
  subjectOf,
} from './alert_state.ts';
import type { CompiledRule } from './rule_match.ts';
import type { StepContext, UnraisedCondition, WatchState } from './watch_state.ts';

export function begin(
  state: WatchState,
  { rule }: CompiledRule,
  { subject, count }: { readonly subject: AlertSubject; readonly count?: number | undefined },
  context: StepContext,
): void {
  const key = subjectKey(rule.id, subject);
  if (state.holding.has(key)) return;
  state.holding.set(key, { ruleId: rule.id, subject });
  const current = state.alerts.get(state.current.get(key) ?? '');
  if (current !== undefined) {
    recordChange(state, after(current, 'begins', context.wallClockMs), context);
    return;
  }
  const condition: UnraisedCondition = { rule, subject, count };
  if (raise(state, condition, context)) return;
  state.dropped++;
  state.unraised[severityOf(rule)].set(key, condition);
}

/**
 * Raises an alert, removing others if necessary. Returns false if there is no capacity. With `onlyFree`, removes no
 * open alert.
 */
function raise(
  state: WatchState,
  { rule, subject, count }: UnraisedCondition,
  context: StepContext,
  onlyFree = false,
): boolean {
  const removals = removalsFor(severityOf(rule), state.alerts, { max: context.alertsMax, onlyFree });
  if (removals === undefined) return false;
  for (const alert of removals) remove(state, alert, context);
  state.raisedTotal++;
  recordChange(state, raised(rule, subject, { id: context.newId(), nowMs: context.wallClockMs, count }), context);
  return true;
}

/** Removes an alert to make room. If it is open, its condition is recorded as one without an alert. */
function remove(state: WatchState, alert: Alert, { changes }: StepContext): void {
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

/** Raises alerts for conditions without one as long as there is free capacity, the most severe first. */
export function raiseUnraised(state: WatchState, context: StepContext): void {
  for (const severity of SEVERITIES.toReversed()) {
    const unraised = state.unraised[severity];
    for (const [key, condition] of unraised) {
      if (!raise(state, condition, context, true)) break;
      unraised.delete(key);
    }
  }
}

/** Updates the rules of conditions without an alert to their current versions. */
export function updateUnraisedRules(state: WatchState): void {
  const rules = new Map(state.rules.map(({ rule }) => [rule.id, rule]));
  const all = SEVERITIES.flatMap((severity) => [...state.unraised[severity]]);
  for (const severity of SEVERITIES) state.unraised[severity].clear();
  for (const [key, condition] of all) {
    const rule = rules.get(condition.rule.id);
    if (rule !== undefined) state.unraised[severityOf(rule)].set(key, { ...condition, rule });
  }
}

export function end(state: WatchState, key: string, context: StepContext): void {
  if (!state.holding.delete(key)) return;
  for (const severity of SEVERITIES) state.unraised[severity].delete(key);
  const current = state.alerts.get(state.current.get(key) ?? '');
  if (current !== undefined) recordChange(state, after(current, 'ends', context.wallClockMs), context);
}

/** Records a changed alert. */
export function recordChange(state: WatchState, alert: Alert, { changes }: StepContext): void {
  if (state.alerts.get(alert.id) === alert) return;
  state.alerts.set(alert.id, alert);
  changes.set(alert.id, alert);
  const key = subjectKey(alert.rule_id, subjectOf(alert));
  if (isClosed(alert)) state.current.delete(key);
  else state.current.set(key, alert.id);
}
