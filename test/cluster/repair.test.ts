import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { BusAnswer, RequestOptions } from '../../src/cluster/nats/bus.ts';
import { AGAIN, SENT_AGAIN } from '../../src/cluster/messages/messages.ts';
import { Repair } from '../../src/cluster/fanout/repair.ts';
import { lend } from '../../src/model/borrowed.ts';
import { SimulatedClock } from './simulated_clock.ts';

/** Time that the sender retains messages. */
const KEPT_MS = 2000;

interface Sender {
  /** Time to receive and answer a request. */
  readonly answerMs: number;
  /** Whether a request sent at that time arrives. */
  hears?(atMs: number): boolean;
}

/** A receiver of messages sent at 0: the numbers that it takes, and the number of losses. */
function receiverOf(context: TestContext, { answerMs, hears = () => true }: Sender) {
  const clock = new SimulatedClock();
  context.after(clock.run());
  const receiver = { clock, taken: [] as number[], losses: 0, come };
  async function request<Value>(_: string, bytes: Uint8Array, { timeoutMs, read }: RequestOptions<Value>) {
    const isReceived = hears(clock.nowMs);
    const { first, last } = AGAIN.read(lend(bytes));
    await clock.wait(isReceived ? answerMs : timeoutMs);
    if (!isReceived) return { at: 'unanswered' } satisfies BusAnswer<Value>;
    const lost = clock.nowMs > KEPT_MS ? last : 0;
    for (let number = first; lost === 0 && number <= last; number++) come(number);
    return { at: 'answered', value: read(lend(SENT_AGAIN.pack({ lost }))) } satisfies BusAnswer<Value>;
  }
  const repair = new Repair<number>({
    ...{ bus: { request }, name: 'hub', self: 'receiver', from: 'sender', of: 'rendered', first: 1 },
    take: (number) => receiver.taken.push(number),
    lost: () => receiver.losses++,
    malformed: assert.fail,
    schedule: clock.schedule,
  });
  function come(number: number): void {
    const came = repair.numbers.come(number);
    if (came === 'early') repair.numbers.keep(number, number);
    if (came === 'inTurn') receiver.taken.push(number);
    repair.check();
  }
  return receiver;
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1);

test('Repair fills hundreds of gaps while the sender retains the messages, even with slow answers', async (context) => {
  const receiver = receiverOf(context, { answerMs: 150 });
  for (let number = 2; number <= 1000; number += 2) receiver.come(number);
  await receiver.clock.wait(5000);
  assert.deepEqual([receiver.losses, receiver.taken], [0, upTo(1000)]);
});

test('Repair waits for the answer to its last question before it gives up, and no longer', async (context) => {
  for (const [lastSeenMs, losses] of [
    [1000, 0],
    [1001, 1],
  ] as const) {
    const receiver = receiverOf(context, { answerMs: 150, hears: (atMs) => atMs >= lastSeenMs });
    receiver.come(2);
    await receiver.clock.wait(1400);
    assert.deepEqual(
      [receiver.losses, receiver.taken],
      [losses, losses === 0 ? [1, 2] : [2]],
      `heard at ${lastSeenMs}`,
    );
  }
});

test('Repair gives up at once for messages that the sender has dropped', async (context) => {
  const receiver = receiverOf(context, { answerMs: 10 });
  await receiver.clock.wait(KEPT_MS);
  for (const number of [1, 3, 5, 6]) receiver.come(number);
  await receiver.clock.wait(50);
  assert.deepEqual([receiver.losses, receiver.taken], [2, [1, 3, 5, 6]]);
});
