import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { keyHash } from '../../src/auth/api_key_text.ts';
import { ApiKeyVerifier } from '../../src/auth/api_keys.ts';
import { HubError } from '../../src/errors.ts';
import type { ApiKey, StoredApiKey } from '../../src/model/api_key.ts';
import { runCliIn, startCliWith } from '../cli/run_cli.ts';
import { location } from '../links/linked_hubs.ts';
import { openTestHub, type TestHub, whileHubRuns } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { openAuthorizedHub, withToken } from './authorized_hub.ts';

const PERMISSIONS = `
admin:
  '/v2/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
keeper:
  '/v2/keys/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
  '/v2/zones': [READ_ANY]
viewer:
  '/v2/zones': [READ_ANY]
sender:
  '/v2/providers/*': [CREATE_ANY, READ_ANY, UPDATE_ANY]
  '/v2/ws/socket/location_updates': [CREATE_ANY, READ_ANY]
  '/v2/ws/socket/fence_events': [READ_ANY]
  '/v2/events/*': [READ_ANY]
owner:
  '/v2/providers/*': [READ_OWN]
`;
const KEY = /^olh_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/;
const SETTINGS = { require_authorization: true };

async function newFolder(): Promise<string> {
  const path = temporaryFolder();
  await writeFile(join(path, 'permissions.yaml'), PERMISSIONS);
  return path;
}

async function firstKey(of: string, role = 'admin'): Promise<string> {
  const { code, out, err } = await runCliIn(of, 'keys', 'create', 'First', '--role', role, '--offline');
  assert.equal(code, 0, err);
  assert.match(out, /^olh_\S+\n$/);
  return out.trim();
}

let folder: string;
let adminKey: string;
/** A hub without identity server. */
let hub: TestHub;
/** The same with its first key. */
let admin: TestHub;

before(async () => {
  folder = await newFolder();
  adminKey = await firstKey(folder);
  hub = await openTestHub({ ...SETTINGS, event_retention: 1 }, { folder, isAlone: true });
  admin = withToken(hub, adminKey);
});
after(async () => {
  await hub.close();
});

async function created(by: TestHub, body: object): Promise<ApiKey & { readonly key: string }> {
  const reply = await by.post('/keys', { name: 'Test', ...body });
  assert.equal(reply.status, 201, reply.text);
  return reply.body as ApiKey & { readonly key: string };
}

test('Without an identity server, a hub accepts keys alone, the first of which is created in its data', async () => {
  const own = await newFolder();
  await whileHubRuns(own, SETTINGS, async ({ logged }) => {
    assert.ok(logged.some(({ message }) => message.startsWith('No client can authenticate')));
  });
  const key = await firstKey(own);
  assert.match(key, KEY);
  await whileHubRuns(own, SETTINGS, async (running) => {
    assert.ok(!running.logged.some(({ message }) => message.startsWith('No client can authenticate')));
    assert.equal((await running.get('/zones')).body.reason, 'no_token');
    const { status, body, headers } = await withToken(running, 'eyJhbGciOiJSUzI1NiJ9.e30.AA').get('/zones');
    assert.deepEqual([status, body.reason], [401, 'no_identity_server']);
    assert.equal(headers['www-authenticate']?.slice(0, 6), 'Bearer');
    assert.equal((await withToken(running, key).get('/zones')).status, 200);
    const refused = await runCliIn(own, 'keys', 'create', 'Second', '--role', 'admin', '--offline');
    assert.equal(refused.code, 1);
    assert.match(refused.err, /data\.dat/);
  });
});

test('A key is shown once, stored as a hash, and valid after a restart', async () => {
  const own = await newFolder();
  const first = await firstKey(own);
  const { id, key } = await whileHubRuns(own, SETTINGS, async (running) => {
    const by = withToken(running, first);
    const reply = await by.post('/keys', {
      name: 'Wall',
      roles: ['viewer'],
      hash: 'x',
      revoked_at: '2020-01-01T00:00:00Z',
    });
    assert.equal(reply.status, 201, reply.text);
    const { key: secret, ...shown } = reply.body as ApiKey & { readonly key: string };
    assert.match(secret, KEY);
    assert.deepEqual(
      { ...shown, created_at: '' },
      { id: secret.slice(4, 20), name: 'Wall', roles: ['viewer'], created_at: '' },
    );
    for (const path of ['/keys', `/keys/${shown.id}`, '/export', '/metrics']) {
      const { text } = await by.get(path);
      for (const part of [secret.slice(21), keyHash(secret.slice(21)).toString('base64url')])
        assert.ok(!text.includes(part), path);
    }
    assert.deepEqual((await by.get(`/keys/${shown.id}`)).body, shown);
    return { id: shown.id, key: secret };
  });
  await whileHubRuns(own, SETTINGS, async (running) => {
    assert.equal((await withToken(running, key).get('/zones')).status, 200);
    assert.equal((await withToken(running, key).get('/keys')).status, 403);
    assert.equal((await withToken(running, first).delete(`/keys/${id}`)).status, 204);
    const { status, body } = await withToken(running, key).get('/zones');
    assert.deepEqual([status, body.reason], [401, 'key_unknown']);
  });
});

test('Keys and tokens of an identity server are valid at the same hub', async (t) => {
  const opened = await openAuthorizedHub("viewer:\n  '/v2/zones': [READ_ANY]\n");
  t.after(() => opened.close());
  const { key } = await created(opened.admin, { roles: ['viewer'] });
  assert.equal((await opened.as(key).get('/zones')).status, 200);
  assert.equal((await opened.as(key).get('/fences')).status, 403);
  assert.equal((await opened.admin.get('/zones')).status, 200);
});

test('A changed, shortened or lengthened key is unknown', async () => {
  const { id, key } = await created(admin, { roles: ['viewer'] });
  const other = await created(admin, { roles: ['viewer'] });
  const last = key.endsWith('A') ? 'E' : 'A';
  const wrong = [
    key.slice(0, -1),
    `${key}A`,
    key.slice(0, -1) + last,
    `olh_${id}_`,
    'olh_',
    `olh_${other.id}_${key.slice(21)}`,
    `olh_${'0'.repeat(16)}_${key.slice(21)}`,
  ];
  for (const each of wrong) {
    const { status, body } = await withToken(hub, each).get('/zones');
    assert.deepEqual([status, body.reason, body.params], [401, 'key_unknown', {}], each);
  }
});

test('A key permits no more than the token that creates it', async () => {
  const keeper = withToken(hub, (await created(admin, { roles: ['keeper'] })).key);
  const refused = await keeper.post('/keys', { name: 'More', roles: ['viewer', 'sender'] });
  assert.equal(refused.status, 403);
  assert.match(refused.body.message, /^roles: must permit no more than the access token, found that only the key may /);
  assert.equal((await keeper.post('/keys', { name: 'More', roles: ['admin'] })).status, 403);
  const owner = await keeper.post('/keys', {
    name: 'Mine',
    roles: ['owner'],
    owned_resources: { provider_ids: ['tag-1'] },
  });
  assert.equal(owner.status, 403);
  assert.equal((await keeper.post('/keys', { name: 'Equal', roles: ['keeper'] })).status, 201);
  assert.equal((await keeper.post('/keys', { name: 'Less', roles: ['viewer'] })).status, 201);
});

test('A key with OWN permissions reaches its owned entities alone', async () => {
  for (const id of ['tag-1', 'tag-2']) await admin.post('/providers', { id, type: 'uwb' });
  const { key } = await created(admin, { roles: ['owner'], owned_resources: { provider_ids: ['tag-1'] } });
  const owner = withToken(hub, key);
  assert.deepEqual((await owner.get('/providers')).body, ['tag-1']);
  assert.equal((await owner.get('/providers/tag-2')).status, 403);
});

const INVALID: readonly [name: string, body: object, message: RegExp][] = [
  ['without roles', { roles: [] }, /^roles: must /],
  [
    'with an unknown role',
    { roles: ['viewer', 'nurse'] },
    /^roles\[1\]: must be a role of permissions\.yaml, found "nurse"$/,
  ],
  ['with a repeated role', { roles: ['viewer', 'viewer'] }, /^roles\[1\]: /],
  ['without a name', { name: '', roles: ['viewer'] }, /^name: /],
  [
    'with a past expiry',
    { roles: ['viewer'], expires_at: '2020-01-01T00:00:00Z' },
    /^expires_at: must be in the future, found "2020-01-01T00:00:00Z"$/,
  ],
  [
    'with no time as expiry',
    { roles: ['viewer'], expires_at: 'soon' },
    /^expires_at: must be an RFC 3339 date and time, found "soon"$/,
  ],
];

test('Invalid keys are rejected with the field and the value', async () => {
  const count = async (): Promise<number> => ((await admin.get('/keys')).body as readonly ApiKey[]).length;
  const countBefore = await count();
  for (const [name, body, message] of INVALID) {
    const { status, body: error } = await admin.post('/keys', { name: 'Test', ...body });
    assert.equal(status, 400, name);
    assert.match(error.message, message, name);
  }
  assert.equal(await count(), countBefore);
});

test('An expiry is stored as the instant at which the key is no longer valid, also of a leap second', async () => {
  const { expires_at: expiry } = await created(admin, { roles: ['viewer'], expires_at: '2099-12-31T23:59:60Z' });
  assert.equal(Number.isNaN(Date.parse(String(expiry))), false, String(expiry));
});

test('A hub that requires no authorization creates no keys, since anyone could', async () => {
  const hub = await openTestHub();
  try {
    const { status, body } = await hub.post('/keys', { name: 'Test', roles: ['admin'] });
    assert.deepEqual([status, body.reason], [400, 'keys_without_authorization']);
  } finally {
    await hub.close();
  }
});

/** Resolves when the hub has ended a stream. */
async function untilClosed({ body }: Response): Promise<void> {
  for await (const _part of body ?? []);
}

test('Revoking or deleting a key ends its subscriptions, its stream and its frames at once', async () => {
  for (const end of ['revoke', 'delete'] as const) {
    const { id, key } = await created(admin, { roles: ['sender'] });
    const socket = await hub.socket({ path: `/hub/v2/ws/socket?token=${key}` });
    const events = await socket.subscribe('location_updates', {});
    const stream = await fetch(`${hub.base}/events/stream?topic=fence_events`, {
      headers: { Authorization: `Bearer ${key}`, Accept: 'text/event-stream' },
    });
    assert.equal(stream.status, 200, end);
    await admin.put('/providers/tag/location', location('tag', 1));
    await events.next();
    const ended = socket.frame(({ code }) => code === 10006);
    const done = end === 'revoke' ? admin.post(`/keys/${id}/revoke`) : admin.delete(`/keys/${id}`);
    assert.ok((await done).status < 300);
    assert.match((await ended).description ?? '', new RegExp(`of subscription ${events.subscriptionId} .*was revoked`));
    await untilClosed(stream);
    socket.send({ event: 'message', topic: 'location_updates', payload: [location('tag', 2)] });
    const [, refused] = await Promise.all([
      socket.settle(),
      socket.frame(({ code, description }) => code === 10006 && /API key/.test(String(description))),
    ]);
    assert.match(refused.description ?? '', end === 'revoke' ? /it was revoked$/ : /has no such key$/);
    const { status, body } = await withToken(hub, key).get('/providers');
    assert.deepEqual([status, body.reason], [401, end === 'revoke' ? 'key_revoked' : 'key_unknown']);
    await socket.close();
  }
});

test('An expired key is rejected with its id, and only if its secret is right', () => {
  let nowMs = Date.parse('2026-01-01T00:00:00Z');
  const secret = 'A'.repeat(43);
  const stored: StoredApiKey = {
    ...{ id: '0123456789abcdef', name: 'Test', roles: ['viewer', 'gone'], expires_at: '2026-01-01T00:00:01Z' },
    hash: keyHash(secret).toString('base64url'),
  };
  const keys = new ApiKeyVerifier({ now: () => nowMs, isRole: (role) => role === 'viewer' });
  const reason = (key: string): string | undefined => {
    try {
      keys.verified(key);
      return undefined;
    } catch (error) {
      return error instanceof HubError ? `${error.status} ${error.reason}` : String(error);
    }
  };
  const key = `olh_${stored.id}_${secret}`;
  assert.equal(reason(key), '401 key_unknown');
  keys.attach((id) => (id === stored.id ? stored : undefined));
  assert.equal(reason(key), undefined);
  assert.deepEqual(keys.verified(key).roles, ['viewer']);
  nowMs += 1000;
  assert.equal(reason(key), '401 key_expired');
  assert.equal(reason(key.replace('A_', 'B_').replace(/A$/, 'B')), '401 key_unknown');
});

test('The commands list, create, revoke and delete keys with the token of HUB_TOKEN', async () => {
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await startCliWith({ HUB_TOKEN: adminKey }, 'keys', ...args, '--hub', hub.origin)
      .finished;
    assert.deepEqual([code, err], [0, ''], args.join(' '));
    return out;
  };
  const made = (await run('create', 'Wall', '--role', 'viewer', '--expires', '2099-01-01T00:00:00Z')).trim();
  assert.equal((await withToken(hub, made).get('/zones')).status, 200);
  const id = made.slice(4, 20);
  assert.match(await run('list'), new RegExp(`^${id}\tWall\tvalid until 2099-01-01T00:00:00.000Z\tviewer$`, 'm'));
  assert.equal(await run('revoke', id), 'The key "Wall" is revoked\n');
  assert.match(await run('list'), new RegExp(`^${id}\tWall\trevoked \\S+\tviewer$`, 'm'));
  assert.equal(await run('delete', id), `The key ${id} is deleted\n`);
  assert.ok(!(await run('list')).includes(id));
  const unknown = await runCliIn(folder, 'keys', 'create', 'X', '--role', 'nurse', '--offline');
  assert.equal(unknown.code, 1);
  assert.match(unknown.err, /permissions\.yaml has no role "nurse"; its roles are admin, keeper, /);
});
