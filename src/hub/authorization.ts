import { join, resolve } from 'node:path';
import type { Authorization } from '../api/api.ts';
import { ROUTES } from '../api/routes/routes.ts';
import { RouteTargets } from '../api/targets.ts';
import { isApiKey } from '../auth/api_key_text.ts';
import { ApiKeyVerifier } from '../auth/api_keys.ts';
import { type Access, Authorizer, bearerToken, type PermittedTargets, type Tokens } from '../auth/authorizer.ts';
import type { Fetch } from '../auth/fetch_json.ts';
import { IdentityServer } from '../auth/identity_server.ts';
import { OwnedEntities } from '../auth/ownership.ts';
import { Policy } from '../auth/policy.ts';
import { TokenVerifier } from '../auth/tokens.ts';
import { readConfigFile } from '../config/load.ts';
import { readPermissions } from '../config/permissions_file.ts';
import type { Config } from '../config/schema.ts';
import { hubError, StartupError } from '../errors.ts';
import type { ApiKey } from '../model/api_key.ts';
import { RESOURCES, type RoleRules } from '../model/permission.ts';
import { pathOf, show } from '../model/error_value_text.ts';
import type { PubSubDeps } from '../socket/deps.ts';
import type { MethodRequest } from '../socket/rpc_session.ts';
import { RpcTargets } from '../socket/rpc_targets.ts';
import { TopicTargets } from '../socket/targets.ts';
import type { Log } from './log.ts';

/** Authorization of requests. */
export interface HubAuthorization {
  readonly api: Authorization;
  readonly socket: NonNullable<PubSubDeps['authorize']>;
  /**
   * Authorizes a method call: over REST in addition to its route, over WebSocket including its topic. Throws like
   * `socket`.
   */
  readonly rpc: (asked: MethodRequest) => Access | Promise<Access>;
  readonly rpcSocket: (asked: MethodRequest) => Access | Promise<Access>;
  /** Whether a token is valid, regardless of its permissions. Neither throws nor rejects. */
  knows(token: string): boolean | Promise<boolean>;
  /**
   * Returns the permissions of the token of an Authorization header, as JSON. `permissions` are operations on paths of
   * the API or topics. `owned` are the owned ids, by their names in paths, to which permissions with the reach `OWN`
   * are limited. Rejects with HUB_NOT_AUTHENTICATED for an invalid token.
   */
  permitted(header: string | undefined): Promise<string>;
  /** Verifies API keys. */
  readonly keys: Pick<ApiKeyVerifier, 'attach' | 'changed'>;
  /**
   * Checks a new API key that is created with a token. Rejects with HUB_BAD_REQUEST if it has an unknown role, and with
   * HUB_NOT_AUTHORIZED if it permits more than the token.
   */
  checkKey(key: Pick<ApiKey, 'roles' | 'owned_resources'>, token: string | undefined): Promise<void>;
  /** Sign-in settings of the web UI; null without an identity server. */
  readonly signIn: { readonly config_url: string; readonly client_id: string } | null;
  /** Returns the number of signatures verified since start: one per token. */
  verifications(): number;
  close(): void;
}

/** TLS settings for servers that the hub connects to. */
export interface OutgoingTls {
  /** PEM of a certificate that is trusted in addition to those of the system. */
  readonly trusted: string | undefined;
  /** Whether the servers' certificates must be valid. */
  readonly verify: boolean;
}

interface AuthorizationDeps {
  readonly log: Log;
  /** Creates the fetch function for the identity server. */
  outgoing(tls: OutgoingTls): Fetch;
  /** Wall-clock time, by which tokens expire, and monotonic time. */
  readonly clock: { now(): number; elapsed(): number };
}

const FILE = 'permissions.yaml';

/**
 * Reads the permissions and contacts the identity server, if there is one. Returns undefined if authorization is off. If the identity
 * server is unreachable, the hub starts nevertheless and admits only guests until it replies. Throws a StartupError if
 * a setting is missing or the permissions are invalid.
 */
export function openAuthorization(
  config: Config,
  { log, outgoing, clock }: AuthorizationDeps,
): HubAuthorization | undefined {
  if (!config.require_authorization) return undefined;
  const openId = openIdIn(config);
  const routes = new RouteTargets(ROUTES);
  const topics = new TopicTargets();
  const roles = permissionsIn(config.config_path);
  const rpc = new RpcTargets(roles);
  const targets = [...routes.all, ...topics.all, ...rpc.all];
  const policy = new Policy(roles, targets);
  if (policy.repeated.length > 0) {
    const lines = policy.repeated.map(({ role, rule, earlier }) => {
      const what = `${rule.location}: role ${show(role)}: path ${show(rule.path)}`;
      return `${what}: is the path ${show(earlier.path)} at ${earlier.location}: write its permissions there`;
    });
    throw new StartupError(lines.join('\n'));
  }
  for (const { role, rule } of policy.unused) {
    log.warn('A permission is of no use: the hub has no such path that needs one', {
      role,
      path: rule.path,
      place: rule.location,
    });
  }
  const isRole = (name: string): boolean => policy.has(name);
  const keys = new ApiKeyVerifier({ now: clock.now, isRole });
  const openIdTokens = openId === null ? undefined : openTokens(openId, config, { log, outgoing, clock, isRole });
  const tokens: Tokens = {
    verified(token) {
      if (isApiKey(token)) return keys.verified(token);
      if (openIdTokens === undefined) throw hubError('no_identity_server');
      return openIdTokens.verified(token);
    },
  };
  const authorizer = new Authorizer(policy, { tokens, readers: (resource) => routes.readersOf(resource) });
  return {
    api: { targets: routes, admit: (target, token) => authorizer.admit(target, token) },
    socket({ use, path, topic, token }) {
      const target = topics.of(path, use, topic);
      if (target !== undefined) return authorizer.admit(target, token);
      throw new Error(`Cannot authorize to ${use} ${topic}: no permission means it`);
    },
    rpc: ({ use, path, method, token }) => authorizer.admit(rpc.ofMethod(path, use, method), token),
    rpcSocket({ use, path, method, token }) {
      // Both checks use the same token, which the second one finds in the cache.
      const admitted = authorizer.admit(rpc.ofSocket(path, use), token);
      const target = rpc.ofMethod(path, use, method);
      if (admitted instanceof Promise) return admitted.then(() => authorizer.admit(target, token));
      return authorizer.admit(target, token);
    },
    knows(token) {
      try {
        const verified = tokens.verified(token);
        return verified instanceof Promise ? verified.then(isKnown, isUnknown) : true;
      } catch {
        return false;
      }
    },
    async permitted(header) {
      return permittedText(await authorizer.permitted(targets, bearerToken(header)));
    },
    keys,
    async checkKey({ roles, owned_resources: resources }, token) {
      const unknown = roles.findIndex((role) => !isRole(role));
      if (unknown >= 0) {
        const path = pathOf('roles', [String(unknown)]);
        throw hubError('unknown_role', { path, found: show(roles[unknown]) });
      }
      const owned = OwnedEntities.from(resources);
      const beyond = await authorizer.exceeding(targets, token, { roles, owned });
      if (beyond !== undefined) throw hubError('key_permits_more', { path: 'roles', request: beyond.name });
    },
    signIn: openId && {
      config_url: config.openid_browser_config_url ?? openId.configUrl,
      client_id: config.openid_browser_client_name ?? openId.client,
    },
    verifications: () => openIdTokens?.verifications() ?? 0,
    close: () => openIdTokens?.close(),
  };
}

interface OpenIdTokens extends Tokens {
  verifications(): number;
  close(): void;
}

/** Verifies access tokens by the keys of the identity server, which it contacts. */
function openTokens(
  { configUrl, client }: OpenId,
  config: Config,
  { log, outgoing, clock, isRole }: AuthorizationDeps & { isRole(name: string): boolean },
): OpenIdTokens {
  const fetch = outgoing({ trusted: certificateIn(config), verify: config.verify_authserver });
  if (!config.verify_authserver)
    log.warn('The certificate of the identity server is not verified: an impostor could issue tokens');
  const identityServer = new IdentityServer({
    configUrl,
    fetch,
    now: clock.elapsed,
    state: (is, error) => report(log, is, error),
  });
  const tokens = new TokenVerifier({
    identityServer,
    now: clock.now,
    skipIssuer: config.openid_skip_issuer_verification,
    toleranceSeconds: config.openid_clock_tolerance,
    claims: { client, roles: config.openid_role_claims, ownedResources: config.openid_owned_resources_claim },
    isRole,
  });
  void identityServer.warm();
  return {
    verified: (token) => tokens.verified(token),
    verifications: () => tokens.verifications,
    close: () => identityServer.close(),
  };
}

const isKnown = () => true;
const isUnknown = () => false;

function permittedText({ reaches, owned }: PermittedTargets): string {
  const permissions = reaches.flatMap(([{ operations, paths }, reach]) =>
    operations.map((operation) => ({ operation, path: paths[0], reach })),
  );
  const ids = RESOURCES.map((resource) => [resource, owned?.all(resource) ?? []] as const);
  return JSON.stringify({ permissions, owned: Object.fromEntries(ids) });
}

interface OpenId {
  readonly configUrl: string;
  /** The client that tokens must name. */
  readonly client: string;
}

/**
 * Returns the settings of the identity server; null without one, which leaves API keys as the only way to authenticate.
 * Throws a StartupError if only one of the settings is set.
 */
function openIdIn(config: Config): OpenId | null {
  const { openid_config_url: configUrl, openid_client_name: client } = config;
  const problems: string[] = [];
  if (client === null && configUrl !== null)
    problems.push('openid_client_name: is required with openid_config_url, found nothing');
  if (configUrl === null && client !== null)
    problems.push('openid_config_url: is required with openid_client_name, found nothing');
  for (const name of ['openid_config_url', 'openid_browser_config_url'] as const) {
    const url = config[name];
    if (url === null || /^https?:$/.test(URL.parse(url)?.protocol ?? '')) continue;
    problems.push(`${name}: must be an http or https address, found ${JSON.stringify(url)}`);
  }
  if (problems.length > 0) throw new StartupError(problems.sort().join('\n'));
  return configUrl === null || client === null ? null : { configUrl, client };
}

function permissionsIn(folder: string): readonly RoleRules[] {
  const path = join(folder, FILE);
  let text: string | undefined;
  try {
    text = readConfigFile(path);
  } catch (cause) {
    throw new StartupError(`${path}: cannot be read: ${(cause as Error).message}`, { cause });
  }
  if (text !== undefined) return readPermissions(text, FILE);
  throw new StartupError(`${path}: is required with require_authorization, but is missing`);
}

/** Returns the certificate of the identity server as PEM. A relative path is relative to the configuration. */
function certificateIn({ config_path, authserver_public_key_path: path }: Config): string | undefined {
  if (path === null) return undefined;
  const file = resolve(config_path, path);
  try {
    const text = readConfigFile(file);
    if (text?.includes('-----BEGIN CERTIFICATE-----') === true) return text;
  } catch (cause) {
    throw new StartupError(`authserver_public_key_path: cannot read ${file}: ${(cause as Error).message}`, { cause });
  }
  throw new StartupError(
    `authserver_public_key_path: must be a file with a PEM certificate, found ${file} without one`,
  );
}

function report(log: Log, is: 'ok' | 'failing', error: unknown): void {
  if (is === 'ok') log.info('The identity server answers again');
  else log.error('The identity server does not answer as expected', { error: String(error) });
}
