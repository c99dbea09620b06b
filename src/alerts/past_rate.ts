import type { AlertRate, AlertRule } from '../model/alert.ts';
import { formatTime } from '../model/time.ts';
import { dependsOnFenceEvents, type EntityLookup } from './rule_match.ts';
import { step } from './watch.ts';
import { collisionEvent, fenceEvent } from './watch_events.ts';
import { crossingKey, type FenceCrossing, type FenceStay, nextMs, type WatchEvent, watchState } from './watch_state.ts';

/** All events of a topic in a span of wall-clock time, oldest first. */
export interface PastEvents {
  readonly fromMs: number;
  readonly toMs: number;
  readonly events: readonly { readonly timeMs: number; readonly json: string }[];
}

export type PastTopic = 'fence_events' | 'collision_events';

/** Returns the topic on whose events a rule depends; undefined for rules that depend on positions. */
export function pastTopicOf(rule: AlertRule): PastTopic | undefined {
  if (rule.kind === 'collision') return 'collision_events';
  return dependsOnFenceEvents(rule) && rule.kind !== 'speed' ? 'fence_events' : undefined;
}

/**
 * Returns how often the condition of a rule would have begun in the past, by the current entities. Conditions that hold
 * at the start of the span do not count. `stays` are the current ones, with entry times as wall-clock time: objects that
 * have been inside for the whole span have no events.
 */
export function pastRateOf(
  rule: AlertRule,
  { fromMs, toMs, events: published }: PastEvents,
  { stays, entities }: { readonly stays: readonly FenceStay[]; readonly entities: EntityLookup },
): AlertRate {
  const eventsOf = rule.kind === 'collision' ? collisionEvent : fenceEvent;
  const events = published.flatMap(({ timeMs, json }) => eventsOf(json).map((event) => ({ timeMs, event })));
  const state = watchState();
  // Without capacity for alerts, the state counts each condition that begins.
  const common = { entities, newId: () => '', alertsMax: 0 };
  const evaluate = (atMs: number, what: readonly WatchEvent[]): void => {
    step(state, { ...common, nowMs: atMs, wallClockMs: atMs, events: what });
  };
  const evaluateUntil = (atMs: number): void => {
    for (let dueMs = nextMs(state); dueMs <= atMs; dueMs = nextMs(state)) evaluate(dueMs, []);
  };
  const inside = staysAt(fromMs, { events: events.map(({ event }) => event), stays });
  evaluate(fromMs, [{ what: 'rules', rules: [{ ...rule, enabled: true }], stays: inside }]);
  const before = state.dropped;
  for (const { timeMs, event } of events) {
    const atMs = Math.min(Math.max(timeMs, fromMs), toMs);
    evaluateUntil(atMs);
    evaluate(atMs, [event]);
  }
  evaluateUntil(toMs);
  return { from: formatTime(fromMs), to: formatTime(toMs), times: state.dropped - before };
}

/** Returns the objects inside of fences at the start of a span: those that leave first, or have never left. */
function staysAt(
  fromMs: number,
  { events, stays }: { readonly events: readonly WatchEvent[]; readonly stays: readonly FenceStay[] },
): readonly FenceStay[] {
  const first = new Map<string, { readonly isInside: boolean; readonly crossing: FenceCrossing }>();
  for (const event of events) {
    if (event.what !== 'entered' && event.what !== 'left') continue;
    const { what, ...crossing } = event;
    const key = crossingKey(crossing);
    if (!first.has(key)) first.set(key, { isInside: what === 'left', crossing });
  }
  const left = [...first.values()].flatMap(({ isInside, crossing }) => (isInside ? [crossing] : []));
  const stayed = stays.filter((stay) => stay.sinceMs < fromMs && !first.has(crossingKey(stay)));
  return [...left.map((crossing) => ({ ...crossing, sinceMs: fromMs })), ...stayed];
}
