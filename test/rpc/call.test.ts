import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCall, readSocketCall } from '../../src/rpc/call.ts';
import { RpcRejection, readAnswer, readMessage } from '../../src/rpc/message.ts';

const CALL = { jsonrpc: '2.0', method: 'm', id: 1 };

function refusalOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof RpcRejection) return `${error.error.code} ${JSON.stringify(error.id)} ${error.message}`;
    throw error;
  }
  return 'none';
}

const REFUSED: readonly [value: unknown, refusal: string][] = [
  [[CALL, CALL], '-32600 null request: must be an object, found a batch of 2'],
  ['m', '-32600 null request: must be an object, found "m"'],
  [{ ...CALL, id: {} }, '-32600 null id: must be a string or a number, found {}'],
  [{ ...CALL, jsonrpc: '1.0' }, '-32600 1 jsonrpc: must be "2.0", found "1.0"'],
  [{ ...CALL, method: 5 }, '-32600 1 method: must be a string that is not empty, found 5'],
  [{ ...CALL, method: '' }, '-32600 1 method: must be a string that is not empty, found ""'],
  [{ ...CALL, method: 'm'.repeat(257) }, '-32600 1 method: must have at most 256 characters, found 257'],
  [{ ...CALL, params: [1] }, '-32602 1 params: must be an object, found [1]'],
  [{ ...CALL, params: null }, '-32602 1 params: must be an object, found null'],
  [
    { ...CALL, params: { _aggregation: 'best' } },
    '-32602 1 _aggregation: must be one of _all_within_timeout, _return_first_success, _return_first_error, found "best"',
  ],
  [
    { ...CALL, params: { _aggregation: '_all_within_timeout', _handler_id: 'a' } },
    '-32602 1 _aggregation: must not be given together with _handler_id',
  ],
  [
    { ...CALL, params: { _timeout: 0 } },
    '-32602 1 _timeout: must be a whole number of milliseconds from 1 to 60,000, found 0',
  ],
  [
    { ...CALL, params: { _timeout: 60_001 } },
    '-32602 1 _timeout: must be a whole number of milliseconds from 1 to 60,000, found 60001',
  ],
  [{ ...CALL, params: { _handler_id: 5 } }, '-32602 1 _handler_id: must be a string, found 5'],
  [{ ...CALL, params: { _caller_id: true } }, '-32602 1 _caller_id: must be a string, found true'],
];

for (const [value, refusal] of REFUSED) {
  test(`A request is rejected: ${refusal}`, () => {
    assert.equal(
      refusalOf(() => readCall(value)),
      refusal,
    );
    assert.equal(
      refusalOf(() => readSocketCall(value)),
      refusal,
    );
  });
}

for (const [value, refusal] of [
  [{ ...CALL, stream: 1 }, '-32600 1 stream: must be true or false, found 1'],
  [
    { ...CALL, stream: true, aggregate: true },
    '-32602 1 stream, aggregate and _aggregation: only one of them may be set',
  ],
  [
    { ...CALL, aggregate: true, params: { _aggregation: '_return_first_error' } },
    '-32602 1 stream, aggregate and _aggregation: only one of them may be set',
  ],
  [
    { ...CALL, timeout: 'soon' },
    '-32602 1 timeout: must be a whole number of milliseconds from 1 to 60,000, found "soon"',
  ],
] as const) {
  test(`A request on the WebSocket is rejected: ${refusal}`, () => {
    assert.equal(
      refusalOf(() => readSocketCall(value)),
      refusal,
    );
  });
}

test('readCall() extracts the reserved parameters, and passes on the others', () => {
  const params = { _caller_id: 'c', _timeout: 5e3, _handler_id: 'h', zone_id: 'z', _own: 1, a: [1] };
  assert.deepEqual(readCall({ ...CALL, params }), {
    method: 'm',
    params: { zone_id: 'z', _own: 1, a: [1] },
    id: 1,
    callerId: 'c',
    isAnswered: true,
    timeoutMs: 5000,
    collecting: 'all',
    handlerId: 'h',
    zoneId: 'z',
  });
});

for (const [request, isAnswered] of [
  [{ id: 1 }, true],
  [{ id: null }, true],
  [{ params: { _caller_id: 'c' } }, true],
  [{ params: {} }, false],
  [{}, false],
] as const) {
  test(`A request with ${JSON.stringify(request)} is ${isAnswered ? '' : 'not '}answered`, () => {
    assert.equal(readCall({ jsonrpc: '2.0', method: 'm', ...request }).isAnswered, isAnswered);
  });
}

for (const [request, collecting, timeoutMs] of [
  [{}, 'first', 5000],
  [{ stream: true }, 'stream', 5000],
  [{ aggregate: true, timeout: 10 }, 'list', 10],
  [{ stream: false, params: { _aggregation: '_return_first_success', _timeout: 20 } }, 'firstSuccess', 20],
  [{ timeout: 10, params: { _timeout: 20 } }, 'first', 10],
] as const) {
  test(`On the WebSocket ${JSON.stringify(request)} collects ${collecting} for ${timeoutMs} ms`, () => {
    const call = readSocketCall({ ...CALL, ...request });
    assert.deepEqual([call.collecting, call.timeoutMs], [collecting, timeoutMs]);
  });
}

for (const [text, refusal] of [
  ['{', /^-32700 null message: must be JSON, found /],
  [`{"a":${'['.repeat(300)}${']'.repeat(300)}}`, /^-32600 null message: must be nested at most 200 levels deep/],
  ['{"__proto__":1}', /^-32600 null (message\.)?__proto__: is a name that cannot be stored$/],
  [`"${'x'.repeat(262_143)}"`, /^-32010 null message: must have at most 262,144 bytes, found 262,145$/],
] as const) {
  test(`A message is rejected: ${refusal.source}`, () => {
    assert.match(
      refusalOf(() => readMessage(text)),
      refusal,
    );
  });
}

test('Numbers are passed on digit by digit, including ids', () => {
  const text = '{"jsonrpc":"2.0","method":"m","id":12345678901234567890,"params":{"a":21.0}}';
  const { id, params } = readCall(readMessage(text));
  assert.equal(JSON.stringify({ id, params }), '{"id":12345678901234567890,"params":{"a":21.0}}');
});

for (const [value, answer] of [
  [{ result: null }, { result: null }],
  [{ error: { code: -1, message: 'm', data: 2 } }, { error: { code: -1, message: 'm', data: 2 } }],
  [{ error: 'no' }, undefined],
  [{ error: { code: 'x', message: 'm' } }, undefined],
  [{ result: 1, error: null }, undefined],
  [{}, undefined],
  [null, undefined],
] as const) {
  test(`readAnswer() of ${JSON.stringify(value)} is ${JSON.stringify(answer)}`, () => {
    assert.deepEqual(readAnswer(value), answer);
  });
}
