import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { freePort } from '../../bench/process/free_port.ts';
import { DEV } from '../auth/dev/people.ts';
import { BROWSER_CLIENT, openIdentityProvider } from '../auth/identity_provider.ts';
import { CLIENT } from '../auth/issuer.ts';
import { openUiHub } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import { DOCK, HALL } from './ui_site.ts';

interface SignedSite {
  readonly tokenSeconds?: number;
  /** Lines of what viewers may do besides. */
  readonly viewerMay?: string;
  /** What is in the hub, by the paths where it is created. */
  readonly site?: readonly (readonly [path: string, body: object])[];
  /** The port of the hub, and the one by which its page is seen. */
  readonly ports?: { readonly hub: number; readonly page: number };
  /** Path before that of the page, where a proxy shows it. */
  readonly pagePrefix?: string;
}

const SITE = [
  ['/zones', HALL],
  ['/fences', DOCK],
] as const;

/** A hub that wants to know who somebody is, with the identity server of the development set-up. */
export async function openSignedSite(
  t: TestContext,
  { tokenSeconds, viewerMay = '', site = SITE, ports, pagePrefix = '' }: SignedSite = {},
): Promise<TestHub> {
  const port = ports?.hub ?? (await freePort());
  const folder = await mkdtemp(join(tmpdir(), 'hub-signin-'));
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
  // Hooks run in the order in which they are made: the page goes first, then the hub, then what it needs.
  const hub = await openUiHub(t, settings, { folder });
  t.after(async () => {
    await provider.close();
    await rm(folder, { recursive: true, force: true });
  });
  const { password: client_secret } = DEV.clients['hub-release-client'];
  const form = { grant_type: 'client_credentials', client_id: 'hub-release-client', client_secret, scope: 'openid' };
  const answer = await fetch(provider.tokenUrl, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token: token } = (await answer.json()) as { readonly access_token: string };
  for (const [path, body] of site) {
    const { status, text } = await hub.request('POST', path, body, { Authorization: `Bearer ${token}` });
    assert.equal(status, 201, text);
  }
  return hub;
}

/** Signs in as one of the people of the development set-up. */
export async function signIn(page: Page, name: string): Promise<void> {
  await sendPassword(page, name);
  await page.getByRole('navigation', { name: 'Main' }).getByTitle(name, { exact: true }).waitFor();
}

/** Leaves for the identity server, and says there who one is. */
export async function sendPassword(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill(name);
  await page.locator('button[type=submit]').click();
}
