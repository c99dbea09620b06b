import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { type ClaimNames, isFor, ownedOf, rolesOf } from './claims.ts';
import type { Owned } from './owned.ts';

/**
 * Algorithms with a public and a private half. HMAC is none of them: a token signed with the text of a public key as the
 * secret would verify.
 */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'].concat([
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]);

/** Kinds of tokens, by the header and by the claim of this name, that are access tokens. Case does not matter. */
const HEADER_TYPES = ['jwt', 'at+jwt', 'application/at+jwt'];
const CLAIM_TYPES = ['bearer', 'jwt', 'at+jwt'];

/** Longer texts are not looked at. */
export const TOKEN_MAX_CHARACTERS = 16_384;

/** What a good token says. */
export interface VerifiedToken {
  readonly roles: readonly string[];
  readonly owned: Owned;
  /** Until when it is good, the clock tolerance included. */
  readonly expiresMs: number;
}

/** Why a token is not taken: the rest of a sentence about it. */
export class TokenRefused extends Error {
  override name = 'TokenRefused';
  /** Whether no known key fits: there may be newer ones. */
  readonly keyIsUnknown: boolean;

  constructor(reason: string, options: { cause?: unknown; keyIsUnknown?: boolean } = {}) {
    super(reason, options);
    this.keyIsUnknown = options.keyIsUnknown === true;
  }
}

export interface Verifying {
  readonly key: JWTVerifyGetKey;
  /** The only one that counts; undefined: any. */
  readonly issuer: string | undefined;
  readonly nowMs: number;
  readonly toleranceSeconds: number;
  readonly claims: ClaimNames;
}

/**
 * Verifies an access token: signature, algorithm, exp, nbf, iss, and aud or azp. What its header says of keys (jwk, jku,
 * x5u, x5c) means nothing here; its kid only picks one of the known keys. Rejects with TokenRefused.
 */
export async function verifyToken(token: string, { claims, ...verifying }: Verifying): Promise<VerifiedToken> {
  if (token.length > TOKEN_MAX_CHARACTERS) throw new TokenRefused(`it has ${token.length} characters`);
  const payload = await payloadOf(token, verifying);
  if (!isFor(payload, claims.client)) throw new TokenRefused('it is for another client');
  return {
    roles: rolesOf(payload, claims),
    owned: ownedOf(payload, claims),
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
    if (!isOneOf(HEADER_TYPES, protectedHeader.typ) || !isOneOf(CLAIM_TYPES, payload['typ'])) {
      throw new TokenRefused('it is no access token');
    }
    return payload;
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) return await anyOf(error, token, verifying);
    throw error instanceof TokenRefused ? error : refused(error);
  }
}

/** A token without kid may be signed with any of several keys. */
async function anyOf(
  found: errors.JWKSMultipleMatchingKeys,
  token: string,
  verifying: Omit<Verifying, 'claims'>,
): Promise<JWTPayload> {
  for await (const key of found) {
    try {
      return await payloadOf(token, { ...verifying, key: () => key });
    } catch (error) {
      if (!(error instanceof TokenRefused) || !(error.cause instanceof errors.JWSSignatureVerificationFailed))
        throw error;
    }
  }
  throw new TokenRefused('its signature does not verify');
}

/** Left out is as good as right: many servers do not say. */
function isOneOf(types: readonly string[], type: unknown): boolean {
  return type === undefined || (typeof type === 'string' && types.includes(type.toLowerCase()));
}

function refused(cause: unknown): TokenRefused {
  if (cause instanceof errors.JWTExpired) return new TokenRefused('it has expired', { cause });
  if (cause instanceof errors.JWTClaimValidationFailed) {
    if (cause.claim === 'iss') return new TokenRefused('it is of another issuer', { cause });
    if (cause.claim === 'nbf') return new TokenRefused('its time has not come', { cause });
    return new TokenRefused(`its claim ${cause.claim} is missing or does not fit`, { cause });
  }
  if (cause instanceof errors.JWKSNoMatchingKey) {
    return new TokenRefused('no key of the identity server fits it', { cause, keyIsUnknown: true });
  }
  if (cause instanceof errors.JOSEAlgNotAllowed) return new TokenRefused('its algorithm is not accepted', { cause });
  if (cause instanceof errors.JWSSignatureVerificationFailed) {
    return new TokenRefused('its signature does not verify', { cause });
  }
  return new TokenRefused('it is no JSON Web Token that the hub understands', { cause });
}
