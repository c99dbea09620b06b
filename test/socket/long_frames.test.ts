import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IngestResult } from '../../src/socket/deps.ts';
import { location, serveSocket } from './harness.ts';

const long = (rest: string) =>
  `{"event":"message","topic":"location_updates","padding":"${'x'.repeat(400_000)}",${rest}`;

test('A long frame is processed before later frames of its connection, whatever it waits for', async (t) => {
  const [begun, taking] = [Promise.withResolvers<void>(), Promise.withResolvers<IngestResult>()];
  const seen: unknown[] = [];
  const { connect } = await serveSocket(t, {
    ingestLocations(values) {
      seen.push(values[0]);
      begun.resolve();
      return (values[0] as { n: number }).n === 1 ? taking.promise : { problems: [] };
    },
  });
  const client = await connect();
  client.send(long('"payload":[{"n":1}]}'));
  client.send(location(2));
  client.send({ event: 'unsubscribe', subscription_id: 'none' });
  await begun.promise;
  const other = await connect();
  other.send(location(3));
  other.send({ event: 'unsubscribe', subscription_id: 'none' });
  assert.equal((await other.next()).code, 10003);
  assert.deepEqual(seen, [{ n: 1 }, { n: 3 }]);
  taking.resolve({ problems: [] });
  assert.equal((await client.next()).code, 10003);
  assert.deepEqual(seen, [{ n: 1 }, { n: 3 }, { n: 2 }]);
});

const BAD: readonly [what: string, frame: string, description: string][] = [
  ['no JSON', long('"payload":[}'), 'frame: must be JSON, found Unexpected token "}" at position 400070'],
  ['no object', `["${'x'.repeat(300_000)}"]`, 'frame: must be an object'],
  ['no event', `{"topic":"${'x'.repeat(300_000)}"}`, 'event: must be a string, found nothing'],
  [
    'nested too deeply',
    long(`"payload":${'['.repeat(300)}${']'.repeat(300)}}`),
    'body: must be nested at most 200 levels deep, found more',
  ],
  [
    'a reserved member name',
    long('"payload":[{"__proto__":1}]}'),
    'payload[0].__proto__: is a name that cannot be stored',
  ],
];

for (const [what, frame, description] of BAD) {
  test(`A long frame that is ${what} is rejected, and the connection stays open`, async (t) => {
    const { connect, published } = await serveSocket(t);
    const client = await connect();
    client.send(frame);
    client.send(location(1));
    client.send({ event: 'unsubscribe', subscription_id: 'none' });
    const answer = await client.next();
    assert.deepEqual([answer.code, answer.description], [10000, description]);
    assert.equal((await client.next()).code, 10003);
    assert.equal(published.length, 1);
  });
}
