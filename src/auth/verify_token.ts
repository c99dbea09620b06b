import { problemOf, type Problem } from '../problem.ts';
import { decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { type ClaimNames, ownedOf, rolesOf, whyNotFor } from './claims.ts';
import type { OwnedEntities } from './ownership.ts';

/**
 * Accepted algorithms, all asymmetric. With HMAC, a token signed with the public key as the secret would be accepted.
 */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'].concat([
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]);

/** Types of access tokens in the header `typ` and in the claim `typ`. Case-insensitive. */
const HEADER_TYPES = ['jwt', 'at+jwt', 'application/at+jwt'];
const CLAIM_TYPES = ['bearer', 'jwt', 'at+jwt'];
/** Access tokens in Cognito's claim `token_use`. */
const COGNITO_USES = ['access'];

/** Maximum length of a token. Longer ones are rejected without parsing. */
export const TOKEN_MAX_CHARACTERS = 16_384;

/** Contents of a valid token. */
export interface VerifiedToken {
  readonly roles: readonly string[];
  readonly owned: OwnedEntities;
  /** The claim `sub`; undefined without one. */
  readonly subject?: string;
  /** Expiry, including clock tolerance; Infinity for an API key without one. */
  readonly expiresMs: number;
  /** Aborted when an API key is revoked, changed or deleted; absent for other tokens. */
  readonly revoked?: AbortSignal;
}

/** Thrown for a rejected token. */
export class TokenRefused extends Error {
  override name = 'TokenRefused';
  /** Whether no cached key matches, so that there may be newer keys. */
  readonly keyIsUnknown: boolean;
  /** Whether another key may verify it. */
  readonly isOfKey: boolean;

  readonly problem: Problem;

  constructor(problem: Problem, options: { cause?: unknown; keyIsUnknown?: boolean; isOfKey?: boolean } = {}) {
    super(String(problem), options);
    this.problem = problem;
    this.keyIsUnknown = options.keyIsUnknown === true;
    this.isOfKey = options.isOfKey === true;
  }
}

export interface Verifying {
  readonly key: JWTVerifyGetKey;
  /** The only accepted issuer; undefined for any. */
  readonly issuer: string | undefined;
  readonly nowMs: number;
  readonly toleranceSeconds: number;
  readonly claims: ClaimNames;
}

/**
 * Verifies an access token: signature, algorithm, exp, nbf, iss, and client. Keys in the header (jwk, jku, x5u, x5c)
 * are ignored; kid only selects one of the cached keys. Rejects with TokenRefused.
 */
export async function verifyToken(token: string, { claims, ...verifying }: Verifying): Promise<VerifiedToken> {
  if (token.length > TOKEN_MAX_CHARACTERS) throw new TokenRefused(problemOf('token_too_long', { count: token.length }));
  const payload = await payloadOf(token, verifying);
  const problem = whyNotFor(payload, claims.client);
  if (problem !== undefined) throw new TokenRefused(problem);
  return {
    roles: rolesOf(payload, claims),
    owned: ownedOf(payload, claims),
    ...(payload.sub !== undefined && { subject: payload.sub }),
    expiresMs: ((payload.exp ?? 0) + verifying.toleranceSeconds) * 1000,
  };
}

async function payloadOf(token: string, verifying: Omit<Verifying, 'claims'>): Promise<JWTPayload> {
  const { key, issuer, nowMs, toleranceSeconds } = verifying;
  try {
    const { payload, protectedHeader } = await jwtVerify(token, key, {
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
      clockTolerance: toleranceSeconds,
      currentDate: new Date(nowMs),
      ...(issuer === undefined ? {} : { issuer }),
    });
    const isAccessToken =
      isOneOf(HEADER_TYPES, protectedHeader.typ) &&
      isOneOf(CLAIM_TYPES, payload['typ']) &&
      isOneOf(COGNITO_USES, payload['token_use']);
    if (!isAccessToken) {
      throw new TokenRefused(problemOf('token_not_for_access'));
    }
    return payload;
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return await anyOf(error, token, verifying);
    throw error instanceof TokenRefused ? error : refused(error, token);
  }
}

/**
 * Verifies a token with several matching keys, which a missing or ambiguous kid may cause. Keys that are unusable or
 * did not sign the token are skipped.
 */
async function anyOf(
  found: errors.JWKSMultipleMatchingKeys,
  token: string,
  verifying: Omit<Verifying, 'claims'>,
): Promise<JWTPayload> {
  for await (const key of found) {
    try {
      return await payloadOf(token, { ...verifying, key: () => key });
    } catch (error) {
      if (!(error instanceof TokenRefused) || !error.isOfKey) throw error;
    }
  }
  throw new TokenRefused(problemOf('token_signature'), { isOfKey: true, keyIsUnknown: !hasKeyId(token) });
}

/** Whether a token has a key id. Without one, an invalid signature is the only indication of a new key. */
function hasKeyId(token: string): boolean {
  return decodeProtectedHeader(token).kid !== undefined;
}

/** Whether a type is accepted. A missing type is, since many servers omit it. */
function isOneOf(types: readonly string[], type: unknown): boolean {
  return type === undefined || (typeof type === 'string' && types.includes(type.toLowerCase()));
}

function refused(cause: unknown, token: string): TokenRefused {
  if (cause instanceof errors.JWTExpired) return new TokenRefused(problemOf('token_expired'), { cause });
  if (cause instanceof errors.JWTClaimValidationFailed) {
    if (cause.claim === 'iss') return new TokenRefused(problemOf('token_issuer'), { cause });
    if (cause.claim === 'nbf') return new TokenRefused(problemOf('token_not_yet_valid'), { cause });
    return new TokenRefused(problemOf('token_claim', { claim: cause.claim }), { cause });
  }
  if (cause instanceof errors.JWKSNoMatchingKey) {
    return new TokenRefused(problemOf('token_key_unknown'), { cause, keyIsUnknown: true });
  }
  if (cause instanceof errors.JOSEAlgNotAllowed) return new TokenRefused(problemOf('token_algorithm'), { cause });
  if (cause instanceof errors.JWSSignatureVerificationFailed) {
    const keyIsUnknown = !hasKeyId(token);
    return new TokenRefused(problemOf('token_signature'), { cause, isOfKey: true, keyIsUnknown });
  }
  // Errors of jose concern the token. Other errors come from importing the key or from verifying with it.
  if (cause instanceof errors.JOSEError) {
    return new TokenRefused(problemOf('token_malformed'), { cause });
  }
  return new TokenRefused(problemOf('token_key_unusable', {}, (cause as Error).message), { cause, isOfKey: true });
}
