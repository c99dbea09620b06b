import type { JWTPayload } from 'jose';
import { Owned } from './owned.ts';

/** Where a token says what its holder is and owns. */
export interface ClaimNames {
  /** The hub's client at the identity server, whose roles count beside those of the realm. */
  readonly client: string;
  /** Further claims that list roles, by name or by a path of names with dots between them. */
  readonly roles: readonly string[];
  readonly ownedResources: string;
}

/** The roles that a token lists, each once. A claim is a list of names, or one text with spaces between them. */
export function rolesOf(payload: JWTPayload, { client, roles }: ClaimNames): readonly string[] {
  const lists = [
    at(payload, ['realm_access', 'roles']),
    at(payload, ['resource_access', client, 'roles']),
    at(payload, ['roles']),
    // A claim may be named by an address, which has dots of its own.
    ...roles.map((name) => at(payload, [name]) ?? at(payload, name.split('.'))),
  ];
  return [...new Set(lists.flatMap(namesIn))];
}

/** What the holder of a token owns. */
export function ownedOf(payload: JWTPayload, { ownedResources }: ClaimNames): Owned {
  return Owned.from(at(payload, [ownedResources]));
}

/** Whether a token is for the client: as its audience, or as the party that it was given to. */
export function isFor(payload: JWTPayload, client: string): boolean {
  const { aud } = payload;
  return aud === client || (Array.isArray(aud) && aud.includes(client)) || payload['azp'] === client;
}

function namesIn(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return claim.split(/\s+/).filter((name) => name !== '');
  return Array.isArray(claim) ? claim.filter((name): name is string => typeof name === 'string') : [];
}

/** What is nested under the names; undefined where one is missing. Names such as `constructor` lead nowhere. */
function at(value: unknown, names: readonly string[]): unknown {
  let found = value;
  for (const name of names) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[name];
  }
  return found;
}
