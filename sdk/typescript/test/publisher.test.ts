import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { clientCredentials, LocationHub, PublishError, type Schemas } from '../src/client.ts';
import { fnv1a32 } from '../src/owners.ts';
import { pauseMs } from '../src/timing.ts';
import { type Answer, type FakeHub, openFakeHub, type FakeRequest } from './fake_hub.ts';

const at = (id: string, x = 0): Schemas['Location'] => ({
  ...{ provider_id: id, provider_type: 'uwb', source: 'hall', crs: 'EPSG:4326' },
  position: { type: 'Point', coordinates: [x, 50] },
});

async function open(t: TestContext, answer: (request: FakeRequest) => Answer | Promise<Answer>): Promise<FakeHub> {
  const fake = await openFakeHub({ answer });
  t.after(fake.close);
  return fake;
}

/** Ids and x of the batches that were sent. */
function batches({ requests }: FakeHub): string[] {
  return requests
    .filter(({ method }) => method === 'PUT')
    .map(({ body }) => {
      const sent = JSON.parse(body) as { provider_id: string; position: { coordinates: number[] } }[];
      return sent.map(({ provider_id: id, position }) => `${id}${position.coordinates[0]}`).join(' ');
    });
}

test('Locations are sent in batches, in order, one request at a time', async (t) => {
  let open1 = 0;
  const fake = await open(t, async ({ method }) => {
    assert.ok(method === 'GET' || ++open1 === 1, 'two requests at a time');
    await new Promise((resolve) => setImmediate(resolve));
    if (method !== 'GET') open1--;
    return [method === 'GET' ? 404 : 204];
  });
  const publisher = new LocationHub(fake.url).publisher({ batchMax: 3 });
  await Promise.all(['a', 'b', 'a', 'b', 'a'].map((id, i) => publisher.publish(at(id, i))));
  assert.deepEqual(batches(fake), ['a0 b1 a2', 'b3 a4']);
  assert.equal(publisher.pending, 0);
});

test('A location is sent again until the hub accepts it', async (t) => {
  let count = 0;
  const fake = await open(t, ({ method }) => [method === 'GET' ? 404 : ++count < 3 ? 503 : 204]);
  await new LocationHub(fake.url, { random: () => 0 }).publisher().publish(at('a'));
  assert.deepEqual(batches(fake), ['a0', 'a0', 'a0']);
});

test('A location that cannot be sent in time is rejected with the last answer', async (t) => {
  const fake = await open(t, () => [503, { message: 'The hub is full' }]);
  let nowMs = 0;
  const hub = new LocationHub(fake.url, { random: () => 0, now: () => (nowMs += 500) });
  await assert.rejects(hub.publisher({ retryMs: 1000 }).publish(at('a')), new PublishError('The hub is full', 503));
});

test('A wrong location is rejected alone', async (t) => {
  const fake = await open(t, ({ method, body }) => {
    if (method === 'GET') return [404];
    return body.includes('bad') ? [400, { message: 'provider_id: no' }] : [204];
  });
  const publisher = new LocationHub(fake.url).publisher();
  const results = await Promise.allSettled(['a', 'b', 'bad', 'c', 'd'].map((id) => publisher.publish(at(id))));
  assert.deepEqual(
    results.map((result) => (result.status === 'fulfilled' ? 'sent' : result.reason.message)),
    ['sent', 'sent', 'provider_id: no', 'sent', 'sent'],
  );
});

test('A full queue rejects at once', async (t) => {
  const fake = await open(t, ({ method }) => [method === 'GET' ? 404 : 204]);
  const publisher = new LocationHub(fake.url).publisher({ queueMax: 1 });
  const first = publisher.publish(at('a'));
  await assert.rejects(publisher.publish(at('b')), /Cannot publish: 1 locations are waiting already/);
  await first;
});

test('In a cluster, each location goes to the hub that owns its provider, and to any hub if that one fails', async (t) => {
  const other = await open(t, () => [204]);
  const { origin } = new URL(other.url);
  const owners = { version: 1, hash: 'fnv1a-32', owners: ['one', 'two'], urls: { two: origin } };
  const one = await open(t, ({ method, path }) =>
    method === 'PUT' ? [204] : path === '/v2/cluster/owners' ? [200, owners] : [404],
  );
  const ids = Array.from({ length: 12 }, (_, i) => `tag-${i}`);
  const theirs = ids.filter((id) => fnv1a32(id) % 2 === 1).map((id) => `${id}0`);
  assert.ok(theirs.length > 0 && theirs.length < ids.length);
  const publisher = new LocationHub(one.url, { random: () => 0 }).publisher();
  // The owners are requested with the first location.
  await publisher.publish(at('first'));
  await Promise.all(ids.map((id) => publisher.publish(at(id))));
  assert.deepEqual(batches(other).join(' ').split(' '), theirs);

  await other.close();
  await Promise.all(ids.map((id) => publisher.publish(at(id, 1))));
  for (const id of ids) assert.ok(batches(one).join(' ').includes(`${id}1`));
});

test('A request with a refused token is repeated with another one', async (t) => {
  const hubRequests: (string | undefined)[] = [];
  let issued = 0;
  const fake = await open(t, ({ method, path, token, body }) => {
    if (path === '/token') {
      assert.equal(new URLSearchParams(body).get('grant_type'), 'client_credentials');
      return [200, { access_token: `token ${++issued}`, expires_in: 300 }];
    }
    if (method === 'GET') hubRequests.push(token);
    return token === 'token 1' ? [401] : [200, ['hall']];
  });
  const tokenUrl = new URL('/token', fake.url).href;
  const token = clientCredentials({ tokenUrl, clientId: 'me', clientSecret: 'secret' });
  const { data } = await new LocationHub(fake.url, { token }).rest.GET('/zones');
  assert.deepEqual(data, ['hall']);
  assert.deepEqual(hubRequests, ['token 1', 'token 2']);
});

test('A token is replaced before it expires, and requested once at a time', async (t) => {
  let issued = 0;
  const fake = await open(t, () => [200, { access_token: `token ${++issued}`, expires_in: 100 }]);
  let nowMs = 0;
  const source = clientCredentials({ tokenUrl: fake.url, clientId: 'me', clientSecret: 'secret', now: () => nowMs });
  assert.deepEqual(await Promise.all([source.token(), source.token()]), ['token 1', 'token 1']);
  nowMs = 69_000;
  assert.equal(await source.token(), 'token 1');
  nowMs = 71_000;
  assert.equal(await source.token(), 'token 2');
});

for (const [text, hash] of [
  ['', 0x811c9dc5],
  ['a', 0xe40c292c],
  ['foobar', 0xbf9cf968],
] as const) {
  test(`The hash of "${text}" is that of the definition of FNV-1a`, () => assert.equal(fnv1a32(text), hash));
}

test('The pause doubles from 100 ms to 5 s', () => {
  assert.deepEqual(
    [0, 1, 2, 3, 7, 50].map((failures) => pauseMs(failures, 0.5)),
    [0, 100, 200, 400, 5000, 5000],
  );
});
