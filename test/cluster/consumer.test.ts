import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { connect } from '@nats-io/transport-node';
import { readAll, utf8, withStream } from './contract.ts';
import { openTestBus, testNats } from './test_nats.ts';

const nats = await testNats();
const { skip } = nats;
/** Most messages of one pull. */
const PULLED = 512;
const COUNT = 4 * PULLED + 1;
const NUMBERS = Array.from({ length: COUNT }, (_, index) => index + 1);

/** A stream of small messages, and a counter of pulls. */
async function longStream(context: TestContext, name: string) {
  const { bus } = await openTestBus(context, nats, { name });
  const { settings, subject, append } = await withStream({ name }, bus);
  for (let i = 1; i < COUNT; i++) bus.publish(subject, utf8('text'));
  assert.deepEqual(await append({}), { at: 'committed', sequence: COUNT });
  const other = await connect({ servers: nats.servers.addresses });
  context.after(() => other.close());
  let pulls = 0;
  other.subscribe(`$JS.API.CONSUMER.MSG.NEXT.${settings.name}.>`, { callback: () => void pulls++ });
  await other.flush();
  const pulled = async (): Promise<number> => {
    await other.flush();
    return pulls;
  };
  return { bus, settings, subject, pulled };
}

test('A reader requests each batch once, although the server reports the end of a full one twice', {
  skip,
}, async (context) => {
  const { bus, settings, pulled } = await longStream(context, 'reads');
  for (let round = 1; round <= 20; round++) {
    const found = await readAll(bus, settings, 1);
    assert.deepEqual(
      found.map(({ sequence }) => sequence),
      NUMBERS,
    );
    assert.equal(await pulled(), 5 * round);
  }
});

test('A follower has one pull request in flight', { skip }, async (context) => {
  const { bus, settings, pulled } = await longStream(context, 'follows');
  const found: number[] = [];
  const { promise: all, resolve } = Promise.withResolvers<void>();
  const following = bus.follow(settings.name, { subjects: settings.subjects, fromSequence: 1 }, ({ sequence }) => {
    if (found.push(sequence) === COUNT) resolve();
  });
  await all;
  assert.deepEqual(found, NUMBERS);
  assert.equal(await pulled(), 5);
  following.end();
});

test('A reader does not wait for messages that were purged after it began', { skip }, async (context) => {
  const { bus, settings, subject } = await longStream(context, 'purged');
  const reader = bus.read(settings.name, { subjects: settings.subjects, fromSequence: 1 });
  const found: number[] = [];
  const take = ({ sequence }: { readonly sequence: number }): void => void found.push(sequence);
  assert.equal(await reader.next(take), true);
  await bus.purge(settings.name, subject);
  const fromMs = performance.now();
  while (await reader.next(take));
  // Each pull that waited would take a second.
  assert.ok(performance.now() - fromMs < 900, `${performance.now() - fromMs} ms`);
  assert.deepEqual(found, NUMBERS.slice(0, PULLED));
});
