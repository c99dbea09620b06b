import type { AlertKind, AlertRule } from '../model/alert.ts';
import { idKey } from '../model/id.ts';
import type { MovingObject } from './alert_state.ts';

/** Lookup of fences and objects. */
export interface EntityLookup {
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

/** A rule with its ids as sets. */
export interface CompiledRule {
  readonly rule: AlertRule;
  readonly fences: ReadonlySet<string> | undefined;
  readonly trackables: ReadonlySet<string> | undefined;
  readonly providers: ReadonlySet<string> | undefined;
}

export function compileRule(rule: AlertRule): CompiledRule {
  const { fence_ids: fences, trackable_ids: trackables, provider_ids: providers } = rule;
  return { rule, fences: keysOf(fences), trackables: keysOf(trackables), providers: keysOf(providers) };
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

/** Kinds of rules that depend on which objects are inside of fences. */
export const FENCE_KINDS: ReadonlySet<AlertKind> = new Set(['entry', 'exit', 'inside_longer', 'more_inside']);
