import { parseRule } from '../core/rules/parse.ts';
import type { LocatingRule } from '../model/rule.ts';
import { pathOf, show } from '../model/show.ts';
import { badRequest } from './body.ts';

/** Throws HUB_BAD_REQUEST naming the rule under `root` whose priority is no integer, or whose expression is none. */
export function checkRules(rules: readonly LocatingRule[], root: string): void {
  for (const [i, { expression, priority }] of rules.entries()) {
    const path = pathOf(root, [String(i)]);
    if (!Number.isSafeInteger(priority)) {
      throw badRequest(`${path}.priority: must be <= ${Number.MAX_SAFE_INTEGER}, found ${show(priority)}`);
    }
    parseRule(expression, `${path}.expression`);
  }
}
