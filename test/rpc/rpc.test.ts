import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RpcAnswer } from '../../src/rpc/message.ts';
import { begin, carrier, client, openRpc } from './world.ts';

const errorOf = ([answer]: readonly RpcAnswer[]): string =>
  answer !== undefined && 'error' in answer ? `${answer.error.code} ${answer.error.message}` : JSON.stringify(answer);

test('The hub itself answers ping and identify, and is listed first', () => {
  const { rpc } = openRpc();
  client(rpc, 'Blink LED');
  assert.deepEqual(begin(rpc, { method: 'com.omlox.ping' }).reported, [{ result: 'Pong' }]);
  assert.deepEqual(begin(rpc, { method: 'com.omlox.identify' }).reported, [
    {
      result: {
        id: 'hub-1',
        name: 'test',
        hub_id: 'id',
        hub_name: 'test',
        vendor: 'vendor',
        version: '1.2.3',
        api_version: '2.0.0',
        methods: ['com.omlox.ping', 'com.omlox.identify', 'Blink LED'],
      },
    },
  ]);
  assert.deepEqual(Object.entries(rpc.available())[0], ['com.omlox.ping', { handler_id: ['hub-1'] }]);
  assert.deepEqual(rpc.available()['Blink LED'], { handler_id: ['hub-1:1'] });
});

test('A call is sent to the handler with an id of the hub, and its response to the caller', () => {
  const { rpc, clock } = openRpc();
  const led = client(rpc, 'Blink LED');
  const call = begin(rpc, { method: 'Blink LED', params: { _timeout: 10, times: 3 } });
  assert.deepEqual(led.frames, [{ jsonrpc: '2.0', id: 10_000, method: 'Blink LED', params: { times: 3 } }]);
  assert.deepEqual([call.reported, call.isOver, clock.timers], [[], false, 1]);
  assert.equal(led.answer({ result: 'on' }), true);
  assert.deepEqual([call.reported, call.isOver, clock.timers], [[{ result: 'on' }], true, 0]);
  assert.equal(led.answer({ result: 'again' }), false);
  assert.deepEqual([rpc.counts.calls.success, rpc.counts.responses, rpc.counts.late], [1, 1, 1]);
});

test('Only the called handler can answer a call', () => {
  const { rpc } = openRpc();
  const led = client(rpc, 'm');
  const other = client(rpc, 'other');
  const call = begin(rpc, { method: 'm' });
  assert.equal(other.port.answered({ id: led.frames[0]?.['id'], result: 'forged' }, 0), false);
  assert.deepEqual([call.reported, rpc.counts.late], [[], 1]);
});

test('A request without an id is sent to all handlers without an id', () => {
  const { rpc, clock } = openRpc();
  const handlers = [client(rpc, 'm'), client(rpc, 'm')];
  const call = begin(rpc, { id: undefined, method: 'm' });
  for (const { frames } of handlers) assert.deepEqual(frames, [{ jsonrpc: '2.0', method: 'm' }]);
  assert.deepEqual([call.reported, clock.timers, rpc.counts.calls.notification], [[], 0, 1]);
});

test('_all_within_timeout completes when every handler that was registered at its start has answered', () => {
  const { rpc } = openRpc();
  const first = client(rpc, 'm');
  const second = client(rpc, 'm');
  const call = begin(rpc, { method: 'm', params: { _aggregation: '_all_within_timeout' } });
  const late = client(rpc, 'm');
  second.answer({ error: { code: 3, message: 'busy' } });
  assert.equal(call.isOver, false);
  first.answer({ result: 1 });
  assert.deepEqual(late.frames, []);
  assert.deepEqual(call.reported, [
    {
      result: {
        responses: [
          { jsonrpc: '2.0', id: 7, handler_id: 'hub-1:2', error: { code: 3, message: 'busy' } },
          { jsonrpc: '2.0', id: 7, handler_id: 'hub-1:1', result: 1 },
        ],
      },
    },
  ]);
});

test('A call without answers completes at its timeout, to the millisecond', () => {
  const { rpc, clock } = openRpc();
  client(rpc, 'm');
  const call = begin(rpc, { method: 'm', timeout: 500 });
  clock.advance(499);
  assert.equal(call.isOver, false);
  clock.advance(1);
  assert.equal(
    errorOf(call.reported),
    '-32001 Cannot finish the call of "m": 0 of 1 handlers have answered within 500 ms',
  );
  assert.deepEqual([rpc.counts.calls.timeout, rpc.counts.open], [1, 0]);
});

test('A stream receives each answer, or only that there was none', () => {
  const { rpc, clock } = openRpc();
  const [first, second] = [client(rpc, 'm'), client(rpc, 'm')];
  const call = begin(rpc, { method: 'm', stream: true, timeout: 100 });
  second.answer({ result: 2 });
  assert.deepEqual([call.reported, call.isOver], [[{ result: 2 }], false]);
  clock.advance(100);
  assert.deepEqual([call.reported.length, call.isOver], [1, true]);
  assert.equal(first.answer({ result: 1 }), false);
  const silent = begin(rpc, { method: 'm', stream: true, timeout: 100 });
  clock.advance(100);
  assert.match(errorOf(silent.reported), /^-32001 /);
});

for (const [what, request, refusal] of [
  ['a method without a handler', { method: 'x' }, '-32601 Cannot call "x": it has no handler'],
  ['a name of JSON-RPC', { method: 'rpc.list' }, '-32601 Cannot call "rpc.list": it has no handler'],
  ['xcmd', { method: 'com.omlox.core.xcmd' }, '-32050 Cannot call "com.omlox.core.xcmd": it has no handler'],
  [
    'a handler that there is not',
    { method: 'm', params: { _handler_id: 'who' } },
    '-32000 Cannot call "m": _handler_id: no handler of it has the id "who"',
  ],
  [
    'a zone that no handler is for',
    { method: 'm', params: { zone_id: 'roof' } },
    '-32601 Cannot call "m": it has no handler in this zone',
  ],
] as const) {
  test(`A call of ${what} is rejected: ${refusal}`, () => {
    const { rpc, clock } = openRpc();
    client(rpc).port.register('m', 'hall');
    assert.throws(
      () => begin(rpc, request),
      (error: { code: number; message: string; id: number }) =>
        `${error.code} ${error.message}` === refusal && error.id === 7,
    );
    assert.deepEqual([clock.timers, rpc.counts.open], [0, 0]);
  });
}

test('A zone excludes handlers of other zones, and no others', () => {
  const { rpc } = openRpc();
  const [hall, roof, anywhere] = [client(rpc), client(rpc), client(rpc, 'm')];
  hall.port.register('m', 'hall');
  roof.port.register('m', 'roof');
  begin(rpc, { method: 'm', params: { zone_id: 'hall' } });
  begin(rpc, { method: 'm', params: { zone_id: 5 } });
  assert.deepEqual(
    [hall, roof, anywhere].map(({ frames }) => frames.length),
    [2, 1, 2],
  );
  roof.port.register('m', 'hall');
  begin(rpc, { method: 'm', params: { zone_id: 'hall' } });
  assert.equal(roof.frames.length, 2);
});

test('A client handles a registered method until it is unregistered or the connection closes', () => {
  const { rpc, clock } = openRpc();
  const led = client(rpc, 'm', 'n');
  const calls = ['m', 'n'].map((method) => begin(rpc, { method }));
  led.port.unregister('m');
  const gone = '-32000 handler "hub-1:1" of "m" has left before it answered';
  assert.deepEqual([errorOf(calls[0]?.reported ?? []), calls[1]?.isOver], [gone, false]);
  led.port.close();
  assert.equal(errorOf(calls[1]?.reported ?? []), gone.replace('"m"', '"n"'));
  assert.deepEqual([Object.keys(rpc.available()), clock.timers], [['com.omlox.ping', 'com.omlox.identify'], 0]);
});

for (const [name, refusal] of [
  ['rpc.x', 'params.method: must not be a reserved name, found "rpc.x"'],
  ['com.omlox.ping', 'params.method: must not be a reserved name, found "com.omlox.ping"'],
  ['com.omlox.identify', 'params.method: must not be a reserved name, found "com.omlox.identify"'],
  ['com.omlox.more', 'params.method: must not be a reserved name, found "com.omlox.more"'],
  ['register', 'params.method: must not be a reserved name, found "register"'],
  ['', 'params.method: must be a string that is not empty, found ""'],
  [5, 'params.method: must be a string that is not empty, found 5'],
] as const) {
  test(`A client cannot register ${JSON.stringify(name)}`, () => {
    assert.throws(() => client(openRpc().rpc).port.register(name, undefined), { code: -32602, message: refusal });
  });
}

test('The handler that has announced xcmd receives it', () => {
  const { rpc } = openRpc();
  const core = client(rpc, 'com.omlox.core.xcmd');
  const call = begin(rpc, { method: 'com.omlox.core.xcmd' });
  core.answer({ result: 'done' });
  assert.deepEqual(call.reported, [{ result: 'done' }]);
});

test('A disconnected caller leaves no state', () => {
  const { rpc, clock } = openRpc();
  const led = client(rpc, 'm');
  const call = begin(rpc, { method: 'm' });
  call.open.cancel();
  call.open.cancel();
  assert.deepEqual([call.reported, clock.timers, rpc.counts.open, rpc.counts.calls.cancelled], [[], 0, 0, 1]);
  assert.equal(led.answer({ result: 1 }), false);
});

test('An answer that is not a response becomes an error of the hub', () => {
  const { rpc } = openRpc();
  const led = client(rpc, 'm');
  const call = begin(rpc, { method: 'm' });
  led.answer({ ok: true });
  assert.equal(
    errorOf(call.reported),
    '-32603 handler "hub-1:1" of "m" has answered what is no response of JSON-RPC 2.0',
  );
});

test('Closing the hub answers waiting callers with an error', () => {
  const { rpc, clock } = openRpc();
  client(rpc, 'm');
  const call = begin(rpc, { method: 'm' });
  rpc.close();
  assert.deepEqual(
    [errorOf(call.reported), clock.timers],
    ['-32603 Cannot finish the call: the hub is shutting down', 0],
  );
});

const BOUNDS: readonly [
  what: string,
  bounds: object,
  act: (rpc: ReturnType<typeof openRpc>['rpc']) => unknown,
  refusal: string,
][] = [
  [
    'Open calls',
    { openCalls: 1 },
    (rpc) => [client(rpc, 'm'), begin(rpc, { method: 'm' }), begin(rpc, { method: 'm' })],
    'open_calls: must be at most 1, found 1 before this one',
  ],
  [
    'Open calls of a client',
    { openCallsOfClient: 1 },
    (rpc) => {
      client(rpc, 'm');
      for (const who of ['b', 'a']) begin(rpc, { method: 'm' }, who);
      begin(rpc, { method: 'm' }, 'a');
    },
    'open_calls_of_client: must be at most 1, found 1 before this one',
  ],
  ['Handlers', { handlers: 3 }, (rpc) => client(rpc, 'a', 'b'), 'handlers: must be at most 3, found 3 before this one'],
  [
    'Handlers of a method',
    { handlersOfMethod: 2 },
    (rpc) => [client(rpc, 'm'), client(rpc, 'm'), client(rpc, 'm')],
    'handlers_of_method: must be at most 2, found 2 before this one',
  ],
  [
    'Methods of a connection',
    { methodsOfClient: 2 },
    (rpc) => client(rpc, 'a', 'b', 'b', 'c'),
    'methods_of_connection: must be at most 2, found 2 before this one',
  ],
];

test("Calls of the hub's own methods have their own bound, and calls of a client free its bound", () => {
  const { rpc } = openRpc({ bounds: { openCalls: 2, openCallsReserved: 1, openCallsOfClient: 2 } });
  const far = carrier(rpc);
  const led = client(rpc, 'm');
  far.port.announced({ method: 'com.omlox.ping', id: 'far' });
  for (let n = 0; n < 2; n++) begin(rpc, { method: 'm' }, 'a');
  assert.throws(() => begin(rpc, { method: 'm' }, 'b'), {
    message: 'open_calls: must be at most 2, found 2 before this one',
  });
  begin(rpc, { method: 'com.omlox.ping', aggregate: true }, 'b');
  assert.throws(() => begin(rpc, { method: 'com.omlox.ping', aggregate: true }, 'b'), {
    message: 'open_calls: must be at most 3, found 3 before this one',
  });
  assert.throws(() => begin(rpc, { method: 'com.omlox.ping', aggregate: true }, 'a'), {
    message: /^open_calls_of_client: /,
  });
  assert.deepEqual([led.answer({ result: 1 }, 0), led.answer({ result: 1 }, 1)], [true, true]);
  assert.doesNotThrow(() => begin(rpc, { method: 'com.omlox.ping', aggregate: true }, 'a'));
});

test('A response counts for the called method and handler, if its transport identifies them', () => {
  const ids = [5e9, 5e9, 6e9];
  const { rpc } = openRpc({ randomId: () => ids.shift() as number });
  const far = carrier(rpc);
  for (const method of ['m', 'n']) far.port.announced({ method, id: 'far' });
  const [m, n] = [begin(rpc, { method: 'm' }), begin(rpc, { method: 'n' })];
  assert.deepEqual(
    far.sent.map(({ id }) => id),
    [5e9, 6e9],
  );
  const response = (id: number) => JSON.stringify({ jsonrpc: '2.0', id, result: id });
  assert.equal(far.port.answered(response(5e9), { method: 'n' }), false);
  assert.equal(far.port.answered(response(5e9), { method: 'm', handlerId: 'near' }), false);
  assert.equal(far.port.answered(response(5e9), { method: 'm', handlerId: 'far' }), true);
  assert.equal(far.port.answered(response(6e9), { method: 'n' }), true);
  assert.deepEqual([m.reported, n.reported, rpc.counts.late], [[{ result: 5e9 }], [{ result: 6e9 }], 2]);
});

for (const [what, bounds, act, message] of BOUNDS) {
  test(`${what} are bounded`, () => {
    const { rpc } = openRpc({ bounds });
    assert.throws(() => act(rpc), { code: -32010, message });
  });
}

for (const [what, bounds, refusal] of [
  ['one call', { responseBytes: 15 }, '-32010 responses_of_call: must have at most 15 bytes, found 20'],
  ['all calls', { heldBytes: 15 }, '-32010 responses_of_open_calls: must have at most 15 bytes, found 20'],
] as const) {
  test(`Bytes of the responses of ${what} are bounded, and free again afterwards`, () => {
    const { rpc, clock } = openRpc({ bounds });
    const handlers = [client(rpc, 'm'), client(rpc, 'm'), client(rpc, 'm')];
    for (let round = 0; round < 2; round++) {
      const call = begin(rpc, { method: 'm', aggregate: true });
      for (const { port, frames } of handlers) port.answered({ id: frames.at(-1)?.['id'], result: 1 }, 10);
      assert.equal(errorOf(call.reported), refusal);
      assert.deepEqual([clock.timers, rpc.counts.open, rpc.counts.refused.get('tooMuch')], [0, 0, round + 1]);
    }
  });
}

test('A response that is too long becomes an error of its handler', () => {
  const { rpc } = openRpc();
  const led = client(rpc, 'm');
  const call = begin(rpc, { method: 'm' });
  led.port.answered({ id: led.frames[0]?.['id'], result: 1 }, 300_000);
  const reported = '-32010 response of handler "hub-1:1" of "m": must have at most 262,144 bytes, found 300,000';
  assert.equal(errorOf(call.reported), reported);
});

test('A carrier is notified of all methods of this hub, including those of clients that connect and disconnect', () => {
  const { rpc } = openRpc();
  const led = client(rpc, 'm');
  const mqtt = carrier(rpc);
  const own = ['com.omlox.ping hub-1', 'com.omlox.identify hub-1'];
  assert.deepEqual([...mqtt.announced], [...own, 'm hub-1:1']);
  led.port.register('n', undefined);
  led.port.unregister('m');
  assert.deepEqual([...mqtt.announced], [...own, 'n hub-1:1']);
  led.port.close();
  assert.deepEqual([...mqtt.announced], own);
});

test('A handler of a carrier is registered by method and id for 120 s after its last announcement', () => {
  const { rpc, clock } = openRpc();
  const mqtt = carrier(rpc);
  mqtt.port.announced({ method: 'm', id: 'a' });
  mqtt.port.announced({ method: 'm', id: 'b' });
  clock.advance(60_000);
  mqtt.port.announced({ method: 'm', id: 'b' });
  clock.advance(59_999);
  assert.deepEqual(rpc.available()['m'], { handler_id: ['a', 'b'] });
  clock.advance(1);
  assert.deepEqual(rpc.available()['m'], { handler_id: ['b'] });
  clock.advance(60_000);
  assert.equal(rpc.available()['m'], undefined);
  assert.throws(() => begin(rpc, { method: 'm' }), { code: -32601 });
});

test('Handlers of clients and of carriers are called together, each once', () => {
  const { rpc } = openRpc();
  const [bus, mqtt] = [carrier(rpc, { name: 'cluster' }), carrier(rpc)];
  const led = client(rpc, 'm');
  for (const { port } of [bus, mqtt]) port.announced({ method: 'm', id: 'far' });
  mqtt.port.announced({ method: 'm', id: 'hub-1:1' });
  mqtt.port.announced({ method: 'com.omlox.ping', id: 'hub-1' });
  mqtt.port.announced({ method: 'of an earlier run', id: 'hub-1' });
  assert.equal(rpc.available()['of an earlier run'], undefined);
  const call = begin(rpc, { method: 'm', aggregate: true, params: { a: 1 } });
  assert.deepEqual([led.frames.length, bus.sent.length, mqtt.sent.length], [1, 1, 0]);
  const { id, ...request } = bus.sent[0] ?? assert.fail();
  assert.deepEqual(request, {
    method: 'm',
    handlerId: 'far',
    params: { a: 1 },
    paramsText: '{"a":1}',
    timeoutMs: 5000,
  });
  assert.equal(mqtt.port.answered(`{"jsonrpc":"2.0","id":${id},"result":"forged"}`), false);
  assert.equal(bus.port.answered(`{"jsonrpc":"2.0","id":${id},"result":2}`), true);
  led.answer({ result: 1 });
  assert.deepEqual(
    call.reported.map(
      (answer) => 'result' in answer && (answer.result as { result: number }[]).map(({ result }) => result),
    ),
    [[2, 1]],
  );
});

test('A handler on two carriers is called on one that is connected, as long as one of them has it registered', () => {
  const { rpc, clock } = openRpc();
  const [mqtt, bus] = [carrier(rpc), carrier(rpc, { name: 'cluster' })];
  for (const { port } of [mqtt, bus]) port.announced({ method: 'm', id: 'far' });
  const asked = () => {
    begin(rpc, { method: 'm' });
    return [mqtt, bus].map(({ sent }) => sent.splice(0).length);
  };
  assert.deepEqual(asked(), [1, 0]);
  mqtt.turn(false);
  assert.deepEqual(asked(), [0, 1]);
  mqtt.turn(true);
  mqtt.port.left({ method: 'm', id: 'far' });
  assert.deepEqual(asked(), [0, 1]);
  clock.advance(60_000);
  mqtt.port.announced({ method: 'm', id: 'far' });
  clock.advance(60_000);
  assert.deepEqual(asked(), [1, 0]);
  assert.deepEqual(rpc.available()['m'], { handler_id: ['far'] });
  mqtt.port.hubLeft('far');
  assert.equal(rpc.available()['m'], undefined);
});

test('A call that a carrier cannot deliver, or has lost, is answered with an error', () => {
  const { rpc } = openRpc();
  const away = carrier(rpc, { reaches: false });
  away.port.announced({ method: 'm', id: 'a' });
  assert.equal(errorOf(begin(rpc, { method: 'm' }).reported), '-32000 handler "a" of "m" cannot be reached');
  const mqtt = carrier(rpc);
  mqtt.port.announced({ method: 'n', id: 'b' });
  const call = begin(rpc, { method: 'n' });
  mqtt.port.left({ method: 'n', id: 'b' });
  assert.equal(errorOf(call.reported), '-32000 handler "b" of "n" has left before it answered');
  mqtt.port.announced({ method: 'n', id: 'c' });
  const another = begin(rpc, { method: 'n' });
  mqtt.port.close();
  assert.match(errorOf(another.reported), /^-32000 /);
  assert.equal(rpc.available()['n'], undefined);
});

test('A call from a carrier goes only to handlers of this hub, each of which answers it', () => {
  const { rpc } = openRpc();
  const mqtt = carrier(rpc);
  const handlers = [client(rpc, 'm'), client(rpc, 'm')];
  mqtt.port.announced({ method: 'm', id: 'far' });
  const reported: string[] = [];
  const respond = (callerId: string, text: string) => void reported.push(`${callerId} ${text}`);
  const request = {
    jsonrpc: '2.0',
    id: 'q',
    method: 'm',
    params: { _caller_id: 'c', _aggregation: '_return_first_error' },
  };
  mqtt.port.call({ text: JSON.stringify(request), respond });
  assert.deepEqual(mqtt.sent, []);
  handlers[0]?.answer({ result: 0 });
  handlers[1]?.answer({ result: 1 });
  assert.deepEqual(reported, ['c {"jsonrpc":"2.0","id":"q","result":0}', 'c {"jsonrpc":"2.0","id":"q","result":1}']);
  mqtt.port.call({ text: JSON.stringify(request), handlerId: 'hub-1:2', respond });
  assert.deepEqual(
    handlers.map(({ frames }) => frames.length),
    [1, 2],
  );
});

for (const [what, text, refused] of [
  [
    'of a method that this hub does not handle',
    '{"jsonrpc":"2.0","id":1,"method":"far","params":{"_caller_id":"c"}}',
    0,
  ],
  ['that is no JSON', '{', 1],
  ['that is no request', '{"id":1,"params":{"_caller_id":"c"}}', 1],
  ['without a caller', '{"jsonrpc":"2.0","id":1,"method":"com.omlox.ping"}', 0],
] as const) {
  test(`A call of a carrier ${what} is not answered`, () => {
    const { rpc } = openRpc();
    const mqtt = carrier(rpc);
    mqtt.port.announced({ method: 'far', id: 'x' });
    mqtt.port.call({ text, respond: () => assert.fail() });
    const counted = [...rpc.counts.refused.values()].reduce((sum, count) => sum + count, 0);
    assert.deepEqual([counted, mqtt.sent], [refused, []]);
  });
}

test('After random events in any order, every call is answered once, and no state remains', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('call' as const), way: fc.constantFrom('first', 'list', 'stream', 'all') }),
    fc.record({ do: fc.constantFrom('answer', 'leave', 'join', 'cancel', 'wait'), at: fc.nat(20) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { rpc, clock } = openRpc();
      let clients = [client(rpc, 'm'), client(rpc, 'm')];
      const calls: ReturnType<typeof begin>[] = [];
      for (const taken of steps) {
        if (taken.do === 'call') {
          if (clients.length === 0) continue;
          const all = { params: { _aggregation: '_all_within_timeout' } };
          const ways: Readonly<Record<string, object>> = { list: { aggregate: true }, stream: { stream: true }, all };
          const way = ways[taken.way] ?? {};
          calls.push(begin(rpc, { method: 'm', timeout: 100, ...way }));
          continue;
        }
        const { at } = taken as { at: number };
        const one = clients[at % Math.max(1, clients.length)];
        if (taken.do === 'answer') one?.answer({ result: at }, at % Math.max(1, one.frames.length));
        if (taken.do === 'join') clients.push(client(rpc, 'm'));
        if (taken.do === 'cancel') calls[at % Math.max(1, calls.length)]?.open.cancel();
        if (taken.do === 'wait') clock.advance(at * 10);
        if (taken.do === 'leave') {
          one?.port.close();
          clients = clients.filter((other) => other !== one);
        }
      }
      clock.advance(100);
      for (const call of calls) assert.ok(call.isOver);
      const { open, calls: ended } = rpc.counts;
      const total = Object.values(ended).reduce((sum, count) => sum + count, 0);
      assert.deepEqual([open, clock.timers, total], [0, 0, calls.length]);
    }),
  );
});
