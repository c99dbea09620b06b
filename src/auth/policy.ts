import { GUEST, type Operation, type PathRule, type Reach, type RoleRules } from '../model/permission.ts';

/** Something that can be permitted: a method of an endpoint, or a use of a topic. One row of the table of all of them. */
export interface Target {
  /** For messages: `GET /v2/zones/:zone_id`. */
  readonly name: string;
  /** Any of them is enough. */
  readonly operations: readonly Operation[];
  /** Whether OWN can permit it: there is something in it that can be owned. */
  readonly ownable: boolean;
  /** Paths of permissions.yaml that mean it, beside those with an asterisk above them. */
  readonly paths: readonly string[];
}

/** A rule that permits nothing, since no target has its path. */
export interface UnusedRule {
  readonly role: string;
  readonly rule: PathRule;
}

/**
 * Who may do what. All rules are matched with all targets once, so that a request costs one look-up for each role of its
 * token, whatever the number of rules.
 */
export class Policy {
  readonly unused: readonly UnusedRule[];
  readonly #reaches = new Map<string, ReadonlyMap<Target, Reach>>();

  constructor(roles: readonly RoleRules[], targets: readonly Target[]) {
    const unused: UnusedRule[] = [];
    for (const { role, rules } of roles) {
      const reaches = new Map<Target, Reach>();
      for (const rule of rules) if (!apply(rule, targets, reaches)) unused.push({ role, rule });
      this.#reaches.set(role, reaches);
    }
    this.unused = unused;
  }

  has(role: string): boolean {
    return this.#reaches.has(role);
  }

  /** How far the roles, and the one that everybody has, reach at a target; undefined: it is not permitted. hot */
  reach(roles: readonly string[], target: Target): Reach | undefined {
    let reach = this.#reaches.get(GUEST)?.get(target);
    for (let i = 0; i < roles.length && reach !== 'ANY'; i++) {
      reach = this.#reaches.get(roles[i]!)?.get(target) ?? reach;
    }
    return reach;
  }
}

/** Notes what a rule permits; returns false when its path means no target. */
function apply({ path, reach }: PathRule, targets: readonly Target[], reaches: Map<Target, Reach>): boolean {
  const pattern = segmentsOf(path);
  let used = false;
  for (const target of targets) {
    if (!target.paths.some((candidate) => matches(pattern, segmentsOf(candidate)))) continue;
    used = true;
    for (const operation of target.operations) {
      const given = reach.get(operation);
      if (given === undefined || (given === 'OWN' && !target.ownable)) continue;
      if (reaches.get(target) !== 'ANY') reaches.set(target, given);
    }
  }
  return used;
}

/** A path may be written with the prefixes that requests may have, and with a slash at the end. */
export function segmentsOf(path: string): readonly string[] {
  const segments = path.split('/').filter((segment) => segment !== '');
  return segments[0] === 'hub' || segments[0] === 'deephub' ? segments.slice(1) : segments;
}

/** An asterisk at the end stands for any further segments, or none. A parameter means the parameter of that name. */
function matches(pattern: readonly string[], path: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === '*';
  const fixed = isOpen ? pattern.length - 1 : pattern.length;
  if (isOpen ? path.length < fixed : path.length !== fixed) return false;
  for (let i = 0; i < fixed; i++) if (pattern[i] !== path[i]) return false;
  return true;
}
