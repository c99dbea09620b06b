import { HubError } from '../errors.ts';
import { RESOURCES, type Reach, type Resource } from '../model/permission.ts';
import type { Owned } from './owned.ts';
import type { Policy, Target } from './policy.ts';
import { Readable } from './readable.ts';
import type { Tokens } from './tokens.ts';
import type { VerifiedToken } from './verify_token.ts';

/** What a request may do, once it is let in. */
export interface Access {
  /** It may touch this alone; undefined: everything. */
  readonly owned: Owned | undefined;
  /** Where that is limited: what may be named in what it sends and is shown. */
  readonly readable: Readable | undefined;
  /** Until when, in milliseconds since 1970; infinite without a token. */
  readonly expiresMs: number;
  /** Whose token has permitted it, as the token says; undefined where none was needed. */
  readonly subject?: string | undefined;
}

export const FULL_ACCESS: Access = { owned: undefined, readable: undefined, expiresMs: Number.POSITIVE_INFINITY };

/** What a token permits, of some targets. */
export interface Permitted {
  readonly reaches: readonly (readonly [Target, Reach])[];
  /** What its holder owns; undefined without a token. */
  readonly owned: Owned | undefined;
}

/** Decides whether a token, or the lack of one, permits something. */
export class Authorizer {
  readonly #policy: Policy;
  readonly #tokens: Pick<Tokens, 'verified'>;
  readonly #readers: (resource: Resource) => readonly Target[];
  readonly #readable = new WeakMap<VerifiedToken, Readable>();

  /** `readers` are the targets of which each shows any entity of a kind. */
  constructor(
    policy: Policy,
    { tokens, readers }: { tokens: Pick<Tokens, 'verified'>; readers: (resource: Resource) => readonly Target[] },
  ) {
    this.#policy = policy;
    this.#tokens = tokens;
    this.#readers = readers;
  }

  /**
   * The access that is given: at once where the token is known. Throws, or rejects with, HUB_NOT_AUTHENTICATED where a
   * token is missing or bad, HUB_NOT_AUTHORIZED where it does not suffice, HUB_UNAVAILABLE where it cannot be
   * verified. What guests may do needs no token, and a bad one does no harm there. hot
   */
  admit(target: Target, token: string | undefined): Access | Promise<Access> {
    if (this.#policy.reach([], target) === 'ANY') return FULL_ACCESS;
    if (token === undefined) {
      throw new HubError('HUB_NOT_AUTHENTICATED', `Cannot ${target.name}: there is no access token`);
    }
    const verified = this.#tokens.verified(token);
    if (!(verified instanceof Promise)) return this.#accessOf(verified, target);
    return verified.then((found) => this.#accessOf(found, target));
  }

  /** Which of the targets a token, or the lack of one, permits. Rejects as `admit` does for a bad token. */
  async permitted(targets: readonly Target[], token: string | undefined): Promise<Permitted> {
    const verified = token === undefined ? undefined : await this.#tokens.verified(token);
    const reaches = targets.flatMap((target) => {
      const reach = this.#policy.reach(verified?.roles ?? [], target);
      return reach === undefined ? [] : [[target, reach] as const];
    });
    return { reaches, owned: verified?.owned };
  }

  #accessOf(token: VerifiedToken, target: Target): Access {
    const { roles, owned, expiresMs, subject } = token;
    const reach = this.#policy.reach(roles, target);
    if (reach === undefined) {
      throw new HubError('HUB_NOT_AUTHORIZED', `Cannot ${target.name}: the access token does not permit it`);
    }
    if (reach === 'ANY') return { owned: undefined, readable: undefined, expiresMs, subject };
    return { owned, readable: this.#readableBy(token), expiresMs, subject };
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

/** The token of an Authorization header; undefined when it has none. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined;
  const token = header.slice(7).trim();
  return token === '' ? undefined : token;
}
