import Type from 'typebox';
import { parseRule } from '../core/rules/parse.ts';
import { type InputBounds, DEFAULT_BOUNDS } from '../model/bounds.ts';
import { checker } from '../model/check.ts';
import { LocatingRule } from '../model/rule.ts';
import { pathOf, show } from '../model/error_value_text.ts';
import { badRequest, onlyMembers } from './body.ts';
import { checkBounds } from './check_bounds.ts';

/** Name of the setting under which the rules are kept. */
export const RULES_SETTING = 'locating_rules';

const schema = checker(Type.Array(LocatingRule));

export interface LocatingRulesDeps {
  /** What may be kept; DEFAULT_BOUNDS when left out. */
  readonly bounds?: InputBounds;
  /**
   * Keeps the rules. Resolves with `applied` where `apply` has taken them in their turn, as it takes all that hubs keep in
   * a log that they share. Rejects with HUB_UNAVAILABLE when it cannot.
   */
  commit(rules: readonly LocatingRule[]): Promise<'applied' | undefined> | Promise<void>;
  /** Tells those who rank locations, as soon as the rules are kept. */
  committed(rules: readonly LocatingRule[]): void;
}

/** The locating rules of trackables that have none of their own. */
export class LocatingRules {
  readonly #deps: LocatingRulesDeps;
  #rules: readonly LocatingRule[] = [];

  constructor(deps: LocatingRulesDeps) {
    this.#deps = deps;
  }

  get current(): readonly LocatingRule[] {
    return this.#rules;
  }

  /** Fills in what the store has kept, and tells of it. */
  load(kept: readonly LocatingRule[] | undefined): void {
    if (kept !== undefined) this.apply(kept);
  }

  /** Takes rules that are kept, unchecked, and tells of them: those of each record of a shared log, in their order. */
  apply(rules: readonly LocatingRule[]): void {
    this.#rules = rules;
    this.#deps.committed(rules);
  }

  /** Replaces all rules. Rejects with HUB_BAD_REQUEST for what is no list of rules, and then leaves them as they were. */
  async replace(body: unknown): Promise<readonly LocatingRule[]> {
    const rules = checkedRules(body, 'rules', this.#deps.bounds);
    if ((await this.#deps.commit(rules)) !== 'applied') this.apply(rules);
    return rules;
  }
}

/** The rules as they are kept. Throws HUB_BAD_REQUEST naming the field under `root` for what is no list of rules. */
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
