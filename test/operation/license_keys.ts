import assert from 'node:assert/strict';
import { CompactSign, exportJWK, generateKeyPair } from 'jose';

/** Signs license keys, and provides the public key that verifies them. */
export interface Issuer {
  readonly publicKeys: readonly string[];
  issue(claims: object): Promise<string>;
}

export async function openIssuer(kid = 'test'): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  const { x } = await exportJWK(publicKey);
  assert.ok(x);
  return {
    publicKeys: [x],
    issue(claims) {
      const payload = new TextEncoder().encode(JSON.stringify(claims));
      return new CompactSign(payload).setProtectedHeader({ alg: 'EdDSA', kid }).sign(privateKey);
    },
  };
}
