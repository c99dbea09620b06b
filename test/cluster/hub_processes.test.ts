import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../bench/process/free_port.ts';
import { type Answered, HubProcess, locationOf, randomFrom } from '../durability/hub_process.ts';
import { parsePrometheus, sumOf } from '../support/prometheus.ts';
import type { TestSettings } from '../support/running_hub.ts';
import { type Event, SocketClient } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { isShared } from './shared_objects.ts';
import { testNats } from './test_nats.ts';

const HOLD_MS = 1500;
/** Timeout of events that should take seconds. */
const PATIENCE_MS = 20_000;
const LOOK_MS = 50;

const ends: (() => void)[] = [];
const atEnd = (callback: () => void): void => void ends.push(callback);
after(() => {
  for (const end of ends) end();
});
const nats = await testNats();

function settingsOf(name: string, more: TestSettings = {}): TestSettings {
  return {
    cluster_servers: nats.servers.addresses.join(','),
    cluster_replicas: 1,
    cluster_hub_name: name,
    cluster_hold: HOLD_MS,
    cluster_checkpoint_interval: 1000,
    cluster_journal_max_size: 1,
    ...more,
  };
}

async function startHub(name: string, more?: TestSettings): Promise<HubProcess> {
  return HubProcess.start(temporaryFolder(), settingsOf(name, { port: await freePort(), ...more }), atEnd);
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + PATIENCE_MS; performance.now() < endMs; await delay(LOOK_MS)) {
    if (await isSo()) return;
  }
  throw new Error(`${what}: not within ${PATIENCE_MS} ms`);
}

async function clusterOf(hub: HubProcess) {
  return (await hub.get('/health/system'))?.body?.cluster;
}

function becomes(hub: HubProcess, standing: string): Promise<void> {
  return until(`A hub is ${standing}`, async () => (await clusterOf(hub))?.standing === standing);
}

/** Resolves when both hubs own objects, according to one of them. */
function shared(hub: HubProcess): Promise<void> {
  return until('The objects are shared', async () => isShared(await clusterOf(hub), 2));
}

function ownsAll(hub: HubProcess, name: string): Promise<void> {
  return until('One hub owns everything', async () => (await clusterOf(hub))?.owner === name);
}

function isWell(hub: HubProcess): Promise<void> {
  return until('A hub is well', async () => (await hub.get('/health'))?.status === 200);
}

/** Resolves with the close code of the connection. */
function closing(client: SocketClient): Promise<number> {
  return new Promise((resolve) => client.socket.once('close', resolve));
}

function openSocket(hub: HubProcess): Promise<SocketClient> {
  return SocketClient.open(`${hub.base.replace('http', 'ws')}/ws/socket`);
}

/** Tags that are spread over all hubs. */
const TAGS = Array.from({ length: 8 }, (_, index) => `tag${index}`);

/** Locates the tags repeatedly, all in one body, until it is closed. */
class Sender {
  readonly statuses: (number | undefined)[] = [];
  longestMs = 0;
  readonly #hub: HubProcess;
  readonly #ended: Promise<void>;
  #isEnded = false;
  #last = 0;

  constructor(hub: HubProcess) {
    this.#hub = hub;
    this.#ended = this.#send();
  }

  /** Resolves with the last acknowledged meters to the east. */
  async end(): Promise<number> {
    this.#isEnded = true;
    await this.#ended;
    return this.#last;
  }

  async #send(): Promise<void> {
    for (let east = 1; !this.#isEnded; east++) {
      const beganMs = performance.now();
      const answered = await this.#hub.put(
        '/providers/locations',
        TAGS.map((tag) => locationOf(tag, east)),
      );
      this.longestMs = Math.max(this.longestMs, performance.now() - beganMs);
      this.statuses.push(answered?.status);
      if (answered?.status === 204) this.#last = east;
    }
  }
}

/** Distinct positions of the tags. */
async function eastOf(hub: HubProcess): Promise<readonly number[]> {
  const found = await Promise.all(TAGS.map((tag) => hub.get(`/providers/${tag}/location`)));
  for (const each of found) assert.equal(each?.status, 200, JSON.stringify(each?.body));
  return [...new Set(found.map((each) => eastIn(each?.body.position)))];
}

function eastIn({ coordinates }: { readonly coordinates: readonly number[] }): number {
  return Math.round(((coordinates[0] ?? 0) - 9) * 71_695.6);
}

async function metricsOf(hub: HubProcess) {
  return parsePrometheus(await (await fetch(`${new URL(hub.base).origin}/metrics`)).text());
}

describe('Hubs of a cluster, as processes of their own', { skip: nats.skip }, () => {
  let a: HubProcess;
  let b: HubProcess;
  before(async () => {
    a = await startHub('a');
    await becomes(a, 'owner');
    b = await startHub('b');
  });

  test('report each other at /health/system and in /metrics', async () => {
    await shared(a);
    await shared(b);
    const [ofA, ofB] = [await clusterOf(a), await clusterOf(b)];
    assert.deepEqual([ofA.standing, ofB.standing], ['owner', 'owner']);
    assert.deepEqual([ofA.owner, ofB.owner], [undefined, undefined]);
    assert.deepEqual([ofA.takeovers, ofB.takeovers], [0, 0]);
    assert.deepEqual(
      ofB.members.map(({ name }: { name: string }) => name),
      ['a', 'b'],
    );
    assert.equal(ofB.members[1].incarnation, ofB.incarnation);
    assert.equal(ofA.problem, undefined);
    const [metrics, others] = [await metricsOf(a), await metricsOf(b)];
    assert.deepEqual([ofA.settled, ofB.settled], [true, true]);
    for (const { members } of [ofA, ofB]) {
      assert.deepEqual(
        members.map(({ partitions, owns_collisions: also }: Event) => [partitions, also]),
        [
          [128, true],
          [128, false],
        ],
      );
    }
    assert.equal(sumOf(metrics, 'hub_cluster_members'), 2);
    assert.deepEqual(
      [metrics, others].map((each) => sumOf(each, 'hub_cluster_partitions')),
      [128, 128],
    );
    assert.deepEqual([sumOf(metrics, 'hub_cluster_owner'), sumOf(others, 'hub_cluster_owner')], [1, 1]);
    assert.ok(sumOf(others, 'hub_cluster_appends_total') >= 0);
    const locations = TAGS.map((tag) => locationOf(tag, 1));
    assert.equal((await b.put('/providers/locations', locations))?.status, 204);
    const forwarded = sumOf(await metricsOf(b), 'hub_cluster_forwarded_total');
    assert.ok(forwarded > 0 && forwarded < TAGS.length, `${forwarded} of ${TAGS.length}`);
    for (const hub of [a, b]) assert.deepEqual(await hub.get('/health'), { status: 200, body: {} } satisfies Answered);
  });

  test('reject one whose settings differ from theirs', async () => {
    const odd = new HubProcess(temporaryFolder(), settingsOf('odd', { fence_event_provider_id: 'set' }), atEnd);
    const copies = new HubProcess(temporaryFolder(), settingsOf('copies', { cluster_replicas: 3 }), atEnd);
    const memory = new HubProcess(temporaryFolder(), settingsOf('memory', { cluster_storage: 'memory' }), atEnd);
    const [ofOdd, ofCopies, ofMemory] = await Promise.all([odd.ended, copies.ended, memory.ended]);
    assert.match(
      ofOdd.stderr,
      /^Hubs "a", "b" of cluster "hub" and this one differ in .*: .*fence_event_provider_id: set/,
    );
    assert.equal(ofCopies.stderr, 'cluster_replicas: must be 1, as stream "hub_CONFIG" was made, found 3\n');
    assert.equal(ofMemory.stderr, 'cluster_storage: must be file, as stream "hub_CONFIG" was made, found memory\n');
    assert.deepEqual([ofOdd.code, ofCopies.code, ofMemory.code], [1, 1, 1]);
    assert.equal((await clusterOf(a)).members.length, 2);
  });

  test('close the sockets of one that stood still, and have it back', async () => {
    const socket = await openSocket(a);
    const closed = closing(socket);
    const sender = new Sender(b);
    process.kill(a.pid, 'SIGSTOP');
    await ownsAll(b, 'b');
    process.kill(a.pid, 'SIGCONT');
    assert.equal(await closed, 1013);
    await shared(b);
    await isWell(a);
    const last = await sender.end();
    assert.ok(
      sender.statuses.every((status) => status === 204 || status === 503),
      sender.statuses.join(),
    );
    assert.deepEqual(await eastOf(a), [last]);
    assert.equal(sumOf(await metricsOf(b), 'hub_cluster_expelled_total'), 1);
  });

  test('hand over when one is stopped, without rejected or lost requests', async () => {
    const closed = closing(await openSocket(b));
    const subscriber = await openSocket(a);
    const locations = await subscriber.subscribe('location_updates');
    const sender = new Sender(a);
    await until('The tags are located', async () => sender.statuses.length > 10);
    const { code, stderr } = await b.stop();
    assert.equal(code, 0, stderr);
    assert.equal(await closed, 1001);
    await ownsAll(a, 'a');
    const last = await sender.end();
    assert.deepEqual([...new Set(sender.statuses)], [204]);
    assert.ok(sender.longestMs < HOLD_MS, `${sender.longestMs} ms`);
    assert.deepEqual(await eastOf(a), [last]);
    const all = TAGS.length * last;
    await until(
      'All locations are published',
      async () => locations.events.length >= all || subscriber.closed !== undefined,
    );
    for (const tag of TAGS) {
      assert.deepEqual(
        locations.events.flatMap(({ provider_id: id, position }) => (id === tag ? [eastIn(position)] : [])),
        Array.from({ length: last }, (_, index) => index + 1),
        tag,
      );
    }
    assert.equal(subscriber.closed, undefined);
  });

  for (const [what, goes, comes] of [
    ['stands still', () => nats.servers.servers[0]?.pause(), () => nats.servers.servers[0]?.resume()],
    ['is killed', () => nats.servers.servers[0]?.kill(), () => nats.servers.servers[0]?.start()],
  ] as const) {
    test(`hold requests while NATS ${what}, reject them later, and continue when it is back`, async () => {
      const sender = new Sender(a);
      await until('The tags are located', async () => sender.statuses.length > 10);
      await goes();
      await until('The hub is not well', async () => (await a.get('/health'))?.status === 503);
      assert.match(
        (await a.get('/health'))?.body.message,
        /^This hub cannot serve: it has appended nothing .* for [\d,]+ ms/,
      );
      await until('Requests are refused', async () => sender.statuses.includes(503));
      const reads = await Promise.all([`/providers/${TAGS[0]}/location`, '/zones'].map((path) => a.get(path)));
      assert.deepEqual(
        reads.map((answered) => answered?.status),
        [503, 503],
      );
      assert.ok(sender.longestMs >= HOLD_MS && sender.longestMs < HOLD_MS + 1000, `${sender.longestMs} ms`);
      await comes();
      await isWell(a);
      const sent = sender.statuses.length;
      await until('The tags are located again', async () => sender.statuses.length > sent + 10);
      const last = await sender.end();
      assert.deepEqual([...new Set(sender.statuses)].sort(), [204, 503]);
      assert.equal(sender.statuses.at(-1), 204);
      assert.deepEqual(await eastOf(a), [last]);
    });
  }

  test('reject locations while a journal is full, and go on when it is trimmed', async () => {
    const random = randomFrom(1);
    const locations = () => Array.from({ length: 4000 }, (_, index) => locationOf(`t${index}`, 1e6 * random()));
    const statuses: (number | undefined)[] = [];
    const put = async (): Promise<number | undefined> => {
      const status = (await a.put('/providers/locations', locations()))?.status;
      statuses.push(status);
      return status;
    };
    await until('The journal is full', async () => (await put()) === 503);
    await until('It is trimmed', async () => (await put()) === 204);
    assert.deepEqual([...new Set(statuses)].sort(), [204, 503]);
    await isWell(a);
  });

  test('exit on SIGTERM although NATS is down for good', async () => {
    const c = await startHub('c', { cluster_reads: 'any' });
    await shared(c);
    const sender = new Sender(a);
    await until('The tags are located', async () => sender.statuses.length > 10);
    await nats.servers.servers[0]?.kill();
    await until('Requests are refused', async () => sender.statuses.includes(503));
    // Its state may be stale, which its settings allow.
    assert.equal((await c.get('/zones'))?.status, 200);
    const stopped = await Promise.all([a, c].map((hub) => hub.stop()));
    await sender.end();
    assert.deepEqual(
      stopped.map(({ code }) => code),
      [0, 0],
    );
    assert.match(
      stopped[0]?.stderr ?? '',
      /Nothing could be appended to the journal for [\d,]+ ms: pending requests are rejected/,
    );
  });
});
