import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FULL_ACCESS } from '../../src/auth/authorizer.ts';
import type { EventLog } from '../../src/events/event_log.ts';
import type { Peer, PeerEvents } from '../../src/exchange.ts';
import { Fanout } from '../../src/fanout/fanout.ts';
import { lend } from '../../src/model/borrowed.ts';
import type { PubSubDeps } from '../../src/socket/deps.ts';
import { Expiry } from '../../src/socket/expiry.ts';
import { createSocket } from '../../src/socket/session.ts';
import { WaitingFrames } from '../../src/socket/waiting_frames.ts';
import { errorWith } from '../support/errors.ts';
import { NeverLong } from '../support/never_long.ts';

/** A connection without a network, which closes at once like that of the native server. Sent frames are recorded. */
function connect(deps: Partial<PubSubDeps>) {
  const sent: Record<string, unknown>[] = [];
  const codes: number[] = [];
  let events: PeerEvents | undefined;
  const peer: Peer = {
    path: '/v2/ws/socket',
    userAgent: 'test',
    authorization: 'Bearer t',
    query: '',
    isKnown: true,
    send: (text) => void sent.push(JSON.parse(String(text))),
    bufferedBytes: () => 10 * (sent.length + 1),
    close(code) {
      codes.push(code);
      events?.closed();
    },
  };
  events = createSocket({
    fanout: new Fanout({ variantsChanged: () => undefined }),
    turns: new NeverLong(),
    ingestLocations: () => ({ problems: [] }),
    ingestProximities: () => ({ problems: [] }),
    waiting: new WaitingFrames(),
    subscriptionIdMode: 'always',
    checkView: () => ({ crs: 'EPSG:4326' }),
    ...deps,
  })(peer);
  const receive = (frame: object): void => {
    const text = JSON.stringify(frame);
    if (events?.bytes?.(lend(Buffer.from(text))) !== true) events?.message(text);
  };
  return { sent, codes, receive };
}

/** Lets promises settle, and Node report those whose rejection is not handled. */
const settled = () => new Promise(setImmediate);

test('A token that fails when it is verified again is answered, and leaves no unhandled rejection', async (t) => {
  const unhandled: unknown[] = [];
  const collect = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', collect);
  t.after(() => process.off('unhandledRejection', collect));
  const { sent, receive } = connect({
    authorize: () => Promise.reject(errorWith('HUB_NOT_AUTHENTICATED', 'its key is unknown')),
    ingestMessage: () => assert.fail('It is not authorized'),
  });
  receive({ event: 'message', topic: 'location_updates', payload: [{}] });
  await settled();
  await settled();
  assert.deepEqual(
    sent.map(({ code }) => code),
    [10006],
  );
  assert.equal(unhandled.length, 0);
});

for (const [what, dropAt] of [
  ['the acknowledgment', 1],
  ['the first cursor', 2],
] as const) {
  test(`A connection that closes with ${what} of a subscription to the event log leaves no listener`, async () => {
    let [listeners, reads, counted] = [0, 0, 0];
    const log = {
      cursors: { at: () => 'ev' },
      positionOf: () => 0,
      onAppended() {
        listeners++;
        return () => void listeners--;
      },
      select() {
        reads++;
        return Promise.resolve({ events: [], to: 0, hasMore: false });
      },
    };
    const { codes, receive, sent } = connect({
      events: { log: () => log as unknown as EventLog, zones: () => undefined },
      // Each frame adds bytes, and the bound of all connections is exceeded by the frame number `dropAt`.
      queueMaxBytes: 1e6,
      networkMaxBytes: 1e6,
      unsent: {
        changed(_, one) {
          counted++;
          if (counted === dropAt) one.drop();
        },
      },
      authorize: () => FULL_ACCESS,
    });
    receive({ event: 'subscribe', topic: 'fence_events', params: { after: 'oldest' } });
    await settled();
    assert.deepEqual([codes, sent.length], [[1013], dropAt - 1]);
    assert.deepEqual([listeners, reads], [0, 0]);
  });
}

test('An id whose key was revoked before expires once', () => {
  const expired: (readonly number[])[] = [];
  const timers = new Set<() => void>();
  const expiry = new Expiry({
    now: () => 0,
    schedule(_, callback) {
      timers.add(callback);
      return () => timers.delete(callback);
    },
    expired: (ids) => expired.push(ids),
  });
  expiry.set(7, 1000, AbortSignal.abort());
  assert.deepEqual(expired, [[7]]);
  assert.equal(timers.size, 0);
});
