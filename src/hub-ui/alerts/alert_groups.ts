import { type Alert, SEVERITIES } from '../../model/alert.ts';

/** Alerts of one rule that concern one fence, or no fence. */
export interface AlertGroup {
  /** Identifies the group among others, and stays the same while its alerts change. */
  readonly key: string;
  /** Alerts, newest first. There is at least one. */
  readonly alerts: readonly Alert[];
  readonly newest: Alert;
  /** Highest severity of its open alerts; of all its alerts if none is open. */
  readonly severity: Alert['severity'];
  /** Number of times that the conditions of its alerts began. */
  readonly times: number;
  /** Number of different trackables and providers in its alerts. 0 if they concern fences alone. */
  readonly objects: number;
  readonly raised: readonly Alert[];
  /** Alerts that are raised or acknowledged. */
  readonly open: readonly Alert[];
  /** Time of its first open alert, RFC 3339; of its first alert if none is open. */
  readonly since: string;
}

/**
 * Groups alerts by rule and fence. Groups with open alerts come first, then the more severe, then those with unacknowledged
 * alerts, then those that began last. A further alert does not move a group among its equals, so rows stay in place under
 * the pointer while alerts arrive.
 */
export function groupAlerts(alerts: Iterable<Alert>): readonly AlertGroup[] {
  const byKey = new Map<string, Alert[]>();
  for (const alert of alerts) {
    const key = keyOf(alert);
    const group = byKey.get(key);
    if (group === undefined) byKey.set(key, [alert]);
    else group.push(alert);
  }
  return [...byKey].map(([key, members]) => groupOf(key, members)).sort(compareGroups);
}

/** Total order of groups: 0 only for groups with the same key. */
export function compareGroups(one: AlertGroup, other: AlertGroup): number {
  return (
    Number(other.open.length > 0) - Number(one.open.length > 0) ||
    SEVERITIES.indexOf(other.severity) - SEVERITIES.indexOf(one.severity) ||
    Number(other.raised.length > 0) - Number(one.raised.length > 0) ||
    compareText(other.since, one.since) ||
    compareText(one.key, other.key)
  );
}

function keyOf({ rule_id: rule, fence_id: fence }: Alert): string {
  return JSON.stringify([rule, fence ?? null]);
}

function groupOf(key: string, members: Alert[]): AlertGroup {
  const alerts = members.sort(compareAlerts);
  const open = alerts.filter(({ state }) => state !== 'cleared');
  const decisive = open.length > 0 ? open : alerts;
  const objects = alerts.flatMap(({ trackable_id: trackable, other_trackable_id: other, provider_id: provider }) => [
    ...[trackable, other].filter((id) => id != null).map((id) => `trackable ${id}`),
    ...(provider == null ? [] : [`provider ${provider}`]),
  ]);
  return {
    key,
    alerts,
    newest: alerts[0] as Alert,
    severity: SEVERITIES.findLast((severity) => decisive.some((alert) => alert.severity === severity)) ?? 'info',
    times: alerts.reduce((sum, { times }) => sum + times, 0),
    objects: new Set(objects).size,
    raised: alerts.filter(({ state }) => state === 'raised'),
    open,
    since: (decisive.at(-1) as Alert).raised_at,
  };
}

/** Total order of alerts, newest first. */
function compareAlerts(one: Alert, other: Alert): number {
  return compareText(other.raised_at, one.raised_at) || compareText(one.id, other.id);
}

/** Order by code units. The hub writes all times in the same format, in UTC. */
function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
