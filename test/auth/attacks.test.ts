import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { base64url, CompactSign, exportSPKI, importJWK, importSPKI, type JWK } from 'jose';
import type { Fetch } from '../../src/auth/fetch_json.ts';
import { IdentityServer } from '../../src/auth/identity_server.ts';
import { TokenVerifier } from '../../src/auth/tokens.ts';
import { HubError } from '../../src/errors.ts';
import { CLIENT, Issuer, type IssuerKey, newKey, OWNED_CLAIM } from './issuer.ts';

/** Tokens that an attacker can create without a key of the identity server. None may be accepted or cause a fetch. */

let issuer: Issuer;
let key: IssuerKey;
let stranger: IssuerKey;
let tokens: TokenVerifier;

before(async () => {
  key = await newKey('RS256');
  stranger = await newKey('RS256');
  issuer = await Issuer.open([key, await newKey('ES256')]);
  const now = Date.now;
  tokens = new TokenVerifier({
    identityServer: new IdentityServer({ configUrl: issuer.configUrl, fetch: fetch as Fetch, now }),
    now,
    skipIssuer: false,
    toleranceSeconds: 10,
    claims: { client: CLIENT, roles: [], ownedResources: OWNED_CLAIM },
    isRole: () => true,
  });
  await tokens.verified(await issuer.token());
});
after(() => issuer.close());

const json = (value: unknown): string => base64url.encode(JSON.stringify(value));

async function partsOf(token: Promise<string>): Promise<[header: string, payload: string, signature: string]> {
  const [header = '', payload = '', signature = ''] = (await token).split('.');
  return [header, payload, signature];
}

/** The claims of a valid token under another header, signed by HMAC. */
async function hmac(alg: string, secret: string | Uint8Array, more: object = {}): Promise<string> {
  const [, payload] = await partsOf(issuer.token());
  const signed = `${json({ alg, typ: 'JWT', kid: key.kid, ...more })}.${payload}`;
  return `${signed}.${createHmac(`sha${alg.slice(2)}`, secret)
    .update(signed)
    .digest('base64url')}`;
}

async function unsigned(alg: string, signature = ''): Promise<string> {
  const [, payload] = await partsOf(issuer.token());
  return `${json({ alg, typ: 'JWT', kid: key.kid })}.${payload}.${signature}`;
}

async function spki(): Promise<string> {
  const publicKey = await importJWK(key.publicJwk, 'RS256', { extractable: true });
  assert.ok(!(publicKey instanceof Uint8Array));
  return await exportSPKI(publicKey);
}

const publicOf = ({ publicJwk }: IssuerKey): JWK => publicJwk;

/** The parts of a token that the hub has verified and cached. */
async function remembered(): Promise<[header: string, payload: string, signature: string]> {
  const token = await issuer.token();
  await tokens.verified(token);
  assert.ok(!(tokens.verified(token) instanceof Promise));
  return await partsOf(Promise.resolve(token));
}

const ATTACKS: Readonly<Record<string, () => Promise<string>>> = {
  'alg none': () => unsigned('none'),
  'alg None': () => unsigned('None'),
  'alg NONE with the signature of a good token': async () => unsigned('NONE', (await partsOf(issuer.token()))[2]),
  'alg none without a trailing dot': async () => (await unsigned('none')).slice(0, -1),
  'no signature under a good header': async () => {
    const [header, payload] = await partsOf(issuer.token());
    return `${header}.${payload}.`;
  },
  'HS256 with the PEM of the public key as the secret': async () => hmac('HS256', await spki()),
  'HS384 with the PEM of the public key as the secret': async () => hmac('HS384', await spki()),
  'HS512 with the DER of the public key as the secret': async () => {
    const der = (await spki()).replace(/-----.*?-----|\s/g, '');
    return hmac('HS512', Buffer.from(der, 'base64'));
  },
  'HS256 with the JWK of the public key as the secret': () => hmac('HS256', JSON.stringify(key.publicJwk)),
  'HS256 with the modulus of the public key as the secret': () => hmac('HS256', String(key.publicJwk.n)),
  'HS256 with an empty secret': () => hmac('HS256', ''),
  'HS256 without kid': async () => hmac('HS256', await spki(), { kid: undefined }),
  'a foreign key under the kid of a valid one': () => issuer.token({ key: { ...stranger, kid: key.kid } }),
  'a key of a stranger without kid': () => issuer.token({ key: stranger, header: { kid: undefined } }),
  'a key of a stranger that the header embeds as jwk': () => {
    return issuer.token({ key: { ...stranger, kid: key.kid }, header: { jwk: publicOf(stranger) } });
  },
  'a key of a stranger that the header embeds as jwk, without kid': () => {
    return issuer.token({ key: stranger, header: { jwk: publicOf(stranger), kid: undefined } });
  },
  'a key of a stranger at the jku of the header': () => {
    return issuer.token({ key: stranger, header: { jku: `${issuer.url}/evil/certs` } });
  },
  'a key of a stranger at the x5u of the header': () => {
    return issuer.token({ key: { ...stranger, kid: key.kid }, header: { x5u: `${issuer.url}/evil/x5u` } });
  },
  'a key of a stranger in the x5c of the header': () => {
    return issuer.token({ key: { ...stranger, kid: key.kid }, header: { x5c: ['MIIB'] } });
  },
  'a kid that is a path': () => issuer.token({ key: stranger, header: { kid: '../../../../dev/null' } }),
  'a kid that is an address': () => issuer.token({ key: stranger, header: { kid: `${issuer.url}/evil` } }),
  'a kid that is SQL': () => issuer.token({ key: stranger, header: { kid: "x' UNION SELECT 'secret" } }),
  'a kid that is a property of every object': () => issuer.token({ key: stranger, header: { kid: '__proto__' } }),
  'a kid that is an array': async () => {
    const [, payload, signature] = await partsOf(issuer.token());
    return `${json({ alg: 'RS256', kid: [key.kid] })}.${payload}.${signature}`;
  },
  'another algorithm under the same key': async () => {
    const [, payload, signature] = await partsOf(issuer.token());
    return `${json({ alg: 'PS256', kid: key.kid, typ: 'JWT' })}.${payload}.${signature}`;
  },
  'other claims under a good signature': async () => {
    const [header, payload, signature] = await partsOf(issuer.token());
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return `${header}.${json({ ...claims, realm_access: { roles: ['admin'] } })}.${signature}`;
  },
  'other claims under the signature of a token that is remembered': async () => {
    const [header, payload, signature] = await remembered();
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return `${header}.${json({ ...claims, realm_access: { roles: ['admin'] } })}.${signature}`;
  },
  'another header over a token that is remembered': async () => {
    const [, payload, signature] = await remembered();
    return `${json({ alg: 'none' })}.${payload}.${signature}`;
  },
  'the end of a cached token': async () => (await remembered())[2].slice(-40),
  'a payload that is not encoded': async () => {
    const payload = Buffer.from((await partsOf(issuer.token()))[1], 'base64url');
    return new CompactSign(payload)
      .setProtectedHeader({ alg: 'RS256', kid: key.kid, b64: false, crit: ['b64'] } as never)
      .sign(stranger.privateKey)
      .catch(() => `${json({ alg: 'RS256', kid: key.kid, b64: false, crit: ['b64'] })}.${payload}.x`);
  },
  'a good signature under a header that has to be understood, and is not': async () => {
    const payload = Buffer.from((await partsOf(issuer.token()))[1], 'base64url');
    const header = { alg: 'RS256', kid: key.kid, crit: ['x'], x: 1 };
    return new CompactSign(payload).setProtectedHeader(header).sign(key.privateKey, { crit: { x: true } });
  },
  'a null signature of ECDSA': async () => {
    const [, payload] = await partsOf(issuer.token());
    const kid = issuer.keys[1]?.kid;
    return `${json({ alg: 'ES256', kid, typ: 'JWT' })}.${payload}.${base64url.encode(new Uint8Array(64))}`;
  },
  'a good token with a space in it': async () => (await issuer.token()).replace('.', '. '),
  'a good token with a fourth part': async () => `${await issuer.token()}.x`,
  'a good token twice': async () => `${await issuer.token()},${await issuer.token()}`,
  'an encrypted token': async () => `${json({ alg: 'dir', enc: 'A256GCM', kid: key.kid })}.a.b.c.d`,
  'claims that are a list': async () => {
    return new CompactSign(Buffer.from('[]')).setProtectedHeader({ alg: 'RS256', kid: key.kid }).sign(key.privateKey);
  },
  'a header that is no JSON': async () => `bm9wZQ.${(await partsOf(issuer.token()))[1]}.x`,
  'an empty text': async () => '',
  'three dots': async () => '...',
  'a very long string': async () => `${await issuer.token()}${'A'.repeat(1 << 20)}`,
  'a key of the identity server that is for encryption': async () => {
    const sealed = await newKey('RS256', { use: 'enc' });
    issuer.keys = [...issuer.keys, sealed];
    return await issuer.token({ key: sealed });
  },
};

for (const [name, forge] of Object.entries(ATTACKS)) {
  test(`Tokens rejects ${name}`, async () => {
    const asked = issuer.asked.length;
    const refused = await Promise.resolve()
      .then(async () => tokens.verified(await forge()))
      .then(
        () => assert.fail('the token was accepted'),
        (error: unknown) => error,
      );
    assert.ok(refused instanceof HubError, String(refused));
    assert.equal(refused.status, 401);
    assert.ok(refused.message.length < 200, 'the message repeats data of the attacker');
    const fetched = issuer.asked.slice(asked).filter((path) => path.includes('evil'));
    assert.deepEqual(fetched, [], 'the hub fetched a URL from a token');
  });
}

test('The forged tokens are copies of an accepted one', async () => {
  assert.ok(await tokens.verified(await issuer.token()));
  const pem = await importSPKI(await spki(), 'RS256');
  assert.equal(pem.type, 'public');
  assert.ok(Object.keys(ATTACKS).length >= 35, `${Object.keys(ATTACKS).length} attacks`);
});
