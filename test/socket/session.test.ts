import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Peer, PeerEvents } from '../../src/exchange.ts';
import { Fanout } from '../../src/fanout/fanout.ts';
import { lend } from '../../src/model/borrowed.ts';
import type { PubSubDeps } from '../../src/socket/deps.ts';
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
