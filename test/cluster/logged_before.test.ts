import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SimulatedHub } from './simulation/hub.ts';
import { describeEvent } from './simulation/oracle.ts';
import { fenceAt, located, network } from './simulation/scene.ts';

const EVENT_LOG = 'hub_EVENTS';
/** Longer than messages remain in a journal that are no longer needed. */
const LONG_MS = 9000;

/** The fence events in the log, as a hub reads it. */
async function loggedAt(hub: SimulatedHub): Promise<readonly string[]> {
  const page = await hub.parts.eventLog?.read(undefined, { topics: ['fence_events'], filters: {}, limit: 100 });
  return (page?.events ?? []).map(({ json }) => {
    const { of, what } = describeEvent('fence_events', json);
    return `${of} ${what}`;
  });
}

test('A journal retains the steps whose events the log does not have: a successor appends them', async (context) => {
  const { clock, open, hold } = await network(context);
  const [owner, next] = [await open('a'), await open('b')];
  await clock.wait(3000);
  assert.equal(owner.cluster.status.standing, 'owner');
  await owner.parts.entities.create('fence', { ...fenceAt(0), id: 'f' });
  const append = hold((by, stream) => by === 'a' && stream === EVENT_LOG);
  await owner.put([located('tag', 0, clock)]);
  // Later steps, and flushes that put all of them into the state.
  for (const endMs = clock.nowMs + LONG_MS; clock.nowMs < endMs; await clock.wait(300)) {
    await owner.put([located('other', 5, clock)]);
  }
  assert.deepEqual(await loggedAt(next), []);
  owner.kill();
  append();
  await clock.wait(8000);
  assert.equal(next.cluster.status.standing, 'owner');
  assert.deepEqual(await loggedAt(next), ['tag f region_entry']);
});

test('A hub hands objects over when the log has their events', async (context) => {
  const { clock, network: net, open, hold } = await network(context);
  const one = await open('a', { ownersMax: 2 });
  await clock.wait(3000);
  await one.parts.entities.create('fence', { ...fenceAt(0), id: 'f' });
  const append = hold((by, stream) => by === 'a' && stream === EVENT_LOG);
  const tags = Array.from({ length: 8 }, (_, i) => `tag ${i}`);
  await one.put(tags.map((tag) => located(tag, 0, clock)));
  const other = await open('b', { ownersMax: 2 });
  await clock.wait(LONG_MS);
  const arrivals = () => net.config.filter(({ kind }) => kind === 'took').length;
  assert.equal(arrivals(), 0);
  append();
  await clock.wait(LONG_MS);
  assert.ok(arrivals() > 0);
  await other.put(tags.map((tag) => located(tag, 5, clock)));
  await clock.wait(1000);
  const logged = await loggedAt(one);
  for (const tag of tags) {
    assert.deepEqual(
      logged.filter((event) => event.startsWith(`${tag} `)),
      [`${tag} f region_entry`, `${tag} f region_exit`],
    );
  }
});
