import { CompactSign, exportJWK, generateKeyPair, type JWK } from 'jose';

/** Signs licence keys, and has the public key that they verify with. */
export interface Issuer {
  readonly publicKeys: readonly JWK[];
  issue(claims: object): Promise<string>;
}

export async function openIssuer(kid = 'test'): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { extractable: true });
  return {
    publicKeys: [{ ...(await exportJWK(publicKey)), alg: 'EdDSA', kid }],
    issue(claims) {
      const payload = new TextEncoder().encode(JSON.stringify(claims));
      return new CompactSign(payload).setProtectedHeader({ alg: 'EdDSA', kid }).sign(privateKey);
    },
  };
}
