import Type, { type Static } from 'typebox';
import { ProviderType } from '../model/location.ts';
import { show } from '../model/error_value_text.ts';
import { isObject } from '../model/json_tree.ts';
import { memberProblems, type PartProblem } from './part_problems.ts';

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

const REQUIRED = ['host', 'port', 'type'] as const;
const problemsOfMembers = memberProblems(Iso24730Connection.properties, 'a connection');

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
  const problems = problemsOfMembers(values, [index]);
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
