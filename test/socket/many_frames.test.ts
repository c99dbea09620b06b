import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TaskScheduler } from '../../src/time/task_scheduler.ts';
import { location, serveSocket } from './harness.ts';

/** A scheduler that considers the turn too long at every third check. */
class ShortTurns extends TaskScheduler {
  given = 0;
  #looks = 0;

  override isLong(): boolean {
    this.#looks++;
    return this.#looks % 3 === 0;
  }

  override next(): Promise<void> {
    this.given++;
    return super.next();
  }
}

test('Frames that arrive together are processed in several turns, and retain their order', async (t) => {
  const turns = new ShortTurns();
  const seen: number[] = [];
  const { connect } = await serveSocket(t, {
    turns,
    ingestLocations(values) {
      seen.push((values[0] as { n: number }).n);
      return { problems: [] };
    },
  });
  const client = await connect();
  const order = Array.from({ length: 300 }, (_, n) => n);
  for (const n of order) client.send(location(n));
  client.send({ event: 'unsubscribe', subscription_id: 'none' });
  assert.equal((await client.next()).code, 10003);
  assert.deepEqual(seen, order);
  assert.ok(turns.given > 30, `${turns.given} turns`);
});
