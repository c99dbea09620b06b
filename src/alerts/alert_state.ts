import type { Alert, AlertRule } from '../model/alert.ts';
import { formatTime } from '../model/time.ts';

/**
 * What becomes of one alert. It is about one rule and one subject: a fence, an object, both, or two trackables. Its
 * condition begins and ends by itself; people acknowledge and clear it.
 *
 *   state                    condition begins   condition ends      acknowledge     clear
 *   -----------------------  -----------------  ------------------  --------------  --------------
 *   none                     raised             -                   -               -
 *   raised                   -                  raised, over        acknowledged    cleared
 *   raised, over             raised, once more  -                   cleared         cleared, over
 *   acknowledged             -                  cleared, over       acknowledged    cleared
 *   cleared                  -                  cleared, over       cleared         cleared
 *   cleared, over            a new alert        -                   cleared, over   cleared, over
 *
 * So what nobody has looked at stays, though it is over; what somebody knows of goes by itself when it is over; and what
 * somebody has cleared while it holds is not raised again before it was over once. A subject has one open alert of a
 * rule at most, however often it comes and goes.
 */
export type Signal = 'begins' | 'ends' | 'acknowledge' | 'clear';

/** What an alert is about. */
export interface Subject {
  readonly fenceId?: string | undefined;
  readonly trackableId?: string | undefined;
  readonly otherId?: string | undefined;
  readonly providerId?: string | undefined;
}

/** What moves: a trackable, or a provider. */
export type Moving = Pick<Subject, 'trackableId' | 'providerId'>;

/** The alert that is raised where there is none. */
export function raised(
  rule: AlertRule,
  subject: Subject,
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

/** The severity of the alerts of a rule. */
export function severityOf({ severity }: AlertRule): Alert['severity'] {
  return severity ?? 'warning';
}

/** The alert after a signal; the same where that changes nothing. */
export function after(alert: Alert, signal: Signal, nowMs: number): Alert {
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

/** Whether somebody should still look at it. */
export function isOpen({ state }: Pick<Alert, 'state'>): boolean {
  return state !== 'cleared';
}

/** Whether a condition that begins anew is another alert's. */
export function isDone({ state, over_at: over }: Alert): boolean {
  return state === 'cleared' && over != null;
}

/** By which an alert of a rule about a subject is found. */
export function subjectKey(ruleId: string, subject: Subject): string {
  const { fenceId = '', trackableId = '', otherId = '', providerId = '' } = subject;
  const [one, other] = otherId !== '' && otherId < trackableId ? [otherId, trackableId] : [trackableId, otherId];
  return JSON.stringify([ruleId, fenceId, one, other, providerId]);
}

/** By which an object is found: a provider may have the id of a trackable. */
export function movingKey({ trackableId, providerId }: Moving): string {
  return providerId === undefined ? `trackable ${trackableId}` : `provider ${providerId}`;
}

export function subjectOf(alert: Alert): Subject {
  return {
    fenceId: alert.fence_id ?? undefined,
    trackableId: alert.trackable_id ?? undefined,
    otherId: alert.other_trackable_id ?? undefined,
    providerId: alert.provider_id ?? undefined,
  };
}
