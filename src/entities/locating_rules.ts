import { hubError } from '../errors.ts';
import Type from 'typebox';
import { parseRule } from '../core/rules/parse.ts';
import type { Author } from '../model/audit.ts';
import { type InputBounds, DEFAULT_BOUNDS } from '../model/bounds.ts';
import { checker } from '../model/check.ts';
import { LocatingRule } from '../model/rule.ts';
import { pathOf, show } from '../model/error_value_text.ts';
import type { AuditedChange } from './audited.ts';
import { onlyMembers } from './body.ts';
import { checkBounds } from './check_bounds.ts';

/** Name of the setting that stores the rules. */
export const RULES_SETTING = 'locating_rules';

const schema = checker(Type.Array(LocatingRule));

export interface LocatingRulesDeps {
  /** Limits on stored values; default: DEFAULT_BOUNDS. */
  readonly bounds?: InputBounds;
  /**
   * Stores the rules. Resolves with `applied` if `apply` has already received them, as happens with a shared log of
   * hubs. Rejects with HUB_UNAVAILABLE on failure.
   */
  commit(rules: readonly LocatingRule[], audited?: AuditedChange): Promise<'applied' | undefined> | Promise<void>;
  /** Notifies the parts that rank locations, as soon as the rules are stored. */
  committed(rules: readonly LocatingRule[]): void;
}

/** The locating rules of trackables without own rules. */
export class LocatingRules {
  readonly #deps: LocatingRulesDeps;
  #rules: readonly LocatingRule[] = [];

  constructor(deps: LocatingRulesDeps) {
    this.#deps = deps;
  }

  get current(): readonly LocatingRule[] {
    return this.#rules;
  }

  /** Loads stored rules, with a notification. */
  load(stored: readonly LocatingRule[] | undefined): void {
    if (stored !== undefined) this.apply(stored);
  }

  /** Applies stored rules, unchecked, with a notification: those of each record of a shared log, in order. */
  apply(rules: readonly LocatingRule[]): void {
    this.#rules = rules;
    this.#deps.committed(rules);
  }

  /** Replaces all rules. Rejects with HUB_BAD_REQUEST for an invalid list, without changes. */
  async replace(body: unknown, by?: Author): Promise<readonly LocatingRule[]> {
    const rules = checkedRules(body, 'rules', this.#deps.bounds);
    if ((await this.#deps.commit(rules, this.audited(rules, by))) !== 'applied') this.apply(rules);
    return rules;
  }

  /** Returns what the audit log records about a replacement of all rules; undefined without an author. */
  audited(after: readonly LocatingRule[], by: Author | undefined): AuditedChange | undefined {
    return by && { kind: RULES_SETTING, id: RULES_SETTING, before: this.#rules, after, by };
  }
}

/** The rules in stored form. Throws HUB_BAD_REQUEST naming the field under `root` for an invalid list. */
export function checkedRules(
  body: unknown,
  root: string,
  bounds: InputBounds = DEFAULT_BOUNDS,
): readonly LocatingRule[] {
  const rules = schema.parse(body, root).map((rule) => onlyMembers(LocatingRule, rule));
  checkBounds({ [root]: rules }, bounds);
  checkRules(rules, root);
  return rules;
}

/**
 * Throws HUB_BAD_REQUEST naming the rule under `root` whose priority is not an integer, or whose expression is invalid.
 */
export function checkRules(rules: readonly LocatingRule[], root: string): void {
  for (const [i, { expression, priority }] of rules.entries()) {
    const path = pathOf(root, [String(i)]);
    if (!Number.isSafeInteger(priority)) {
      throw hubError('above_maximum', {
        path: `${path}.priority`,
        maximum: String(Number.MAX_SAFE_INTEGER),
        found: show(priority),
      });
    }
    parseRule(expression, `${path}.expression`);
  }
}
