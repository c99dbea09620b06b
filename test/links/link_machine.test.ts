import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type LinkAction,
  type LinkConnection,
  type LinkSignal,
  nextTickMs,
  STOPPED,
  step,
} from '../../src/links/link_machine.ts';

const PEER = { hubId: 'other' };
const IDENTIFIED: LinkSignal = { what: 'identified', peer: PEER, isSelf: false };
const OPENED: LinkSignal = { what: 'opened' };
const ACKNOWLEDGED: LinkSignal = { what: 'acknowledged' };
const FAILED: LinkSignal = { what: 'failed', why: 'lost' };
const START: LinkSignal = { what: 'start' };
const TICK: LinkSignal = { what: 'tick' };

/** A connection on a simulated clock. */
class Played {
  connection: LinkConnection = STOPPED;
  nowMs = 0;
  receivedMs = 0;
  readonly #topics: number;
  readonly #random: () => number;

  constructor(topics = 1, random = () => 0) {
    this.#topics = topics;
    this.#random = random;
  }

  play(...signals: readonly LinkSignal[]): LinkAction[] {
    return signals.flatMap((signal) => {
      const input = { nowMs: this.nowMs, random: this.#random(), topics: this.#topics, receivedMs: this.receivedMs };
      const { connection, actions } = step(this.connection, signal, input);
      this.connection = connection;
      return [...actions];
    });
  }

  /** Lets the next timer fire. Returns the actions and how long it took. */
  tick(): readonly [LinkAction[], number] {
    const nextMs = nextTickMs(this.connection, this.receivedMs);
    const tookMs = nextMs - this.nowMs;
    this.nowMs = nextMs;
    return [this.play(TICK), tookMs];
  }
}

test('A link identifies the other hub, connects, subscribes to all topics, and reads the last locations', () => {
  const played = new Played(2);
  const actions = played.play(START, IDENTIFIED, OPENED, ACKNOWLEDGED, ACKNOWLEDGED, { what: 'read' });
  assert.deepEqual(actions, ['identify', 'open', 'subscribe', 'read']);
  assert.equal(played.connection.phase.at, 'live');
  assert.equal(played.connection.outage, undefined);
});

test('A link to the hub itself stays idle', () => {
  const played = new Played();
  assert.deepEqual(played.play(START, { what: 'identified', peer: PEER, isSelf: true }, OPENED, FAILED), ['identify']);
  assert.equal(nextTickMs(played.connection, 0), Number.POSITIVE_INFINITY);
});

test('Each step of connecting has a deadline', () => {
  for (const signals of [[START], [START, IDENTIFIED], [START, IDENTIFIED, OPENED]]) {
    const played = new Played();
    played.play(...signals);
    assert.deepEqual(played.tick(), [['close'], 5000]);
    assert.match(played.connection.error?.why ?? '', /^No answer for 5 s while (identifying|opening|subscribing)$/);
  }
});

test('The delays of attempts double up to a maximum of seconds, and a stable connection resets them', () => {
  const played = new Played();
  played.play(START);
  const delays: number[] = [];
  for (let attempt = 0; attempt < 5; attempt++) {
    played.play(FAILED);
    delays.push(played.tick()[1]);
  }
  assert.deepEqual(delays, [500, 1000, 1500, 1500, 1500]);
  played.play(IDENTIFIED, OPENED, ACKNOWLEDGED, { what: 'read' });
  played.nowMs += 30_000;
  played.play(FAILED);
  assert.equal(played.tick()[1], 500);
});

test('An outage lasts from the loss of the connection until the link is live again', () => {
  const played = new Played();
  played.play(START, IDENTIFIED, OPENED, ACKNOWLEDGED);
  played.nowMs = 1000;
  played.play(FAILED);
  played.tick();
  played.play({ what: 'failed', why: 'refused' });
  assert.deepEqual(played.connection.outage, { fromMs: 1000, toMs: undefined });
  played.tick();
  const upMs = played.nowMs;
  played.play(IDENTIFIED, OPENED, ACKNOWLEDGED);
  assert.deepEqual(played.connection.outage, { fromMs: 1000, toMs: upMs });
});

test('A silent connection is probed, and closed without an answer', () => {
  const played = new Played();
  played.play(START, IDENTIFIED, OPENED, ACKNOWLEDGED, { what: 'read' });
  assert.deepEqual(played.tick(), [['ping'], 15_000]);
  played.receivedMs = played.nowMs + 10;
  // The probe was answered.
  assert.deepEqual(played.tick(), [['ping'], 15_010]);
  assert.deepEqual(played.tick(), [['close'], 15_000]);
  assert.equal(played.connection.error?.why, 'No sign of life for 30 s');
});

test('A failed reading is repeated while the link stays live', () => {
  const played = new Played();
  played.play(START, IDENTIFIED, OPENED, ACKNOWLEDGED, { what: 'readFailed', why: 'answered 500' });
  assert.deepEqual(played.tick(), [['read'], 500]);
  played.play({ what: 'read' });
  assert.equal(played.connection.phase.at, 'live');
  assert.equal(played.connection.readMs, played.nowMs);
});

test('Under random signals, a link has at most one connection, and always a timer unless it is idle', () => {
  const signal = fc.constantFrom<LinkSignal>(
    ...[START, IDENTIFIED, OPENED, ACKNOWLEDGED, FAILED, TICK, { what: 'stop' as const }, { what: 'read' as const }],
    ...[
      { what: 'readFailed' as const, why: 'no' },
      { what: 'identified' as const, peer: PEER, isSelf: true },
    ],
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(signal, fc.nat(20_000)), { maxLength: 60 }), (signals) => {
      const played = new Played();
      let open = 0;
      for (const [each, waitMs] of signals) {
        played.nowMs += waitMs;
        const before = played.connection.phase.at;
        for (const action of played.play(each)) {
          if (action === 'open') assert.equal(++open, 1);
          if (action === 'close') open = 0;
        }
        const { at } = played.connection.phase;
        const isIdle = at === 'stopped' || at === 'self';
        assert.equal(nextTickMs(played.connection, 0) === Number.POSITIVE_INFINITY, isIdle, `${before} ${each.what}`);
        if (at === 'waiting' || isIdle) assert.equal(open, 0);
      }
    }),
  );
});
