import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { loadConfig, readConfigFile } from '../../../src/config/load.ts';
import { StartupError } from '../../../src/errors.ts';
import { openHub } from '../../../src/hub/hub.ts';
import { openLog } from '../../../src/hub/log.ts';
import { BROWSER_CLIENT, type IdentityProvider, openIdentityProvider } from '../identity_provider.ts';
import { CLIENT } from '../issuer.ts';
import { DEV } from './people.ts';

/** Ports of the web UI during development: served by the hub, and by the development server. */
const UI_PORTS = [8081, 5173];

const FOLDER = join(import.meta.dirname, '../../../test-output/dev-auth');

/** Starts a hub that requires tokens together with the identity server that issues them, for development. */
async function main(): Promise<void> {
  const { HUB_PORT = '8081', IDENTITY_PORT = '9081', HUB_CONFIG_PATH: folder = FOLDER } = process.env;
  mkdirSync(folder, { recursive: true });
  const permissions = join(folder, 'permissions.yaml');
  if (!existsSync(permissions)) copyFileSync(new URL('permissions.yaml', import.meta.url), permissions);
  const provider = await openIdentityProvider({
    port: Number(IDENTITY_PORT),
    ...DEV,
    redirectUris: redirectUris(HUB_PORT),
  });
  const env = {
    ...process.env,
    HUB_CONFIG_PATH: folder,
    HUB_PORT,
    HUB_REQUIRE_AUTHORIZATION: 'true',
    HUB_OPENID_CONFIG_URL: provider.configUrl,
    HUB_OPENID_CLIENT_NAME: CLIENT,
    HUB_OPENID_BROWSER_CLIENT_NAME: BROWSER_CLIENT,
  };
  const config = loadConfig({ env, cwd: process.cwd(), cores: availableParallelism(), readFile: readConfigFile });
  const hub = await openHub(config, openLog(config.severity_level));
  const stop = (): void => void Promise.all([hub.close(), provider.close()]).then(() => process.exit(0));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  process.stdout.write(await greeting(`http://127.0.0.1:${hub.port}`, provider, permissions));
}

function redirectUris(hubPort: string): string[] {
  const ports = new Set([...UI_PORTS, Number(hubPort)]);
  return [...ports].flatMap((port) => ['127.0.0.1', 'localhost'].map((host) => `http://${host}:${port}/hub-ui/`));
}

async function greeting(hub: string, provider: IdentityProvider, permissions: string): Promise<string> {
  const people = Object.keys(DEV.people).join(', ');
  const { password } = DEV.clients['hub-release-client'];
  const form = `-d grant_type=client_credentials -d client_id=hub-release-client -d client_secret=${password} -d scope=openid`;
  return `Location hub with authorization is running
  API              ${hub}/hub/v2
  WebSocket        ${hub.replace('http', 'ws')}/hub/v2/ws/socket
  Identity server  ${provider.issuer}
  Permissions      ${permissions}, read at the start
  People           ${people}; the password is the name
  Browsers         client ${BROWSER_CLIENT}, authorization code with PKCE, back to /hub-ui/

Ready to paste, for 15 minutes:
  curl -H 'Authorization: Bearer ${await tokenOf(provider)}' ${hub}/hub/v2/zones/summary

A new token:
  curl ${provider.tokenUrl} ${form}

Press Ctrl-C to stop.
`;
}

async function tokenOf({ tokenUrl }: IdentityProvider): Promise<string> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'hub-release-client',
    client_secret: DEV.clients['hub-release-client'].password,
    scope: 'openid',
  });
  const response = await fetch(tokenUrl, { method: 'POST', body });
  const { access_token: token } = (await response.json()) as { readonly access_token: string };
  return token;
}

main().catch((error: unknown) => {
  process.stderr.write(error instanceof StartupError ? `${error.message}\n` : `${(error as Error).stack ?? error}\n`);
  process.exit(1);
});
