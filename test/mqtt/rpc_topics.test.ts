import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { availableTopics, readRpcTopic, requestTopic, responseTopic, rpcFilters } from '../../src/mqtt/rpc_topics.ts';

const RPC = 'omlox/jsonrpc/rpc';
const slash = (read: object) => ({ ...read, style: 'slash' });

const READ: readonly [topic: string, expected: object | RegExp][] = [
  [`/${RPC}/available/m`, slash({ kind: 'available', method: 'm' })],
  [`${RPC}/available/m`, { kind: 'available', method: 'm', style: 'plain' }],
  [`/${RPC}/Blink LED/request`, slash({ kind: 'request', method: 'Blink LED', handlerId: undefined })],
  [`/${RPC}/a%2Fb/request/c%2Fd`, slash({ kind: 'request', method: 'a/b', handlerId: 'c/d' })],
  [`${RPC}/m/response/me`, { kind: 'response', method: 'm', callerId: 'me', style: 'plain' }],
  [`/${RPC}/available/request/x`, slash({ kind: 'request', method: 'available', handlerId: 'x' })],
  ['/omlox/json/hub/a%2Fb/status', { kind: 'status', hubId: 'a/b' }],
  [`/${RPC}/m/request/`, /^topic: must be one of remote procedure calls, found/],
  [`/${RPC}//request`, /^topic: must be one of/],
  [`/${RPC}/m/response`, /^topic: must be one of/],
  [`/${RPC}/m/request/a/b`, /^topic: must be one of/],
  [`/${RPC}/com.omlox.core.xcmd/broadcast`, slash({ kind: 'broadcast', method: 'com.omlox.core.xcmd' })],
  [`/${RPC}/m/broadcast`, /^topic: must be one of/],
  [`/${RPC}`, /^topic: must be one of/],
  [`/${RPC}/%FF/request`, /^topic: must be percent-encoded UTF-8, found/],
];

describe('readRpcTopic()', () => {
  for (const [topic, expected] of READ) {
    test(`parses ${topic}`, () => {
      const found = readRpcTopic(topic);
      if (expected instanceof RegExp) assert.match(String(found), expected);
      else assert.deepEqual(found, expected);
    });
  }

  test('round-trips all names of methods, handlers and callers', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1 });
    fc.assert(
      fc.property(name, name, fc.constantFrom('slash', 'plain'), (method, id, style) => {
        const [available = ''] = availableTopics(method, style);
        assert.deepEqual(readRpcTopic(available), { kind: 'available', method, style });
        const request = { kind: 'request', method, handlerId: id, style };
        assert.deepEqual(readRpcTopic(requestTopic(method, id, style)), request);
        const response = { kind: 'response', method, callerId: id, style };
        assert.deepEqual(readRpcTopic(responseTopic(method, id, style)), response);
      }),
    );
  });
});

test('rpcFilters() match all methods and broadcasts, in both styles, and the responses to one caller', () => {
  const calls = [`${RPC}/available/+`, `${RPC}/+/request`, `${RPC}/+/request/+`, `${RPC}/+/response/hub%2F1`];
  const filters = [...calls, `${RPC}/com.omlox.core.xcmd/broadcast`, 'omlox/json/hub/+/status'];
  assert.deepEqual(rpcFilters('hub/1').toSorted(), [...filters, ...filters.map((each) => `/${each}`)].toSorted());
});
