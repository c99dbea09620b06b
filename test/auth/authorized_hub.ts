import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openTestHub, type TestHub, type TestSettings } from '../support/running_hub.ts';
import type { Recorder, SocketClient } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { Issuer } from './issuer.ts';

/** All permissions, for the setup of tests. */
export const ADMIN = `
admin:
  '/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
  '/v2/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
`;

export interface AuthorizedHub {
  readonly hub: TestHub;
  readonly issuer: Issuer;
  /** The same hub, accessed with a token. */
  as(token: string): TestHub;
  /** The same hub, accessed by an administrator. */
  readonly admin: TestHub;
  close(): Promise<void>;
}

/** A hub that requires tokens of an issuer, with the given permissions and those of the role admin. */
export async function openAuthorizedHub(permissions: string, settings: TestSettings = {}): Promise<AuthorizedHub> {
  const issuer = await Issuer.open();
  const folder = temporaryFolder();
  await writeFile(join(folder, 'permissions.yaml'), ADMIN + permissions);
  const hub = await openTestHub({ ...issuer.settings, ...settings }, { folder });
  const token = await issuer.token({ roles: ['admin'], expiresIn: 3600 });
  return {
    hub,
    issuer,
    as: (other) => withToken(hub, other),
    admin: withToken(hub, token),
    async close() {
      await hub.close();
      await issuer.close();
    },
  };
}

/** Runs such a hub during `use`. */
export async function whileAuthorized(
  permissions: string,
  use: (opened: AuthorizedHub) => Promise<void>,
): Promise<void> {
  const opened = await openAuthorizedHub(permissions);
  try {
    await use(opened);
  } finally {
    await opened.close();
  }
}

/** A hub whose requests and subscriptions have a token. */
export function withToken(hub: TestHub, token: string): TestHub {
  const authorization = { Authorization: `Bearer ${token}` };
  const request: TestHub['request'] = (method, path, body, headers = {}) => {
    return hub.request(method, path, body, { ...authorization, ...headers });
  };
  const socket: TestHub['socket'] = (options = {}): Promise<SocketClient> => {
    return hub.socket({ ...options, headers: authorization });
  };
  return {
    ...hub,
    request,
    socket,
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, body),
    put: (path, body) => request('PUT', path, body),
    delete: (path) => request('DELETE', path),
    async subscribe(topic, params, options): Promise<Recorder> {
      return (await socket(options)).subscribe(topic, params);
    },
  };
}

/** Waits for a request that has to succeed. */
export async function done(replied: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await replied;
  assert.ok(status < 300, `${status} ${text}`);
}
