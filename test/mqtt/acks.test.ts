import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Acks } from '../../src/mqtt/acks.ts';

/** The packet ids and reason codes of PUBACK packets. */
function read(packets: Uint8Array): readonly (readonly [id: number, code: number])[] {
  const acks: [number, number][] = [];
  for (let at = 0; at < packets.length; at += 2 + (packets[at + 1] as number)) {
    assert.equal(packets[at], 0x40);
    const id = ((packets[at + 2] as number) << 8) | (packets[at + 3] as number);
    acks.push([id, packets[at + 1] === 3 ? (packets[at + 4] as number) : 0]);
  }
  return acks;
}

describe('Acks', () => {
  test('acknowledges accepted messages, rejected ones with a reason, and none of QoS 0', () => {
    const acks = new Acks();
    acks.begin(1, [7, 0, 300]);
    assert.equal(acks.waiting, 3);
    assert.deepEqual(read(acks.taken(1, [[2, 0x99]])), [
      [7, 0],
      [300, 0x99],
    ]);
    assert.equal(acks.waiting, 0);
  });

  test('forgets messages of a closed connection', () => {
    const acks = new Acks();
    acks.begin(1, [1]);
    acks.reset();
    acks.begin(2, [2]);
    assert.deepEqual(read(acks.taken(1, [])), []);
    assert.deepEqual(read(acks.taken(2, [])), [[2, 0]]);
  });

  test('acknowledges in the order of arrival, regardless of the order of acceptance', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 8 });
    const order = sizes.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray([...all.keys()], { minLength: all.length })),
    );
    fc.assert(
      fc.property(order, ([all, taken]) => {
        const acks = new Acks();
        let id = 0;
        for (const [batch, size] of all.entries())
          acks.begin(
            batch,
            Array.from({ length: size }, () => ++id),
          );
        const seen = taken.flatMap((batch) => read(acks.taken(batch, [])).map(([each]) => each));
        assert.deepEqual(
          seen,
          Array.from({ length: id }, (_, i) => i + 1),
        );
      }),
    );
  });
});
