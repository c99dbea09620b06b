import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { freePort } from '../../bench/process/free_port.ts';
import { DEV } from '../auth/dev/people.ts';
import { BROWSER_CLIENT, type IdentityProvider, openIdentityProvider } from '../auth/identity_provider.ts';
import { CLIENT } from '../auth/issuer.ts';
import { ensureBuilt, leavePages } from '../support/browser.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { empty } from '../support/shared_hubs.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { DOCK, HALL } from './ui_site.ts';

interface SignedSite {
  readonly tokenSeconds?: number;
  /** Additional permission lines of viewers. */
  readonly viewerMay?: string;
  /** Entities of the hub, by the paths where they are created. */
  readonly site?: readonly (readonly [path: string, body: object])[];
  /** The port of the hub, and the port at which its page is visible. */
  readonly ports?: { readonly hub: number; readonly page: number };
  /** Path prefix under which a proxy serves the page. */
  readonly pagePrefix?: string;
}

const SITE = [
  ['/zones', HALL],
  ['/fences', DOCK],
] as const;

/** A hub with authorization and its identity server. */
interface Opened {
  readonly hub: TestHub;
  readonly provider: IdentityProvider;
  close(): Promise<void>;
}

/** Sites that tests reuse, by their options, because opening one takes longer than most tests. */
const shared = new Map<string, Promise<Opened>>();

after(() => Promise.all([...shared.values()].map(async (opened) => (await opened).close())));

/**
 * Opens a hub with authorization and the identity server of the development setup. With given ports, the site is new;
 * otherwise tests share it. It has the entities of `site` and no others.
 */
export async function openSignedSite(t: TestContext, options: SignedSite = {}): Promise<TestHub> {
  const { site = SITE, ports, ...rest } = options;
  ensureBuilt();
  t.after(() => leavePages(t));
  const key = JSON.stringify(rest);
  const found = ports === undefined ? shared.get(key) : undefined;
  const opening = found ?? open(options);
  if (ports === undefined) shared.set(key, opening);
  const { hub, provider, close } = await opening;
  if (ports !== undefined) t.after(close);
  const { password: client_secret } = DEV.clients['hub-release-client'];
  const form = { grant_type: 'client_credentials', client_id: 'hub-release-client', client_secret, scope: 'openid' };
  const answer = await fetch(provider.tokenUrl, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token: token } = (await answer.json()) as { readonly access_token: string };
  const headers = { Authorization: `Bearer ${token}` };
  if (found !== undefined) await empty(hub, headers);
  for (const [path, body] of site) {
    const { status, text } = await hub.request('POST', path, body, headers);
    assert.equal(status, 201, text);
  }
  return hub;
}

async function open({ tokenSeconds, viewerMay = '', ports, pagePrefix = '' }: SignedSite): Promise<Opened> {
  const port = ports?.hub ?? (await freePort());
  const folder = temporaryFolder();
  const permissions = await readFile(new URL('../auth/dev/permissions.yaml', import.meta.url), 'utf8');
  await writeFile(join(folder, 'permissions.yaml'), permissions.replace('viewer:\n', `viewer:\n  ${viewerMay}\n`));
  const provider = await openIdentityProvider({
    port: 0,
    ...DEV,
    redirectUris: [`http://127.0.0.1:${ports?.page ?? port}${pagePrefix}/hub-ui/`],
    ...(tokenSeconds !== undefined && { tokenSeconds }),
  });
  const settings = {
    port,
    require_authorization: true,
    openid_config_url: provider.configUrl,
    openid_client_name: CLIENT,
    openid_browser_client_name: BROWSER_CLIENT,
    openid_clock_tolerance: 0,
  };
  const hub = await openTestHub(settings, { folder });
  const close = async (): Promise<void> => {
    await hub.close();
    await provider.close();
  };
  return { hub, provider, close };
}

/** Signs in as a user of the development setup. */
export async function signIn(page: Page, name: string): Promise<void> {
  await sendPassword(page, name);
  await page.getByRole('navigation', { name: 'Main' }).getByTitle(name, { exact: true }).waitFor();
}

/** Goes to the identity server, and enters the credentials there. */
export async function sendPassword(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill(name);
  await page.locator('button[type=submit]').click();
}
