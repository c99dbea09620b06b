import { problemOf, type Problem } from '../problem.ts';
import type { JWTPayload } from 'jose';
import { type ClaimPath, namesOfClaim } from '../model/claim_path.ts';
import { show } from '../model/error_value_text.ts';
import { OwnedEntities } from './ownership.ts';

/** Names of the claims that contain the roles and owned resources of the holder. */
export interface ClaimNames {
  /** The hub's client id at the identity server. Its client roles count in addition to realm roles. */
  readonly client: string;
  /** Further claims that list roles. */
  readonly roles: readonly ClaimPath[];
  readonly ownedResources: ClaimPath;
}

/** Returns the distinct roles of a token. A claim is a list of names, or a string of names separated by spaces. */
export function rolesOf(payload: JWTPayload, { client, roles }: ClaimNames): readonly string[] {
  const lists = [
    at(payload, ['realm_access', 'roles']),
    at(payload, ['resource_access', client, 'roles']),
    at(payload, ['roles']),
    ...roles.map((path) => claimAt(payload, path)),
  ];
  return [...new Set(lists.flatMap(namesIn))];
}

/** Returns the entities owned by the holder of a token. */
export function ownedOf(payload: JWTPayload, { ownedResources }: ClaimNames): OwnedEntities {
  return OwnedEntities.from(claimAt(payload, ownedResources));
}

/**
 * Returns the reason why a token is not intended for the client; undefined if it is. `aud` contains the intended
 * servers: the client itself, or in Entra `api://` and the client. Keycloak and Okta may put another server there, and
 * the client in `azp` or `cid`. Cognito omits `aud`. `client_id` and `appid` identify the client that requested the
 * token, so they count only without `aud`.
 */
export function whyNotFor(payload: JWTPayload, client: string): Problem | undefined {
  const audiences = payload.aud === undefined ? [] : [payload.aud].flat();
  if (audiences.includes(client) || audiences.includes(`api://${client}`)) return undefined;
  const named = payload.aud === undefined ? WITHOUT_AUDIENCE : WITH_AUDIENCE;
  if (named.some((claim) => payload[claim] === client)) return undefined;
  const found = ['aud', ...WITHOUT_AUDIENCE].filter((claim) => payload[claim] !== undefined);
  return problemOf('token_client', {
    client,
    found: show(Object.fromEntries(found.map((claim) => [claim, payload[claim]]))),
  });
}

const WITH_AUDIENCE: readonly string[] = ['azp', 'cid'];
const WITHOUT_AUDIENCE: readonly string[] = ['azp', 'cid', 'client_id', 'appid'];

function namesIn(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return claim.split(/\s+/).filter((name) => name !== '');
  return Array.isArray(claim) ? claim.filter((name): name is string => typeof name === 'string') : [];
}

/** Returns the claim with exactly that name, which may contain dots; otherwise the claim at the path. */
function claimAt(payload: JWTPayload, path: ClaimPath): unknown {
  const literal = typeof path === 'string' ? at(payload, [path]) : undefined;
  return literal ?? at(payload, namesOfClaim(path) ?? []);
}

/**
 * Returns the value nested under the names; undefined if one is missing. Inherited names such as `constructor` are
 * ignored.
 */
function at(value: unknown, names: readonly string[]): unknown {
  if (names.length === 0) return undefined;
  let found = value;
  for (const name of names) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[name];
  }
  return found;
}
