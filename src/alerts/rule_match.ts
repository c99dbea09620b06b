import type { AlertKind, AlertRule, AlertSchedule } from '../model/alert.ts';
import { WEEKDAYS } from '../model/weekdays.ts';
import { idKey } from '../model/id.ts';
import { clockOf } from '../model/zone_clock.ts';
import type { MovingObject } from './alert_state.ts';

/** Lookup of fences and objects. */
export interface EntityLookup {
  /** The fence with an id, whose letter case may differ. */
  fence(id: string): KnownFence | undefined;
  trackable(id: string): WithProperties | undefined;
  trackables(): Iterable<{ readonly id: string }>;
  provider(id: string): WithProperties | undefined;
  providers(): Iterable<{ readonly id: string }>;
  /** Whether a provider moves any trackable. */
  isAssigned(providerId: string): boolean;
}

/** A fence with its region, if that is known. */
interface KnownFence {
  readonly id: string;
  readonly region?: { readonly type: string };
}

interface WithProperties {
  readonly id: string;
  readonly properties?: object | null;
}

/** A rule with its ids as sets. */
export interface CompiledRule {
  readonly rule: AlertRule;
  readonly fences: ReadonlySet<string> | undefined;
  readonly trackables: ReadonlySet<string> | undefined;
  readonly providers: ReadonlySet<string> | undefined;
  /** When the rule is in effect. */
  readonly schedule: ScheduleLookup;
}

export function compileRule(rule: AlertRule): CompiledRule {
  const { fence_ids: fences, trackable_ids: trackables, provider_ids: providers } = rule;
  const schedule = compileSchedule(rule.schedule);
  return { rule, fences: keysOf(fences), trackables: keysOf(trackables), providers: keysOf(providers), schedule };
}

function keysOf(ids: readonly string[] | null | undefined): ReadonlySet<string> | undefined {
  return ids == null ? undefined : new Set(ids.map(idKey));
}

/** Whether a rule applies to trackables. */
export function watchesTrackables({ object_type: type }: AlertRule): boolean {
  return type !== 'location_provider';
}

/** Whether a rule applies to location providers. */
export function watchesProviders({ object_type: type }: AlertRule): boolean {
  return type === 'location_provider' || type === 'any';
}

/** Whether a rule applies to an object. False for an object that does not exist. */
export function concernsObject(
  each: CompiledRule,
  { trackableId, providerId }: MovingObject,
  known: EntityLookup,
): boolean {
  if (providerId !== undefined) {
    if (!watchesProviders(each.rule)) return false;
    if (each.providers === undefined ? known.isAssigned(providerId) : !each.providers.has(idKey(providerId)))
      return false;
    return hasProperty(each, known.provider(providerId));
  }
  if (trackableId === undefined || !watchesTrackables(each.rule)) return false;
  if (each.trackables !== undefined && !each.trackables.has(idKey(trackableId))) return false;
  return hasProperty(each, known.trackable(trackableId));
}

function hasProperty({ rule: { property } }: CompiledRule, found: WithProperties | undefined): boolean {
  if (found === undefined || property == null) return found !== undefined;
  const properties = (found.properties ?? {}) as Readonly<Record<string, unknown>>;
  return Object.hasOwn(properties, property.name) && String(properties[property.name]) === String(property.value);
}

/** Yields all objects of the kinds to which a rule applies. */
export function* objectsFor({ rule }: CompiledRule, known: EntityLookup): Iterable<MovingObject> {
  if (watchesTrackables(rule)) for (const { id } of known.trackables()) yield { trackableId: id };
  if (watchesProviders(rule)) for (const { id } of known.providers()) yield { providerId: id };
}

export function concernsFence({ fences }: CompiledRule, fenceId: string): boolean {
  return fences === undefined || fences.has(idKey(fenceId));
}

const STAY_KINDS: ReadonlySet<AlertKind> = new Set(['entry', 'exit', 'inside_longer', 'more_inside', 'count_below']);

/** Whether a rule depends on which objects are inside of fences. */
export function dependsOnStays({ kind, fence_ids: fences }: AlertRule): boolean {
  return STAY_KINDS.has(kind) || (kind === 'speed' && fences != null);
}

/** Whether a rule depends on fence events. */
export function dependsOnFenceEvents(rule: AlertRule): boolean {
  return rule.kind === 'gate' || dependsOnStays(rule);
}

/** Whether the conditions of a rule depend on samples of speeds or positions. */
export function dependsOnSamples({ kind }: Pick<AlertRule, 'kind'>): boolean {
  return kind === 'speed' || kind === 'separated' || kind === 'together';
}

/** Whether a schedule is in effect, and until when that does not change, as wall-clock time. */
export interface ScheduleState {
  readonly isActive: boolean;
  readonly untilMs: number;
}

const [DAY_MS, MINUTE_MS] = [86_400_000, 60_000] as const;
/** Days after the current one whose windows are inspected: more than a week, so that each weekday occurs. */
const DAYS_AHEAD = 8;

/** Returns the state of a schedule at a wall-clock time. */
export type ScheduleLookup = (atMs: number) => ScheduleState;

const ALWAYS: ScheduleState = { isActive: true, untilMs: Number.POSITIVE_INFINITY };

/**
 * Compiles a schedule; without one, a rule is always in effect.
 *
 * Each selected weekday begins a window, which ends at `to`, on the next day unless `to` is after `from`. When clocks
 * are set back, a time that occurs twice begins a window the first time and ends one the second time. When clocks are
 * set forward, a time that does not occur counts as the time that follows the change by the same interval.
 */
export function compileSchedule(schedule: AlertSchedule | null | undefined): ScheduleLookup {
  if (schedule == null) return () => ALWAYS;
  const clock = clockOf(schedule.time_zone ?? 'UTC');
  const [from, to] = [millisecondsOf(schedule.from), millisecondsOf(schedule.to)];
  const days = schedule.days?.map((day) => WEEKDAYS.indexOf(day));
  return (atMs) => {
    const today = Math.floor(clock.wallMs(atMs) / DAY_MS) * DAY_MS;
    let end = Number.NEGATIVE_INFINITY;
    for (let day = -1; day <= DAYS_AHEAD; day++) {
      const midnight = today + day * DAY_MS;
      if (days !== undefined && !days.includes(new Date(midnight).getUTCDay())) continue;
      const begin = clock.timeOf(midnight + from);
      // A window that begins before the previous one has ended continues it.
      if (begin > atMs && begin > end) {
        return end > atMs ? { isActive: true, untilMs: end } : { isActive: false, untilMs: begin };
      }
      end = Math.max(end, clock.lastTimeOf(midnight + to + (to > from ? 0 : DAY_MS)));
    }
    return { isActive: end > atMs, untilMs: Math.max(end, atMs + DAY_MS) };
  };
}

/** Returns a time of day such as 22:00 as the time since midnight; midnight by default. */
function millisecondsOf(time: string | null | undefined): number {
  const [hours = 0, minutes = 0] = (time ?? '00:00').split(':').map(Number);
  return (hours * 60 + minutes) * MINUTE_MS;
}
