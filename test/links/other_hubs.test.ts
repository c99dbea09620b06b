import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isComplete, lastLocations, link, location, openHub } from './linked_hubs.ts';
import { openOmloxServer } from './omlox_server.ts';

test('A link to a server of the omlox Hub API alone receives its locations and its last ones', async (t) => {
  const [hub, server] = await Promise.all([openHub(t), openOmloxServer(t)]);
  server.locations = [location('parked', 1, { trackables: ['theirs'], source: 'their-zone' })];
  const params = { crs: 'EPSG:4326', provider_type: 'gps' };
  const other = await link(hub, server.url, { params, sources: { 'their-zone': 'our-zone' }, id_prefix: 'p-' });
  await other.until(isComplete);
  const updates = await hub.subscribe('location_updates');
  server.publish('location_updates', location('driving', 2), location('driving', 2), location('driving', 1));
  const { received, duplicates, hub_id, hub_name } = await other.until(({ accepted }) => accepted === 2);
  assert.deepEqual([received, duplicates, hub_id, hub_name], [4, 2, new URL(server.url).host, undefined]);
  const event = await updates.next();
  assert.deepEqual(event.properties, { 'hub.origin': [new URL(server.url).host] });
  // A device that locates itself is its own source.
  assert.deepEqual([event.provider_id, event.source], ['p-driving', 'p-driving']);
  const parked = (await hub.get('/providers/p-parked/location')).body;
  assert.deepEqual([parked.source, parked.trackables ?? []], ['our-zone', []]);
  assert.deepEqual(server.frames, [{ event: 'subscribe', topic: 'location_updates', params }]);
});

test('Proximities of another hub are accepted for the zones that take the role of theirs', async (t) => {
  const [hub, server] = await Promise.all([openHub(t), openOmloxServer(t)]);
  const zone = { type: 'rfid', position: { type: 'Point', coordinates: [8.68, 50.11] }, radius: 3 };
  const { body } = await hub.post('/zones', zone);
  const topics = ['location_updates', 'proximity_updates'];
  const other = await link(hub, server.url, { topics, sources: { gate: body.id } });
  await other.until(isComplete);
  server.publish('proximity_updates', { source: 'gate', provider_type: 'rfid', provider_id: 'badge' });
  const { accepted, last_error } = await other.until(({ accepted: a, rejected }) => a + rejected === 1);
  assert.equal(accepted, 1, last_error ?? '');
  assert.deepEqual((await lastLocations(hub))['badge'], [8.68, 50.11]);
});

test('Messages that are not of the protocol are counted, and end the connection if nothing else comes', async (t) => {
  const [hub, server] = await Promise.all([openHub(t), openOmloxServer(t)]);
  const other = await link(hub, server.url);
  await other.until(isComplete);
  const rubbish = ['', 'no JSON', '[]', '7', '{"event":"message"}', '{"event":"message","topic":"x","payload":[]}'];
  for (const frame of rubbish) server.send(frame);
  server.publish('location_updates', 7, null, [], {}, { provider_id: 5 });
  server.publish('location_updates', { provider_id: 'no-position' }, location('tag', 1), {
    ...location('lost', 1),
    timestamp_generated: 'yesterday',
  });
  const { malformed, rejected, last_error, status } = await other.until(({ accepted }) => accepted === 1);
  assert.deepEqual([malformed, rejected, status], [rubbish.length + 5, 2, 'connected']);
  assert.match(last_error ?? '', /no-position/);
  for (let i = 0; i < 100; i++) server.send('no JSON');
  const down = await other.until((state) => state.status === 'waiting');
  assert.equal(down.last_error, '100 messages in sequence are not of the protocol');
  assert.equal((await hub.get('/health/system')).body.links[0].last_error, down.last_error);
});

test('A rejected token is reported and never returned, and a new one is used at once', async (t) => {
  const [hub, server] = await Promise.all([openHub(t), openOmloxServer(t)]);
  server.token = 'new-secret';
  const other = await link(hub, server.url, { token: 'old-secret' });
  const { last_error, reason, params } = await other.until(({ status }) => status === 'waiting');
  assert.equal(last_error, 'The other hub reports: not authenticated (10006)');
  assert.deepEqual([reason, params], ['link_reported', {}]);
  const put = (body: object) => hub.put(`/links/${other.id}`, { name: 'other', url: server.url, ...body });
  const changed = await put({ token: 'new-secret' });
  await other.until(isComplete);
  // Without a token, the PUT retains it.
  assert.equal((await put({ id_prefix: 'x' })).status, 200);
  await other.until(isComplete);
  // It is required again for another server, which must not receive the token.
  const elsewhere = await hub.put(`/links/${other.id}`, { name: 'other', url: 'http://127.0.0.1:9/v2' });
  assert.deepEqual([elsewhere.status, elsewhere.body.message], [400, 'token: is required for another server']);
  const replies = [changed.text, (await hub.get('/links')).text, JSON.stringify(hub.logged)];
  assert.ok(!replies.some((text) => text.includes('secret')), replies.join('\n'));
  // A token that expires later has the same effect.
  server.token = 'third';
  server.send({ event: 'error', code: 10006, description: 'expired' });
  await other.until(({ last_error: why }) => why === 'The other hub reports: not authenticated (10006)');
});

test('A link with client credentials gets a new access token after each rejection', async (t) => {
  const [hub, server] = await Promise.all([openHub(t), openOmloxServer(t)]);
  server.token = 'of nobody';
  const oidc = { token_url: `${server.url}/token`, client_id: 'hub', client_secret: 'secret', scope: 'omlox' };
  const other = await link(hub, server.url, { oidc });
  await other.until(isComplete);
  assert.equal(server.frames[0]?.params['token'], 'token-1');
  assert.equal(server.requests[1], 'grant_type=client_credentials&client_id=hub&client_secret=secret&scope=omlox');
  assert.ok(server.requests.includes('GET /v2/providers/locations Bearer token-1'), server.requests.join('\n'));
  server.token = undefined;
  server.send({ event: 'error', code: 10006, description: 'The access token has expired' });
  await other.until(({ status }) => status !== 'connected');
  await other.until(isComplete);
  assert.equal(server.frames.at(-1)?.params['token'], 'token-2');
  assert.ok(!(await hub.get(`/links/${other.id}`)).text.includes('"secret"'));
});

test('The last location of an interval always arrives', async (t) => {
  const [hub, server] = await Promise.all([openHub(t), openOmloxServer(t)]);
  const other = await link(hub, server.url, { min_interval: 500 });
  await other.until(isComplete);
  server.publish('location_updates', ...[1, 2, 3, 4, 5].map((second) => location('tag', second)));
  const { superseded } = await other.until(({ accepted }) => accepted === 2);
  assert.equal(superseded, 3);
  const { body } = await hub.get('/providers/tag/location');
  assert.equal(body.timestamp_generated, '2026-03-01T12:00:05.000Z');
});

test('A link to a host that link_allowed_hosts does not allow is rejected, or connects to no address of it', async (t) => {
  const hub = await openHub(t, { link_allowed_hosts: '["*"]' });
  const server = await openOmloxServer(t);
  const oidc = { token_url: 'http://169.254.169.254/token', client_id: 'hub' };
  for (const [more, path] of [
    [{ url: server.url }, 'url'],
    [{ url: 'http://[::ffff:127.0.0.1]:8081/v2' }, 'url'],
    [{ url: 'http://hub.example.com/v2', oidc }, 'oidc.token_url'],
  ] as const) {
    const { status, text } = await hub.post('/links', { name: 'other', ...more });
    assert.equal(status, 400, text);
    assert.match(
      text,
      new RegExp(`${path}: must name a host that link_allowed_hosts allows: address .* is not public`),
    );
  }
  const other = await link(hub, server.url.replace('127.0.0.1', 'localhost'));
  const { last_error: why } = await other.until(({ status }) => status === 'waiting');
  assert.match(why ?? '', /host "localhost" has the address .*, which is not public, and link_allowed_hosts does not/);
  assert.deepEqual([server.requests, server.frames], [[], []]);
});

test('A link that cannot be checked is rejected with its field and value', async (t) => {
  const hub = await openHub(t);
  for (const [body, message] of [
    [{ url: 'ftp://host/v2' }, 'url: must be an http or https URL without user name, password, query and fragment'],
    [{ url: 'http://me:secret@host/v2' }, 'without user name, password, query and fragment, found "***"'],
    [
      { url: 'http://host', topics: ['trackable_motions'] },
      'topics[0]: must be one of location_updates, proximity_updates, fence_events',
    ],
    [{ url: 'http://host', min_interval: -1 }, 'min_interval: must be >= 0, found -1'],
    [{ url: 'http://host', params: { token: 'x' } }, 'params.token: must not be given together with token'],
    [
      { url: 'http://host', token: 'x', oidc: { token_url: 'http://host', client_id: 'x' } },
      'token: must not be given',
    ],
    [{}, 'url: is required'],
  ] as const) {
    const { status, body: error } = await hub.post('/links', { name: 'other', ...body });
    assert.equal(status, 400);
    assert.ok(error.message.includes(message), `${error.message} has no "${message}"`);
  }
  assert.deepEqual((await hub.get('/links')).body, []);
});
