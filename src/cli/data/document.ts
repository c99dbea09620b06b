import { readFileSync } from 'node:fs';
import { isUnset } from '../../model/id.ts';
import { parseKeeping } from '../../model/keep_numbers.ts';
import { CommandError } from '../command_error.ts';

/**
 * All entities as one JSON document:
 *
 *     { "format": "location-hub-entities", "version": 1, "exported_at": "2026-11-21T03:04:52.000Z",
 *       "anchors": […], "zones": […], "trackables": […], "providers": […], "fences": […], "locating_rules": […] }
 *
 * An entity stands there as the API takes it; a local fence whose zone is gone has in `former_zone` what places it. A list
 * that is missing says nothing.
 */
export const FORMAT = 'location-hub-entities';
export const FORMAT_VERSION = 1;

/** The lists, in the order in which their entities need each other, and the kind of each. */
export const LISTS = [
  ['anchors', 'anchor'],
  ['trackables', 'trackable'],
  ['zones', 'zone'],
  ['providers', 'provider'],
  ['fences', 'fence'],
] as const;
export type ListName = (typeof LISTS)[number][0];
export type ListedKind = (typeof LISTS)[number][1];

/** An entity of a document, with its place there: `fences[3]`. */
export interface Listed {
  readonly kind: ListedKind;
  readonly place: string;
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface EntityDocument {
  /** In the order of LISTS. */
  readonly entities: readonly Listed[];
  /** Undefined when the document says nothing of them. */
  readonly locatingRules: unknown;
}

const MEMBERS = ['format', 'version', 'exported_at', ...LISTS.map(([name]) => name), 'locating_rules'];
const PROBLEMS_SHOWN = 10;

/** Reads a document. What its entities hold is checked later. Throws a CommandError that names what is wrong. */
export function readDocument(path: string): EntityDocument {
  const value = parse(path);
  const { format, version } = value;
  if (format !== FORMAT)
    throw new CommandError(`Cannot import ${path}: format: must be "${FORMAT}", found ${show(format)}`);
  if (version !== FORMAT_VERSION) {
    throw new CommandError(`Cannot import ${path}: version: must be ${FORMAT_VERSION}, found ${show(version)}`);
  }
  const problems = Object.keys(value).flatMap((name) =>
    MEMBERS.includes(name) ? [] : [`${name}: is no list of entities`],
  );
  const entities = LISTS.flatMap(([name, kind]) => listed(value[name], { name, kind, problems }));
  if (problems.length > 0) throw refused(path, problems);
  return { entities, locatingRules: value['locating_rules'] };
}

/** A refusal with the first problems, a line each. */
export function refused(path: string, problems: readonly string[]): CommandError {
  const shown = problems.slice(0, PROBLEMS_SHOWN);
  const more = problems.length > shown.length ? [`… and ${problems.length - shown.length} more`] : [];
  const first = `Cannot import ${path}: ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}, nothing was changed`;
  return new CommandError([first, ...shown, ...more].join('\n  '));
}

function parse(path: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseKeeping(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new CommandError(`Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new CommandError(`Cannot import ${path}: it must be one JSON object, found ${show(value)}`);
}

function listed(
  list: unknown,
  { name, kind, problems }: { name: ListName; kind: ListedKind; problems: string[] },
): readonly Listed[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) {
    problems.push(`${name}: must be a list, found ${show(list)}`);
    return [];
  }
  return list.flatMap((body: unknown, index): Listed[] => {
    const place = `${name}[${index}]`;
    const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : undefined;
    // Without an id, the same import again would make everything twice.
    if (typeof id === 'string' && !isUnset(id)) return [{ kind, place, id, body: body as Listed['body'] }];
    problems.push(`${place}.id: must be the id of the entity, found ${show(id)}`);
    return [];
  });
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
