import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Collecting, outcomeOf, type CallProgress } from '../../src/rpc/collected.ts';
import type { RpcAnswer } from '../../src/rpc/message.ts';

const OK: RpcAnswer = { result: 1 };
const BAD: RpcAnswer = { error: { code: 5, message: 'no' } };
const WAYS: readonly Collecting[] = ['first', 'firstSuccess', 'firstError', 'all', 'list', 'stream'];

function standing(collecting: Collecting, said: string, { asked = 3, isTimeUp = false } = {}): CallProgress {
  const answers = [...said].map((letter, index) => ({ handlerId: `h${index}`, answer: letter === '+' ? OK : BAD }));
  return { method: 'm', id: 7, collecting, answers, asked, timeoutMs: 100, isTimeUp };
}

/** Outcome as a string: the answer of one handler, the code of an error of the hub, or a list of all. */
function word(outcome: ReturnType<typeof outcomeOf>): string {
  if (outcome === undefined) return 'open';
  if (outcome === 'streamed') return 'streamed';
  if (outcome === OK) return '+';
  if (outcome === BAD) return '-';
  if ('error' in outcome) return `${outcome.error.code}`;
  return Array.isArray(outcome.result) ? `list ${outcome.result.length}` : 'responses';
}

/** + is a result, - is an error; then the outcome before and after the timeout. Three handlers were called. */
const CASES: readonly [Collecting, said: string, before: string, after: string][] = [
  ['first', '', 'open', '-32001'],
  ['first', '-', '-', '-'],
  ['first', '+-', '+', '+'],
  ['firstSuccess', '', 'open', '-32001'],
  ['firstSuccess', '--', 'open', '-32001'],
  ['firstSuccess', '--+', '+', '+'],
  ['firstSuccess', '---', '-32002', '-32002'],
  ['firstError', '++', 'open', '-32001'],
  ['firstError', '+-', '-', '-'],
  ['firstError', '+++', 'responses', 'responses'],
  ['all', '', 'open', '-32001'],
  ['all', '+-', 'open', 'responses'],
  ['all', '+-+', 'responses', 'responses'],
  ['list', '', 'open', '-32001'],
  ['list', '-', 'open', 'list 1'],
  ['list', '+-+', 'list 3', 'list 3'],
  ['stream', '', 'open', '-32001'],
  ['stream', '+', 'open', 'streamed'],
  ['stream', '+--', 'streamed', 'streamed'],
];

for (const [collecting, said, before, after] of CASES) {
  test(`A call that collects ${collecting} with the answers "${said}" is ${before}, and ${after} after the timeout`, () => {
    assert.equal(word(outcomeOf(standing(collecting, said))), before);
    assert.equal(word(outcomeOf(standing(collecting, said, { isTimeUp: true }))), after);
  });
}

for (const [collecting, reported] of [
  ['all', '+'],
  ['firstError', '+'],
  ['list', 'list 1'],
] as const) {
  test(`The only handler of a call that collects ${collecting} makes it ${reported}`, () => {
    assert.equal(word(outcomeOf(standing(collecting, '+', { asked: 1 }))), reported);
  });
}

test('Several responses are complete, each with the id of the request and its handler', () => {
  assert.deepEqual(outcomeOf(standing('all', '+-', { asked: 2 })), {
    result: {
      responses: [
        { jsonrpc: '2.0', id: 7, handler_id: 'h0', result: 1 },
        { jsonrpc: '2.0', id: 7, handler_id: 'h1', error: { code: 5, message: 'no' } },
      ],
    },
  });
});

test('Every call completes when all handlers have answered, and at its timeout', () => {
  fc.assert(
    fc.property(fc.constantFrom(...WAYS), fc.array(fc.constantFrom('+', '-'), { maxLength: 5 }), (collecting, said) => {
      const text = said.join('');
      assert.notEqual(outcomeOf(standing(collecting, text, { asked: 6, isTimeUp: true })), undefined);
      if (said.length > 0) assert.notEqual(outcomeOf(standing(collecting, text, { asked: said.length })), undefined);
    }),
  );
});
