import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { HubError } from '../errors.ts';
import { GEOMETRY_TYPES, geometryProblem, positionProblem } from './geometry_problem.ts';
import { pathOf, show } from './error_value_text.ts';

/** Checks a value against a schema, compiled once. */
export interface Checker<T> {
  /** Whether the value is valid. Fast path: creates no message. */
  fits(value: unknown): value is T;
  /** Describes why the value is invalid, with the field under `root` and the value found; undefined if it is valid. */
  explain(value: unknown, root?: string): string | undefined;
  /** Returns the value. Throws HUB_BAD_REQUEST with the explanation if it is invalid. */
  parse(value: unknown, root?: string): T;
}

/** Compiles a schema to a checker. */
export function checker<S extends TSchema>(schema: S): Checker<Static<S>> {
  const compiled = Compile(schema);
  const explain = (value: unknown, root = ''): string | undefined => {
    if (compiled.Check(value)) return undefined;
    return explainFirst(compiled.Errors(value) as unknown as readonly Finding[], { schema, value, root });
  };
  return {
    fits: (value): value is Static<S> => compiled.Check(value),
    explain,
    parse(value, root) {
      const found = explain(value, root);
      if (found !== undefined) throw new HubError('HUB_BAD_REQUEST', found);
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
  readonly message: string;
}

/**
 * A union reports one finding per member and one for itself. The deepest finding belongs to the intended member; among
 * equals, "must be null" (the other half of an optional field) is the least useful.
 */
function explainFirst(findings: readonly Finding[], { schema, value, root }: Checked): string {
  let best: Finding | undefined;
  for (const finding of findings) {
    if (best === undefined || rank(finding) > rank(best)) best = finding;
  }
  if (best === undefined) return `${root || 'body'}: does not fit its schema`;
  const missing = best.keyword === 'required' ? firstMissing(best.params) : undefined;
  const segments = best.instancePath.split('/').slice(1).map(unescapePointer);
  const misshapen = explainGeometry(segments, { schema, value, root });
  if (misshapen !== undefined) return misshapen;
  if (missing !== undefined) return `${pathOf(root, [...segments, missing])}: is required, but is missing`;
  return `${pathOf(root, segments) || 'body'}: ${sentence(best)}, found ${show(at(value, segments))}`;
}

/** The parts of a schema needed to follow a path to a value. */
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
function explainGeometry(segments: readonly string[], { schema, value, root }: Checked): string | undefined {
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

function sentence({ keyword, params, message }: Finding): string {
  if (keyword === 'enum') return `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
  if (keyword === 'type' && typeof params['type'] === 'string') return `must be ${article(params['type'])}`;
  if (keyword === 'const') return `must be ${show(params['allowedValue'])}`;
  return message;
}

function article(type: string): string {
  if (type === 'null') return type;
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
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
