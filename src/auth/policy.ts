import {
  GUEST,
  type CrudOperation,
  type PathRule,
  type Reach,
  type RoleRules,
  segmentsOf,
} from '../model/permission.ts';

/** A permission target: a method of an endpoint, or a use of a topic. */
export interface Target {
  /** Name in messages, such as `GET /v2/zones/:zone_id`. */
  readonly name: string;
  /** Operations, any of which suffices. */
  readonly operations: readonly CrudOperation[];
  /** Whether OWN can permit it, because the target involves ownable entities. */
  readonly ownable: boolean;
  /** Paths in permissions.yaml that refer to the target, besides patterns with an asterisk. */
  readonly paths: readonly string[];
}

/** A rule without effect, because no target has its path. */
export interface UnusedRule {
  readonly role: string;
  readonly rule: PathRule;
}

/** A rule whose path, apart from the version, repeats an earlier rule of its role. */
interface RepeatedRule {
  readonly role: string;
  readonly rule: PathRule;
  readonly earlier: PathRule;
}

/**
 * Role-based policy. All rules are matched with all targets once, so a request costs one lookup per role, whatever the
 * number of rules.
 */
export class Policy {
  readonly unused: readonly UnusedRule[];
  readonly repeated: readonly RepeatedRule[];
  readonly #reaches = new Map<string, ReadonlyMap<Target, Reach>>();

  constructor(roles: readonly RoleRules[], targets: readonly Target[]) {
    const unused: UnusedRule[] = [];
    const repeated: RepeatedRule[] = [];
    for (const { role, rules } of roles) {
      const reaches = new Map<Target, Reach>();
      const seen = new Map<string, { readonly rule: PathRule; readonly count: number }>();
      for (const rule of rules) {
        const meant = targetsOf(rule.path, targets);
        if (meant.length === 0) unused.push({ role, rule });
        permit(rule, meant, reaches);
        // The two forms are equivalent unless there is a target without a version, which only the shorter form matches.
        const key = segmentsOf(rule.path).join('/').replace(/^v1\//, '');
        const earlier = seen.get(key);
        if (earlier?.count === meant.length) repeated.push({ role, rule, earlier: earlier.rule });
        seen.set(key, { rule, count: meant.length });
      }
      this.#reaches.set(role, reaches);
    }
    this.unused = unused;
    this.repeated = repeated;
  }

  has(role: string): boolean {
    return this.#reaches.has(role);
  }

  /** Returns the reach of the roles, including the guest role, at a target; undefined if it is not permitted. hot */
  reach(roles: readonly string[], target: Target): Reach | undefined {
    let reach = this.#reaches.get(GUEST)?.get(target);
    for (let i = 0; i < roles.length && reach !== 'ANY'; i++) {
      reach = this.#reaches.get(roles[i]!)?.get(target) ?? reach;
    }
    return reach;
  }
}

/** Records the reach of a rule at the targets that its path matches. */
function permit({ reach }: PathRule, meant: readonly Target[], reaches: Map<Target, Reach>): void {
  for (const target of meant) {
    for (const operation of target.operations) {
      const given = reach.get(operation);
      if (given === undefined || (given === 'OWN' && !target.ownable)) continue;
      if (reaches.get(target) !== 'ANY') reaches.set(target, given);
    }
  }
}

function targetsOf(path: string, targets: readonly Target[]): readonly Target[] {
  const pattern = segmentsOf(path);
  return targets.filter(({ paths }) => paths.some((candidate) => matches(pattern, segmentsOf(candidate))));
}

/**
 * Whether a pattern matches a path. A final asterisk matches any number of further segments, but no version, which must
 * be explicit. A parameter matches the parameter of the same name.
 */
function matches(pattern: readonly string[], path: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === '*';
  const fixed = isOpen ? pattern.length - 1 : pattern.length;
  if (isOpen ? path.length < fixed : path.length !== fixed) return false;
  if (fixed === 0) return !isVersion(path[0]);
  for (let i = 0; i < fixed; i++) if (pattern[i] !== path[i]) return false;
  return true;
}

function isVersion(segment: string | undefined): boolean {
  return segment === 'v1' || segment === 'v2';
}
