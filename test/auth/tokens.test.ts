import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Fetch } from '../../src/auth/fetch_json.ts';
import { IdentityServer } from '../../src/auth/identity_server.ts';
import { TokenVerifier } from '../../src/auth/tokens.ts';
import type { VerifiedToken } from '../../src/auth/verify_token.ts';
import { HubError } from '../../src/errors.ts';
import type { ClaimPath } from '../../src/model/claim_path.ts';
import { CLIENT, Issuer, newKey, OWNED_CLAIM, type TokenOptions } from './issuer.ts';

const MINUTE_MS = 60_000;

let issuer: Issuer;

interface Setup {
  readonly skipIssuer?: boolean;
  readonly roleClaims?: readonly ClaimPath[];
  readonly rememberedMax?: number;
  readonly configUrl?: string;
}

/** Tokens over the issuer, and a simulated clock. */
function setUp({ skipIssuer = false, roleClaims = [], rememberedMax, configUrl = issuer.configUrl }: Setup = {}) {
  const clock = { aheadMs: 0 };
  const now = (): number => Date.now() + clock.aheadMs;
  const states: string[] = [];
  const identityServer = new IdentityServer({ configUrl, fetch: fetch as Fetch, now, state: (is) => states.push(is) });
  const tokens = new TokenVerifier({
    identityServer,
    now,
    skipIssuer,
    toleranceSeconds: 10,
    claims: { client: CLIENT, roles: roleClaims, ownedResources: OWNED_CLAIM },
    isRole: (name) => name !== 'unknown',
    ...(rememberedMax === undefined ? {} : { rememberedMax }),
  });
  return { tokens, identityServer, clock, states };
}

async function refusal(tokens: TokenVerifier, token: string): Promise<string> {
  try {
    await tokens.verified(token);
    return 'taken';
  } catch (error) {
    assert.ok(error instanceof HubError, String(error));
    return `${error.status} ${error.message}`;
  }
}

async function taken(options: TokenOptions, setup?: Setup): Promise<VerifiedToken> {
  return await setUp(setup).tokens.verified(await issuer.token(options));
}

const ROLES: readonly [
  name: string,
  options: TokenOptions,
  roles: readonly string[],
  roleClaims?: readonly ClaimPath[],
][] = [
  ['of the realm', { roles: ['a', 'b', 'a', 'unknown'] }, ['a', 'b']],
  [
    'of the client alone',
    { claims: { resource_access: { [CLIENT]: { roles: ['c'] }, other: { roles: ['d'] } } } },
    ['c'],
  ],
  ['at the top', { claims: { roles: ['e'] } }, ['e']],
  ['in a text', { claims: { roles: 'e f' } }, ['e', 'f']],
  ['nested, as configured', { claims: { groups: { hub: ['g'] } } }, ['g'], ['groups.hub']],
  ['under a URL, as configured', { claims: { 'https://x.example/roles': ['h'] } }, ['h'], ['https://x.example/roles']],
  [
    'of a client whose name has dots, by a path with quotes',
    { claims: { resource_access: { 'plant.apps': { roles: ['i'] } } } },
    ['i'],
    ['resource_access."plant.apps".roles'],
  ],
  [
    'by lists of names',
    { claims: { resource_access: { 'plant."apps"': { roles: ['j'] } }, 'a.b': ['k'] } },
    ['j', 'k'],
    [['resource_access', 'plant."apps"', 'roles'], ['a.b']],
  ],
  [
    'from everywhere',
    { roles: ['a'], claims: { roles: ['b', 'a'], resource_access: { [CLIENT]: { roles: ['c'] } } } },
    ['a', 'c', 'b'],
  ],
  ['that are none', { claims: { realm_access: { roles: [1, null, {}] }, roles: 7, resource_access: [] } }, []],
  ['on prototypes', { claims: { realm_access: 'x' } }, [], ['constructor', 'constructor.name', '__proto__.x']],
];

describe('Tokens', () => {
  beforeEach(async () => {
    issuer = await Issuer.open();
  });
  afterEach(() => issuer.close());

  for (const [name, options, roles, roleClaims = []] of ROLES) {
    test(`Tokens accepts roles ${name}`, async () => {
      assert.deepEqual((await taken(options, { roleClaims })).roles, roles);
    });
  }

  test('Tokens reads the ids of owned objects, UUIDs case-insensitively', async () => {
    const uuid = 'EEEEEEEE-0000-4000-8000-00000000000A';
    const { owned } = await taken({ owned: { zone_ids: [uuid], provider_ids: ['Tag-1', 7 as never], other: [] } });
    assert.equal(owned.has('zone_id', uuid.toLowerCase()), true);
    assert.equal(owned.has('provider_id', 'Tag-1'), true);
    assert.equal(owned.has('provider_id', 'tag-1'), false);
    assert.equal(owned.has('zone_id', 'Tag-1'), false);
    assert.equal(owned.has('fence_id', 'Tag-1'), false);
    assert.deepEqual(owned.all('provider_id'), ['Tag-1']);
    for (const claim of [null, 'x', [], { provider_ids: 'tag-1' }]) {
      const odd = await taken({ claims: { [OWNED_CLAIM]: claim } });
      assert.deepEqual(odd.owned.all('provider_id'), []);
    }
  });

  test('Tokens accepts every pinned algorithm', async () => {
    const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
    const keys = await Promise.all(algorithms.map((alg) => newKey(alg)));
    issuer.keys = keys;
    const { tokens } = setUp();
    for (const key of keys) assert.equal(await refusal(tokens, await issuer.token({ key })), 'taken', key.alg);
  });

  /** Claims of real servers. `found` is the part of the error about them; undefined if the token is accepted. */
  const AUDIENCES: readonly [claims: Readonly<Record<string, unknown>>, found?: string][] = [
    [{ aud: CLIENT, azp: undefined }],
    [{ aud: ['x', CLIENT], azp: 'x' }],
    [{ aud: 'account', azp: CLIENT }],
    [{ aud: undefined, azp: CLIENT }],
    // Cognito, Okta, and Entra in version 1.
    [{ aud: undefined, azp: undefined, client_id: CLIENT, token_use: 'access' }],
    [{ aud: 'api://default', azp: undefined, cid: CLIENT }],
    [{ aud: `api://${CLIENT}`, azp: undefined, appid: 'another-app' }],
    [{ aud: undefined, azp: undefined, appid: CLIENT }],
    [{ aud: 'account', azp: 'x' }, '{"aud":"account","azp":"x"}'],
    [{ aud: undefined, azp: undefined }, '{}'],
    [{ aud: [], azp: '' }, '{"aud":[],"azp":""}'],
    [{ aud: 'hubx', azp: 'xhub' }, '{"aud":"hubx","azp":"xhub"}'],
    // The issuer of a token for another server.
    [{ aud: 'other', azp: undefined, client_id: CLIENT }, `{"aud":"other","client_id":"${CLIENT}"}`],
    [
      { aud: 'https://graph.example', azp: undefined, appid: CLIENT },
      `{"aud":"https://graph.example","appid":"${CLIENT}"}`,
    ],
    [{ aud: undefined, azp: undefined, cid: 7, client_id: ['x'] }, '{"cid":7,"client_id":["x"]}'],
  ];

  for (const [claims, found] of AUDIENCES) {
    test(`Tokens ${found === undefined ? 'accepts' : 'rejects'} a token with ${JSON.stringify(claims)}`, async () => {
      const wanted = `openid_client_name "${CLIENT}" must be in aud, azp or cid, or without aud in client_id or appid`;
      const refused = `401 The access token is not valid: ${wanted}, found ${found}`;
      const answer = await refusal(setUp().tokens, await issuer.token({ claims }));
      assert.equal(answer, found === undefined ? 'taken' : refused);
    });
  }

  const CLAIMS: readonly [name: string, options: TokenOptions, reason: RegExp][] = [
    ['that has expired', { expiresIn: -11 }, /it has expired$/],
    ['without exp', { claims: { exp: undefined } }, /its claim exp is missing/],
    ['whose exp is a text', { claims: { exp: '9999999999' } }, /its claim exp/],
    ['that is not valid yet', { notBeforeIn: 60 }, /its time has not come$/],
    ['of another issuer', { claims: { iss: 'https://other.example' } }, /it is of another issuer$/],
    ['without issuer', { claims: { iss: undefined } }, /it is of another issuer$/],
    ['that is an ID token', { claims: { typ: 'ID' } }, /it is no access token$/],
    ['that is an ID token of Cognito', { claims: { token_use: 'id' } }, /it is no access token$/],
    ['that is a refresh token', { claims: { typ: 'Refresh' } }, /it is no access token$/],
    ['that is a logout token', { header: { typ: 'logout+jwt' } }, /it is no access token$/],
  ];

  for (const [name, options, reason] of CLAIMS) {
    test(`Tokens rejects a token ${name}`, async () => {
      const key = issuer.keys[0];
      assert.ok(key !== undefined);
      assert.match(
        await refusal(setUp().tokens, await issuer.token({ key, ...options })),
        new RegExp(`^401 .*${reason.source}`),
      );
    });
  }

  test('Tokens tolerates a small clock skew', async () => {
    const { tokens } = setUp();
    assert.equal(await refusal(tokens, await issuer.token({ expiresIn: -5 })), 'taken');
    assert.equal(await refusal(tokens, await issuer.token({ notBeforeIn: 5 })), 'taken');
  });

  test('Tokens accepts any issuer if configured', async () => {
    const token = await issuer.token({ claims: { iss: 'http://inside:8080' } });
    assert.equal(await refusal(setUp({ skipIssuer: true }).tokens, token), 'taken');
  });

  test('Tokens verifies a token once, regardless of the number of sequential and concurrent uses', async () => {
    const { tokens } = setUp();
    const token = await issuer.token();
    await Promise.all(Array.from({ length: 100 }, () => tokens.verified(token)));
    for (let i = 0; i < 1000; i++) assert.ok(!(tokens.verified(token) instanceof Promise), 'it had to be waited for');
    assert.equal(tokens.verifications, 1);
    assert.deepEqual(
      issuer.asked.map((path) => path.split('/').at(-1)),
      ['openid-configuration', 'certs'],
    );
  });

  test('Tokens rejects a cached token once it has expired', async () => {
    const { tokens, clock } = setUp();
    const token = await issuer.token({ expiresIn: 60 });
    assert.equal(await refusal(tokens, token), 'taken');
    clock.aheadMs = MINUTE_MS + 8_000;
    assert.equal(await refusal(tokens, token), 'taken');
    clock.aheadMs = MINUTE_MS + 11_000;
    assert.equal(await refusal(tokens, token), '401 The access token is not valid: it has expired');
    assert.equal(await refusal(tokens, token), '401 The access token is not valid: it has expired');
  });

  test('Tokens caches a limited number of tokens, the most recently used', async () => {
    const { tokens } = setUp({ rememberedMax: 3 });
    const brought = await Promise.all([1, 2, 3, 4].map((sub) => issuer.token({ claims: { sub: String(sub) } })));
    const [first = '', second = '', third = '', fourth = ''] = brought;
    for (const token of [first, second, third]) await tokens.verified(token);
    await tokens.verified(first);
    await tokens.verified(fourth);
    assert.equal(tokens.verifications, 4);
    for (const token of [first, third, fourth]) await tokens.verified(token);
    assert.equal(tokens.verifications, 4);
    await tokens.verified(second);
    assert.equal(tokens.verifications, 5);
  });

  test('Invalid tokens evict no valid one from the cache', async () => {
    const { tokens } = setUp({ rememberedMax: 1 });
    const token = await issuer.token();
    await tokens.verified(token);
    await Promise.all(Array.from({ length: 50 }, (_, i) => refusal(tokens, `${token}${i}`)));
    assert.ok(!(tokens.verified(token) instanceof Promise));
  });

  test('A new key of the identity server is fetched for the first token that it signed', async () => {
    const { tokens, clock } = setUp();
    await tokens.verified(await issuer.token());
    issuer.keys = [await newKey(), ...issuer.keys];
    clock.aheadMs = 11_000;
    const brought = await Promise.all([issuer.token(), issuer.token({ roles: ['x'] })]);
    const found = await Promise.all(brought.map((token) => refusal(tokens, token)));
    assert.deepEqual(found, ['taken', 'taken']);
    assert.equal(issuer.asked.length, 4);
  });

  test('Tokens with unknown keys cause at most one fetch every 10 seconds', async () => {
    const { tokens, clock } = setUp();
    await tokens.verified(await issuer.token());
    const stranger = await newKey();
    const unknown = async (sub: string) => refusal(tokens, await issuer.token({ key: stranger, claims: { sub } }));
    for (let i = 0; i < 20; i++) assert.match(await unknown(`a${i}`), /^401 .* no key of the identity server fits it$/);
    assert.equal(issuer.asked.length, 2);
    clock.aheadMs = 10_500;
    await Promise.all(Array.from({ length: 20 }, (_, i) => unknown(`b${i}`)));
    assert.equal(issuer.asked.length, 4);
  });

  test('A withdrawn key invalidates the tokens that it has signed', async () => {
    const { tokens, identityServer, clock } = setUp();
    const token = await issuer.token({ expiresIn: 3600 });
    await tokens.verified(token);
    issuer.keys = [await newKey()];
    clock.aheadMs = 11 * MINUTE_MS;
    // The keys are old: they are fetched in the background of this request.
    assert.equal(await refusal(tokens, token), 'taken');
    await identityServer.warm();
    clock.aheadMs += 11_000;
    assert.equal(
      await refusal(tokens, token),
      '401 The access token is not valid: no key of the identity server fits it',
    );
  });

  /** Keys next to the right one. Each would fail if the hub required it to be usable. */
  const OTHER_KEYS: readonly [name: string, jwk: object][] = [
    ['broken one', { kty: 'RSA', n: '!!', e: 'AQAB' }],
    [
      'one that is too short',
      {
        kty: 'RSA',
        n: 'u1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gunVTLw7onLRnrq0_IzW7yWR7QkrmBL7jTKEn5u',
        e: 'AQAB',
      },
    ],
    ['post-quantum one', { kty: 'AKP', alg: 'ML-DSA-65', pub: 'AAAA' }],
    ['symmetric one', { kty: 'oct', k: 'c2VjcmV0' }],
    ['unknown curve', { kty: 'EC', crv: 'P-999', x: 'a', y: 'b' }],
    ['null', null as never],
    ['text', 'key' as never],
  ];

  for (const [name, other] of OTHER_KEYS) {
    for (const kid of ['the-key', undefined]) {
      test(`Tokens accepts a token ${kid === undefined ? 'without' : 'with'} kid next to a ${name}`, async () => {
        const right = await newKey('RS256');
        const publicJwk = { ...right.publicJwk, ...(kid === undefined ? {} : { kid }) };
        if (kid === undefined) delete (publicJwk as { kid?: string }).kid;
        const beside = typeof other === 'object' && other !== null && kid !== undefined ? { ...other, kid } : other;
        issuer.keys = [
          { ...right, publicJwk: beside as never },
          { ...right, publicJwk },
        ];
        const { tokens } = setUp();
        const token = await issuer.token({ key: right, header: { kid } });
        assert.equal(await refusal(tokens, token), 'taken');
        const stranger = await issuer.token({ key: await newKey('RS256'), header: { kid } });
        assert.match(await refusal(tokens, stranger), /^401 .* its signature does not verify$/);
      });
    }
  }

  test('Tokens reports that the only matching key cannot be used', async () => {
    const right = await newKey('RS256');
    issuer.keys = [{ ...right, publicJwk: { ...right.publicJwk, n: '!!' } }];
    const answer = await refusal(setUp().tokens, await issuer.token({ key: right }));
    assert.match(answer, /^401 .*: the key of the identity server that fits it cannot be used: /);
  });

  test('A new key without kid is fetched for the first token that it signed', async () => {
    const withoutId = async () => {
      const { publicJwk, ...key } = await newKey('RS256');
      const { kid: _kid, ...jwk } = publicJwk;
      return { ...key, publicJwk: jwk };
    };
    issuer.keys = [await withoutId()];
    const { tokens, clock } = setUp();
    assert.equal(await refusal(tokens, await issuer.token({ header: { kid: undefined } })), 'taken');
    issuer.keys = [await withoutId()];
    clock.aheadMs = 11_000;
    assert.equal(await refusal(tokens, await issuer.token({ header: { kid: undefined } })), 'taken');
  });

  test('Known keys remain valid while the identity server is unreachable, and the outage is logged once', async () => {
    const { tokens, identityServer, clock, states } = setUp();
    await tokens.verified(await issuer.token());
    issuer.broken = { status: 500, body: '' };
    for (let hour = 1; hour < 4; hour++) {
      clock.aheadMs = hour * 60 * MINUTE_MS;
      assert.equal(await refusal(tokens, await issuer.token({ expiresIn: 86_400, roles: [`a${hour}`] })), 'taken');
      await identityServer.warm();
    }
    assert.deepEqual(states, ['failing']);
    issuer.broken = undefined;
    await identityServer.warm();
    assert.deepEqual(states, ['failing', 'ok']);
  });

  const AWAY: readonly [name: string, broken: Issuer['broken']][] = [
    ['answers 500', { status: 500, body: '{}' }],
    ['answers no JSON', { status: 200, body: '<html>' }],
    ['answers JSON that is no object', { status: 200, body: '7' }],
    ['names no issuer', { status: 200, body: '{"jwks_uri":"http://127.0.0.1:1"}' }],
    ['names keys that are no list', { status: 200, body: '{"issuer":"x","keys":{},"jwks_uri":"http://127.0.0.1:1"}' }],
    ['names no keys', { status: 200, body: '{"issuer":"x"}' }],
    ['answers without end', { status: 200, body: `"${'x'.repeat(2 << 20)}"` }],
  ];

  for (const [name, broken] of AWAY) {
    test(`A token is answered 503 while the identity server ${name}, and accepted a second after its return`, async () => {
      issuer.broken = broken;
      const { tokens, clock, states } = setUp();
      const token = await issuer.token();
      assert.match(await refusal(tokens, token), /^503 Cannot verify the access token/);
      const asked = issuer.asked.length;
      assert.match(await refusal(tokens, token), /^503 /);
      assert.equal(issuer.asked.length, asked, 'it was fetched again at once');
      issuer.broken = undefined;
      clock.aheadMs = 1_000;
      assert.equal(await refusal(tokens, token), 'taken');
      assert.deepEqual(states, ['failing', 'ok']);
    });
  }

  test('A token is answered 503 while nothing listens at the address of the identity server', async () => {
    const { tokens } = setUp({ configUrl: 'http://127.0.0.1:1/.well-known/openid-configuration' });
    assert.match(await refusal(tokens, await issuer.token()), /^503 /);
  });
});
