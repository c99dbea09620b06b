import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ApiRoute } from '../../src/api/route.ts';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { TOPIC_NAMES, topicName } from '../../src/fanout/topic_name.ts';
import { TOPIC_OWNERS } from '../../src/socket/topic_owners.ts';
import { BODIES, filled, IDS, restore } from '../contract/world.ts';
import type { TestReply } from '../support/running_hub.ts';
import type { SocketClient } from '../support/socket_client.ts';
import { type AuthorizedHub, openAuthorizedHub } from './authorized_hub.ts';
import { newKey } from './issuer.ts';

/** Callers, each of which calls every endpoint and every topic. */
const WHO = [
  'anonymous',
  'expired',
  'wrong key',
  'wrong audience',
  'no role',
  'OWN of another',
  'OWN',
  'ANY',
  'ANY without a version',
  'guest',
  'unknown key',
  'revoked key',
  'expired key',
  'no role by key',
  'OWN of another by key',
  'OWN by key',
  'ANY by key',
  'ANY without a version by key',
] as const;
type Who = (typeof WHO)[number];

/** The caller with the same permissions: an API key is like a token with its roles and owned entities. */
function asToken(who: Who): Who {
  if (who === 'unknown key' || who === 'revoked key' || who === 'expired key') return 'wrong key';
  return who.replace(' by key', '') as Who;
}

const PERMISSIONS = `
any:
  '/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
  '/v2/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
old:
  '/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
own:
  '/*': [CREATE_OWN, READ_OWN, UPDATE_OWN, DELETE_OWN]
  '/v2/*': [CREATE_OWN, READ_OWN, UPDATE_OWN, DELETE_OWN]
none:
  '/v2/zones': []
`;
const GUESTS = `
guest:
  '/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
  '/v2/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
`;

/** An id of each owned kind that does not exist yet. */
const NEW = {
  zone: 'eeeeeeee-0000-4000-8000-0000000000ff',
  fence: 'ffffffff-0000-4000-8000-0000000000ff',
  trackable: 'aaaaaaaa-0000-4000-8000-0000000000ff',
  provider: 'tag-new',
  anchor: 'anchor-new',
} as const;

const OWNED = {
  zone_ids: [IDS['zone_id'] ?? '', NEW.zone],
  fence_ids: [IDS['fence_id'] ?? '', NEW.fence],
  trackable_ids: [IDS['trackable_id'] ?? '', NEW.trackable],
  provider_ids: [IDS['provider_id'] ?? '', NEW.provider],
  anchor_ids: [IDS['anchor_id'] ?? '', NEW.anchor],
  source_ids: [IDS['source_id'] ?? ''],
};
const OF_ANOTHER = Object.fromEntries(
  Object.keys(OWNED).map((name) => [name, ['99999999-0000-4000-8000-000000000000']]),
);

let closed: AuthorizedHub;
let open: AuthorizedHub;
/** Hubs whose data may have changed since the setup. */
const changed = new Set<AuthorizedHub>();
let tokens: Readonly<Record<Who, string | undefined>>;

before(async () => {
  closed = await openAuthorizedHub(PERMISSIONS);
  open = await openAuthorizedHub(GUESTS);
  const { issuer } = closed;
  tokens = {
    anonymous: undefined,
    expired: await issuer.token({ roles: ['any'], expiresIn: -60 }),
    'wrong key': await issuer.token({ roles: ['any'], key: { ...(await newKey()), kid: issuer.keys[0]?.kid ?? '' } }),
    'wrong audience': await issuer.token({ roles: ['any'], claims: { aud: 'account' } }),
    'no role': await issuer.token({ roles: ['none', 'guest', 'offline_access'] }),
    'OWN of another': await issuer.token({ roles: ['own'], owned: OF_ANOTHER }),
    OWN: await issuer.token({ roles: ['own'], owned: OWNED }),
    ANY: await issuer.token({ roles: ['any'] }),
    'ANY without a version': await issuer.token({ roles: ['old'] }),
    guest: undefined,
    'unknown key': `olh_${'0'.repeat(16)}_${'A'.repeat(43)}`,
    'revoked key': await revokedKey(),
    // It expires long before its turn.
    'expired key': await keyOf({ roles: ['any'], expires_at: new Date(Date.now() + 1000).toISOString() }),
    'no role by key': await keyOf({ roles: ['none'] }),
    'OWN of another by key': await keyOf({ roles: ['own'], owned_resources: OF_ANOTHER }),
    'OWN by key': await keyOf({ roles: ['own'], owned_resources: OWNED }),
    'ANY by key': await keyOf({ roles: ['any'] }),
    'ANY without a version by key': await keyOf({ roles: ['old'] }),
  };
});

interface CreatedKey {
  readonly id: string;
  readonly key: string;
}

async function newApiKey(body: object): Promise<CreatedKey> {
  const { status, text } = await closed.admin.post('/keys', { name: 'Matrix', ...body });
  assert.equal(status, 201, text);
  return JSON.parse(text) as CreatedKey;
}

async function keyOf(body: object): Promise<string> {
  return (await newApiKey(body)).key;
}

async function revokedKey(): Promise<string> {
  const { id, key } = await newApiKey({ roles: ['any'] });
  assert.equal((await closed.admin.post(`/keys/${id}/revoke`)).status, 200);
  return key;
}

after(async () => {
  await closed.close();
  await open.close();
});

/** URL at which a route is served. */
interface Address {
  readonly version: 'v1' | 'v2';
  readonly base: string;
}

function addressesOf({ versions, unversioned }: ApiRoute): Address[] {
  const versioned = versions.map((version) => ({ version, base: `/hub/${version}` }));
  return unversioned ? [...versioned, { version: 'v2', base: '/hub' }] : versioned;
}

type Outcome = 401 | 403 | 'let in';

const TYPES = {
  v1: { 401: 'unathorized', 403: 'unathorized' },
  v2: { 401: 'com.flowcate.auth.authenticated', 403: 'com.flowcate.auth.permission' },
} as const;

/** The event log is open to a caller that may subscribe to a topic of the same version. */
const BY_TOPIC = '/events';
/** Reason of a rejection by the source itself, whose token no caller has. It does not depend on permissions. */
const BY_SOURCE = 'source_token';
/** Has the same permissions, and a reply that never ends. */
const ENDLESS: ReadonlySet<string> = new Set(['/events/stream']);

function expected({ permission, path }: ApiRoute, { version, base }: Address, caller: Who): Outcome {
  const who = asToken(caller);
  if (path === BY_TOPIC) {
    if (who === 'ANY without a version' || who === 'no role') return 403;
    return ['ANY', 'guest', 'OWN', 'OWN of another'].includes(who) ? 'let in' : 401;
  }
  if (who === 'ANY without a version') return permission === 'public' || base !== '/hub/v2' ? 'let in' : 403;
  if (permission === 'public' || who === 'ANY' || who === 'guest') return 'let in';
  if (who === 'no role') return 403;
  if (who !== 'OWN' && who !== 'OWN of another') return 401;
  if (permission.resource === undefined) return 403;
  if (permission.owned === 'reply') return 'let in';
  if (who === 'OWN of another') return 403;
  // v1 generates the ids of these, so they have no previous owner.
  const generated = ['zone_id', 'fence_id', 'trackable_id'].includes(permission.resource);
  return permission.owned === 'body' && version === 'v1' && generated ? 403 : 'let in';
}

function outcomeOf({ status, body }: TestReply, { version }: Address): Outcome | string {
  if (body?.reason === BY_SOURCE) return 'let in';
  if (status === 401 || status === 403)
    return body.type === TYPES[version][status] && body.code === status ? status : body.type;
  return status < 500 ? 'let in' : `${status}`;
}

async function call(route: ApiRoute, { base }: Address, who: Who): Promise<TestReply> {
  const opened = who === 'guest' ? open : closed;
  const { hub, admin } = opened;
  const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
  const body = BODIES[`${route.method} ${path}`]?.();
  const isCreation = route.permission !== 'public' && route.permission.owned === 'body';
  const kind = String(route.permission !== 'public' && route.permission.resource).replace(
    '_id',
    '',
  ) as keyof typeof NEW;
  if (expected(route, { version: base === '/hub/v1' ? 'v1' : 'v2', base }, who) === 'let in') {
    if (changed.delete(opened)) await restore(admin);
    if (route.method !== 'GET') changed.add(opened);
  }
  const token = tokens[who];
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const sent = isCreation ? { ...(body as object), id: NEW[kind] } : body;
  return await hub.request(route.method, `${hub.origin}${base}${filled(path)}`, sent, headers);
}

test('Every endpoint admits the permitted roles, and no others', async (t) => {
  await restore(closed.admin);
  await restore(open.admin);
  const wrong: string[] = [];
  let cells = 0;
  for (const who of WHO) {
    for (const route of ROUTES.filter(({ path }) => !ENDLESS.has(path))) {
      for (const address of addressesOf(route)) {
        cells++;
        const wanted = expected(route, address, who);
        const reply = await call(route, address, who);
        const found = outcomeOf(reply, address);
        const cell = `${who}: ${route.method} ${address.base}${route.path}`;
        if (found !== wanted) wrong.push(`${cell}: ${wanted} expected, found ${found}: ${reply.text.slice(0, 200)}`);
        if (found === 401 && reply.headers['www-authenticate'] === undefined) wrong.push(`${cell}: no challenge`);
        wrong.push(...wrongLists(route, who, reply).map((what) => `${cell}: ${what}`));
      }
    }
    // A rejected request has changed nothing.
    if (who === 'no role') assert.equal((await closed.admin.get(`/zones/${IDS['zone_id']}`)).status, 200);
  }
  assert.deepEqual(wrong, []);
  t.diagnostic(
    `${cells} cells: ${ROUTES.length} rows of the API, ${cells / WHO.length} addresses, ${WHO.length} callers`,
  );
  assert.ok(cells >= 1500, `${cells} cells`);
});

/** A list contains the owned objects, and nothing else. */
function wrongLists({ permission, method }: ApiRoute, caller: Who, { status, text }: TestReply): string[] {
  const who = asToken(caller);
  if (permission === 'public' || permission.owned !== 'reply' || status !== 200 || method !== 'GET') return [];
  const all = Object.values(OWNED).flat();
  if (who === 'OWN of another') return all.filter((id) => text.includes(id)).map((id) => `shows ${id}`);
  const mine = IDS[permission.resource ?? ''] ?? '';
  return who === 'OWN' && !text.includes(mine) ? [`does not show ${mine}`] : [];
}

/** Result of a subscription or of an empty publication: an error code or success. */
type Answer = 10004 | 10006 | 'done';

/** Topics whose events have no owner: a permission for OWN does not include them. */
const WITHOUT_OWNER: ReadonlySet<string> = new Set(['xcmd_broadcast']);

function expectedAnswer(
  use: 'subscribe' | 'message',
  { who: caller, version, topic }: { readonly who: Who; readonly version: string; readonly topic: string },
): Answer {
  const who = asToken(caller);
  if (who === 'ANY without a version') return version === 'v1' ? 'done' : 10004;
  if (who === 'ANY' || who === 'guest') return 'done';
  if (who === 'OWN') return use === 'subscribe' && !WITHOUT_OWNER.has(topic) ? 'done' : 10004;
  return who === 'no role' || who === 'OWN of another' ? 10004 : 10006;
}

async function answerTo(socket: SocketClient, frame: object): Promise<Answer | string> {
  const frames = await socket.ask(frame);
  const [answer] = frames.filter(({ event }) => event === 'error' || event === 'subscribed');
  if (answer?.event === 'error')
    return answer.code === 10004 || answer.code === 10006 ? answer.code : JSON.stringify(answer);
  return answer?.event === 'subscribed' || frames.length === 0 ? 'done' : JSON.stringify(frames);
}

test('Every topic is open to the permitted roles, and to no others', async (t) => {
  const wrong: string[] = [];
  let cells = 0;
  for (const who of WHO) {
    const token = tokens[who];
    for (const version of ['v1', 'v2']) {
      const socket = await (who === 'guest' ? open : closed).hub.socket({ path: `/hub/${version}/ws/socket` });
      const check = async (use: 'subscribe' | 'message', topic: string, frame: object): Promise<void> => {
        cells++;
        const [wanted, found] = [
          expectedAnswer(use, { who, version, topic }),
          await answerTo(socket, { event: use, topic, ...frame }),
        ];
        if (found !== wanted) wrong.push(`${who}: ${use} ${topic} in ${version}: ${wanted} expected, found ${found}`);
      };
      for (const topic of TOPIC_NAMES) {
        const { resource, params } = TOPIC_OWNERS[topicName(topic)?.topic ?? assert.fail(topic)];
        await check('subscribe', topic, { params: { ...(token && { token }), [params[0] ?? '']: IDS[resource] } });
      }
      for (const topic of ['location_updates', 'proximity_updates']) {
        await check('message', topic, { params: { ...(token && { token }) }, payload: [] });
      }
      await socket.close();
    }
  }
  assert.deepEqual(wrong, []);
  t.diagnostic(
    `${cells} cells: ${TOPIC_NAMES.length} topics to subscribe to, 2 to publish on, 2 versions, ${WHO.length} callers`,
  );
  assert.equal(cells, (TOPIC_NAMES.length + 2) * 2 * WHO.length);
});
