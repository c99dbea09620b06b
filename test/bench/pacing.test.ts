import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Pacing, type Wanted } from '../../bench/load/pacing.ts';

const SECOND = 1_000_000;

/** Sends by a simulated clock. Each response arrives `serviceUs` after its message, or when the test sends it. */
function simulate(
  wanted: Wanted,
  { untilUs, tickUs, serviceUs }: { untilUs: number; tickUs: number; serviceUs: (at: number) => number },
) {
  const pacing = new Pacing(wanted);
  const sent: { connection: number; dueUs: number; atUs: number }[] = [];
  const underWay: { connection: number; doneUs: number }[] = [];
  let nowUs = 0;
  const send = (connection: number, dueUs: number): void => {
    sent.push({ connection, dueUs, atUs: nowUs });
    underWay.push({ connection, doneUs: nowUs + serviceUs(nowUs) });
  };
  for (; nowUs <= untilUs; nowUs += tickUs) {
    for (const done of underWay.filter(({ doneUs }) => doneUs <= nowUs)) {
      underWay.splice(underWay.indexOf(done), 1);
      pacing.answered(done.connection, false, nowUs, send);
    }
    pacing.take(nowUs, send);
  }
  return { pacing, sent, nowUs };
}

describe('Pacing of an open loop', () => {
  const wanted = { connections: 3, perSecond: 1000, startUs: 0, endUs: SECOND };

  test('sends one message per step, on the connections in turn', () => {
    const { sent, pacing, nowUs } = simulate(wanted, { untilUs: 2 * SECOND, tickUs: 500, serviceUs: () => 100 });
    assert.equal(sent.length, 1000);
    assert.deepEqual(sent.slice(0, 4), [
      { connection: 0, dueUs: 0, atUs: 0 },
      { connection: 1, dueUs: 1000, atUs: 1000 },
      { connection: 2, dueUs: 2000, atUs: 2000 },
      { connection: 0, dueUs: 3000, atUs: 3000 },
    ]);
    assert.ok(pacing.isOver(nowUs));
  });

  test('sends the messages of a burst together, and none in a pause', () => {
    const pause = { fromUs: SECOND / 2, us: SECOND };
    const uneven = { ...wanted, burstUs: 25_000, pause, endUs: 2 * SECOND };
    const { sent } = simulate(uneven, { untilUs: 3 * SECOND, tickUs: 500, serviceUs: () => 100 });
    assert.equal(sent.length, 1000, 'as many as without a pause');
    const times = sent.map(({ dueUs }) => dueUs);
    assert.ok(times.every((dueUs) => dueUs % 25_000 === 0));
    assert.equal(times.filter((dueUs) => dueUs === 25_000).length, 25);
    assert.deepEqual(
      times.filter((dueUs) => dueUs >= pause.fromUs && dueUs < pause.fromUs + pause.us),
      [],
    );
  });

  test('charges a pause to every message that was due during it', () => {
    const pauseUntil = 500_000;
    const serviceUs = (at: number): number => (at < 100_000 ? 100 : Math.max(100, pauseUntil - at));
    const { sent } = simulate(wanted, { untilUs: 3 * SECOND, tickUs: 500, serviceUs });
    assert.equal(sent.length, 1000, 'all are sent, late or not');
    const waited = sent.filter(({ dueUs, atUs }) => dueUs > 110_000 && dueUs < 400_000 && atUs - dueUs > 50_000);
    assert.ok(waited.length >= 280, `${waited.length} of the 290 due in the pause have waited`);
    assert.deepEqual(
      sent.map(({ dueUs }) => dueUs).toSorted((a, b) => a - b),
      Array.from({ length: 1000 }, (_, i) => i * 1000),
    );
  });

  test('sends nothing after the end if queued messages are dropped', () => {
    const never = { untilUs: 3 * SECOND, tickUs: 500, serviceUs: () => 400_000 };
    const { sent, pacing, nowUs } = simulate({ ...wanted, abandon: true }, never);
    assert.ok(sent.length < 20);
    assert.ok(sent.every(({ atUs }) => atUs < SECOND));
    assert.ok(pacing.isOver(nowUs));
    assert.equal(pacing.due, 1000);
  });

  test('owes the messages that were due while the sender slept past the end', () => {
    const pacing = new Pacing(wanted);
    assert.equal(pacing.isOver(2 * SECOND), false);
    assert.equal(pacing.due, 1000);
  });

  test('preserves the order of each connection through a long queue', () => {
    const slow = { untilUs: 9 * SECOND, tickUs: 1000, serviceUs: () => 1000 };
    const { sent } = simulate({ connections: 1, perSecond: 5000, startUs: 0, endUs: SECOND }, slow);
    assert.equal(sent.length, 5000);
    assert.ok(sent.every(({ dueUs }, i) => dueUs === i * 200));
  });
});

describe('Pacing of a closed loop', () => {
  const wanted = { connections: 2, perSecond: undefined, startUs: 1000, endUs: SECOND };

  test('sends on each response, from the start to the end', () => {
    const { sent } = simulate(wanted, { untilUs: 2 * SECOND, tickUs: 1000, serviceUs: () => 10_000 });
    assert.equal(sent[0]?.atUs, 1000);
    assert.ok(sent.every(({ atUs }) => atUs >= 1000 && atUs < SECOND));
    assert.equal(sent.length, 2 * 100);
  });

  test('pauses a rejected connection, and only that', () => {
    const pacing = new Pacing(wanted);
    const sent: string[] = [];
    const at = (nowUs: number) => (connection: number) => sent.push(`${connection} at ${nowUs / 1000}`);
    pacing.take(1000, at(1000));
    pacing.answered(0, true, 2000, at(2000));
    pacing.answered(1, false, 3000, at(3000));
    pacing.take(50_000, at(50_000));
    pacing.take(102_000, at(102_000));
    assert.deepEqual(sent, ['0 at 1', '1 at 1', '1 at 3', '0 at 102']);
  });
});
