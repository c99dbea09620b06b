import type { Alert, AlertRule } from '../model/alert.ts';
import { formatTime } from '../model/time.ts';

/**
 * State machine of an alert. An alert belongs to one rule and one subject: a fence, an object, both, or two trackables.
 * Events start and end its condition; users acknowledge and clear the alert.
 *
 *   state                    condition begins   condition ends      acknowledge     clear
 *   -----------------------  -----------------  ------------------  --------------  --------------
 *   none                     raised             -                   -               -
 *   raised                   -                  raised, over        acknowledged    cleared
 *   raised, over             raised again       -                   cleared         cleared, over
 *   acknowledged             -                  cleared, over       acknowledged    cleared
 *   cleared                  -                  cleared, over       cleared         cleared
 *   cleared, over            a new alert        -                   cleared, over   cleared, over
 *
 * An alert stays open until it is acknowledged, even after its condition has ended. An acknowledged alert clears itself
 * when its condition ends. An alert that was cleared while its condition holds is raised again only after the condition
 * has ended. A rule has at most one open alert per subject.
 */
export type AlertSignal = 'begins' | 'ends' | 'acknowledge' | 'clear';

/** The fence and the objects of an alert. */
export interface AlertSubject {
  readonly fenceId?: string | undefined;
  readonly trackableId?: string | undefined;
  readonly otherId?: string | undefined;
  readonly providerId?: string | undefined;
}

/** A trackable, or a provider. */
export type MovingObject = Pick<AlertSubject, 'trackableId' | 'providerId'>;

/** Returns a new raised alert. */
export function raised(
  rule: AlertRule,
  subject: AlertSubject,
  { id, nowMs, count }: { readonly id: string; readonly nowMs: number; readonly count?: number | undefined },
): Alert {
  const { fenceId, trackableId, otherId, providerId } = subject;
  return {
    id,
    rule_id: rule.id,
    name: rule.name,
    kind: rule.kind,
    severity: severityOf(rule),
    state: 'raised',
    ...(fenceId !== undefined && { fence_id: fenceId }),
    ...(trackableId !== undefined && { trackable_id: trackableId }),
    ...(otherId !== undefined && { other_trackable_id: otherId }),
    ...(providerId !== undefined && { provider_id: providerId }),
    ...(count !== undefined && { count }),
    times: 1,
    raised_at: formatTime(nowMs),
  };
}

/** Orders alerts by the time at which they were raised, those of the same time by id. */
export function byRaised(one: Alert, other: Alert): number {
  const [a, b] = one.raised_at === other.raised_at ? [one.id, other.id] : [one.raised_at, other.raised_at];
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the severity of a rule's alerts; `warning` by default. */
export function severityOf({ severity }: AlertRule): Alert['severity'] {
  return severity ?? 'warning';
}

/** Returns the alert after `signal`, or the same object if the signal changes nothing. */
export function after(alert: Alert, signal: AlertSignal, nowMs: number): Alert {
  const isOver = alert.over_at != null;
  const now = formatTime(nowMs);
  switch (signal) {
    case 'begins': {
      if (alert.state !== 'raised' || !isOver) return alert;
      const { over_at: _over, ...open } = alert;
      return { ...open, times: alert.times + 1 };
    }
    case 'ends':
      if (isOver) return alert;
      if (alert.state === 'acknowledged') return { ...alert, state: 'cleared', cleared_at: now, over_at: now };
      return { ...alert, over_at: now };
    case 'acknowledge':
      if (alert.state !== 'raised') return alert;
      if (isOver) return { ...alert, state: 'cleared', acknowledged_at: now, cleared_at: now };
      return { ...alert, state: 'acknowledged', acknowledged_at: now };
    case 'clear':
      if (alert.state === 'cleared') return alert;
      return { ...alert, state: 'cleared', cleared_at: now };
  }
}

/** Whether the alert still needs attention. */
export function isOpen({ state }: Pick<Alert, 'state'>): boolean {
  return state !== 'cleared';
}

/** Whether the alert is closed, so that its condition raises a new alert if it begins again. */
export function isClosed({ state, over_at: over }: Alert): boolean {
  return state === 'cleared' && over != null;
}

/** Returns the map key of a rule and a subject. The order of the two trackables of a collision does not matter. */
export function subjectKey(ruleId: string, subject: AlertSubject): string {
  const { fenceId = '', trackableId = '', otherId = '', providerId = '' } = subject;
  const [one, other] = otherId !== '' && otherId < trackableId ? [otherId, trackableId] : [trackableId, otherId];
  return JSON.stringify([ruleId, fenceId, one, other, providerId]);
}

/** Returns the map key of an object. Includes the kind, because a provider may have the same id as a trackable. */
export function objectKey({ trackableId, providerId }: MovingObject): string {
  return providerId === undefined ? `trackable ${trackableId}` : `provider ${providerId}`;
}

export function subjectOf(alert: Alert): AlertSubject {
  return {
    fenceId: alert.fence_id ?? undefined,
    trackableId: alert.trackable_id ?? undefined,
    otherId: alert.other_trackable_id ?? undefined,
    providerId: alert.provider_id ?? undefined,
  };
}
