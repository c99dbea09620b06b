import Type, { type Static } from 'typebox';
import { checker } from '../model/check.ts';
import { LICENSE_KEY_MAX_CHARACTERS } from '../model/license.ts';
import { messageOf } from '../errors.ts';

/**
 * License keys: JSON Web Signatures in compact form, signed with Ed25519 (alg EdDSA). They are verified offline with
 * public keys built into the hub. A public key is given as 32 bytes in base64url, the `x` of its JSON Web Key.
 */

const Seconds = Type.Number({ minimum: 0, maximum: 253_402_300_799, description: 'Seconds since 1970.' });
const Text = Type.Optional(Type.String());

/** Claims of a license key. */
const Claims = Type.Object({
  email: Type.String({ description: 'Email address of the licensee.' }),
  exp: Seconds,
  /** End of the grace period. */
  grace_exp: Type.Optional(Seconds),
  nbf: Type.Optional(Seconds),
  hub_instance_id: Type.Optional(Type.String({ description: 'Id of the only hub that it is valid for.' })),
  development_info: Text,
  custom_info: Text,
  map_source: Text,
  map_access_token: Text,
  map_style: Text,
  send_report: Type.Optional(Type.Boolean()),
});

/** A key with a valid signature, which may have expired. */
export interface VerifiedKey {
  readonly claims: Static<typeof Claims>;
  /** Signature as contained in the key. */
  readonly signature: string;
}

const CLAIMS = checker(Claims);

/** Verifies a license key for a hub. Returns the reason as a string if it is invalid. Never rejects. */
export async function verifyLicenseKey(
  key: string,
  { publicKeys, hubId }: { readonly publicKeys: readonly string[]; readonly hubId: string },
): Promise<VerifiedKey | string> {
  if (key.length > LICENSE_KEY_MAX_CHARACTERS) return `it has ${key.length} characters`;
  try {
    const payload = await signedBy(key, publicKeys);
    if (payload === undefined) return `its signature is of none of the ${publicKeys.length} public keys of the hub`;
    const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    if (!CLAIMS.fits(claims))
      return CLAIMS.explain(claims, 'claims')?.toString() ?? 'its claims are not those of a license';
    const { hub_instance_id: only } = claims;
    if (only !== undefined && only !== hubId) return `it is for the hub ${only}, and this is ${hubId}`;
    return { claims, signature: key.slice(key.lastIndexOf('.') + 1) };
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Returns the payload if one of the public keys verifies its signature; otherwise undefined. Rejects if `key` is not a
 * JWS.
 */
async function signedBy(key: string, publicKeys: readonly string[]): Promise<Uint8Array | undefined> {
  // Imported on demand, since most hubs have no license.
  const { compactVerify, errors, importJWK } = await import('jose');
  for (const x of publicKeys) {
    const publicKey = await importJWK({ kty: 'OKP', crv: 'Ed25519', x }, 'EdDSA');
    try {
      return (await compactVerify(key, publicKey, { algorithms: ['EdDSA'] })).payload;
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  return undefined;
}
