import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { partitionOf } from '../../src/shards/affinity.ts';
import type { SimulatedHub } from './simulation/hub.ts';
import { Listener } from './simulation/listener.ts';
import { describeEvent } from './simulation/oracle.ts';
import { CART, fenceAt, inFence, located, network } from './simulation/scene.ts';

/** Hubs that own the partitions together, and tags of one of them, which are about to be assigned to a cart of another one. */
async function owners(context: TestContext, names: readonly string[], count = 1) {
  const scene = await network(context);
  const { clock, network: net, open, observed } = scene;
  const hubs = await Promise.all(names.map((name) => open(name, { ownersMax: names.length })));
  while (net.owning.owners.size < names.length || !net.owning.isWhole) await clock.wait(100);
  await clock.wait(20_000);
  const ownerOf = (id: string): string => net.owning.ownerOf('provider', id);
  const to = net.owning.ownerOf('trackable', CART);
  const all = Array.from({ length: 100 }, (_, number) => `p${number}`);
  const [from = '', of = []] = [...Map.groupBy(all, ownerOf)].find(([name]) => name !== to) ?? [];
  const tags = of.slice(0, count);
  const hubOf = (name: string) => hubs.find(({ incarnation }) => incarnation === name) as SimulatedHub;
  const [receiver, owner] = [hubOf(to), hubOf(from)];
  await receiver.parts.entities.create('fence', { ...fenceAt(0), id: 'f' });
  new Listener(receiver, 'fence_events', observed);
  const put = (place: number) => receiver.put(tags.map((tag) => located(tag, place, clock)));
  await put(0);
  await clock.wait(3000);
  /** Resolves when the record that moves the tags is in the log; `created` when that is acknowledged. */
  const reassign = async () => {
    const cart = { id: CART, type: 'omlox', location_providers: tags };
    const created = receiver.parts.entities.create('trackable', cart).catch(() => undefined);
    while (net.owning.isWhole) await clock.wait(1);
    return { created };
  };
  /** After they have left the fence, no tag is in it; and each that enters it again has entered, left and entered it. */
  const check = async () => {
    assert.deepEqual(await inFence(receiver), []);
    await put(0);
    await clock.wait(1000);
    const events = observed.flatMap(({ texts }) => texts.map((text) => describeEvent('fence_events', text)));
    for (const tag of tags) {
      const crossed = events.filter((event) => event.of === tag).map(({ what }) => what);
      assert.deepEqual(crossed, ['f region_entry', 'f region_exit', 'f region_entry'], tag);
    }
  };
  /** After the tags have arrived, all of them are in the fence as before, and can leave and enter it. */
  const checkArrival = async (created: Promise<unknown>) => {
    await created;
    await clock.wait(8000);
    assert.equal((await inFence(receiver)).filter((id) => tags.includes(id)).length, tags.length);
    await put(1);
    await clock.wait(1000);
    await check();
  };
  return { ...scene, hubOf, receiver, owner, tags, put, reassign, check, checkArrival };
}

test('An object that is reassigned while its last row waits to be written keeps its state if its worker dies', async (context) => {
  const { clock, network: net, hold, owner, put, reassign, check } = await owners(context, ['a', 'b']);
  const release = hold((_by, to) => to === 'hub_STATE');
  await put(0.1);
  await clock.wait(2000);
  await put(1);
  await clock.wait(2000);
  void owner.cluster.durability.writeState();
  await owner.killWorker();
  const { created } = await reassign();
  while (owner.cluster.config.applied() < net.config.length) await clock.wait(1);
  release();
  await created;
  await clock.wait(2000);
  await check();
});

test('Reassigned objects arrive although their owner fails after it has released them, and a successor of that as well', async (context) => {
  const world = await owners(context, ['a', 'b', 'c', 'd'], 12);
  const { clock, network: net, hold, hubOf, receiver, owner, tags, reassign, checkArrival } = world;
  // The receiver gets no answers about what was released.
  const release = hold((by, to) => by === receiver.incarnation && to.startsWith('hub.ask.'));
  const { created } = await reassign();
  await clock.wait(500);
  owner.kill();
  await clock.wait(5000);
  const heirs = tags.map((tag) => net.owning.ownerOfPartition(partitionOf(tag)));
  const heir = heirs.find((name) => name !== receiver.incarnation) ?? '';
  assert.equal(net.owning.isWhole, false);
  hubOf(heir).kill();
  await clock.wait(5000);
  release();
  await checkArrival(created);
});

test('Reassigned objects arrive although their owner fails after it has answered where their state is', async (context) => {
  const { clock, hold, receiver, owner, reassign, checkArrival } = await owners(context, ['a', 'b', 'c'], 12);
  let isReading = false;
  const release = hold((by, to) => {
    const isHeld = by === receiver.incarnation && to.startsWith(`read hub_J_${owner.incarnation}`);
    isReading ||= isHeld;
    return isHeld;
  });
  const { created } = await reassign();
  while (!isReading) await clock.wait(1);
  owner.kill();
  await clock.wait(5000);
  release();
  await checkArrival(created);
});
