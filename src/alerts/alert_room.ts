import { type Alert, SEVERITIES } from '../model/alert.ts';
import { isOpen } from './alert_state.ts';

/**
 * Capacity for alerts. The hub stores a limited number of alerts. Severities share the capacity for open alerts, so
 * that many unimportant alerts never displace an important one:
 *
 *   severity   open alerts of this and lower severities    when that capacity is exhausted
 *   ---------  ------------------------------------------  --------------------------------------------------------
 *   info       at most 50 %                                the oldest open info alert is removed
 *   warning    at most 80 %                                the oldest open info alert is removed, else not raised
 *   critical   all                                         the oldest open alert of the lowest severity below is
 *                                                          removed, else not raised
 *
 * Cleared alerts use the remaining capacity; the oldest is removed first.
 */
const SHARES: Readonly<Record<Severity, number>> = { info: 0.5, warning: 0.8, critical: 1 };

export type Severity = Alert['severity'];

/** A number for each severity. */
export type BySeverity = Readonly<Record<Severity, number>>;

export const NONE: BySeverity = { info: 0, warning: 0, critical: 0 };

/** Severities whose open alerts an alert displaces if its capacity is exhausted, in order. */
const DISPLACES: Readonly<Record<Severity, readonly Severity[]>> = {
  info: ['info'],
  warning: ['info'],
  critical: ['info', 'warning'],
};

/** Returns the maximum number of open alerts of this and lower severities, given a total capacity of `max` alerts. */
export function roomFor(severity: Severity, max: number): number {
  return Math.ceil(SHARES[severity] * max);
}

/**
 * Returns the alerts to remove before an alert of `severity` is added to `alerts` (oldest first, at most `max`);
 * undefined if it cannot be added. With `onlyFree`, no open alert is removed.
 */
export function removalsFor(
  severity: Severity,
  alerts: ReadonlyMap<string, Alert>,
  { max, onlyFree = false }: { readonly max: number; readonly onlyFree?: boolean },
): readonly Alert[] | undefined {
  const open: Record<Severity, number> = { ...NONE };
  const oldest: Partial<Record<Severity, Alert>> = {};
  const cleared: Alert[] = [];
  for (const alert of alerts.values()) {
    if (!isOpen(alert)) cleared.push(alert);
    else if (open[alert.severity]++ === 0) oldest[alert.severity] = alert;
  }
  const removed: Alert[] = [];
  const levels = SEVERITIES.slice(SEVERITIES.indexOf(severity));
  if (levels.some((level) => upTo(level, open) >= roomFor(level, max))) {
    const displaced = onlyFree ? undefined : DISPLACES[severity].map((lesser) => oldest[lesser]).find((found) => found);
    if (displaced === undefined) return undefined;
    removed.push(displaced);
  }
  const excess = alerts.size - removed.length + 1 - max;
  return excess > 0 ? [...removed, ...cleared.slice(0, excess)] : removed;
}

/** Returns the sum of the counts of a severity and all lower ones. */
function upTo(severity: Severity, counts: BySeverity): number {
  return SEVERITIES.slice(0, SEVERITIES.indexOf(severity) + 1).reduce((sum, each) => sum + counts[each], 0);
}
