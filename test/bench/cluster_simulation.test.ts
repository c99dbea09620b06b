import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { costsOf } from '../../bench/cluster/costs.ts';
import { Engine, Gathered, Workers } from '../../bench/cluster/engine.ts';
import { mostOf } from '../../bench/cluster/most.ts';
import { simulateCluster } from '../../bench/cluster/simulation.ts';
import { randomFrom } from '../../bench/load/random.ts';

const COSTS = { inUs: 1, outUs: 1, shardUs: 3, appendUs: 70, keepUs: 80, wakeUs: 0, handedUs: 0 };
const NATS = { servers: 3, cores: 4 };

function isNear(found: number, expected: number, part: number): void {
  assert.ok(Math.abs(found - expected) <= part * expected, `${found} is not near ${expected}`);
}

/** Average waiting time of work that arrives at random and takes `takesUs` each, and utilization of the workers. */
function waiting(takesUs: number, everyUs: number, workers = 1) {
  const engine = new Engine();
  const random = randomFrom(1);
  const server = new Workers(engine, workers);
  let [sumUs, count] = [0, 0];
  const come = (): void => {
    const { nowUs } = engine;
    server.do(takesUs, () => {
      sumUs += engine.nowUs - nowUs - takesUs;
      count++;
    });
    engine.after(-Math.log(1 - random()) * everyUs, come);
  };
  come();
  engine.run(200_000 * everyUs);
  return { waitUs: sumUs / count, busy: server.busyUs / engine.nowUs / workers };
}

describe('Workers', () => {
  for (const load of [0.3, 0.5, 0.8]) {
    test(`delay work as the M/D/1 formula predicts, at ${load} utilization`, () => {
      const { waitUs, busy } = waiting(10, 10 / load);
      isNear(waitUs, (10 * load) / (2 * (1 - load)), 0.05);
      isNear(busy, load, 0.02);
    });
  }

  test('delay work less as two workers than as one that is twice as busy, with equal throughput', () => {
    const [one, two] = [waiting(10, 10 / 0.8), waiting(10, 10 / 1.6, 2)];
    isNear(two.busy, one.busy, 0.02);
    assert.ok(two.waitUs < one.waitUs);
  });

  test('pay for a wake-up only after they have slept', () => {
    const engine = new Engine();
    const server = new Workers(engine);
    const ends: number[] = [];
    for (let i = 0; i < 2; i++) server.do(10, () => ends.push(engine.nowUs), 5);
    engine.run(100);
    assert.deepEqual(ends, [15, 25]);
    assert.equal(server.busyUs, 25);
  });

  test('are only as busy as their work', () => {
    const engine = new Engine();
    const server = new Workers(engine);
    server.do(100);
    engine.run(40);
    assert.equal(server.busyUs, 40);
  });
});

test('Items gathered during a call go out with the next call, together and in order', () => {
  const engine = new Engine();
  const sent: (readonly number[])[] = [];
  const gathered = new Gathered<number>((all, done) => {
    sent.push(all);
    engine.after(10, done);
  });
  for (const at of [0, 1, 2, 15]) engine.after(at, () => gathered.add(at));
  engine.run(100);
  assert.deepEqual(sent, [[0], [1, 2], [15]]);
});

describe('A simulated cluster', () => {
  test('is deterministic for a seed, and differs between seeds', () => {
    const cluster = { hubs: 2, nats: NATS, perHub: 20_000, costs: COSTS, seed: 1 };
    assert.deepEqual(simulateCluster(cluster), simulateCluster(cluster));
    assert.notDeepEqual(simulateCluster({ ...cluster, seed: 2 }), simulateCluster(cluster));
  });

  test('answers all arrivals, and keeps front threads as busy as the costs imply', () => {
    const found = simulateCluster({ hubs: 1, nats: undefined, perHub: 100_000, costs: COSTS, seed: 1 });
    isNear(found.perHub, 100_000, 0.1);
    isNear(found.through, 1, 0.02);
    isNear(found.front, 0.2, 0.1);
    assert.deepEqual([found.natsCores, found.messages, found.perAppend], [0, 0, 0]);
    // A body is parsed, processed by three shards in three parts, and published.
    assert.ok(found.p50Ms > 0.25 && found.p50Ms < 0.6, `${found.p50Ms}`);
  });

  test('with a journal, answers later by the time of an append and its network round trips', () => {
    const cluster = { hubs: 1, perHub: 1000, costs: COSTS, seed: 1 };
    const [alone, kept] = [
      simulateCluster({ ...cluster, nats: undefined }),
      simulateCluster({ ...cluster, nats: NATS }),
    ];
    // To the leader, to a follower and back, and back: four times 150 µs, plus two servers, and the hub's own work.
    // Parts arrive sequentially.
    assert.ok(kept.p50Ms - alone.p50Ms >= 0.83, `${kept.p50Ms} and ${alone.p50Ms}`);
    assert.ok(kept.p50Ms - alone.p50Ms <= 2 * 0.83, `${kept.p50Ms} and ${alone.p50Ms}`);
  });

  test('batches more into an append as the load grows', () => {
    const cluster = { hubs: 1, nats: NATS, costs: COSTS, seed: 1 };
    const [few, many] = [10_000, 300_000].map((perHub) => simulateCluster({ ...cluster, perHub }).perAppend);
    assert.ok((many as number) > 3 * (few as number), `${few} and ${many}`);
  });

  test('has the throughput of its busiest thread', () => {
    const most = mostOf({ hubs: 1, nats: undefined, costs: COSTS, seed: 1 });
    // A location takes 2 µs of the front thread, and 1 µs of each of the shards.
    isNear(most.perHub, 500_000, 0.05);
    isNear(most.front, 1, 0.05);
  });

  test('has less throughput per hub with two hubs than alone, and still less if forwarding is expensive', () => {
    const cluster = { hubs: 2, nats: NATS, seed: 1 };
    const alone = mostOf({ hubs: 1, nats: undefined, costs: COSTS, seed: 1 }).perHub;
    const lean = mostOf({ ...cluster, costs: COSTS }).perHub;
    const dear = mostOf({ ...cluster, costs: { ...COSTS, handedUs: 10 } });
    assert.ok(lean < alone && dear.perHub < lean / 2, `${alone}, ${lean}, ${dear.perHub}`);
    assert.ok(dear.messages > 0);
  });
});

test('costsOf reads the costs of a saved result, and names missing ones', () => {
  const more = {
    alone_full_us_per_location: 6.9,
    three_nats_nats_us_per_location: 9,
    journal_full_us_per_location: 10,
    two_hubs_full_us_per_location: 16,
  };
  const costs = costsOf({ more }, { isLean: false });
  isNear(costs.inUs + costs.outUs, 1.9, 1e-9);
  isNear(costs.shardUs, 3.8, 1e-9);
  assert.deepEqual([costs.wakeUs, costs.handedUs], [300 - 77, 12]);
  assert.equal(costsOf({ more }, { isLean: true }).handedUs, 0);
  assert.throws(() => costsOf({ more: {} }, { isLean: true }), /no alone_full_us_per_location: run it again/);
});
