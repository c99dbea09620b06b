import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fanout } from '../../src/fanout/fanout.ts';
import type { Sink } from '../../src/model/sink.ts';
import { problemOf } from '../../src/problem.ts';
import type { Outcome, QueuedEvent } from '../../src/sinks/delivery_queue.ts';
import { openSender } from '../../src/sinks/open_sender.ts';
import { Sinks } from '../../src/sinks/sinks.ts';
import { MemoryLog } from './memory_log.ts';

// Loaded before the tests, so that a sink starts within a few turns of the event loop.
import '../../src/sinks/sink_runner.ts';
import '../../src/sinks/webhook.ts';

const BODY = {
  name: 'Warehouse system',
  type: 'webhook',
  url: 'https://hooks.example.com/rtls',
  topics: ['fence_events'],
  secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
};
const LIVE = { ...BODY, topics: ['location_updates'] };

interface World {
  readonly sinks: Sinks;
  readonly fanout: Fanout;
  readonly log: MemoryLog;
  readonly received: QueuedEvent[];
  readonly stored: Map<string, object>;
  readonly target: { answer: (event: QueuedEvent) => Outcome | Promise<Outcome> };
  readonly warnings: string[];
  elected: boolean;
  /** Alert rules that name all sinks. */
  rules: ReadonlySet<string>;
  commits: number;
  /** Lets time pass, with all timers that become due. */
  pass(ms: number): Promise<void>;
  /** Starts another hub with the stored settings. The first one is not closed, as after a crash. */
  restarted(): World;
}

/** Sinks over an event log in memory, with a target that the test plays, on simulated time. */
function openWorld(before?: { readonly log: MemoryLog; readonly stored: ReadonlyMap<string, object> }): World {
  const fanout = new Fanout({ variantsChanged: () => undefined });
  const log = before?.log ?? new MemoryLog();
  const stored = new Map(before?.stored ?? []);
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  const target: World['target'] = { answer: () => ({ what: 'delivered' }) };
  const received: QueuedEvent[] = [];
  const warnings: string[] = [];
  let nowMs = 1_000_000;
  let ids = stored.size;
  const sinks = new Sinks({
    fanout,
    now: () => nowMs,
    schedule(delayMs, run) {
      const timer = { atMs: nowMs + delayMs, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    newId: () => `id-${++ids}`,
    random: () => 0,
    viewOf: () => ({ crs: 'EPSG:4326' }),
    whyNotHost: (host) => (host === 'hooks.example.com' ? undefined : `host "${host}" is not in sink_allowed_hosts`),
    rulesNaming: () => world.rules,
    fetch: () => assert.fail('no request is sent'),
    resolve: async (host) => host,
    isElected: () => world.elected,
    warn: (message) => void warnings.push(message),
    async commit(documents) {
      world.commits++;
      for (const [name, document] of documents) {
        if (document === undefined) stored.delete(name);
        else stored.set(name, document);
      }
      return undefined;
    },
    async open(sink, deps) {
      const { limits } = await openSender(sink, deps);
      const send = async (events: readonly QueuedEvent[]): Promise<Outcome> => {
        received.push(...events);
        return target.answer(events[0] as QueuedEvent);
      };
      return { limits, sender: { send, close: async () => undefined } };
    },
  });
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const world: World = {
    ...{ sinks, fanout, log, received, stored, target, warnings },
    elected: true,
    rules: new Set<string>(),
    commits: 0,
    async pass(ms) {
      const untilMs = nowMs + ms;
      await settled();
      for (;;) {
        const [next] = [...timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs);
        if (next === undefined) break;
        timers.delete(next);
        nowMs = Math.max(nowMs, next.atMs);
        next.run();
        await settled();
      }
      nowMs = untilMs;
    },
    restarted: () => openWorld({ log, stored }),
  };
  for (const [name, document] of stored) sinks.apply(name, JSON.stringify(document));
  sinks.start({ hubId: 'hub', events: log });
  return world;
}

const keysOf = (events: readonly QueuedEvent[]): string => events.map(({ id }) => id).join(' ');
const FAILED: Outcome = { what: 'failed', why: 'it answered 500' };

test('A sink receives the events after its creation, and its cursor is stored at most every two seconds', async () => {
  const world = openWorld();
  world.log.append('before');
  const { id } = await world.sinks.documents.create(BODY);
  await world.pass(0);
  for (let n = 0; n < 500; n++) world.log.append(`k${n % 5}`);
  await world.pass(10_000);
  assert.equal(world.received.length, 500);
  assert.equal(world.received[0]?.id, 'e2');
  assert.deepEqual(world.stored.get(`sink_progress ${id}`), { epoch: 0, cursor: 'c501' });
  assert.ok(world.commits <= 7, `${world.commits} commits`);
  const { state, delivered, waiting, lag, delivering } = world.sinks.status(id);
  assert.deepEqual([state, delivered, waiting, lag, delivering], ['active', 500, 0, 0, true]);
});

test('After a crash the delivery continues from the stored cursor, and nothing is skipped', async () => {
  const world = openWorld();
  await world.sinks.documents.create(BODY);
  await world.pass(5_000);
  world.target.answer = (event) => (event.key === 'bad' ? FAILED : { what: 'delivered' });
  for (const key of ['a', 'bad', 'b', 'bad', 'c']) world.log.append(key);
  await world.pass(5_000);
  const next = world.restarted();
  next.log.append('d');
  await next.pass(1_000);
  assert.equal(keysOf(next.received.toSorted((a, b) => a.timeMs - b.timeMs)), 'e2 e3 e4 e5 e6');
});

test('After a crash right after its creation a sink has every event since then', async () => {
  const world = openWorld();
  world.log.append('before');
  await world.sinks.documents.create(BODY);
  world.log.append('a');
  const next = world.restarted();
  await next.pass(1_000);
  assert.equal(keysOf(next.received), 'e2');
});

test('A closed hub stores its cursor, so that the next one repeats nothing', async () => {
  const world = openWorld();
  await world.sinks.documents.create(BODY);
  await world.pass(0);
  world.log.append('a');
  await world.pass(1);
  const closing = world.sinks.close();
  await world.pass(3_000);
  await closing;
  const next = world.restarted();
  next.log.append('b');
  await next.pass(0);
  assert.deepEqual([keysOf(world.received), keysOf(next.received)], ['e1', 'e2']);
});

test('A sink whose position left the log is failing, and continues with the oldest event when it is resumed', async () => {
  const world = openWorld();
  const { id } = await world.sinks.documents.create(BODY);
  await world.pass(5_000);
  for (let n = 0; n < 10; n++) world.log.append('a');
  const next = openWorld({ log: world.log, stored: new Map(world.stored) });
  next.log.oldest = 7;
  const late = next.restarted();
  await late.pass(60_000);
  const { state, error } = late.sinks.status(id);
  assert.deepEqual([state, late.received.length], ['failing', 0]);
  assert.match(error ?? '', /c7/);
  assert.ok(late.warnings.includes('A sink cannot continue: its position is not in the event log'));
  await late.sinks.act(id, 'resume');
  await late.pass(0);
  assert.equal(keysOf(late.received), 'e8 e9 e10');
  assert.equal(late.sinks.status(id).state, 'active');
});

test('A paused sink sends nothing, also after a restart, until it is resumed', async () => {
  const world = openWorld();
  const { id } = await world.sinks.documents.create(BODY);
  await world.pass(0);
  await world.sinks.act(id, 'pause');
  world.log.append('a');
  await world.pass(5_000);
  const next = world.restarted();
  next.log.append('b');
  await next.pass(5_000);
  assert.deepEqual([next.received.length, next.sinks.status(id).state], [0, 'paused']);
  await next.sinks.act(id, 'resume');
  await next.pass(0);
  assert.equal(keysOf(next.received), 'e1 e2');
});

test('A sink that answered 410 stays disabled after a restart, and a resumed one is active after the next', async () => {
  const world = openWorld();
  const { id } = await world.sinks.documents.create(BODY);
  await world.pass(0);
  world.target.answer = () => ({ what: 'gone', why: 'it answered 410', problem: problemOf('target_gone') });
  world.log.append('a');
  await world.pass(5_000);
  const next = world.restarted();
  await next.pass(5_000);
  const { state, error, reason } = next.sinks.status(id);
  assert.deepEqual([state, error, reason, next.received.length], ['disabled', 'it answered 410', 'target_gone', 0]);
  await next.sinks.act(id, 'resume');
  await next.pass(5_000);
  assert.equal(keysOf(next.received), 'e1');
  const last = next.restarted();
  await last.pass(5_000);
  assert.deepEqual([last.sinks.status(id).state, last.received.length], ['active', 0]);
});

test('A replay delivers from a cursor or a time, and rejects others', async () => {
  const world = openWorld();
  const { id } = await world.sinks.documents.create(BODY);
  await world.pass(0);
  for (let n = 0; n < 4; n++) world.log.append('a');
  await world.pass(5_000);
  world.received.length = 0;
  await world.sinks.replay(id, { after: 'c2' });
  await world.pass(5_000);
  assert.equal(keysOf(world.received), 'e3 e4');
  world.received.length = 0;
  await world.sinks.replay(id, { from: '1970-01-01T00:00:00.002Z' });
  await world.pass(5_000);
  assert.equal(keysOf(world.received), 'e2 e3 e4');
  for (const [position, wanted] of [
    [{}, /exactly one of after and from/],
    [{ after: 'c1', from: '2026-11-27T00:00:00Z' }, /exactly one of after and from/],
    [{ after: 'rubbish' }, /after: must be a cursor of this log/],
    [{ from: 'yesterday' }, /from: must be an RFC 3339 date and time, found "yesterday"/],
  ] as const) {
    await assert.rejects(world.sinks.replay(id, position), wanted);
  }
});

test('Of live topics a sink receives the newest per object, without an event log, and drops are counted', async () => {
  const world = openWorld();
  const { id } = await world.sinks.documents.create({ ...LIVE, concurrency: 1, params: { provider_id: 'tag-1' } });
  await world.pass(0);
  const locate = (provider: string, n: number): void => {
    const json = JSON.stringify({ provider_id: provider, n });
    world.fanout.announce('location_updates', [provider], () => json);
  };
  const pending = Promise.withResolvers<Outcome>();
  world.target.answer = () => pending.promise;
  for (let n = 0; n < 10_000; n++) locate('tag-1', n);
  locate('tag-2', 0);
  await world.pass(0);
  const { waiting = 0, dropped } = world.sinks.status(id);
  assert.deepEqual([waiting, dropped], [2, 9_998]);
  pending.resolve({ what: 'delivered' });
  await world.pass(0);
  assert.deepEqual(
    world.received.map(({ json }) => JSON.parse(json).n),
    [0, 9_999],
  );
});

test('A target that never answers costs the memory of a full queue, and delays nothing else', async () => {
  const world = openWorld();
  const dead = await world.sinks.documents.create({ ...BODY, name: 'Dead' });
  await world.pass(0);
  world.target.answer = () => new Promise(() => undefined);
  world.log.append('a');
  await world.pass(0);
  world.target.answer = () => ({ what: 'delivered' });
  const living = await world.sinks.documents.create({ ...BODY, name: 'Living' });
  await world.pass(0);
  for (let n = 0; n < 20_000; n++) world.log.append('a');
  await world.pass(10_000);
  const [waiting, delivered] = [world.sinks.status(dead.id).waiting ?? 0, world.sinks.status(living.id).delivered];
  assert.ok(waiting >= 1000 && waiting < 1100, `${waiting} events wait`);
  assert.equal(delivered, 20_000);
});

test('In a cluster only the elected hub delivers, and commands reach it as settings', async () => {
  const world = openWorld();
  const { id } = await world.sinks.documents.create(BODY);
  await world.pass(5_000);
  world.elected = false;
  world.sinks.elect();
  await world.pass(5_000);
  world.log.append('a');
  await world.pass(5_000);
  assert.deepEqual([world.received.length, world.sinks.status(id).delivering], [0, false]);
  assert.throws(() => world.sinks.deliveries(id), { code: 'HUB_UNAVAILABLE', message: /another hub delivers to it/ });
  await world.sinks.act(id, 'pause');
  assert.equal(world.sinks.status(id).state, 'paused');
  await world.sinks.act(id, 'resume');
  world.elected = true;
  world.sinks.elect();
  await world.pass(0);
  assert.equal(keysOf(world.received), 'e1');
});

test('Deliveries list what waits, has failed and was delivered, with attempts and errors', async () => {
  const world = openWorld();
  const { id } = await world.sinks.documents.create({ ...BODY, concurrency: 1 });
  await world.pass(0);
  world.target.answer = (event) => (event.key === 'bad' ? FAILED : { what: 'delivered' });
  for (const key of ['a', 'bad', 'bad']) world.log.append(key);
  await world.pass(0);
  const listed = world.sinks
    .deliveries(id)
    .map(({ event_id, state, attempts, error }) => [event_id, state, attempts, error]);
  assert.deepEqual(listed, [
    ['e3', 'waiting', 0, undefined],
    ['e2', 'failed', 1, 'it answered 500'],
    ['e1', 'delivered', 1, undefined],
  ]);
  assert.equal(world.sinks.status(id).retry_at, '1970-01-01T00:16:45.000Z');
});

test('Secrets are stored, retained by a PUT without them, deleted by null, and never shown', async () => {
  const { sinks, stored } = openWorld();
  const { documents } = sinks;
  const created = await documents.create({ ...BODY, headers: { Authorization: 'Bearer abc' } });
  const shown = documents.shown(created);
  assert.deepEqual([shown.secret, shown.headers, shown.name], [undefined, undefined, BODY.name]);
  const kept = () => stored.get(`sink ${created.id}`) as Sink;
  await documents.replace(created.id, { ...shown, name: 'Renamed' });
  assert.deepEqual(
    [kept().name, kept().secret, kept().headers],
    ['Renamed', BODY.secret, { Authorization: 'Bearer abc' }],
  );
  const moved = { ...shown, url: 'https://hooks.example.com/other' };
  await assert.rejects(
    documents.replace(created.id, moved),
    /^HubError: secret: is required for another server|secret/,
  );
  await documents.replace(created.id, { ...shown, secret: null, headers: { a: 'b' } });
  assert.deepEqual([kept().secret, kept().headers], [null, { a: 'b' }]);
});

test('A sink receives the alerts of rules that name it, besides its topics, from the moment they do', async () => {
  const world = openWorld();
  const { id } = await world.sinks.documents.create({ ...BODY, topics: [] });
  await world.pass(0);
  const raise = (rule: string) =>
    world.log.append(rule, 'alert_changes', JSON.stringify({ object: { rule_id: rule } }));
  raise('rule-1');
  await world.pass(1000);
  assert.equal(world.received.length, 0);
  world.rules = new Set(['rule-2']);
  world.sinks.elect();
  await world.pass(1000);
  for (const rule of ['rule-1', 'rule-2', 'rule-1']) raise(rule);
  await world.pass(5000);
  assert.equal(keysOf(world.received), 'e3');
  assert.deepEqual(world.stored.get(`sink_progress ${id}`), { epoch: 0, cursor: 'c4' });
  world.rules = new Set();
  world.sinks.elect();
  await world.pass(1000);
  raise('rule-2');
  await world.pass(1000);
  assert.equal(world.received.length, 1);
});

test('Deleting a sink deletes its position and its last command', async () => {
  const world = openWorld();
  const { id } = await world.sinks.documents.create(BODY);
  await world.pass(5_000);
  await world.sinks.act(id, 'pause');
  assert.equal(world.stored.size, 3);
  await world.sinks.documents.remove(id);
  await world.pass(5_000);
  assert.deepEqual([...world.stored.keys()], []);
  assert.throws(() => world.sinks.status(id), { code: 'HUB_NOT_FOUND' });
});

test('A changed sink continues where the former version was', async () => {
  const world = openWorld();
  const sink = await world.sinks.documents.create(BODY);
  await world.pass(0);
  world.log.append('a');
  await world.pass(0);
  await world.sinks.documents.replace(sink.id, { ...BODY, name: 'Renamed' });
  world.log.append('b');
  await world.pass(5_000);
  assert.equal(keysOf(world.received), 'e1 e2');
});

const MAIL = { type: 'email', url: 'smtp://hooks.example.com', secret: 'user:a', sender: 'a@b', recipients: ['a@b'] };
const HUB = { type: 'hub', url: 'https://hooks.example.com/v2', topics: ['location_updates'], secret: 'token' };
const OIDC = { token_url: 'https://hooks.example.com/token', client_id: 'hub' };
const KAFKA = { type: 'kafka', url: 'kafka://hooks.example.com/rtls', secret: 'user:password' };
const INVALID: readonly (readonly [more: object, message: RegExp])[] = [
  [
    { url: 'ftp://hooks.example.com' },
    /^url: must be a URL with https:\/\/, http:\/\/ for a sink of type webhook, found "ftp:/,
  ],
  [{ url: 'hooks.example.com' }, /^url: must be a URL with/],
  [
    { url: 'https://user:secret@hooks.example.com' },
    /^url: must have no user name and password, found "https:\/\/\*\*\*@hooks/,
  ],
  [{ url: 'https://hooks.example.com/#a' }, /^url: must have no fragment/],
  [
    { url: 'https://evil.example.com/' },
    /^url: must name a host that sink_allowed_hosts allows: host "evil.example.com" is not/,
  ],
  [{ type: 'carrier pigeon' }, /^type: /],
  [{ topics: 'fence_events' }, /^topics: /],
  [{ topics: ['fence_events', 'fence_events'] }, /^topics: must have each value once, found "fence_events"/],
  [{ topics: ['weather'] }, /^topics\[0\]: .*"weather"/],
  [{ secret: 'whsec_short' }, /^secret: must be whsec_ and 24 to 64 bytes in base64$/],
  [{ secret: 'password' }, /^secret: must be whsec_ and 24 to 64 bytes in base64$/],
  [{ headers: { 'webhook-id': '1' } }, /^headers\.webhook-id: must be the name of a header that the hub does not set/],
  [{ headers: { 'a b': '1' } }, /^headers\.a b: must be the name of a header/],
  [{ headers: { a: 'secret\r\nb: c' } }, /^headers\.a: must have no control characters$/],
  [{ concurrency: 0 }, /^concurrency: /],
  [{ timeout: 10 }, /^timeout: /],
  [{ name: '' }, /^name: /],
  [
    { topics: ['fence_events', 'alert_changes'], params: { event_type: 'region_entry' } },
    /^params\.event_type: must be one of create, update, delete, found "region_entry"/,
  ],
  [{ sender: 'a@b' }, /^sender: must be absent from a sink of type webhook/],
  [{ type: 'nats', url: 'nats://hooks.example.com' }, /^url: must have a subject of NATS as its path/],
  [{ type: 'nats', url: 'nats://hooks.example.com/$JS.API' }, /^url: must have a subject of NATS as its path/],
  [{ type: 'nats', url: 'nats://hooks.example.com/a.*' }, /^url: must have a subject of NATS as its path/],
  [{ type: 'nats', url: 'nats://hooks.example.com/%zz' }, /^url: must have a subject of NATS as its path/],
  [{ ...KAFKA, url: 'kafka://hooks.example.com' }, /^url: must have a topic of Kafka as its path/],
  [{ ...KAFKA, ca_certificate: 'no PEM' }, /^ca_certificate: must have certificates in PEM: found none$/],
  [
    { ...KAFKA, ca_certificate: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
    /^ca_certificate: must have certificates in PEM: .+/,
  ],
  [{ ...KAFKA, url: 'kafka://hooks.example.com/a/b' }, /^url: must have a topic of Kafka as its path/],
  [{ ...KAFKA, url: 'kafka://hooks.example.com/a?sasl=NTLM' }, /^url: must have a mechanism of SASL .*SCRAM-SHA-512/],
  [{ ...KAFKA, secret: 'token' }, /^secret: must be a user name and a password/],
  [{ ...KAFKA, format: 'cloudevents_batch' }, /^format: must be absent from a sink of type kafka/],
  [{ ...HUB, topics: ['location_updates', 'fence_events'] }, /^topics\[1\]: must be absent from a sink of type hub/],
  [{ ...HUB, url: 'https://hooks.example.com/v2?a=b' }, /^url: must be an http or https URL without .* query/],
  [{ ...HUB, format: 'plain' }, /^format: must be absent from a sink of type hub/],
  [{ ...HUB, oidc: OIDC }, /^secret: must not be given together with oidc/],
  [{ ...HUB, secret: null, oidc: { ...OIDC, token_url: 'http://10.0.0.1/' } }, /^oidc\.token_url: must name a host/],
  [{ oidc: OIDC }, /^oidc: must be absent from a sink of type webhook/],
  [{ type: 'nats' }, /^url: must be a URL with nats:\/\/, tls:\/\/ for a sink of type nats/],
  [{ type: 'email', url: 'smtp://hooks.example.com' }, /^secret: must be a user name and a password/],
  [{ ...MAIL, sender: null }, /^sender: must be an e-mail address, such as rtls@example.com, found null/],
  [{ ...MAIL, quiet_hours: { from: '25:00', to: '06:00' } }, /^quiet_hours\.from: /],
  [
    { ...MAIL, quiet_hours: { from: '22:00', to: '06:00', time_zone: 'Mars' } },
    /^quiet_hours\.time_zone: must be a time zone/,
  ],
  [{ ...MAIL, recipients: [] }, /^recipients: must be an e-mail address/],
  [{ ...MAIL, recipients: ['a@b', 'c@d\r\nBcc: e@f'] }, /^recipients\[1\]: must be an e-mail address/],
];

for (const [more, message] of INVALID) {
  test(`A sink with ${JSON.stringify(more)} is rejected`, async () => {
    const { sinks } = openWorld();
    await assert.rejects(sinks.documents.create({ ...BODY, ...more }), { code: 'HUB_BAD_REQUEST', message });
    assert.deepEqual(sinks.documents.list, []);
  });
}
