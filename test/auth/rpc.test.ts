import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RpcClient, type RpcFrame } from '../support/rpc_client.ts';
import { type AuthorizedHub, openAuthorizedHub } from './authorized_hub.ts';

const PERMISSIONS = `
operator:
  '/v2/rpc': [UPDATE_ANY]
  '/v2/rpc/available': [READ_ANY]
  '/v2/rpc/:method': [UPDATE_ANY]
  '/v2/ws/rpc': [UPDATE_ANY]
pinger:
  '/v2/rpc': [UPDATE_ANY]
  '/v2/ws/rpc': [UPDATE_ANY]
  '/v2/rpc/com.omlox.ping': [UPDATE_ANY]
  '/v2/rpc/Blink%20LED': [UPDATE_ANY]
door:
  '/v2/rpc': [UPDATE_ANY]
  '/v2/ws/rpc': [CREATE_ANY, UPDATE_ANY]
methods:
  '/v2/rpc/:method': [CREATE_ANY, UPDATE_ANY]
device:
  '/v2/ws/rpc': [CREATE_ANY]
  '/v2/rpc/Blink LED': [CREATE_ANY]
old:
  '/ws/rpc': [CREATE_ANY, UPDATE_ANY]
  '/rpc/:method': [CREATE_ANY, UPDATE_ANY]
all:
  '/v2/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]
own:
  '/v2/*': [CREATE_OWN, READ_OWN, UPDATE_OWN, DELETE_OWN]
`;

let opened: AuthorizedHub;
before(async () => {
  opened = await openAuthorizedHub(PERMISSIONS);
});
after(() => opened.close());

const PING = 'com.omlox.ping';
const IDENTIFY = 'com.omlox.identify';

/** Permissions of each role: by REST, list methods and call; by WebSocket of both versions, call and register. */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  operator: ['available', `call ${PING}`, `call ${IDENTIFY}`, `v2 call ${PING}`, `v2 call ${IDENTIFY}`],
  pinger: [`call ${PING}`, `v2 call ${PING}`],
  door: [],
  methods: [],
  device: ['v2 register Blink LED'],
  old: [`v1 call ${PING}`, `v1 call ${IDENTIFY}`, 'v1 register Blink LED', 'v1 register m'],
  all: ['available', `call ${PING}`, `call ${IDENTIFY}`, `v2 call ${PING}`, `v2 call ${IDENTIFY}`].concat([
    'v2 register Blink LED',
    'v2 register m',
  ]),
  own: [],
};

for (const [role, permitted] of Object.entries(ROLES)) {
  test(`The role ${role} may ${permitted.join(', ') || 'nothing'}, and nothing else`, async (t) => {
    const token = await opened.issuer.token({ roles: [role] });
    const hub = opened.as(token);
    const done: string[] = [];
    const wrong: string[] = [];
    const note = (what: string, isDone: boolean, isRefused: boolean): void => {
      if (isDone) done.push(what);
      else if (!isRefused) wrong.push(what);
    };
    const listed = await hub.get('/rpc/available');
    note('available', listed.status === 200, listed.status === 403);
    for (const method of [PING, IDENTIFY]) {
      const { status, body } = await hub.put('/rpc', { jsonrpc: '2.0', id: 1, method });
      note(`call ${method}`, body.result !== undefined, status === 403 && body.type === 'com.flowcate.auth.permission');
    }
    for (const version of ['v1', 'v2']) {
      const client = await RpcClient.open(opened.hub.origin, {
        path: `/hub/${version}/ws/rpc`,
        headers: { Authorization: `Bearer ${token}` },
      });
      t.after(() => client.close());
      const noteFrame = (what: string, { result, error }: RpcFrame): void => {
        note(`${version} ${what}`, result !== undefined, error?.code === -32012);
      };
      for (const method of [PING, IDENTIFY]) noteFrame(`call ${method}`, await client.ask({ method }));
      for (const method of ['Blink LED', 'm']) noteFrame(`register ${method}`, await client.register(method));
    }
    assert.deepEqual(wrong, []);
    assert.deepEqual(done.toSorted(), permitted.toSorted());
  });
}

test('An error names the missing permission, by REST and by WebSocket', async (t) => {
  const token = await opened.issuer.token({ roles: ['pinger'] });
  const { body } = await opened.as(token).put('/rpc', { jsonrpc: '2.0', id: 1, method: IDENTIFY });
  assert.equal(body.message, 'Cannot call this method in v2: the access token does not permit it');
  const device = await opened.issuer.token({ roles: ['device'] });
  const client = await RpcClient.open(opened.hub.origin, { headers: { Authorization: `Bearer ${device}` } });
  t.after(() => client.close());
  const { error } = await client.ask({ method: 'Blink LED' });
  assert.deepEqual(error, {
    code: -32012,
    message: 'Cannot call methods on /ws/rpc in v2: the access token does not permit it',
    data: { reason: 'not_permitted', params: { request: 'call methods on /ws/rpc in v2' } },
  });
});

test('Without a valid token, no call and no registration is possible', async (t) => {
  const { origin, put } = opened.hub;
  const { status } = await put('/rpc', { jsonrpc: '2.0', id: 1, method: PING });
  assert.equal(status, 401);
  for (const path of ['/hub/v2/ws/rpc', '/hub/v2/ws/rpc?token=nonsense']) {
    const client = await RpcClient.open(origin, { path });
    t.after(() => client.close());
    assert.equal((await client.ask({ method: PING })).error?.code, -32011);
    assert.equal((await client.register('m')).error?.code, -32011);
  }
  const token = await opened.issuer.token({ roles: ['all'] });
  const client = await RpcClient.open(origin, { path: `/hub/v2/ws/rpc?token=${token}` });
  t.after(() => client.close());
  assert.equal((await client.ask({ method: PING })).result, 'Pong');
});

test('The methods permitted to a page are listed', async () => {
  const token = await opened.issuer.token({ roles: ['operator'] });
  const { body } = await opened.as(token).get(`${opened.hub.origin}/hub-ui/permitted.json`);
  const found = (body.permissions as { operation: string; path: string }[]).map(
    (each) => `${each.operation} ${each.path}`,
  );
  for (const wanted of ['UPDATE /v2/rpc', 'READ /v2/rpc/available', 'UPDATE /v2/rpc/:method', 'UPDATE /v2/ws/rpc']) {
    assert.ok(found.includes(wanted), wanted);
  }
});
