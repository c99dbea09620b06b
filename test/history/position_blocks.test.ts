import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PositionBlocks } from '../../src/history/position_blocks.ts';

const STEP = { bytes: new Uint8Array(100_000), counts: { locations: 10, motions: 0 } };
/** Capacity of all blocks: 12 of 4 MiB each. */
const STEPS_MAX = 12 * Math.floor((4 << 20) / STEP.bytes.length);

test('PlaceBlocks fills its blocks while the thread is slow, and drops and counts positions only when all are full', () => {
  const sent: { readonly block: number; readonly bytes: number }[] = [];
  const blocks = new PositionBlocks((block, _memory, bytes) => void sent.push({ block, bytes }));
  blocks.begin();
  let added = 0;
  while (blocks.dropped.locations === 0) {
    blocks.add(0, STEP.bytes, STEP.counts);
    // The sender offers blocks as often as positions arrive.
    assert.equal(blocks.offer(), added === 0);
    added++;
  }
  assert.ok(added > STEPS_MAX - 50, `${added} of ${STEPS_MAX}`);
  assert.equal(blocks.dropped.locations, 10);
  for (let at = 0; at < sent.length; at++) blocks.taken((sent[at] as (typeof sent)[0]).block);
  blocks.flush();
  assert.equal(blocks.sent.locations, 10 * (added - 1));
  assert.equal(
    sent.reduce((sum, { bytes }) => sum + bytes, 0),
    (added - 1) * (8 + STEP.bytes.length),
  );
  blocks.add(0, STEP.bytes, STEP.counts);
  assert.equal(blocks.offer(), true);
});
