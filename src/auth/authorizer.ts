import { hubError } from '../errors.ts';
import { RESOURCES, type Reach, type Resource } from '../model/permission.ts';
import type { OwnedEntities } from './ownership.ts';
import type { Policy, Target } from './policy.ts';
import { Readable } from './readable.ts';
import type { TokenVerifier } from './tokens.ts';
import type { VerifiedToken } from './verify_token.ts';

/** Access granted to a request. */
export interface Access {
  /** Entities to which access is limited; undefined for unlimited access. */
  readonly owned: OwnedEntities | undefined;
  /** For limited access, the entities that the request may reference and see. */
  readonly readable: Readable | undefined;
  /** Expiry in milliseconds since 1970; Infinity without a token, and for an API key without expiry. */
  readonly expiresMs: number;
  /** Aborted when the API key of the request is revoked; absent without a key. */
  readonly revoked?: AbortSignal | undefined;
  /** Subject of the token; undefined without a token. */
  readonly subject?: string | undefined;
}

/** Access without a token. */
export const FULL_ACCESS: Access = { owned: undefined, readable: undefined, expiresMs: Number.POSITIVE_INFINITY };

/** Permissions of a token for some targets. */
export interface PermittedTargets {
  readonly reaches: readonly (readonly [Target, Reach])[];
  /** Entities owned by the holder of the token; undefined without a token. */
  readonly owned: OwnedEntities | undefined;
}

/** Verifies tokens: access tokens of an identity server, and API keys. See TokenVerifier. */
export type Tokens = Pick<TokenVerifier, 'verified'>;

/** Decides whether a request with or without a token may access a target. */
export class Authorizer {
  readonly #policy: Policy;
  readonly #tokens: Tokens;
  readonly #readers: (resource: Resource) => readonly Target[];
  readonly #readable = new WeakMap<VerifiedToken, Readable>();

  /** `readers` are the targets that return all entities of a kind. */
  constructor(
    policy: Policy,
    { tokens, readers }: { tokens: Tokens; readers: (resource: Resource) => readonly Target[] },
  ) {
    this.#policy = policy;
    this.#tokens = tokens;
    this.#readers = readers;
  }

  /**
   * Returns the access, synchronously if the token is cached. Throws, or rejects with, HUB_NOT_AUTHENTICATED for a
   * missing or invalid token, HUB_NOT_AUTHORIZED if it does not permit the target, HUB_UNAVAILABLE if it cannot be
   * verified. Targets with guest permission need no token and ignore an invalid one. hot
   */
  admit(target: Target, token: string | undefined): Access | Promise<Access> {
    if (this.#policy.reach([], target) === 'ANY') return FULL_ACCESS;
    if (token === undefined) {
      throw hubError('no_token', { request: target.name });
    }
    const verified = this.#tokens.verified(token);
    if (!(verified instanceof Promise)) return this.#accessOf(verified, target);
    return verified.then((found) => this.#accessOf(found, target));
  }

  /**
   * Returns the targets that a request with or without a token may access. Rejects like `admit` for an invalid token.
   */
  async permitted(targets: readonly Target[], token: string | undefined): Promise<PermittedTargets> {
    const verified = token === undefined ? undefined : await this.#tokens.verified(token);
    const reaches = targets.flatMap((target) => {
      const reach = this.#policy.reach(verified?.roles ?? [], target);
      return reach === undefined ? [] : [[target, reach] as const];
    });
    return { reaches, owned: verified?.owned };
  }

  /**
   * Returns the first target that some roles and owned entities permit beyond what the token permits; undefined if they
   * permit nothing more. Rejects like `permitted`.
   */
  async exceeding(
    targets: readonly Target[],
    token: string | undefined,
    { roles, owned }: Pick<VerifiedToken, 'roles' | 'owned'>,
  ): Promise<Target | undefined> {
    const by = token === undefined ? undefined : await this.#tokens.verified(token);
    const ownsAll = RESOURCES.every((resource) =>
      owned.all(resource).every((id) => by?.owned.has(resource, id) === true),
    );
    return targets.find((target) => {
      const wanted = this.#policy.reach(roles, target);
      const given = this.#policy.reach(by?.roles ?? [], target);
      if (wanted === undefined || given === 'ANY') return false;
      return wanted === 'ANY' || given === undefined || !ownsAll;
    });
  }

  #accessOf(token: VerifiedToken, target: Target): Access {
    const { roles, owned, expiresMs, subject, revoked } = token;
    const reach = this.#policy.reach(roles, target);
    if (reach === undefined) {
      throw hubError('not_permitted', { request: target.name });
    }
    if (reach === 'ANY') return { owned: undefined, readable: undefined, expiresMs, subject, revoked };
    return { owned, readable: this.#readableBy(token), expiresMs, subject, revoked };
  }

  #readableBy(token: VerifiedToken): Readable {
    let readable = this.#readable.get(token);
    if (readable === undefined) {
      const isWhole = (resource: Resource) =>
        this.#readers(resource).some((target) => this.#policy.reach(token.roles, target) === 'ANY');
      readable = new Readable(token.owned, new Set(RESOURCES.filter(isWhole)));
      this.#readable.set(token, readable);
    }
    return readable;
  }
}

/** Returns the token of an Authorization header; undefined without one. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  const token = header.slice(7).trim();
  return token === '' ? undefined : token;
}
