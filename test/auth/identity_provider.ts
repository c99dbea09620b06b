import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import { type Configuration, Provider } from 'oidc-provider';
import { CLIENT, OWNED_CLAIM } from './issuer.ts';

/** A user, or a client that acts for itself, by name. */
export interface Known {
  readonly password: string;
  readonly roles: readonly string[];
  readonly owned?: Readonly<Record<string, readonly string[]>>;
}

export interface IdentityProviderOptions {
  /** 0 selects a free port. */
  readonly port: number;
  readonly people: Readonly<Record<string, Known>>;
  /** Clients that may request tokens. Their passwords are their secrets. */
  readonly clients: Readonly<Record<string, Known>>;
  /** URLs to which a browser may return after its login. */
  readonly redirectUris?: readonly string[];
  /** Lifetime of an access token. */
  readonly tokenSeconds?: number;
}

export interface IdentityProvider {
  readonly issuer: string;
  readonly configUrl: string;
  readonly tokenUrl: string;
  close(): Promise<void>;
}

const REALM = '/realms/hub';
/** A public client: it has no secret, and proves by PKCE that the code was issued to it. */
export const BROWSER_CLIENT = 'hub-ui';

const RESOURCE = 'urn:location-hub';
const TOKEN_SECONDS = 900;
const RESOURCE_INFO = {
  scope: 'openid',
  audience: CLIENT,
  accessTokenFormat: 'jwt' as const,
  jwt: { sign: { alg: 'RS256' as const } },
};

/**
 * A certified OpenID Connect server in this process, under the paths of Keycloak. It supports client_credentials,
 * password, and authorization code with PKCE. Its login page asks for a name and accepts any password.
 */
export async function openIdentityProvider(options: IdentityProviderOptions): Promise<IdentityProvider> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}${REALM}`;
  const handle = (await providerFor(issuer, options)).callback();
  server.on('request', (request: IncomingMessage & { originalUrl?: string }, response) => {
    const { url = '' } = request;
    if (!url.startsWith(`${REALM}/`)) {
      response.writeHead(404).end();
      return;
    }
    // The provider derives its mount path from the original URL.
    request.originalUrl = url;
    request.url = url.slice(REALM.length);
    void handle(request, response);
  });
  return {
    issuer,
    configUrl: `${issuer}/.well-known/openid-configuration`,
    tokenUrl: `${issuer}/protocol/openid-connect/token`,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => void server.close(() => resolve()));
    },
  };
}

async function providerFor(issuer: string, options: IdentityProviderOptions): Promise<Provider> {
  const { people, clients, redirectUris = [], tokenSeconds = TOKEN_SECONDS } = options;
  const resource = { ...RESOURCE_INFO, accessTokenTTL: tokenSeconds };
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'signing', alg: 'RS256', use: 'sig' };
  const configuration: Configuration = {
    jwks: { keys: [key] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    pkce: { required: () => true },
    clientBasedCORS: () => true,
    // As in Keycloak, whose clients need not request offline access.
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    ttl: { AccessToken: tokenSeconds, ClientCredentials: tokenSeconds, Grant: 86_400, Session: 86_400, IdToken: 900 },
    routes: {
      authorization: '/protocol/openid-connect/auth',
      token: '/protocol/openid-connect/token',
      jwks: '/protocol/openid-connect/certs',
      userinfo: '/protocol/openid-connect/userinfo',
      end_session: '/protocol/openid-connect/logout',
    },
    clients: [
      ...Object.entries(clients).map(([name, { password }]) => ({
        client_id: name,
        client_secret: password,
        grant_types: ['client_credentials', 'password'],
        response_types: [],
        redirect_uris: [],
        token_endpoint_auth_method: 'client_secret_post' as const,
      })),
      {
        client_id: BROWSER_CLIENT,
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code' as const],
        redirect_uris: redirectUris.length > 0 ? [...redirectUris] : ['http://127.0.0.1/'],
        post_logout_redirect_uris: [...redirectUris],
        token_endpoint_auth_method: 'none' as const,
      },
    ],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: true },
      rpInitiatedLogout: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => resource,
      },
    },
    findAccount(_ctx, name) {
      if (!Object.hasOwn(people, name)) return undefined;
      return { accountId: name, claims: () => ({ sub: name, preferred_username: name }) };
    },
    extraTokenClaims(_ctx, token) {
      const name = 'accountId' in token ? token.accountId : token.clientId;
      const known = 'accountId' in token ? people[name ?? ''] : clients[name ?? ''];
      if (known === undefined) return undefined;
      return { azp: token.clientId, realm_access: { roles: known.roles }, [OWNED_CLAIM]: known.owned };
    },
    // Clients of this machine need no consent.
    async loadExistingGrant(ctx) {
      const { client, session } = ctx.oidc;
      const grant = new provider.Grant({ clientId: client?.clientId, accountId: session?.accountId });
      grant.addOIDCScope('openid offline_access');
      grant.addResourceScope(RESOURCE, 'openid');
      await grant.save();
      return grant;
    },
  };
  const provider = new Provider(issuer, configuration);
  registerPasswordGrant(provider, people);
  answerAsKeycloak(provider);
  return provider;
}

/** Keycloak returns more about a token than the standard requires, and clients may rely on it. */
function answerAsKeycloak(provider: Provider): void {
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.oidc?.route !== 'token' || ctx.status !== 200) return;
    const more = { refresh_expires_in: 0, 'not-before-policy': 0, session_state: randomUUID() };
    ctx.body = { ...more, ...(ctx.body as object) };
  });
}

/** Older clients send name and password themselves; the package leaves that to its callers. */
function registerPasswordGrant(provider: Provider, people: IdentityProviderOptions['people']): void {
  const take = async (ctx: Parameters<Parameters<Provider['registerGrantType']>[1]>[0]): Promise<void> => {
    const { client, params } = ctx.oidc;
    const name = String(params?.['username']);
    const person = Object.hasOwn(people, name) ? people[name] : undefined;
    if (client === undefined || person === undefined || person.password !== params?.['password']) {
      ctx.status = 400;
      ctx.body = { error: 'invalid_grant', error_description: 'invalid user credentials' };
      return;
    }
    const grant = new provider.Grant({ clientId: client.clientId, accountId: name });
    grant.addResourceScope(RESOURCE, 'openid');
    const grantId = await grant.save();
    const token = new provider.AccessToken({
      client,
      accountId: name,
      grantId,
      gty: 'password',
      scope: 'openid',
    } as never);
    token.resourceServer = new provider.ResourceServer(RESOURCE, RESOURCE_INFO);
    ctx.body = {
      access_token: await token.save(),
      expires_in: token.expiration,
      token_type: 'bearer',
      scope: 'openid',
    };
  };
  provider.registerGrantType('password', take, ['username', 'password', 'scope']);
}
