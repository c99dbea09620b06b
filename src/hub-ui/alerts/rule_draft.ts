import type { AlertRule } from '../../model/alert.ts';
import type { FailedRequest } from '../hub/rest.ts';
import { type Text, t } from '../languages/language.ts';

/** Rule under edit. */
export type RuleDraft = Omit<AlertRule, 'id'>;
export type RuleKind = AlertRule['kind'];

/**
 * Sentence of each kind of rule, with placeholders for its parameters: `{who}`, `{where}`, `{long}` and `{many}`. Each is a
 * whole sentence, so that translations can change the word order.
 */
export const SENTENCES = {
  entry: 'Alert when {who} enters {where}',
  exit: 'Alert when {who} leaves {where}',
  inside_longer: 'Alert when {who} is in {where} for longer than {long}',
  more_inside: 'Alert when {where} has more than {many} inside, counting {who}',
  silent: 'Alert when {who} is silent for longer than {long}',
  collision: 'Alert when {who} collides with another',
} as const satisfies Readonly<Record<RuleKind, Text>>;

/** Changes to the draft of a rule when its kind changes: only trackables collide. */
export function ofKind(kind: RuleKind): Partial<RuleDraft> {
  return kind === 'collision' ? { kind, object_type: null, provider_ids: null } : { kind };
}

/** Request body of a rule, without members that do not apply to its kind. */
export function bodyOf(draft: RuleDraft): RuleDraft {
  const { fence_ids: fences, longer_than: long, more_than: many, ...rest } = draft;
  const has = (place: string): boolean => SENTENCES[draft.kind].includes(place);
  return {
    ...rest,
    ...(has('{where}') && fences != null && { fence_ids: fences }),
    ...(has('{long}') && { longer_than: long ?? UNIT_MS }),
    ...(has('{many}') && { more_than: many ?? 0 }),
  };
}

/** Returns the first missing input; undefined for a complete rule. */
export function missingInputOf(draft: RuleDraft): FailedRequest | undefined {
  const { fence_ids: fences, trackable_ids: trackables, provider_ids: providers, property } = draft;
  if (fences?.length === 0) return { message: t('Choose at least one fence') };
  if (trackables?.length === 0) return { message: t('Choose at least one trackable') };
  if (providers?.length === 0) return { message: t('Choose at least one provider') };
  if (property?.name !== '') return undefined;
  return { params: { path: 'property.name' }, message: t('Name the property') };
}

/** Default duration of a new rule. */
export const UNIT_MS = 10 * 60_000;
