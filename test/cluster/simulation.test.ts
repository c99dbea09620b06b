import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { partitionOf } from '../../src/shards/affinity.ts';
import { iso } from '../support/shard_harness.ts';
import type { SimulatedClock } from './simulated_clock.ts';
import type { SimulatedHub } from './simulation/hub.ts';
import { type ObservedSubscription, Listener } from './simulation/listener.ts';
import { describeEvent } from './simulation/oracle.ts';
import { CART, fenceAt, inFence, located, network } from './simulation/scene.ts';
import { type SimulationOptions, simulate } from './simulation/simulation.ts';
import type { WitnessedCluster } from './simulation/witness.ts';

/** Seeds that have failed before, and the reasons. many_simulations.test.ts has the others. */
const MENDED: readonly [seed: number, what: string, options?: SimulationOptions][] = [
  [77, 'the owner forgot an expelled ingress hub, and processed its request again', { isPlain: true }],
  [1775, 'events of the previous owner followed those of the next one'],
  [418, 'a hub was stopped for longer than all other faults lasted', { faults: 2 }],
];

async function play(seed: number, { shards = 1, faults = 5, isPlain = false }: SimulationOptions = {}): Promise<void> {
  const { wrongs, log } = await simulate(seed, { shards, faults, isPlain });
  const again = `npm run simulate -- 1 ${seed} ${shards} ${faults}${isPlain ? ' plain' : ''}`;
  assert.equal(wrongs.length, 0, `${wrongs.join('\n')}\n${log.join('\n')}\nOnce more: ${again}`);
}

for (const [seed, what, options] of MENDED) {
  test(`Hubs act as one hub in seed ${seed}, in which ${what}`, () => play(seed, options));
}

test('Hubs with two shards act as one hub', () => play(302, { shards: 2, isPlain: true }));

test('A worker that is replaced after its hub was stopped fires no exit of an object whose locations could not arrive', async (context) => {
  const { clock, network: net, open, observed, crossings } = await network(context);
  const hub = await open('a');
  await clock.wait(3000);
  new Listener(hub, 'fence_events', observed);
  await hub.parts.entities.create('fence', { ...fenceAt(0, { timeout: 6000 }), id: 'f' });
  await hub.put([located('tag', 0, clock)]);
  // Its row is stored, and the step that has led to it is in no journal any more.
  await clock.wait(4000);
  net.stop('a');
  await clock.wait(20_000);
  net.resume('a');
  await hub.turn();
  await hub.killWorker();
  await clock.wait(1000);
  assert.deepEqual(crossings(), ['f region_entry']);
  await hub.put([located('tag', 0, clock)]);
  await clock.wait(5500);
  assert.deepEqual(crossings(), ['f region_entry']);
  await clock.wait(1500);
  assert.deepEqual(crossings(), ['f region_entry', 'f region_exit']);
});

test('A hub whose takeover makes no progress gives it up and leaves the cluster', async (context) => {
  const { clock, network: net, open } = await network(context);
  const before = await open('a');
  await clock.wait(3000);
  before.kill();
  const bus = net.bus.bind(net);
  net.bus = (name) => {
    const own = bus(name);
    const read = own.read.bind(own);
    // Reads of the state never complete.
    const stuck = { next: () => new Promise<boolean>(() => undefined), end: () => undefined };
    own.read = (stream, selection) => (stream === 'hub_STATE' ? stuck : read(stream, selection));
    return own;
  };
  const hub = await open('b');
  await clock.wait(15_000);
  assert.equal(hub.cluster.status.standing, 'taking_over');
  await clock.wait(20_000);
  assert.equal(hub.cluster.status.standing, 'out');
});

test('A hub with a correct clock takes over from one whose clock was ahead, and considers no location outdated', async (context) => {
  const { clock, open, observed } = await network(context);
  const owner = await open('a', { aheadMs: 3_600_000 });
  const hub = await open('b');
  await clock.wait(3000);
  await hub.parts.entities.create('fence', { ...fenceAt(0), id: 'f' });
  owner.place.aheadMs = 0;
  await clock.wait(3000);
  await hub.put([located('tag', 0, clock), located('other', 1, clock)]);
  owner.kill();
  await clock.wait(8000);
  assert.equal(hub.cluster.status.standing, 'owner');
  assert.deepEqual(
    hub.notices.filter((notice) => notice.includes('is ahead')),
    [],
  );
  new Listener(hub, 'fence_events', observed);
  await hub.put([located('tag', 1, clock), located('other', 0, clock)]);
  const published = observed.flatMap(({ texts }) => texts.map((text) => describeEvent('fence_events', text)));
  assert.deepEqual(
    published.map(({ of, what }) => `${of} ${what}`),
    ['tag f region_exit', 'other f region_entry'],
  );
});

/** A hub that has become the owner after a change without an owner, and the events that it has published since. */
async function changedWithoutOwner(context: TestContext, change: (hub: SimulatedHub) => Promise<unknown>) {
  const { clock, open, observed } = await network(context);
  const [owner, hub] = [await open('a'), await open('b')];
  await clock.wait(3000);
  assert.equal(owner.cluster.status.standing, 'owner');
  await hub.parts.entities.create('fence', { ...fenceAt(0), id: 'f' });
  await hub.parts.entities.create('trackable', { id: CART, type: 'omlox', location_providers: ['tag'] });
  await hub.put([located('tag', 0, clock), located('other', 1, clock)]);
  assert.deepEqual(await inFence(hub), ['tag', CART]);
  owner.kill();
  new Listener(hub, 'fence_events', observed);
  const changed = change(hub);
  await clock.wait(10_000);
  assert.equal(hub.cluster.status.standing, 'owner');
  await changed;
  const published = observed.flatMap(({ texts }) => texts.map((text) => describeEvent('fence_events', text)));
  return { hub, published: published.map(({ of, what }) => `${of} ${what}`), clock, open };
}

const CHANGES: readonly {
  readonly what: string;
  change(hub: SimulatedHub): Promise<unknown>;
  readonly published: readonly string[];
  readonly inside: readonly string[];
}[] = [
  {
    what: 'A fence that is moved',
    change: ({ parts }) => parts.entities.replace('fence', 'f', fenceAt(1)),
    published: ['tag f region_exit', 'other f region_entry', `${CART} f region_exit`],
    inside: ['other'],
  },
  {
    what: 'A fence that is deleted',
    change: ({ parts }) => parts.entities.remove('fence', 'f'),
    published: [],
    inside: [],
  },
  {
    what: 'A fence that is created',
    change: ({ parts }) => parts.entities.create('fence', { ...fenceAt(1), id: 'g' }),
    published: ['other g region_entry'],
    inside: ['tag', CART],
  },
  {
    what: 'A fence that is named',
    change: ({ parts }) => parts.entities.replace('fence', 'f', fenceAt(0, { name: 'F' })),
    published: [],
    inside: ['tag', CART],
  },
  {
    what: 'A trackable that is deleted',
    change: ({ parts }) => parts.entities.remove('trackable', CART),
    published: [`${CART} f region_exit`],
    inside: ['tag'],
  },
  {
    what: 'A trackable that has lost its provider',
    change: ({ parts }) => parts.entities.replace('trackable', CART, { type: 'omlox' }),
    // A detached trackable stays where it is.
    published: [],
    inside: ['tag', CART],
  },
  {
    what: 'A provider that is deleted',
    change: ({ parts }) => parts.entities.remove('provider', 'tag'),
    published: ['tag f region_exit', `${CART} f region_exit`],
    inside: [],
  },
  {
    what: 'A fence that is deleted and comes back',
    async change({ parts }) {
      const { entities } = parts;
      await Promise.all([entities.remove('fence', 'f'), entities.create('fence', { ...fenceAt(0), id: 'f' })]);
    },
    // Changes without an owner are combined, and these two have no effect together.
    published: [],
    inside: ['tag', CART],
  },
];

for (const { what, change, published, inside } of CHANGES) {
  test(`${what} while the objects are unowned is evaluated as soon as they have an owner`, async (context) => {
    const found = await changedWithoutOwner(context, change);
    assert.deepEqual(found.published, published);
    assert.deepEqual((await inFence(found.hub)).toSorted(), [...inside].toSorted());
    // The next owner gets it from this one, and finds no change.
    const { clock, open, hub } = found;
    const next = await open('c');
    await clock.wait(1000);
    const observed: ObservedSubscription[] = [];
    hub.kill();
    new Listener(next, 'fence_events', observed);
    await clock.wait(10_000);
    assert.equal(next.cluster.status.standing, 'owner');
    assert.deepEqual(
      observed.flatMap(({ texts }) => texts),
      [],
    );
    assert.deepEqual((await inFence(next)).toSorted(), [...inside].toSorted());
  });
}

test('A hub that starts after all others have failed evaluates changes that the last owner did not', async (context) => {
  const { clock, open, observed } = await network(context);
  const [owner, hub] = [await open('a'), await open('b')];
  await clock.wait(3000);
  await hub.parts.entities.create('fence', { ...fenceAt(0), id: 'f' });
  await hub.put([located('tag', 0, clock), located('other', 1, clock)]);
  owner.kill();
  void hub.parts.entities.replace('fence', 'f', fenceAt(1)).catch(() => undefined);
  await clock.wait(100);
  hub.kill();
  const next = await open('c');
  new Listener(next, 'fence_events', observed);
  await clock.wait(10_000);
  assert.equal(next.cluster.status.standing, 'owner');
  const published = observed.flatMap(({ texts }) => texts.map((text) => describeEvent('fence_events', text)));
  assert.deepEqual(
    published.map(({ of, what }) => `${of} ${what}`),
    ['tag f region_exit', 'other f region_entry'],
  );
  assert.deepEqual(await inFence(next), ['other']);
});

test('A subscription at a hub that joined after the last map ends when the owner fails', async (context) => {
  const { clock, open, observed } = await network(context);
  const owner = await open('a');
  await clock.wait(2000);
  const late = await open('b');
  new Listener(late, 'location_updates', observed);
  await clock.wait(500);
  assert.deepEqual(
    observed.map(({ endedMs }) => endedMs),
    [Infinity],
  );
  owner.kill();
  await clock.wait(5000);
  assert.ok((observed[0]?.endedMs ?? Infinity) < clock.nowMs);
});

test('Half of the objects of a hub with all the load move to the other hub, and no location is lost', async (context) => {
  const { clock, network: net, open, observed } = await network(context);
  const [busy, idle] = [await open('a', { ownersMax: 2 }), await open('b', { ownersMax: 2 })];
  while (net.owning.owners.size < 2 || !net.owning.isWhole) await clock.wait(100);
  // Until each has its share.
  await clock.wait(20_000);
  const ownerOf = (provider: string): string => net.owning.ownerOf('provider', provider);
  const all = Array.from({ length: 200 }, (_, number) => `p${number}`).filter((provider) => ownerOf(provider) === 'a');
  const providers = [...Map.groupBy(all, partitionOf).values()].slice(0, 16).map(([provider = '']) => provider);
  for (const provider of providers) await idle.put([located(provider, 0, clock)]);
  const mapsBefore = mapsIn(net);
  await clock.wait(200);
  new Listener(idle, 'location_updates', observed);
  let sent = 0;
  for (const endMs = clock.nowMs + 90_000; clock.nowMs < endMs; await clock.wait(100)) {
    // 1,600 locations per second, all of them through the hub that owns none of these objects.
    const values = providers.flatMap((provider) => {
      return Array.from({ length: 10 }, (_, late) => ({
        ...located(provider, 0, clock),
        speed: ++sent,
        ...ageMs(late, clock),
      }));
    });
    await idle.put(values);
  }
  await clock.wait(1000);
  const owned = Map.groupBy(providers, ownerOf);
  assert.deepEqual([owned.get('a')?.length, owned.get('b')?.length], [8, 8]);
  assert.equal(mapsIn(net) - mapsBefore, 1);
  assert.ok(net.owning.isWhole);
  const published = observed.flatMap(({ texts }) =>
    texts.map((text) => Number(describeEvent('location_updates', text).what)),
  );
  assert.deepEqual(
    published.toSorted((one, other) => one - other),
    Array.from({ length: sent }, (_, index) => index + 1),
  );
  assert.deepEqual([busy.cluster.status.standing, idle.cluster.status.standing], ['owner', 'owner']);
});

/** Number of partition maps in the configuration log. */
function mapsIn({ config }: WitnessedCluster): number {
  return config.filter(({ kind }) => kind === 'map').length;
}

/** Generation times of ten locations, a tenth of a second apart. */
function ageMs(index: number, { nowMs }: SimulatedClock): object {
  return { timestamp_generated: iso((Math.floor(nowMs) - 100 + 10 * index) / 1000) };
}
