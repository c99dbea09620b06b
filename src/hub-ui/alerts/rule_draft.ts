import type { AlertRule } from '../../model/alert.ts';
import type { FailedRequest } from '../hub/rest.ts';
import { type Text, t } from '../languages/language.ts';

/** Rule under edit. */
export type RuleDraft = Omit<AlertRule, 'id'>;
export type RuleKind = AlertRule['kind'];

/**
 * Sentence of each kind of rule, with placeholders for its parameters. Each is a whole sentence, so that translations can
 * change the word order.
 */
export const SENTENCES = {
  entry: 'Alert when {who} enters {where}',
  exit: 'Alert when {who} leaves {where}',
  inside_longer: 'Alert when {who} is {in} for longer than {long}',
  more_inside: 'Alert when more than {many} are {in}, counting {who}',
  silent: 'Alert when {who} is silent for longer than {long}',
  collision: 'Alert when {who} collides with another',
  count_below: 'Alert when fewer than {few} are {in} for longer than {long}, counting {who}',
  gate: 'Alert when {who} crosses {where} to the {side}',
  speed: 'Alert when {who} moves faster than {fast} m/s {within} for longer than {long}',
  separated: 'Alert when {who} is farther than {apart} m from {others} for longer than {long}',
  together: 'Alert when {who} is within {apart} m of {others} for longer than {long}',
} as const satisfies Readonly<Record<RuleKind, Text>>;

/** Kinds of rules on listed fences only. */
export const ON_LISTED_FENCES: ReadonlySet<RuleKind> = new Set(['count_below', 'gate']);
/** Kinds of rules on listed trackables only. */
export const ON_LISTED_TRACKABLES: ReadonlySet<RuleKind> = new Set(['separated', 'together']);
/** Kinds of rules on trackables only. */
export const ON_TRACKABLES: ReadonlySet<RuleKind> = new Set(['collision', ...ON_LISTED_TRACKABLES]);
/** Kinds of rules that may hold at once, without a duration. */
export const MAY_HOLD_AT_ONCE: ReadonlySet<RuleKind> = new Set(['count_below', 'speed', ...ON_LISTED_TRACKABLES]);

/** Changes to the draft of a rule when its kind changes. */
export function ofKind(
  kind: RuleKind,
  { fence_ids: fences, trackable_ids: trackables }: RuleDraft,
): Partial<RuleDraft> {
  return {
    kind,
    ...(ON_TRACKABLES.has(kind) && { object_type: null, provider_ids: null }),
    ...(ON_LISTED_TRACKABLES.has(kind) && { trackable_ids: trackables ?? [], property: null }),
    ...(ON_LISTED_FENCES.has(kind) && { fence_ids: fences ?? [] }),
  };
}

/** Whether a kind of rule may be limited to some fences. */
export function mayNameFences(kind: RuleKind): boolean {
  return ['{where}', '{in}', '{within}'].some((place) => SENTENCES[kind].includes(place));
}

/** Request body of a rule, without members that do not apply to its kind. */
export function bodyOf(draft: RuleDraft): RuleDraft {
  const { fence_ids: fences, longer_than: long, more_than: many, ...others } = draft;
  const { fewer_than: few, direction, speed_above: fast, distance, other_trackable_ids: companions, ...rest } = others;
  const has = (place: string): boolean => SENTENCES[draft.kind].includes(place);
  return {
    ...rest,
    ...(mayNameFences(draft.kind) && fences != null && { fence_ids: fences }),
    ...(has('{long}') && !(MAY_HOLD_AT_ONCE.has(draft.kind) && long == null) && { longer_than: long ?? UNIT_MS }),
    ...(has('{few}') && { fewer_than: few ?? 1 }),
    ...(has('{side}') && { direction: direction ?? 'left' }),
    ...(has('{fast}') && { speed_above: fast ?? SPEED }),
    ...(has('{apart}') && { distance: distance ?? DISTANCE }),
    ...(has('{others}') && companions != null && { other_trackable_ids: companions }),
    ...(has('{many}') && { more_than: many ?? 0 }),
  };
}

/** Returns the first missing input; undefined for a complete rule. */
export function missingInputOf(draft: RuleDraft): FailedRequest | undefined {
  const { fence_ids: fences, trackable_ids: trackables, provider_ids: providers, property } = draft;
  const { other_trackable_ids: others } = draft;
  if (fences?.length === 0) return { message: t('Choose at least one fence') };
  if (trackables?.length === 0 || others?.length === 0) return { message: t('Choose at least one trackable') };
  const isPair = draft.kind === 'separated' || draft.kind === 'together';
  if (isPair && trackables != null && new Set([...trackables, ...(others ?? [])]).size < 2)
    return { message: t('Choose at least two trackables') };
  if (providers?.length === 0) return { message: t('Choose at least one provider') };
  if (property?.name !== '') return undefined;
  return { params: { path: 'property.name' }, message: t('Name the property') };
}

/** Default duration of a new rule. */
export const UNIT_MS = 10 * 60_000;
/** Default speed of a new rule, in meters per second. */
export const SPEED = 3;
/** Default distance of a new rule, in meters. */
export const DISTANCE = 20;
