import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { withToken } from '../auth/authorized_hub.ts';
import { startCliWith } from '../cli/run_cli.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { testNats } from './test_nats.ts';

const nats = await testNats();
const { skip } = nats;

test('A key created in a running cluster is valid at all hubs, until one of them revokes it', { skip }, async (t) => {
  const folder = temporaryFolder();
  await writeFile(
    join(folder, 'permissions.yaml'),
    "admin:\n  '/v2/*': [CREATE_ANY, READ_ANY, UPDATE_ANY, DELETE_ANY]\n",
  );
  const servers = nats.servers.addresses.join(',');
  const shared = { cluster_servers: servers, cluster_replicas: 1, cluster_name: 'keys', require_authorization: true };
  const open = (name: string): Promise<TestHub> => {
    return openTestHub({ ...shared, cluster_hub_name: name, cluster_journal_max_size: 16 }, { folder, isAlone: true });
  };
  const [a, b] = [await open('a'), await open('b')];
  t.after(() => Promise.all([a.close(), b.close()]));
  const env = {
    ...{ HUB_CONFIG_PATH: folder, HUB_CLUSTER_SERVERS: servers, HUB_CLUSTER_REPLICAS: '1' },
    ...{ HUB_CLUSTER_NAME: 'keys', HUB_CLUSTER_HUB_NAME: 'a', HUB_CLUSTER_JOURNAL_MAX_SIZE: '16' },
  };
  const made = await startCliWith(env, 'keys', 'create', 'First', '--role', 'admin', '--offline').finished;
  assert.equal(made.code, 0, made.err);
  const [adminA, adminB] = [a, b].map((hub) => withToken(hub, made.out.trim())) as [TestHub, TestHub];
  assert.equal((await adminB.get('/zones')).status, 200);
  const { id, key } = (await adminA.post('/keys', { name: 'Second', roles: ['admin'] })).body as {
    id: string;
    key: string;
  };
  const socket = await b.socket();
  const [acknowledged] = await socket.ask({ event: 'subscribe', topic: 'fence_events', params: { token: key } });
  assert.equal(acknowledged?.event, 'subscribed');
  const ended = socket.frame(({ code }) => code === 10006);
  assert.equal((await adminA.post(`/keys/${id}/revoke`)).status, 200);
  await ended;
  const { status, body } = await withToken(b, key).get('/zones');
  assert.deepEqual([status, body.reason], [401, 'key_revoked']);
});
