import Type, { type Static } from 'typebox';
import { checker } from '../model/check.ts';
import { ProviderType } from '../model/location.ts';
import { show } from '../model/error_value_text.ts';
import { didYouMean } from './suggest.ts';
import { isObject } from '../model/json_tree.ts';

const Name = Type.String({ minLength: 1 });

/** A server of ISO/IEC 24730-1 streams; either zone_id or foreign_id names the zone of its coordinates. */
export const Iso24730Connection = Type.Object({
  host: Name,
  port: Type.Integer({ minimum: 1, maximum: 65535 }),
  type: ProviderType,
  zone_id: Type.Optional(Name),
  foreign_id: Type.Optional(Name),
});
export type Iso24730Connection = Static<typeof Iso24730Connection>;

/** Problem of a part of a value: its path, and the rest of a sentence about it. */
export interface PartProblem {
  readonly path: readonly (string | number)[];
  readonly text: string;
}

const REQUIRED = ['host', 'port', 'type'] as const;
const MEMBERS = Object.keys(Iso24730Connection.properties) as readonly (keyof Iso24730Connection)[];
const CHECKERS = MEMBERS.map((name) => ({ name, check: checker(Iso24730Connection.properties[name]) }));

/** Problems of the value of iso_24730_connections. */
export function connectionProblems(value: unknown): readonly PartProblem[] {
  if (!Array.isArray(value)) {
    return [{ path: [], text: `must be a list of {host, port, type, zone_id or foreign_id}, found ${show(value)}` }];
  }
  return value.flatMap((connection: unknown, index) => problemsOf(connection, index));
}

function problemsOf(connection: unknown, index: number): readonly PartProblem[] {
  if (!isObject(connection)) {
    return [{ path: [index], text: `must have host, port, type and zone_id or foreign_id, found ${show(connection)}` }];
  }
  const values = connection as Readonly<Record<string, unknown>>;
  const problems: PartProblem[] = [];
  for (const name of Object.keys(values)) {
    if (MEMBERS.some((member) => member === name)) continue;
    problems.push({ path: [index, name], text: `is no setting of a connection${didYouMean(name, MEMBERS)}` });
  }
  for (const { name, check } of CHECKERS) {
    const found = values[name];
    if (found === undefined) continue;
    // The path is separated from `x: must be …`, since it may have its own line number.
    const wrong = check.explain(found, 'x')?.toString().slice('x: '.length);
    if (wrong !== undefined) problems.push({ path: [index, name], text: wrong });
  }
  for (const name of REQUIRED) {
    if (values[name] === undefined) problems.push({ path: [index, name], text: 'is required, but is missing' });
  }
  const named = [values['zone_id'], values['foreign_id']].filter((name) => name !== undefined);
  if (named.length !== 1) {
    const found = named.length === 0 ? 'neither' : 'both';
    problems.push({ path: [index], text: `must have either zone_id or foreign_id, found ${found}` });
  }
  return problems;
}
