import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { serveSocket } from '../socket/harness.ts';
import { RawSocket, type WireFrame } from '../support/raw_socket.ts';
import { openTestHub } from '../support/running_hub.ts';
import {
  type AsGoClient,
  LOCATION,
  MAC,
  messageOf,
  openAsGoClient,
  SOCKET_PATH,
  USER_AGENT,
  UUID,
} from './as_go_client.ts';

/**
 * Requirements of the public Go client (omlox-client-go) for the WebSocket. Each row is named after a quirk of the
 * client, and runs against a hub, down to the bytes on the wire.
 */

let client: AsGoClient;

before(async () => {
  client = await openAsGoClient();
});
after(() => client.close());
beforeEach(() => client.clear());

const isMessage = (frame: WireFrame): boolean => frame.opcode === 1 && messageOf(frame).event === 'message';

const QUIRKS: Readonly<Record<string, () => Promise<void>>> = {
  async 'It drops messages with a subscription id, although responses to subscribe have one'() {
    const socket = await client.subscribe('location_updates');
    assert.ok(Number(messageOf(socket.frames[0] as WireFrame).subscription_id) > 0);
    await client.send('PUT', `/providers/${MAC}/location`, LOCATION);
    const message = messageOf(await socket.frame(isMessage));
    assert.deepEqual(Object.keys(message), ['event', 'topic', 'payload']);
    assert.equal(message.payload[0]?.['provider_id'], MAC);
  },

  async 'It refuses messages of more than 32 KiB'() {
    const socket = await client.subscribe('location_updates');
    const note = 'x'.repeat(900);
    const locations = Array.from({ length: 200 }, (_, i) => ({
      ...{ ...LOCATION, provider_id: `tag-${i}`, properties: { note } },
    }));
    assert.equal((await client.send('PUT', '/providers/locations', locations)).status, 204);
    let seen = 0;
    await socket.frame((frame) => {
      const messages = socket.frames.filter(isMessage);
      seen = messages.reduce((sum, message) => sum + messageOf(message).payload.length, 0);
      return seen === locations.length && frame === messages.at(-1);
    });
    const lengths = socket.frames.map(({ payload }) => payload.byteLength);
    assert.ok(Math.max(...lengths) <= 32_768, String(Math.max(...lengths)));
    assert.ok(Math.max(...lengths) > 2000, 'the hub does not join events that wait');
  },

  async 'It stops reading after the JSON: a message is one frame without fragments, compression or a line feed'() {
    const socket = await client.subscribe('trackable_motions');
    assert.equal(socket.answer.includes('sec-websocket-extensions'), false);
    await client.send('POST', '/trackables', { id: UUID, type: 'omlox', location_providers: [MAC], radius: 2 });
    await client.send('PUT', `/providers/${MAC}/location`, LOCATION);
    await socket.frame(isMessage);
    socket.send(1, '{"event":"nonsense"}');
    await socket.frame((frame) => frame.opcode === 1 && messageOf(frame).event === 'error');
    assert.equal(socket.frames.length, 3);
    for (const { isLast, reserved, opcode, payload } of socket.frames) {
      assert.deepEqual([isLast, reserved, opcode], [true, 0, 1]);
      const text = payload.toString();
      assert.equal(text, text.trim());
      assert.equal(text, JSON.stringify(JSON.parse(text)));
    }
  },

  async 'It pings every nine seconds, and expects the same payload in the pong'() {
    const socket = await client.subscribe('fence_events');
    socket.send(9, 'still there?');
    const pong = await socket.frame(({ opcode }) => opcode === 10);
    assert.equal(pong.payload.toString(), 'still there?');
  },

  async 'It sends parameters as texts only'() {
    const near = await client.subscribe('location_updates', { accuracy: '5', associated: 'true', floor: '2' });
    const base = { ...LOCATION, associated: true, floor: 2, accuracy: 1 };
    await client.send('PUT', '/providers/locations', [
      { ...base, provider_id: 'far', accuracy: 6 },
      { ...base, provider_id: 'loose', associated: false },
      { ...base, provider_id: 'above', floor: 3 },
      { ...base, provider_id: 'wanted' },
    ]);
    const { payload } = messageOf(await near.frame(isMessage));
    assert.deepEqual(
      payload.map(({ provider_id: id }) => id),
      ['wanted'],
    );
  },

  async 'It publishes without an answer'() {
    const socket = await client.subscribe('location_updates', { provider_id: MAC });
    const payload = [{ ...LOCATION, source: '' }];
    socket.send(1, `${JSON.stringify({ event: 'message', topic: 'location_updates', payload })}\n`);
    await socket.frame(isMessage);
    assert.deepEqual(
      socket.frames.map((frame) => messageOf(frame).event),
      ['subscribed', 'message'],
    );
  },
};

describe('omlox-client-go on the WebSocket', () => {
  for (const [name, check] of Object.entries(QUIRKS)) test(name, check);

  test('It would wait forever after error 10006 for a subscription, so the hub sends 10004', async (t) => {
    const authorize = () => Promise.reject(errorWith('HUB_NOT_AUTHENTICATED', 'The token is missing'));
    const server = await serveSocket(t, { authorize });
    const ask = async (userAgent: string): Promise<unknown> => {
      const peer = await server.connect({ 'User-Agent': userAgent });
      return (await peer.ask({ event: 'subscribe', topic: 'location_updates' }))['code'];
    };
    assert.deepEqual([await ask(USER_AGENT), await ask('Mozilla/5.0')], [10004, 10006]);
  });

  test('It treats 1000 and 1001 as an orderly close', async () => {
    const closing = await openTestHub();
    const socket = await RawSocket.open(closing.hub.port, SOCKET_PATH, USER_AGENT);
    const closed = closing.close();
    const close = await socket.frame(({ opcode }) => opcode === 8);
    socket.close();
    await closed;
    assert.equal(close.payload.readUInt16BE(0), 1001);
  });
});
