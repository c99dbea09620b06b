import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TopicStyle } from '../../src/model/mqtt.ts';
import { MessageWriter } from '../../src/mqtt/messages.ts';
import { RpcCarrier } from '../../src/mqtt/rpc_carrier.ts';
import { begin, client, openRpc } from '../rpc/world.ts';
import { received } from './received.ts';

const RPC = '/omlox/jsonrpc/rpc';
const PLAIN = RPC.slice(1);

/** Members of a message besides topic and payload. */
interface More {
  readonly isRetained?: boolean;
  readonly lifeMs?: number;
}

interface Published {
  readonly topic: string;
  readonly text: string;
  readonly isRetained: boolean;
  readonly lifeMs: number;
}

/** The connected carrier of the hub "hub-1", with a simulated clock. Its published messages are recorded. */
function openCarrier({ style = 'slash' as TopicStyle, bounds = {}, lookMs = 0 } = {}) {
  const { rpc, clock } = openRpc({ bounds });
  const published: Published[] = [];
  const problems: string[] = [];
  const broadcasts: string[] = [];
  let takenBytes = 0;
  let spentMs = 0;
  const carrier = new RpcCarrier({
    ...{ rpc, style, schedule: clock.schedule },
    elapsedMs() {
      spentMs += lookMs;
      return clock.nowMs + spentMs;
    },
    later: (callback) => void clock.schedule(1, callback),
    publish: (topic, payload, { isRetained = false, lifeMs = 0 }) =>
      void published.push({ topic, text: Buffer.from(payload).toString(), isRetained, lifeMs }),
    broadcast: (text) => void broadcasts.push(text),
    other: () => false,
    taken: (bytes) => {
      takenBytes += bytes;
    },
    problem: (reason, problem) => void problems.push(`${reason}: ${problem}`),
  });
  carrier.connected(true);
  const receive = (topic: string, value: unknown, { lifeMs, ...more }: More = {}): void => {
    const writer = new MessageWriter();
    writer.addArrived(received(topic, typeof value === 'string' ? value : JSON.stringify(value), more), lifeMs);
    carrier.take(writer.take());
  };
  const hear = (method: string, id: string, more: More = {}): void =>
    receive(`${RPC}/available/${method}`, { id, method_name: method }, more);
  /** Messages published since the previous call, without the announcements of the hub's own methods. */
  const news = (): readonly Published[] => published.splice(0).filter(({ topic }) => !/available\/com\./.test(topic));
  const textsOf = () => news().map(({ topic, text }) => [topic, text === '' ? '' : JSON.parse(text)]);
  const counts = () => ({ ...carrier.refused, takenBytes });
  return { rpc, clock, carrier, published, problems, broadcasts, receive, hear, news, textsOf, counts };
}

describe('RpcCarrier', () => {
  test('announces its own methods, retained for 120 s, again every 60 s while connected', () => {
    const { rpc, clock, carrier, published, news } = openCarrier();
    const announced = () =>
      published.splice(0).map(({ topic, text, isRetained, lifeMs }) => [topic, JSON.parse(text), isRetained, lifeMs]);
    const own = ['com.omlox.ping', 'com.omlox.identify'].map((name) => {
      return [`${RPC}/available/${name}`, { id: 'hub-1', method_name: name }, true, 120_000];
    });
    assert.deepEqual(announced(), own);
    clock.advance(59_999);
    assert.deepEqual(announced(), []);
    clock.advance(1);
    assert.deepEqual(announced(), own);
    client(rpc, 'Blink LED');
    const led = [`${RPC}/available/Blink LED`, { id: 'hub-1:1', method_name: 'Blink LED' }, true, 120_000];
    assert.deepEqual(announced(), [led]);
    clock.advance(60_000);
    assert.deepEqual(announced(), [...own, led]);
    carrier.connected(false);
    clock.advance(120_000);
    assert.deepEqual(news(), []);
    carrier.connected(true);
    assert.deepEqual(announced(), [...own, led]);
    assert.equal(clock.timers, 1);
  });

  test('announces in each configured style', () => {
    const topics = (style: TopicStyle) => {
      const { rpc, news } = openCarrier({ style });
      client(rpc, 'a/b');
      return news().map(({ topic }) => topic);
    };
    assert.deepEqual(topics('slash'), [`${RPC}/available/a%2Fb`]);
    assert.deepEqual(topics('plain'), [`${PLAIN}/available/a%2Fb`]);
    assert.deepEqual(topics('both'), [`${RPC}/available/a%2Fb`, `${PLAIN}/available/a%2Fb`]);
  });

  test('withdraws an announcement with the last handler of this hub, after announcing another one', () => {
    const { rpc, textsOf } = openCarrier();
    const [first, second] = [client(rpc, 'm'), client(rpc, 'm')];
    textsOf();
    second.port.unregister('m');
    assert.deepEqual(textsOf(), [[`${RPC}/available/m`, { id: 'hub-1:1', method_name: 'm' }]]);
    first.port.close();
    assert.deepEqual(textsOf(), [[`${RPC}/available/m`, '']]);
  });

  test('does not clear the announcement of another hub', () => {
    const { rpc, hear, textsOf } = openCarrier();
    const led = client(rpc, 'm');
    hear('m', 'other');
    textsOf();
    led.port.close();
    assert.deepEqual(textsOf(), []);
  });

  test('withdraws all announcements when it is closed', () => {
    const { rpc, carrier, published } = openCarrier();
    client(rpc, 'm');
    published.length = 0;
    carrier.close();
    assert.deepEqual(
      published.map(({ topic, text, isRetained }) => [topic.split('/').at(-1), text, isRetained]),
      ['com.omlox.ping', 'com.omlox.identify', 'm'].map((name) => [name, '', true]),
    );
  });

  test('remembers an announcement for 120 s, or as long as the broker retains it', () => {
    const { rpc, clock, hear } = openCarrier();
    hear('m', 'a');
    hear('m', 'b', { isRetained: true, lifeMs: 50_000 });
    hear('m', 'a', { lifeMs: 1000 });
    clock.advance(49_999);
    assert.deepEqual(rpc.available()['m'], { handler_id: ['a', 'b'] });
    clock.advance(1);
    assert.deepEqual(rpc.available()['m'], { handler_id: ['a'] });
    clock.advance(70_000);
    assert.equal(rpc.available()['m'], undefined);
  });

  test('removes the only handler of a method when its announcement is withdrawn, and none of several', () => {
    const { rpc, receive, hear } = openCarrier();
    for (const id of ['a', 'b']) hear('m', id);
    hear('n', 'a');
    const call = begin(rpc, { method: 'n' });
    receive(`${RPC}/available/n`, '');
    receive(`${RPC}/available/m`, '');
    receive(`${RPC}/available/nobody`, '');
    assert.deepEqual(rpc.available()['m'], { handler_id: ['a', 'b'] });
    assert.equal(rpc.available()['n'], undefined);
    assert.match(JSON.stringify(call.reported), /"code":-32000,.*has left before it answered/);
  });

  test('removes only the handlers of a hub that reports itself as offline', () => {
    const { rpc, receive, hear } = openCarrier();
    for (const id of ['hub-2', 'hub-2:1', 'hub-22', 'x']) hear('m', id);
    receive('/omlox/json/hub/hub-2/status', { status: 'online' });
    assert.equal(rpc.available()['m']?.handler_id.length, 4);
    receive('omlox/json/hub/hub-2/status', { status: 'offline' });
    assert.deepEqual(rpc.available()['m'], { handler_id: ['hub-22', 'x'] });
  });

  test('ignores announcements of the hub itself, also from before a restart', () => {
    const { rpc, hear, counts, textsOf } = openCarrier();
    hear('com.omlox.ping', 'hub-1');
    hear('m', 'hub-1:of an earlier life', { isRetained: true });
    assert.equal(rpc.available()['m'], undefined);
    assert.deepEqual(rpc.available()['com.omlox.ping'], { handler_id: ['hub-1'] });
    assert.deepEqual([counts().invalid, textsOf()], [0, []]);
  });

  test('sends a request to its handler in the name of the hub, and accepts the response', () => {
    const { rpc, receive, hear, news } = openCarrier();
    hear('a/b', 'x');
    hear('m', 'x+1');
    const call = begin(rpc, { method: 'm', params: { times: 3 }, timeout: 700 });
    const bare = begin(rpc, { method: 'm' });
    begin(rpc, { method: 'm', id: undefined, params: { _caller_id: undefined } });
    const [sent, sentBare, notified] = news();
    assert.deepEqual([sent?.topic, sent?.isRetained, sent?.lifeMs], [`${RPC}/m/request/x%2B1`, false, 700]);
    const params = { _caller_id: 'hub-1', _timeout: 700, times: 3 };
    assert.deepEqual(JSON.parse(sent?.text ?? ''), { jsonrpc: '2.0', id: 10_000, method: 'm', params });
    assert.deepEqual(JSON.parse(sentBare?.text ?? '').params, { _caller_id: 'hub-1', _timeout: 5000 });
    assert.deepEqual(JSON.parse(notified?.text ?? ''), { jsonrpc: '2.0', method: 'm', params: {} });
    receive(`${RPC}/m/response/hub-1`, '{"jsonrpc":"2.0","id":10000,"result":12345678901234567890}');
    receive(`${PLAIN}/m/response/hub-1`, { jsonrpc: '2.0', id: 10_001, result: 'on' });
    assert.match(JSON.stringify(call.reported), /12345678901234567890/);
    assert.deepEqual(bare.reported, [{ result: 'on' }]);
  });

  test('calls each handler once if both styles are published, in the style of its announcement', () => {
    const { rpc, receive, hear, news } = openCarrier({ style: 'both' });
    for (const id of ['changed', 'plain']) receive(`${PLAIN}/available/m`, { id, method_name: 'm' });
    hear('m', 'changed');
    begin(rpc, { method: 'm', aggregate: true });
    const asked = () => news().flatMap(({ topic }) => (topic.includes('/request/') ? [topic] : []));
    assert.deepEqual(asked(), [`${RPC}/m/request/changed`, `${PLAIN}/m/request/plain`]);
    receive(`${PLAIN}/com.omlox.ping/request`, {
      ...{ jsonrpc: '2.0', id: 1, method: 'com.omlox.ping' },
      params: { _caller_id: 'me' },
    });
    assert.deepEqual(
      news().map(({ topic }) => topic),
      [`${PLAIN}/com.omlox.ping/response/me`],
    );
  });

  test('immediately rejects requests that it cannot send', () => {
    const { rpc, carrier, hear } = openCarrier();
    hear('m', 'a');
    carrier.connected(false);
    const call = begin(rpc, { method: 'm' });
    assert.match(JSON.stringify(call.reported), /"code":-32000,.*cannot be reached/);
  });

  test('accepts requests to all handlers and to one, and answers the caller with the id of the request', () => {
    const { rpc, receive, textsOf } = openCarrier();
    const [first, second] = [client(rpc, 'm'), client(rpc, 'm')];
    textsOf();
    const request = { jsonrpc: '2.0', id: 'q', method: 'm', params: { _caller_id: 'a/b', x: 1 } };
    receive(`${RPC}/m/request`, request);
    receive(`${RPC}/m/request/hub-1:2`, { ...request, id: 'r' });
    receive(`${RPC}/m/request/somebody else`, request);
    assert.deepEqual([first.frames.length, second.frames.length], [1, 2]);
    assert.deepEqual(first.frames[0]?.['params'], { x: 1 });
    first.answer({ result: 1 });
    second.answer({ error: { code: 3, message: 'busy' } }, 0);
    second.answer({ result: 3 }, 1);
    const under = `${RPC}/m/response/a%2Fb`;
    assert.deepEqual(textsOf(), [
      [under, { jsonrpc: '2.0', id: 'q', result: 1 }],
      [under, { jsonrpc: '2.0', id: 'q', error: { code: 3, message: 'busy' } }],
      [under, { jsonrpc: '2.0', id: 'r', result: 3 }],
    ]);
  });

  test('answers for a handler that has left and for an invalid request, if no other hub does', () => {
    const { rpc, receive, textsOf } = openCarrier();
    client(rpc, 'm');
    textsOf();
    const request = { jsonrpc: '2.0', id: 1, method: 'm', params: { _caller_id: 'c' } };
    const wrong = { ...request, params: { _caller_id: 'c', _timeout: 0 } };
    receive(`${RPC}/m/request/hub-1:9`, request);
    receive(`${RPC}/m/request`, wrong);
    receive(`${RPC}/far/request`, { ...wrong, method: 'far' });
    receive(`${RPC}/m/request/far`, wrong);
    const codes = textsOf().map(([topic, { id, error }]) => [topic, id, error.code]);
    const under = `${RPC}/m/response/c`;
    assert.deepEqual(codes, [
      [under, 1, -32000],
      [under, 1, -32602],
    ]);
  });

  test('ignores its own messages, and broadcasts of others', () => {
    const { rpc, receive, news } = openCarrier();
    const led = client(rpc, 'm');
    news();
    receive(`${RPC}/m/request`, { jsonrpc: '2.0', id: 1, method: 'm', params: { _caller_id: 'hub-1' } });
    receive(`${RPC}/m/response/hub-1`, { jsonrpc: '2.0', id: 10_000, result: 'unasked' });
    receive(`${RPC}/com.omlox.core.xcmd/broadcast`, { any: 'thing' });
    assert.deepEqual([led.frames, news()], [[], []]);
  });

  for (const [what, topic, value, reason, problem] of [
    ['an invalid topic', `${RPC}/m/what`, {}, 'topic', /must be one of remote procedure calls/],
    ['an announcement that is no JSON', `${RPC}/available/m`, '{', 'json', /^json: payload: must be JSON in UTF-8$/],
    ['an announcement without a handler', `${RPC}/available/m`, { method_name: 'm' }, 'json', /id: must be a string/],
    ['an announcement of null', `${RPC}/available/m`, 'null', 'json', /id: must be a string/],
    [
      'an announcement of another method',
      `${RPC}/available/m`,
      { id: 'a', method_name: 'n' },
      'id',
      /must be "m" as in/,
    ],
    ['a reserved name', `${RPC}/available/rpc.list`, { id: 'a' }, 'invalid', /must not be a reserved name/],
    [
      'an id that is too long',
      `${RPC}/available/m`,
      { id: 'a'.repeat(257) },
      'invalid',
      /id: must have at most 256 characters, found 257/,
    ],
    ['a request that is no JSON', `${RPC}/com.omlox.ping/request`, '{', 'invalid', /must be JSON/],
    [
      'a request of another method than its topic',
      `${RPC}/m/request`,
      { jsonrpc: '2.0', id: 1, method: 'n' },
      'invalid',
      /method: must be "m" as it was addressed, found "n"/,
    ],
    [
      'a request that is too long',
      `${RPC}/com.omlox.ping/request`,
      { jsonrpc: '2.0', id: 1, method: 'com.omlox.ping', params: { text: 'x'.repeat(262_144) } },
      'invalid',
      /must have at most 262,144 bytes/,
    ],
  ] as const) {
    test(`rejects ${what}, and counts that`, () => {
      const { receive, problems, counts, news } = openCarrier();
      news();
      receive(topic, value);
      assert.match(problems.join('\n'), problem);
      assert.deepEqual([counts()[reason], problems.length, news()], [1, 1, []]);
      assert.ok(counts().takenBytes > 0);
    });
  }

  test('rejects requests that the broker has stored', () => {
    const { rpc, receive, problems } = openCarrier();
    const led = client(rpc, 'm');
    receive(`${RPC}/m/request`, { jsonrpc: '2.0', id: 1, method: 'm' }, { isRetained: true });
    assert.deepEqual([led.frames, problems.length], [[], 1]);
  });

  test('bounds handlers and calls, so that other carriers have room', () => {
    const { rpc, receive, hear, problems, textsOf } = openCarrier({
      bounds: { handlersOfCarrier: 2, openCallsOfCarrier: 1 },
    });
    for (const id of ['a', 'b', 'c']) hear('m', id);
    assert.deepEqual(rpc.available()['m'], { handler_id: ['a', 'b'] });
    assert.match(problems[0] ?? '', /handlers_of_mqtt: must be at most 2, found 2 before this one/);
    const led = client(rpc, 'n');
    textsOf();
    const request = { jsonrpc: '2.0', id: 1, method: 'n', params: { _caller_id: 'c' } };
    receive(`${RPC}/n/request`, request);
    receive(`${RPC}/n/request`, { ...request, id: 2 });
    const [[, { id, error }]] = textsOf() as [[string, { id: number; error: { code: number; message: string } }]];
    assert.deepEqual([id, error.code], [2, -32010]);
    assert.match(error.message, /open_calls_of_carrier: must be at most 1, found 1 before this one/);
    led.answer({ result: 1 });
    receive(`${RPC}/n/request`, { ...request, id: 3 });
    assert.deepEqual([led.frames.length, rpc.counts.refused.get('tooMuch')], [2, 2]);
  });

  test('yields between many messages', () => {
    // Each read of the clock takes 2 ms, and there is one before each message.
    const { clock, carrier, rpc, counts } = openCarrier({ lookMs: 2 });
    const led = client(rpc, 'm');
    const writer = new MessageWriter();
    const request = received(`${RPC}/m/request`, '{"jsonrpc":"2.0","method":"m"}');
    for (let n = 0; n < 10; n++) writer.addArrived(request);
    carrier.take(writer.take());
    const reached = [led.frames.length];
    for (let n = 0; n < 5; n++) {
      clock.advance(1);
      reached.push(led.frames.length);
    }
    assert.deepEqual(reached, [2, 4, 6, 8, 10, 10]);
    assert.ok(counts().takenBytes > 0);
  });
});
