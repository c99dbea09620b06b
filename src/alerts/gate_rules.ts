import { ALERT_RULES } from '../entities/alert_rules.ts';
import type { DocumentKind } from '../entities/documents.ts';
import { hubError } from '../errors.ts';
import type { AlertRule } from '../model/alert.ts';
import { pathOf, show } from '../model/error_value_text.ts';
import type { EntityLookup } from './rule_match.ts';

/** Alert rules whose kind `gate` accepts no other fences. Fences that do not exist are accepted: they may follow. */
export function rulesOn(entities: EntityLookup): DocumentKind<AlertRule> {
  return {
    ...ALERT_RULES,
    check(body) {
      const rule = ALERT_RULES.check(body);
      if (rule.kind !== 'gate') return rule;
      for (const [i, id] of (rule.fence_ids ?? []).entries()) {
        const region = entities.fence(id)?.region;
        if (region === undefined || region.type === 'LineString') continue;
        throw hubError('not_a_gate', { path: pathOf('fence_ids', [String(i)]), found: show(id) });
      }
      return rule;
    },
  };
}
