import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import type { TestCertificate } from '../support/certificates.ts';

/** A key of the issuer with its published half. */
export interface IssuerKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export interface TokenOptions {
  /** Seconds from now. */
  readonly expiresIn?: number;
  readonly notBeforeIn?: number;
  /** Roles of the realm. */
  readonly roles?: readonly string[];
  readonly owned?: Readonly<Record<string, readonly string[]>>;
  /** Claims that replace the default ones. Undefined omits a claim. */
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  readonly key?: IssuerKey;
}

export const CLIENT = 'hub';
export const OWNED_CLAIM = 'https://deephub.io/owned_resources';

/**
 * An identity server controlled by the test: it issues arbitrary tokens, changes its keys, and can be unavailable. It
 * serves its OpenID configuration and its keys over HTTP.
 */
export class Issuer {
  readonly url: string;
  /** Requested paths, in order. */
  readonly asked: string[] = [];
  keys: readonly IssuerKey[];
  /** Response to return instead of the normal one; undefined for the normal one. */
  broken: { readonly status: number; readonly body: string } | undefined;
  readonly #close: () => Promise<void>;

  private constructor(url: string, keys: readonly IssuerKey[], close: () => Promise<void>) {
    this.url = url;
    this.keys = keys;
    this.#close = close;
  }

  /** With a certificate, it is served over HTTPS under the name `host`. */
  static async open(keys?: readonly IssuerKey[], tls?: TestCertificate, host = 'localhost'): Promise<Issuer> {
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      issuer.asked.push(request.url ?? '');
      const { status, body } = issuer.#answer(request.url ?? '');
      response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' }).end(body);
    };
    const server =
      tls === undefined ? createServer(answer) : createTlsServer({ key: tls.key, cert: tls.certificate }, answer);
    await new Promise<void>((resolve) => server.listen(0, tls === undefined ? '127.0.0.1' : 'localhost', resolve));
    const { port } = server.address() as AddressInfo;
    const close = () => new Promise<void>((resolve) => void server.close(() => resolve()));
    const origin = tls === undefined ? 'http://127.0.0.1' : `https://${host}`;
    const issuer = new Issuer(`${origin}:${port}/realms/test`, keys ?? [await newKey()], close);
    return issuer;
  }

  get configUrl(): string {
    return `${this.url}/.well-known/openid-configuration`;
  }

  /** Settings of a hub that accepts the tokens of this issuer. */
  get settings() {
    return { require_authorization: true, openid_config_url: this.configUrl, openid_client_name: CLIENT };
  }

  /** An access token in the format of Keycloak. */
  async token(options: TokenOptions = {}): Promise<string> {
    const { expiresIn = 300, notBeforeIn, roles = [], owned, claims = {}, header = {} } = options;
    const key = options.key ?? this.keys[0];
    if (key === undefined) throw new Error('The issuer has no key');
    const nowSeconds = Math.floor(Date.now() / 1000);
    const payload = {
      iss: this.url,
      sub: 'somebody',
      aud: ['account', CLIENT],
      azp: 'another-client',
      typ: 'Bearer',
      iat: nowSeconds,
      exp: nowSeconds + expiresIn,
      ...(notBeforeIn === undefined ? {} : { nbf: nowSeconds + notBeforeIn }),
      realm_access: { roles },
      ...(owned === undefined ? {} : { [OWNED_CLAIM]: owned }),
      ...claims,
    };
    const present = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined));
    return await new SignJWT(present)
      .setProtectedHeader({ alg: key.alg, typ: 'JWT', kid: key.kid, ...header })
      .sign(key.privateKey);
  }

  close(): Promise<void> {
    return this.#close();
  }

  #answer(path: string): { readonly status: number; readonly body: string } {
    if (this.broken !== undefined) return this.broken;
    if (path.endsWith('/.well-known/openid-configuration')) {
      return { status: 200, body: JSON.stringify({ issuer: this.url, jwks_uri: `${this.url}/certs` }) };
    }
    if (path.endsWith('/certs')) {
      return { status: 200, body: JSON.stringify({ keys: this.keys.map(({ publicJwk }) => publicJwk) }) };
    }
    return { status: 404, body: '{}' };
  }
}

let made = 0;

export async function newKey(alg = 'ES256', more: Partial<JWK> = {}): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  made++;
  const kid = `key-${made}`;
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig', ...more } };
}
