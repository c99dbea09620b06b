import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { ProviderOwner } from '../../src/model/health.ts';
import { HubProcess, locationOf } from '../durability/hub_process.ts';
import { SocketClient } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { testNats } from './test_nats.ts';

const nats = await testNats();
const HUBS = ['hub-1', 'hub "2"'] as const;
const URLS = { 'hub-1': 'http://hub-1.example:8081', 'hub "2"': 'https://hub-2.example/rtls' };
const HEADER = {
  'hub-1': '"hub-1";url="http://hub-1.example:8081"',
  'hub "2"': '"hub \\"2\\"";url="https://hub-2.example/rtls"',
};
const WINDOW = 16;
const READY_MS = 20_000;

/** Two hubs, once both own partitions, and providers of each. */
async function openHubs(context: TestContext) {
  const hubs = HUBS.map((hub) => {
    const cluster = { cluster_servers: nats.servers.addresses.join(','), cluster_replicas: 1, cluster_name: 'hints' };
    return new HubProcess(temporaryFolder(), {
      ...{ ...cluster, cluster_journal_max_size: 64, cluster_hub_name: hub, cluster_client_url: URLS[hub] },
    });
  });
  context.after(() => Promise.all(hubs.map((hub) => hub.stop())));
  await Promise.all(hubs.map((hub) => hub.listening()));
  const [first] = hubs as [HubProcess, HubProcess];
  const owned = async (path: string) => (await first.get(path))?.body ?? assert.fail(`No answer to ${path}`);
  for (const untilMs = performance.now() + READY_MS; ; ) {
    assert.ok(performance.now() < untilMs, 'Not every hub owns something');
    const { owners, urls } = await owned('/cluster/owners');
    const isBalanced = HUBS.every(
      (hub) => owners.filter((owner: string) => owner === hub).length === owners.length / 2,
    );
    if (isBalanced && Object.keys(urls).length === 2) {
      assert.deepEqual(urls, URLS);
      break;
    }
  }
  const providers = { 'hub-1': [] as string[], 'hub "2"': [] as string[] };
  for (let number = 0; number < 60; number++) {
    const { owner, url } = (await owned(`/cluster/owners/tag-${number}`)) as ProviderOwner;
    assert.equal(url, URLS[owner as keyof typeof URLS]);
    providers[owner as keyof typeof providers].push(`tag-${number}`);
  }
  return { hubs, first, providers };
}

/** Header with a hint in the answer to a request of the first hub. */
async function hintTo(hub: HubProcess, path: string, body: unknown, method = 'PUT'): Promise<string | null> {
  const answer = await fetch(`${hub.base}${path}`, {
    ...{ method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } },
  });
  assert.equal(answer.status, 204);
  return answer.headers.get('Owner-Hub');
}

type Hubs = Awaited<ReturnType<typeof openHubs>>;

async function headers({ first, providers }: Hubs): Promise<void> {
  const [own, others] = [providers['hub-1'], providers['hub "2"']];
  const hinted = HEADER['hub "2"'];
  for (const id of others.slice(0, 3)) {
    assert.equal(await hintTo(first, `/providers/${id}/location`, locationOf(id, 1)), hinted);
    // A body in an unusual form, which is parsed.
    const utm = { crs: 'EPSG:32632', position: { type: 'Point', coordinates: [500_000, 5_540_000] } };
    assert.equal(await hintTo(first, `/providers/${id}/location`, locationOf(id, 2, utm)), hinted);
  }
  for (const id of own.slice(0, 3)) {
    assert.equal(await hintTo(first, `/providers/${id}/location`, locationOf(id, 1)), null);
  }
  const listOf = (ids: readonly string[]) => ids.map((id, number) => locationOf(id, 10 + number));
  const list = (ids: readonly string[]) => hintTo(first, '/providers/locations', listOf(ids), 'POST');
  assert.equal(await list(others.slice(0, 9)), hinted);
  assert.equal(await list([...own.slice(0, 2), ...others.slice(0, 6)]), hinted);
  assert.equal(await list([...own.slice(0, 3), ...others.slice(0, 6)]), null);
  assert.equal(await list([...own.slice(0, 6), ...others.slice(0, 2)]), null);
}

async function socketMessages({ first, providers }: Hubs, t: TestContext): Promise<void> {
  const connect = async (query: string) => {
    const socket = await SocketClient.open(`${first.base.replace('http', 'ws')}/ws/socket${query}`);
    t.after(() => socket.close());
    return socket;
  };
  const [asking, other] = [await connect('?owner_hints=true'), await connect('')];
  const publish = (socket: SocketClient, ids: readonly string[], number: number) => {
    const payload = ids.map((id) => locationOf(id, 100 + number));
    socket.send({ event: 'message', topic: 'location_updates', payload });
  };
  const hints = (socket: SocketClient) => socket.frames.filter(({ topic }) => topic === 'owner_hints');
  const [own, others] = [providers['hub-1'].slice(0, 2), providers['hub "2"'].slice(0, 2)];
  // Half of the messages: no hint.
  for (let number = 0; number < WINDOW; number++) publish(asking, number % 2 === 0 ? own : others, number);
  await asking.settle();
  assert.deepEqual(hints(asking), []);
  for (let number = 0; number < 3 * WINDOW; number++) {
    for (const socket of [asking, other]) publish(socket, others, WINDOW + number);
  }
  await Promise.all([asking.settle(), other.settle()]);
  const payload = [{ hub: 'hub "2"', url: URLS['hub "2"'] }];
  assert.deepEqual(hints(asking), [{ event: 'message', topic: 'owner_hints', payload }]);
  assert.deepEqual(
    other.frames.filter(({ event }) => event === 'message'),
    [],
  );
}

test('A hub names the owner of what a client sends', { skip: nats.skip }, async (t) => {
  const opened = await openHubs(t);
  await t.test('in a header: that of a location, or of most of a list', () => headers(opened));
  await t.test('in a message on a WebSocket that asks for it, once', (context) => socketMessages(opened, context));
});
