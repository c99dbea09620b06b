import { HubError } from '../errors.ts';
import { problemOf, type Problem } from '../problem.ts';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { GEOMETRY_TYPES, geometryProblem, positionProblem } from './geometry_problem.ts';
import { pathOf, show } from './error_value_text.ts';

/** Validator for a schema, which is compiled once. */
export interface Checker<T> {
  /** Whether the value is valid. Fast path: creates no message. */
  fits(value: unknown): value is T;
  /** Returns why the value is invalid, with the field under `root` and the value found; undefined if it is valid. */
  explain(value: unknown, root?: string): Problem | undefined;
  /** Returns the value. Throws HUB_BAD_REQUEST with the explanation if it is invalid. */
  parse(value: unknown, root?: string): T;
}

/** Compiles a schema to a checker. */
export function checker<S extends TSchema>(schema: S): Checker<Static<S>> {
  const compiled = Compile(schema);
  const explain = (value: unknown, root = ''): Problem | undefined => {
    if (compiled.Check(value)) return undefined;
    return explainFirst(compiled.Errors(value) as unknown as readonly Finding[], { schema, value, root });
  };
  return {
    fits: (value): value is Static<S> => compiled.Check(value),
    explain,
    parse(value, root) {
      const found = explain(value, root);
      if (found !== undefined) throw new HubError(found);
      return value as Static<S>;
    },
  };
}

interface Checked {
  readonly schema: TSchema;
  readonly value: unknown;
  readonly root: string;
}

interface Finding {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Record<string, unknown>;
}

/**
 * Explains the most useful finding. A union reports one finding per member and one for itself. The deepest finding
 * belongs to the intended member; among equals, "must be null" (the other half of an optional field) is the least
 * useful.
 */
function explainFirst(findings: readonly Finding[], { schema, value, root }: Checked): Problem {
  let best: Finding | undefined;
  for (const finding of findings) {
    if (best === undefined || rank(finding) > rank(best)) best = finding;
  }
  if (best === undefined) return problemOf('schema_mismatch', { path: root || 'body' });
  const missing = best.keyword === 'required' ? firstMissing(best.params) : undefined;
  const segments = best.instancePath.split('/').slice(1).map(unescapePointer);
  const misshapen = explainGeometry(segments, { schema, value, root });
  if (misshapen !== undefined) return misshapen;
  if (missing !== undefined) return problemOf('missing', { path: pathOf(root, [...segments, missing]) });
  return explainFinding(best, { path: pathOf(root, segments) || 'body', found: show(at(value, segments)) });
}

/** Parts of a schema needed to follow a path to a value. */
interface SchemaNode {
  readonly title?: string;
  readonly anyOf?: readonly SchemaNode[];
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

/**
 * Explains an invalid geometry by its own type. The findings of a union describe how far each geometry type matches,
 * not the intended one. A position in a list is handled the same way. Returns undefined if the path to the finding
 * crosses neither.
 */
function explainGeometry(segments: readonly string[], { schema, value, root }: Checked): Problem | undefined {
  let nodes = membersOf(schema as SchemaNode);
  for (const [depth, segment] of [...segments, ''].entries()) {
    const here = segments.slice(0, depth);
    const types = GEOMETRY_TYPES.filter((type) => nodes.some(({ title }) => title === type));
    if (types.length > 0) return geometryProblem(at(value, here), pathOf(root, here), types);
    if (nodes.some(({ title }) => title === 'Position')) return positionProblem(at(value, here), pathOf(root, here));
    nodes = nodes.flatMap(({ properties, items }) => membersOf(properties?.[segment] ?? items));
  }
  return undefined;
}

function membersOf(node: SchemaNode | undefined): readonly SchemaNode[] {
  return node?.anyOf?.flatMap(membersOf) ?? (node === undefined ? [] : [node]);
}

function rank(finding: Finding): number {
  const depth = finding.instancePath.split('/').length * 4;
  if (finding.keyword === 'anyOf') return depth - 3;
  if (finding.keyword === 'type' && finding.params['type'] === 'null') return depth - 2;
  return depth;
}

function firstMissing(params: Record<string, unknown>): string | undefined {
  const names = params['requiredProperties'];
  return Array.isArray(names) ? String(names[0]) : undefined;
}

interface Where {
  readonly path: string;
  readonly found: string;
}

/** Problems of the keywords with a limit. */
const LIMITS_OF = {
  minimum: (where: Where, minimum: number) => problemOf('below_minimum', { ...where, minimum }),
  maximum: (where: Where, maximum: number) => problemOf('above_maximum', { ...where, maximum }),
  exclusiveMinimum: (where: Where, minimum: number) => problemOf('not_above', { ...where, minimum }),
  exclusiveMaximum: (where: Where, maximum: number) => problemOf('not_below', { ...where, maximum }),
} as const;

/** Reasons of the keywords with a count, and what they count. */
const COUNTS = {
  minLength: ['too_few', 'characters'],
  maxLength: ['too_many', 'characters'],
  minItems: ['too_few', 'items'],
  maxItems: ['too_many', 'items'],
} as const;

const TYPES = {
  array: 'not_an_array',
  boolean: 'not_a_boolean',
  integer: 'not_an_integer',
  number: 'not_a_number',
  object: 'not_an_object',
  string: 'not_a_string',
} as const;

function explainFinding({ keyword, params }: Finding, where: Where): Problem {
  const { type, limit } = params;
  if (keyword === 'enum') {
    return problemOf('out_of_choices', { ...where, allowed: (params['allowedValues'] as unknown[]).map(String) });
  }
  if (isKey(TYPES, type) && keyword === 'type') return problemOf(TYPES[type], where);
  if (keyword === 'type') return problemOf('not_value', { ...where, expected: String(type) });
  if (keyword === 'const') return problemOf('not_value', { ...where, expected: show(params['allowedValue']) });
  if (isKey(LIMITS_OF, keyword)) return LIMITS_OF[keyword](where, Number(limit));
  if (isKey(COUNTS, keyword)) {
    const [reason, unit] = COUNTS[keyword];
    return problemOf(reason, { ...where, limit: Number(limit), unit });
  }
  if (keyword === 'anyOf') return problemOf('no_match', where);
  if (keyword === 'pattern') return problemOf('no_pattern_match', { ...where, pattern: String(params['pattern']) });
  return problemOf('keyword_mismatch', { ...where, keyword });
}

function isKey<T extends object>(table: T, key: unknown): key is keyof T {
  return typeof key === 'string' && Object.hasOwn(table, key);
}

function at(value: unknown, segments: readonly string[]): unknown {
  let found = value;
  for (const segment of segments) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Record<string, unknown>)[segment];
  }
  return found;
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
