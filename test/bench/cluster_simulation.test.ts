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

/** How long work waits on average that comes at random and takes `takesUs` each, and how busy the workers are. */
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
    test(`make work wait as the formula of M/D/1 says, ${load} of the time busy`, () => {
      const { waitUs, busy } = waiting(10, 10 / load);
      isNear(waitUs, (10 * load) / (2 * (1 - load)), 0.05);
      isNear(busy, load, 0.02);
    });
  }

  test('of which there are two wait less than one that is twice as busy, and do as much', () => {
    const [one, two] = [waiting(10, 10 / 0.8), waiting(10, 10 / 1.6, 2)];
    isNear(two.busy, one.busy, 0.02);
    assert.ok(two.waitUs < one.waitUs);
  });

  test('have to be woken up only where they have slept', () => {
    const engine = new Engine();
    const server = new Workers(engine);
    const ends: number[] = [];
    for (let i = 0; i < 2; i++) server.do(10, () => ends.push(engine.nowUs), 5);
    engine.run(100);
    assert.deepEqual(ends, [15, 25]);
    assert.equal(server.busyUs, 25);
  });

  test('are busy only for as long as it has been', () => {
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
  test('does the same with the same seed, and something else with another one', () => {
    const cluster = { hubs: 2, nats: NATS, perHub: 20_000, costs: COSTS, seed: 1 };
    assert.deepEqual(simulateCluster(cluster), simulateCluster(cluster));
    assert.notDeepEqual(simulateCluster({ ...cluster, seed: 2 }), simulateCluster(cluster));
  });

  test('answers what comes, and keeps front threads as busy as the costs say', () => {
    const found = simulateCluster({ hubs: 1, nats: undefined, perHub: 100_000, costs: COSTS, seed: 1 });
    isNear(found.perHub, 100_000, 0.1);
    isNear(found.through, 1, 0.02);
    isNear(found.front, 0.2, 0.1);
    assert.deepEqual([found.natsCores, found.messages, found.perAppend], [0, 0, 0]);
    // A body is read, processed by three shards in three parts, and published.
    assert.ok(found.p50Ms > 0.25 && found.p50Ms < 0.6, `${found.p50Ms}`);
  });

  test('answers an append and its ways later with a journal', () => {
    const cluster = { hubs: 1, perHub: 1000, costs: COSTS, seed: 1 };
    const [alone, kept] = [
      simulateCluster({ ...cluster, nats: undefined }),
      simulateCluster({ ...cluster, nats: NATS }),
    ];
    // There, to a follower and back, and back, four times 150 µs; two servers, and the hub's own work. Parts come one after the other.
    assert.ok(kept.p50Ms - alone.p50Ms >= 0.83, `${kept.p50Ms} and ${alone.p50Ms}`);
    assert.ok(kept.p50Ms - alone.p50Ms <= 2 * 0.83, `${kept.p50Ms} and ${alone.p50Ms}`);
  });

  test('puts more into an append the more there is to do', () => {
    const cluster = { hubs: 1, nats: NATS, costs: COSTS, seed: 1 };
    const [few, many] = [10_000, 300_000].map((perHub) => simulateCluster({ ...cluster, perHub }).perAppend);
    assert.ok((many as number) > 3 * (few as number), `${few} and ${many}`);
  });

  test('does the most that its busiest thread can', () => {
    const most = mostOf({ hubs: 1, nats: undefined, costs: COSTS, seed: 1 });
    // A location is 2 µs of the front thread, and 1 of each of the shards.
    isNear(most.perHub, 500_000, 0.05);
    isNear(most.front, 1, 0.05);
  });

  test('does less at each of two hubs than alone, and less still where handing over is dear', () => {
    const cluster = { hubs: 2, nats: NATS, seed: 1 };
    const alone = mostOf({ hubs: 1, nats: undefined, costs: COSTS, seed: 1 }).perHub;
    const lean = mostOf({ ...cluster, costs: COSTS }).perHub;
    const dear = mostOf({ ...cluster, costs: { ...COSTS, handedUs: 10 } });
    assert.ok(lean < alone && dear.perHub < lean / 2, `${alone}, ${lean}, ${dear.perHub}`);
    assert.ok(dear.messages > 0);
  });
});

test('costsOf reads the costs of a saved result, and names what it lacks', () => {
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
