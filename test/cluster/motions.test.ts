import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { MOTIONS, type MotionsMessage } from '../../src/cluster/messages/messages.ts';
import { MotionsIn, SILENT_MS } from '../../src/cluster/collisions/motions_in.ts';
import { MotionsOut, type Passed } from '../../src/cluster/collisions/motions_out.ts';
import { copied, lend } from '../../src/model/borrowed.ts';
import type { PackedMotions } from '../../src/wire/messages.ts';
import { packMotions } from '../../src/wire/motion_bytes.ts';
import { moved } from '../core/collision_motions.ts';

const T0 = 1_700_000_000_000;

function motionsOf(...seqs: readonly number[]): PackedMotions {
  const motions = seqs.map((seq) => moved(`t${seq}`, T0 + seq, { seq }));
  return { packed: lend(copied(packMotions(motions))), lastSeq: seqs.at(-1) ?? 0 };
}

suite('what a hub sends of its motions', () => {
  function opened() {
    const sent: MotionsMessage[] = [];
    const passed = { seq: 1, receivedMs: T0 };
    const out = new MotionsOut({
      send: (_, bytes) => sent.push(MOTIONS.read(lend(Uint8Array.from(bytes)))),
      passed: (): Passed => ({ ...passed }),
      clock: { now: () => T0 + 100, wallClockTime: (ms) => ms, clockSteps: [] },
    });
    out.to('y');
    const published = () => sent.splice(0).map(({ watermark, motions }) => [watermark, motions.length]);
    return { out, sent, passed, published };
  }

  test('is sent once per turn, when its steps are stored, which limit the reported watermark', async () => {
    const { out, passed, published } = opened();
    const [first, second] = [motionsOf(1, 2), motionsOf(3)];
    passed.seq = 3;
    out.stepped(first);
    passed.seq = 4;
    out.stepped(undefined);
    out.stepped(second);
    passed.seq = 9;
    out.beat();
    // The first one was not finished when it began.
    assert.deepEqual(published(), [[1, 0]]);
    out.send(out.released(first) ?? []);
    out.send([motionsOf(2)]);
    assert.deepEqual(published(), []);
    await Promise.resolve();
    assert.deepEqual(published(), [[4, 2]]);
    out.send(out.released(second) ?? []);
    await Promise.resolve();
    assert.deepEqual(published(), [[9, 1]]);
    assert.equal(out.released(second), undefined);
  });

  test('is split into messages of about a megabyte, of which the last one has the watermark', async () => {
    const { out, passed, published } = opened();
    const many = {
      packed: lend(copied(packMotions(Array.from({ length: 12_000 }, () => moved('t', T0, { seq: 5 }))))),
      lastSeq: 5,
    };
    out.beat();
    out.stepped(many);
    passed.seq = 6;
    out.send(out.released(many) ?? []);
    await Promise.resolve();
    const messages = published();
    assert.ok(messages.length > 2);
    assert.deepEqual(
      messages.map(([watermark]) => watermark),
      messages.map((_, index) => (index === messages.length - 1 ? 6 : 1)),
    );
  });

  test('starts over for another hub', () => {
    const { out, sent } = opened();
    out.stood(3);
    out.to('z');
    out.beat();
    assert.deepEqual(
      sent.map(({ stood }) => stood),
      [3, 0],
    );
  });
});

suite('what the owner of the stage knows of other hubs', () => {
  function opened(...owners: readonly string[]) {
    const clock = { nowMs: T0 };
    const asked: string[] = [];
    const known = new MotionsIn({
      clock: { monotonic: () => clock.nowMs, monotonicTime: (ms) => ms },
      ask: (hub, number) => void asked.push(`${hub} ${number}`),
    });
    known.owners(new Set(owners));
    const say = (from: string, more: Partial<MotionsMessage> = {}, isLate = false) => {
      const times = { passedMs: clock.nowMs, sentMs: clock.nowMs };
      return known.take(from, { watermark: 1, stood: 0, clockSteps: [], motions: [], ...times, ...more }, isLate);
    };
    return { known, clock, asked, say };
  }

  test('is requested when they become owners, repeatedly until they answer, and never after that', () => {
    const { known, clock, asked, say } = opened('y');
    assert.deepEqual(asked.splice(0), ['y 1']);
    known.askDue();
    assert.deepEqual(asked, []);
    clock.nowMs += 250;
    known.askDue();
    assert.deepEqual(asked.splice(0), ['y 1']);
    assert.equal(say('y', { stood: 1 })?.isStood, true);
    assert.equal(say('y', { stood: 1 })?.isStood, false);
    clock.nowMs += 250;
    known.askDue();
    known.owners(new Set(['y', 'z']));
    assert.deepEqual(asked, ['z 2']);
  });

  test('is requested again after a lost message, and answers to earlier requests do not count', () => {
    const { known, asked, say } = opened('y');
    say('y', { stood: 1 });
    assert.equal(known.gaps, 0);
    known.lost('y');
    assert.equal(known.gaps, 1);
    known.askDue();
    assert.deepEqual(asked, ['y 1', 'y 2']);
    assert.equal(say('y', { stood: 1 })?.isStood, false);
    assert.equal(say('y', { stood: 2 })?.isStood, true);
    assert.equal(say('z'), undefined);
  });

  test('is complete when all have answered, or were removed', async () => {
    const { known, say } = opened('y', 'z');
    let isDone = false;
    const done = known.standing().then(() => {
      isDone = true;
    });
    say('y', { stood: 9 });
    await Promise.resolve();
    assert.equal(isDone, false);
    known.gone('z');
    await done;
  });

  const passed: readonly (readonly [what: string, owner: Partial<MotionsMessage>, afterMs: number, untilMs: number])[] =
    [
      ['what the last of them has passed', { passedMs: T0 - 300 }, 0, T0 - 300],
      ['the same, some time later', { passedMs: T0 - 300 }, 500, T0 - 300],
      ['not more than a second ago', { passedMs: T0 - 5000 }, 0, T0 - SILENT_MS],
      ['now, where it has been silent', { passedMs: T0 - 300 }, SILENT_MS + 1, T0 + SILENT_MS + 1],
      ['as if its clock was right', { passedMs: T0 - 3_600_010, sentMs: T0 - 3_600_000 }, 0, T0 - 10],
      ['never more than now', { passedMs: T0 + 15, sentMs: T0 + 15 }, 0, T0],
    ];
  for (const [what, owner, afterMs, untilMs] of passed) {
    test(`The stage advances up to ${what}`, () => {
      const { known, clock, say } = opened('y');
      say('y', owner);
      clock.nowMs += afterMs;
      assert.equal(known.untilMs(), untilMs);
    });
  }

  test('does not take a message that was late for one of a wrong clock', () => {
    const { known, clock, say } = opened('y');
    say('y', { passedMs: T0, sentMs: T0 });
    clock.nowMs += 1500;
    assert.equal(say('y', { passedMs: T0 + 1, sentMs: T0 + 1 }, true)?.behindMs, 0);
    assert.equal(say('y', { passedMs: T0 + 1, sentMs: T0 + 1 })?.behindMs, 1499);
    assert.equal(known.untilMs(), T0 + 1500);
  });

  test('does not delay the stage for hubs without partitions', () => {
    const { known, say } = opened('y', 'z');
    say('y', { passedMs: T0 - 300 });
    say('z', { passedMs: T0 - 100 });
    assert.equal(known.untilMs(), T0 - 300);
    known.owners(new Set(['z']));
    assert.equal(known.untilMs(), T0 - 100);
    known.gone('y');
    known.gone('z');
    assert.equal(known.untilMs(), Number.POSITIVE_INFINITY);
  });
});
