import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { after, afterEach, before, describe, it } from 'node:test';
import { RpcClient } from '../support/rpc_client.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';

/** Rules of remote procedure calls that clients can observe, over real sockets. */
describe('remote procedure calls', () => {
  let hub: TestHub;
  let clients: RpcClient[] = [];
  before(async () => {
    hub = await openTestHub();
  });
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.close()));
    clients = [];
  });
  after(() => hub.close());

  const open = async (path?: string): Promise<RpcClient> => {
    const client = await RpcClient.open(hub.origin, path === undefined ? {} : { path });
    clients.push(client);
    return client;
  };
  const handler = async (...methods: readonly string[]): Promise<RpcClient> => {
    const client = await open();
    for (const method of methods)
      assert.deepEqual(await client.register(method), { jsonrpc: '2.0', id: 1, result: true });
    return client;
  };
  const put = (request: object) => hub.put('/rpc', { jsonrpc: '2.0', id: 1, ...request });
  const available = async () => (await hub.get('/rpc/available')).body as Record<string, { handler_id: string[] }>;
  const hubId = async (): Promise<string> => (await available())['com.omlox.ping']?.handler_id[0] ?? assert.fail();

  it('lists the methods of all clients with their handlers, under all prefixes', async () => {
    await handler('Blink LED');
    for (const prefix of ['', '/hub', '/deephub']) {
      const { status, body } = await hub.get(`${hub.origin}${prefix}/v2/rpc/available`);
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(body), ['com.omlox.ping', 'com.omlox.identify', 'Blink LED']);
      assert.deepEqual(body['com.omlox.identify'], body['com.omlox.ping']);
      assert.equal(body['Blink LED'].handler_id.length, 1);
    }
    assert.equal((await hub.get(`${hub.origin}/hub/v1/rpc/available`)).status, 404);
  });

  it('answers ping and identify itself, immediately', async () => {
    const id = await hubId();
    const ping = await put({ method: 'com.omlox.ping', params: { _handler_id: id } });
    assert.deepEqual([ping.status, ping.body], [200, { jsonrpc: '2.0', id: 1, result: 'Pong' }]);
    const { body } = await put({ method: 'com.omlox.identify', params: { _handler_id: id } });
    const { version, ...identity } = body.result;
    assert.deepEqual(identity, {
      id,
      name: identity.name,
      hub_id: identity.hub_id,
      hub_name: identity.name,
      vendor: 'omlox location hub',
      api_version: '2.0.0',
      methods: ['com.omlox.ping', 'com.omlox.identify'],
    });
    assert.match(version, /^\d+\.\d+\.\d+$/);
    assert.deepEqual(await (await open()).ask({ method: 'com.omlox.ping' }), { jsonrpc: '2.0', id: 1, result: 'Pong' });
  });

  it('answers a REST request with the result of a WebSocket client', async () => {
    const led = await handler('Blink LED');
    const replied = put({ id: 'a', method: 'Blink LED', params: { times: 3, _timeout: 5000, _caller_id: 'me' } });
    const { id, ...request } = await led.answer({ result: { lit: true } });
    assert.ok(Number(id) >= 10_000);
    assert.deepEqual(request, { jsonrpc: '2.0', method: 'Blink LED', params: { times: 3 } });
    assert.deepEqual((await replied).body, { jsonrpc: '2.0', id: 'a', result: { lit: true } });
  });

  it('preserves every digit of numbers in both directions', async () => {
    const led = await handler('m');
    const replied = hub.put('/rpc', '{"jsonrpc":"2.0","id":12345678901234567890,"method":"m","params":{"a":21.0}}');
    const sent = new Promise<string>((resolve) => led.socket.once('message', (data) => resolve(String(data))));
    const request = await sent;
    assert.match(request, /"params":\{"a":21\.0\}/);
    const { id } = await led.next();
    led.send(`{"jsonrpc":"2.0","id":${id},"result":0.10}`);
    assert.equal((await replied).text, '{"jsonrpc":"2.0","id":12345678901234567890,"result":0.10}');
  });

  it('answers with the responses of all handlers when the last one arrives', async () => {
    const handlers = [await handler('m'), await handler('m')];
    const replied = put({ method: 'm', params: { _timeout: 60_000 } });
    await handlers[0]?.answer({ error: { code: 3, message: 'busy' } });
    await handlers[1]?.answer({ result: 1 });
    const ids = (await available())['m']?.handler_id;
    assert.deepEqual((await replied).body.result, {
      responses: [
        { jsonrpc: '2.0', id: 1, handler_id: ids?.[0], error: { code: 3, message: 'busy' } },
        { jsonrpc: '2.0', id: 1, handler_id: ids?.[1], result: 1 },
      ],
    });
  });

  it('answers with the first success or the first error if requested', async () => {
    const handlers = [await handler('m'), await handler('m')];
    const asked = async (aggregation: string, first: object) => {
      const replied = put({ method: 'm', params: { _aggregation: aggregation, _timeout: 60_000 } });
      await handlers[0]?.answer(first);
      // The other handler has not answered yet, unless the first answer was not sufficient.
      const other = handlers[1]?.answer({ result: 2 });
      const { body } = await replied;
      await other;
      return body.result ?? body.error;
    };
    assert.equal(await asked('_return_first_success', { result: 1 }), 1);
    assert.equal(await asked('_return_first_success', { error: { code: 3, message: 'busy' } }), 2);
    assert.deepEqual(await asked('_return_first_error', { error: { code: 3, message: 'busy' } }), {
      code: 3,
      message: 'busy',
    });
    assert.equal((await asked('_return_first_error', { result: 1 })).responses.length, 2);
  });

  it('answers −32002 if no handler succeeded', async () => {
    const led = await handler('m');
    const replied = put({ method: 'm', params: { _aggregation: '_return_first_success' } });
    await led.answer({ error: { code: 3, message: 'busy' } });
    const { error } = (await replied).body;
    assert.equal(error.code, -32002);
    assert.equal(error.data.responses[0].error.message, 'busy');
  });

  it('answers −32001 if no handler answered in time', async () => {
    await handler('m');
    assert.equal((await put({ method: 'm', params: { _timeout: 1 } })).body.error.code, -32001);
    assert.equal((await (await open()).ask({ method: 'm', timeout: 1 })).error?.code, -32001);
  });

  for (const [code, request] of [
    [-32601, { method: 'nobody' }],
    [-32601, { method: 'rpc.discover' }],
    [-32050, { method: 'com.omlox.core.xcmd' }],
    [-32000, { method: 'com.omlox.ping', params: { _handler_id: 'nobody' } }],
    [-32602, { method: 'com.omlox.ping', params: { _aggregation: 'best' } }],
    [-32602, { method: 'com.omlox.ping', params: { _aggregation: '_return_first_error', _handler_id: 'x' } }],
    [-32602, { method: 'com.omlox.ping', params: ['a'] }],
    [-32602, { method: 'com.omlox.ping', params: { _timeout: 60_001 } }],
    [-32600, { method: 5 }],
    [-32600, { method: 'com.omlox.ping', jsonrpc: '1.0' }],
  ] as const) {
    it(`answers ${JSON.stringify(request)} with ${code}, by REST and by WebSocket`, async () => {
      const { status, body } = await put(request);
      assert.deepEqual([status, body.id, body.error?.code], [200, 1, code]);
      const answer = await (await open()).ask(request);
      assert.deepEqual([answer.id, answer.error], [1, body.error]);
    });
  }

  for (const [code, text] of [
    [-32700, '{'],
    [-32600, '[{"jsonrpc":"2.0","method":"com.omlox.ping","id":1}]'],
    [-32600, '7'],
    [-32600, '{"jsonrpc":"2.0","id":{},"method":"com.omlox.ping"}'],
  ] as const) {
    it(`answers the string ${text} with ${code}, by REST and by WebSocket`, async () => {
      const { status, body } = await hub.put('/rpc', text);
      assert.deepEqual([status, body.id, body.error?.code], [200, null, code]);
      const client = await open();
      client.send(text);
      assert.deepEqual(await client.next(), body);
      // The connection stays open.
      assert.equal((await client.ask({ method: 'com.omlox.ping' })).result, 'Pong');
    });
  }

  it('answers 204 to a request without id and _caller_id, which handlers still receive', async () => {
    const led = await handler('m');
    const { status, text } = await put({ id: undefined, method: 'm', params: { a: 1 } });
    assert.deepEqual([status, text], [204, '']);
    assert.deepEqual(await led.next(), { jsonrpc: '2.0', method: 'm', params: { a: 1 } });
    assert.equal((await put({ id: undefined, method: 'nobody' })).status, 204);
    assert.equal((await put({ id: undefined, method: 'm', params: [1] })).status, 204);
    const named = await put({ id: undefined, method: 'com.omlox.ping', params: { _caller_id: 'me' } });
    assert.deepEqual([named.status, named.body], [200, { jsonrpc: '2.0', id: null, result: 'Pong' }]);
  });

  /** A call from a client at another address. */
  const pingFrom = async (localAddress: string): Promise<{ result?: unknown }> => {
    const sent = request(`${hub.base}/rpc`, { method: 'PUT', localAddress });
    sent.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'com.omlox.ping' }));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return (await json(response)) as { result?: unknown };
  };

  it("bounds the open calls of one client, without affecting others and the hub's own methods", async () => {
    const led = await handler('slow');
    const call = async (id: number): Promise<Record<string, unknown>> => {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'slow', params: { _timeout: 60_000 } });
      return (await (await fetch(`${hub.base}/rpc`, { method: 'PUT', body })).json()) as Record<string, unknown>;
    };
    const calls = Array.from({ length: 150 }, (_, id) => call(id));
    const message = 'open_calls_of_client: must be at most 100, found 100 before this one';
    assert.deepEqual((await Promise.any(calls))['error'], {
      ...{ code: -32010, message },
      data: { reason: 'limit_reached', params: { path: 'open_calls_of_client', limit: 100, count: 100 } },
    });
    assert.equal((await pingFrom('127.0.0.2')).result, 'Pong');
    for (let n = 0; n < 100; n++) await led.answer({ result: n });
    const replies = await Promise.all(calls);
    assert.equal(replies.filter((reply) => 'error' in reply).length, 50);
    assert.equal(replies.filter((reply) => 'result' in reply).length, 100);
  });

  it('cancels a REST call when its client disconnects', async () => {
    const led = await handler('slow');
    const controller = new AbortController();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'slow', params: { _timeout: 60_000 } });
    const call = fetch(`${hub.base}/rpc`, { method: 'PUT', body, signal: controller.signal });
    await led.next();
    controller.abort();
    await assert.rejects(call);
    const open = async () => /^hub_rpc_open_calls (\d+)$/m.exec((await hub.get(`${hub.origin}/metrics`)).text)?.[1];
    for (let left = 200; (await open()) !== '0'; left--) assert.ok(left > 0, 'the call is canceled');
  });

  it('forwards a call of one WebSocket client to another, on all paths, with its own id', async () => {
    const led = await handler('Blink LED');
    for (const prefix of ['', '/hub', '/deephub']) {
      for (const version of ['v1', 'v2']) {
        const caller = await open(`${prefix}/${version}/ws/rpc`);
        const answered = caller.ask({ id: 7, method: 'Blink LED', params: { times: 3 } });
        const { id, ...request } = await led.answer({ result: 'on' });
        assert.ok(Number(id) >= 10_000);
        assert.deepEqual(request, { jsonrpc: '2.0', method: 'Blink LED', params: { times: 3 } });
        assert.deepEqual(await answered, { jsonrpc: '2.0', id: 7, result: 'on' });
      }
    }
  });

  it('answers a WebSocket client with the first response, all of them, or a list of all', async () => {
    const handlers = [await handler('m'), await handler('m')];
    const caller = await open();
    const ask = async (more: object) => {
      caller.send({ jsonrpc: '2.0', id: 7, method: 'm', ...more });
      await handlers[1]?.answer({ result: 'second' });
      const first = Object.keys(more).length === 0 ? await caller.next() : undefined;
      await handlers[0]?.answer({ error: { code: 3, message: 'busy' } });
      return first;
    };
    assert.deepEqual(await ask({}), { jsonrpc: '2.0', id: 7, result: 'second' });
    await ask({ stream: true });
    assert.deepEqual(await caller.next(), { jsonrpc: '2.0', id: 7, result: 'second' });
    assert.deepEqual(await caller.next(), { jsonrpc: '2.0', id: 7, error: { code: 3, message: 'busy' } });
    await ask({ aggregate: true });
    const ids = (await available())['m']?.handler_id;
    assert.deepEqual((await caller.next()).result, [
      { jsonrpc: '2.0', id: 7, handler_id: ids?.[1], result: 'second' },
      { jsonrpc: '2.0', id: 7, handler_id: ids?.[0], error: { code: 3, message: 'busy' } },
    ]);
  });

  it('calls the handlers of a given zone, and those without a zone', async () => {
    const [hall, roof, anywhere] = [await open(), await open(), await handler('m')];
    await hall.register('m', 'hall');
    await roof.register('m', 'roof');
    const replied = put({ method: 'm', params: { zone_id: 'hall' } });
    for (const one of [hall, anywhere]) assert.deepEqual((await one.answer({ result: 1 })).params, { zone_id: 'hall' });
    assert.equal((await replied).body.result.responses.length, 2);
  });

  it('handles a method until it is unregistered or the connection closes, which ends its calls at once', async () => {
    const led = await handler('m', 'n');
    const caller = await open();
    caller.send({ jsonrpc: '2.0', id: 'm', method: 'm', timeout: 60_000 });
    await led.next();
    led.send({ jsonrpc: '2.0', id: 2, method: 'unregister', params: { method: 'm' } });
    assert.equal((await led.next()).result, true);
    const answer = await caller.next();
    assert.deepEqual([answer.id, answer.error?.code], ['m', -32000]);
    assert.equal((await led.ask({ method: 'unregister', params: { method: 'm' } })).error?.code, -32602);
    const replied = put({ method: 'n', params: { _timeout: 60_000 } });
    await led.next();
    await led.close();
    assert.equal((await replied).body.error.code, -32000);
    assert.equal((await put({ method: 'n' })).body.error.code, -32601);
  });

  for (const method of ['rpc.list', 'com.omlox.ping', 'com.omlox.identify', 'register', '', 5]) {
    it(`rejects the registration of ${JSON.stringify(method)}`, async () => {
      const { error } = await (await open()).ask({ method: 'register', params: { method } });
      assert.equal(error?.code, -32602);
    });
  }

  it('passes xcmd to the client that has registered it', async () => {
    const core = await handler('com.omlox.core.xcmd');
    const replied = put({ method: 'com.omlox.core.xcmd', params: { command: 'XCMD_REQ' } });
    await core.answer({ result: 'done' });
    assert.equal((await replied).body.result, 'done');
  });

  it('rejects a request and a frame that are too long, and continues', async () => {
    const long = { method: 'com.omlox.ping', params: { text: 'x'.repeat(262_144) } };
    const { status, body } = await put(long);
    assert.deepEqual([status, body.type], [413, 'com.flowcate.http.payload_too_large']);
    const client = await open();
    const answer = await client.ask(long);
    assert.match(answer.error?.message ?? '', /^message: must have at most 262,144 bytes, found 262,\d+$/);
    assert.equal((await client.ask({ method: 'com.omlox.ping' })).result, 'Pong');
  });

  it('counts calls, rejections and handlers', async () => {
    const sample = async (name: string): Promise<number> => {
      const { text } = await hub.get(`${hub.origin}/metrics`);
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')
          .at(-1) ?? 0,
      );
    };
    const names = [
      'hub_rpc_calls_total{end="success"}',
      'hub_rpc_refused_total{code="-32601"}',
      'hub_rpc_requests_total',
    ];
    const before = await Promise.all(names.map(sample));
    await put({ method: 'com.omlox.ping' });
    await put({ method: 'nobody' });
    assert.deepEqual(
      await Promise.all(names.map(sample)),
      before.map((count) => count + 1),
    );
    await handler('m');
    assert.equal(await sample('hub_rpc_handlers{way="hub"}'), 2);
    assert.equal(await sample('hub_rpc_handlers{way="websocket"}'), 1);
    assert.equal(await sample('hub_rpc_open_calls'), 0);
  });
});
