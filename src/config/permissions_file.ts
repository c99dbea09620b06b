import { isMap, isScalar, isSeq, LineCounter, type Pair, parseDocument } from 'yaml';
import { StartupError } from '../errors.ts';
import {
  OPERATIONS,
  type CrudOperation,
  type PathRule,
  type Reach,
  type RoleRules,
  segmentsOf,
} from '../model/permission.ts';
import { show } from '../model/error_value_text.ts';
import { didYouMean } from './suggest.ts';
import { yamlProblem } from './yaml_problem.ts';

const PERMISSIONS: ReadonlyMap<string, readonly [CrudOperation, Reach]> = new Map(
  OPERATIONS.flatMap((operation) => {
    return (['ANY', 'OWN'] as const).map((reach) => [`${operation}_${reach}`, [operation, reach]] as const);
  }),
);

/** Permissions and problems read from one file. */
interface Reading {
  place(node: unknown): string;
  readonly problems: string[];
}

/** The first permission of a role with each reach, and its location. */
type FirstOf = Map<Reach, { readonly permission: string; readonly place: string }>;

/**
 * Parses permissions.yaml: roles, their paths, and the permissions there. `name` is the file in messages. Throws a
 * StartupError with one line per problem.
 */
export function readPermissions(text: string, name: string): readonly RoleRules[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const at = (offset: number) => `${name}:${lines.linePos(offset).line}`;
  const wrong = yamlProblem(document);
  if (wrong !== undefined) throw new StartupError(`${at(wrong.offset)}: ${wrong.text}`);
  const problems: string[] = [];
  const place = (node: unknown): string => {
    const range = (node as { readonly range?: readonly number[] | null } | null | undefined)?.range;
    return range == null ? name : at(range[0] ?? 0);
  };
  const root = document.contents;
  const roles: RoleRules[] = [];
  if (isMap(root)) roles.push(...rolesIn(root.items, { place, problems }));
  else problems.push(`${place(root)}: must be roles with their paths, found ${shown(root)}`);
  if (problems.length > 0) throw new StartupError(problems.join('\n'));
  return roles;
}

function rolesIn(items: readonly Pair[], reading: Reading): RoleRules[] {
  const earlier = new Map<string, string>();
  return items.map(({ key, value }) => {
    const role = textOf(key);
    const place = reading.place(key);
    once(earlier, { key: role, what: `role ${show(role)}`, place, advice: 'write its paths there' }, reading);
    if (isMap(value)) return { role, rules: rulesIn(role, value.items, reading) };
    reading.problems.push(`${place}: role ${show(role)}: must be paths with their permissions, found ${shown(value)}`);
    return { role, rules: [] };
  });
}

function rulesIn(role: string, items: readonly Pair[], reading: Reading): PathRule[] {
  const earlier = new Map<string, string>();
  const firstOf: FirstOf = new Map();
  const rules = items.flatMap(({ key, value }) => {
    const path = textOf(key);
    if (path === 'description') return [];
    const place = reading.place(key);
    const what = `role ${show(role)}: path ${show(path)}`;
    const wrong = problemOf(path);
    if (wrong !== undefined) {
      reading.problems.push(`${place}: ${what}: ${wrong}`);
      return [];
    }
    once(earlier, { key: segmentsOf(path).join('/'), what, place, advice: 'write its permissions there' }, reading);
    return [{ path, location: place, reach: reachOf(value, { what, place, firstOf }, reading) }];
  });
  const [first, second] = [...firstOf.values()];
  if (first !== undefined && second !== undefined) {
    const both = `has ${first.permission} at ${first.place} and ${second.permission}`;
    const advice = 'a role has ANY or OWN throughout, so write one of them into another role';
    reading.problems.push(`${second.place}: role ${show(role)}: ${both}: ${advice}`);
  }
  return rules;
}

function problemOf(path: string): string | undefined {
  if (!path.startsWith('/')) return 'must begin with a slash, unless it is "description"';
  if (/\*(?!$)|[^/]\*$/.test(path)) return 'may have an asterisk as its last segment only';
  return undefined;
}

function once(
  earlier: Map<string, string>,
  { key, what, place, advice }: Record<'key' | 'what' | 'place' | 'advice', string>,
  { problems }: Reading,
): void {
  const first = earlier.get(key);
  if (first === undefined) earlier.set(key, place);
  else problems.push(`${place}: ${what}: is there already, at ${first}: ${advice}`);
}

/** Parses a list of permissions, whose operations have ANY or OWN. Records the first ones of the role. */
function reachOf(
  value: unknown,
  { what, place, firstOf }: { readonly what: string; readonly place: string; readonly firstOf: FirstOf },
  reading: Reading,
): ReadonlyMap<CrudOperation, Reach> {
  const reach = new Map<CrudOperation, Reach>();
  if (!isSeq(value)) {
    reading.problems.push(`${place}: ${what}: must be a list of permissions, found ${shown(value)}`);
    return reach;
  }
  for (const item of value.items) {
    const written = textOf(item);
    const permission = PERMISSIONS.get(written);
    if (permission === undefined) {
      const names = [...PERMISSIONS.keys()];
      const wanted = `must be one of ${names.join(', ')}, found ${shown(item)}`;
      reading.problems.push(`${reading.place(item)}: ${what}: ${wanted}${didYouMean(written, names)}`);
      continue;
    }
    const [operation, wide] = permission;
    if (!firstOf.has(wide)) firstOf.set(wide, { permission: written, place: reading.place(item) });
    reach.set(operation, wide);
  }
  return reach;
}

function textOf(node: unknown): string {
  return isScalar(node) ? String(node.value) : '';
}

function shown(node: unknown): string {
  if (isMap(node)) return 'a map';
  if (isSeq(node)) return 'a list';
  return isScalar(node) && node.value !== null ? show(node.value) : 'nothing';
}
