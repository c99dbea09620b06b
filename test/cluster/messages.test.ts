import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Packr, unpack } from 'msgpackr';
import { type Codec, MessageError } from '../../src/cluster/messages/codec.ts';
import {
  AGAIN,
  APPLIED,
  ASK,
  HEARTBEAT,
  INTEREST,
  INTEREST_ANSWER,
  MOTIONS,
  PUBLISHED_MOTIONS,
  QUESTION,
  REPLY,
  RPC,
  SENT_AGAIN,
  STAND_REQUEST,
} from '../../src/cluster/messages/messages.ts';
import { ProtocolErrors } from '../../src/cluster/messages/protocol_errors.ts';
import { lend } from '../../src/model/borrowed.ts';

const HEAD = { applied: 2 ** 40, ingress: 'a', number: 3, version: 7 };
const VIEW = { crs: 'local' };
const VARIANT = { id: 4, topic: 'fence_events', crs: 'local' } as const;
const WANTED = {
  keys: [{ at: 0, values: ['a', 2, true] }],
  limits: [{ at: 4, most: 1.5 }],
  boxes: [{ at: 5, west: -1.5, south: 2, east: 3, north: 4 }],
};
const HANDLERS = [
  { method: 'm', id: 'x' },
  { method: 'n', id: 'y', zoneId: 'hall' },
];
const MOTIONS_OF_A_HUB = {
  ...{ watermark: 17, passedMs: 5, sentMs: 6.5, stood: 2, clockSteps: [{ toMs: -100, byMs: -40 }] },
  motions: [{ lastSeq: 9, packed: lend(Buffer.from([1, 2])) }],
};

/** Messages of each table, and values that do not fit, by the path of indices in the packed message. */
interface Row {
  readonly codec: Codec<unknown>;
  readonly messages: readonly unknown[];
  readonly bad?: readonly (readonly [message: number, path: readonly number[], value: unknown, says: RegExp])[];
}

const BEAT = {
  incarnation: 'x',
  applied: 1,
  clockMs: -1,
  room: 2.5,
  loads: new Map([[3, 0.5]]),
  seen: [['y', 2, 0.5]],
} as const;

const ROWS: Readonly<Record<string, Row>> = {
  HEARTBEAT: {
    codec: HEARTBEAT,
    messages: [BEAT, { ...BEAT, loads: new Map(), seen: [] }],
    bad: [
      [0, [1], 7, /incarnation must be a string that is not empty, but is 7$/],
      [0, [2], 1.5, /applied must be a whole number, but is 1.5$/],
      [0, [3], NaN, /clockMs must be a number, but is null$/],
      [0, [4], -1, /room must be a number from 0, but is -1$/],
      [0, [5], [[3]], /loads must be a list of partitions, each with its load, but is \[\[3\]\]$/],
      [0, [5, 0, 0], 4096, /loads/],
      [
        0,
        [6, 0, 0],
        '',
        /seen must be a list, each of them \[a string that is not empty; a whole number; a number from 0\]/,
      ],
      [0, [6, 0, 2], -1, /seen/],
    ],
  },
  APPLIED: { codec: APPLIED, messages: [{ incarnation: 'x', sequence: 5 }] },
  INTEREST: {
    codec: INTEREST,
    messages: [
      { from: 'a', number: 2, variants: [] },
      { from: 'a', number: 2, variants: [VARIANT] },
      {
        ...{ from: 'a', number: 2 },
        variants: [{ ...VARIANT, zoneId: 'z', geojson: true, unfiltered: false, propertiesMax: 9, wanted: WANTED }],
      },
    ],
    bad: [
      [0, [1], 7, /from must be a string that is not empty, but is 7$/],
      [0, [2], -1, /number must be a whole number, but is -1$/],
      [0, [3], {}, /variants must be a list/],
      [1, [3, 0], 7, /variants/],
      [1, [3, 0, 0], 1.5, /variants/],
      [1, [3, 0, 0], 2 ** 32, /variants/],
      [1, [3, 0, 1], 'zone_changes', /variants/],
      [1, [3, 0, 1], 'toString', /variants/],
      [1, [3, 0, 2], 7, /variants/],
      [2, [3, 0, 3], 7, /variants/],
      [2, [3, 0, 4], 1, /variants/],
      [2, [3, 0, 7], 1, /variants/],
      [2, [3, 0, 7], [], /variants/],
      [2, [3, 0, 7], [[], [1]], /variants/],
      [2, [3, 0, 7], [[[0, 'a']], []], /variants/],
      [2, [3, 0, 7], [[['a', []]], []], /variants/],
      [2, [3, 0, 7], [[], [[0, 'a']]], /variants/],
      [2, [3, 0, 7], [[[0, [null]]], []], /variants/],
    ],
  },
  INTEREST_ANSWER: {
    codec: INTEREST_ANSWER,
    messages: [
      { sent: undefined, unpublished: [] },
      { sent: { number: 2, lastOf: [0, 1, 2] }, unpublished: [7, 0] },
    ],
    bad: [
      [1, [1, 0], -1, /sent/],
      [1, [1, 1], [0, 1], /sent/],
      [1, [1, 1, 2], 'x', /sent/],
      [1, [2, 1], -1, /unpublished/],
    ],
  },
  AGAIN: { codec: AGAIN, messages: [{ from: 'a', first: 1, last: 2 }] },
  SENT_AGAIN: { codec: SENT_AGAIN, messages: [{ lost: 5 }] },
  MOTIONS: {
    codec: MOTIONS,
    messages: [MOTIONS_OF_A_HUB, { ...MOTIONS_OF_A_HUB, clockSteps: [], motions: [] }],
    bad: [
      [0, [1], null, /watermark must be a whole number, but is null$/],
      [0, [2], 'now', /passedMs must be a number, but is "now"$/],
      [0, [4], [[1]], /clockSteps must be a list, .*, but is \[\[1\]\]$/],
      [0, [6], [[1, 2]], /motions must be a list/],
    ],
  },
  STAND_REQUEST: {
    codec: STAND_REQUEST,
    messages: [{ from: 'x', number: 4 }],
    bad: [[0, [1], '', /from must be a string that is not empty, but is ""$/]],
  },
  PUBLISHED_MOTIONS: {
    codec: PUBLISHED_MOTIONS,
    messages: [{ from: 'x', others: [['y', 3]] }],
    bad: [[0, [2, 0, 1], -3, /others/]],
  },
  ASK: {
    codec: ASK,
    messages: [
      { ...HEAD, kind: 'read', part: 0, argument: { ask: 'provider_location', id: 'p', view: VIEW } },
      { ...HEAD, kind: 'read', part: 0, argument: { ask: 'provider_locations', view: VIEW, only: ['p'] } },
      { ...HEAD, kind: 'read', part: 1, argument: { ask: 'stays' } },
      { ...HEAD, kind: 'forget', part: 0, argument: ['p'], version: undefined },
      { ...HEAD, kind: 'released', part: 0, argument: 5 },
      { ...HEAD, kind: 'settle', part: 0, argument: null },
      { ...HEAD, kind: 'read', part: 1, argument: { ask: 'sample', above: 2.5, only: ['t'] } },
      { ...HEAD, kind: 'read', part: 1, argument: { ask: 'search', kind: 'provider', view: VIEW, most: 5 } },
    ],
    bad: [
      [0, [1], 'erase', /kind must be one of read, forget, released, settle, but is "erase"$/],
      [0, [3], '', /ingress/],
      [0, [5], 'x', /version must be a whole number, or null, but is "x"$/],
      [0, [6], -1, /part must be a whole number, but is -1$/],
      [0, [7], { ask: 'toString' }, /argument must be a query/],
      [0, [7], { ask: 'provider_location', view: VIEW }, /argument must be a query/],
      [0, [7], { ask: 'provider_location', id: 'p' }, /argument must be a query/],
      [0, [7], { ask: 'provider_locations', view: VIEW, only: 'p' }, /argument must be a query/],
      [0, [7], { ask: 'fence_providers', id: 'f', spatial: 1 }, /argument must be a query/],
      [0, [7], { ask: 'sample' }, /argument must be a query/],
      [0, [7], { ask: 'search', kind: 'zone', view: VIEW, most: 5 }, /argument must be a query/],
      [0, [7], { ask: 'sample', only: [], above: '2' }, /argument must be a query/],
      [3, [7], [5], /argument must be a list/],
    ],
  },
  REPLY: {
    codec: REPLY,
    messages: [
      { at: 'done' },
      { at: 'busy' },
      { at: 'working' },
      { at: 'gone' },
      { at: 'part', parts: 2, bytes: Uint8Array.of(1) },
      { at: 'moved', applied: 5, isUntouched: true },
      { at: 'failed', error: errorWith('HUB_UNAVAILABLE', 'Cannot go on') },
    ],
    bad: [
      [0, [1], 'perhaps', /at must be one of done, .*, but is "perhaps"$/],
      [4, [2], 0, /parts must be a whole number from 1, but is 0$/],
      [4, [3], 'x', /bytes must be bytes, but is "x"$/],
      [5, [2], 'x', /applied must be a whole number, but is "x"$/],
    ],
  },
  QUESTION: {
    codec: QUESTION,
    messages: [{ ingress: 'a', number: 1, part: 0, question: { ask: 'health', about: '' } }],
  },
  RPC: {
    codec: RPC,
    messages: [
      { say: 'who', from: 'a' },
      { say: 'here', from: 'a', handlers: HANDLERS },
      { say: 'gone', from: 'a', handlers: [] },
      { say: 'request', from: 'a', handlerId: 'x', text: '{}' },
      { say: 'answer', text: '{}' },
    ],
    bad: [[1, [3, 0, 0], 5, /handlers must be a list/]],
  },
};

const packr = new Packr({ useRecords: false });

/** A packed message with another value at a path. */
function altered(packed: Uint8Array, path: readonly number[], value: unknown): Uint8Array {
  const values = unpack(packed) as unknown[];
  const inner = path.slice(0, -1).reduce<unknown[]>((list, index) => list[index] as unknown[], values);
  inner[path.at(-1) as number] = value;
  return packr.pack(values);
}

for (const [name, { codec, messages, bad = [] }] of Object.entries(ROWS)) {
  const read = (bytes: Uint8Array): unknown => codec.read(lend(bytes));
  const packed = messages.map((message) => codec.pack(message));

  suite(`The table ${name}`, () => {
    test('reads messages as they were written', () => {
      for (const [i, bytes] of packed.entries()) assert.deepEqual(read(bytes), messages[i]);
    });

    test('rejects messages of a newer or a broken hub', () => {
      for (const bytes of packed) {
        const values = unpack(bytes) as unknown[];
        assert.throws(
          () => read(altered(bytes, [0], 99)),
          /^MessageError: Cannot read .*: version must be \d+, but is 99$/,
        );
        assert.throws(() => read(altered(bytes, [values.length], 1)), /number of fields must be/);
        assert.throws(() => read(packr.pack(values.slice(0, -1))), MessageError);
        assert.throws(() => read(packr.pack(5)), /it must be a list, but is 5$/);
        for (let length = 0; length < bytes.length; length++) {
          assert.throws(() => read(bytes.subarray(0, length)), MessageError);
        }
        // No field is a negative fraction.
        for (let i = 1; i < values.length; i++) {
          if (typeof values[i] !== 'number' || Number.isInteger(values[i])) {
            assert.throws(() => read(altered(bytes, [i], Symbol)), MessageError, `field ${i}`);
          }
        }
      }
    });

    for (const [message, path, value, says] of bad) {
      test(`rejects ${JSON.stringify(value)} at ${path} of message ${message}, and names the field`, () => {
        assert.throws(
          () => read(altered(packed[message] as Uint8Array, path, value)),
          (error) => error instanceof MessageError && says.test(error.message),
        );
      });
    }
  });
}

test('A heartbeat leaves out invalid measurements, so that it arrives nevertheless', () => {
  const loads = new Map([...[NaN, 5, -1, Infinity].entries(), [4096, 1]]);
  const packed = HEARTBEAT.pack({ ...BEAT, room: -Infinity, loads });
  assert.deepEqual(HEARTBEAT.read(lend(packed)), { ...BEAT, room: 0, loads: new Map([[1, 5]]) });
});

test('An error that this version does not know is an internal one', () => {
  const reply = REPLY.read(
    lend(
      packr.pack([3, 'failed', { code: 'HUB_TIRED', message: 'Cannot go on', reason: 'tired', params: { hours: 24 } }]),
    ),
  );
  assert.ok(reply.at === 'failed');
  const { code, message, reason, params } = reply.error;
  assert.deepEqual([code, message, reason, params], ['HUB_INTERNAL', 'Cannot go on', 'tired', { hours: 24 }]);
});

test('Malformed messages are skipped and counted, and the first one is logged', () => {
  const lines: string[] = [];
  const errors = new ProtocolErrors('events', (line) => lines.push(line));
  for (const bytes of [Uint8Array.of(1), Uint8Array.of(2)]) errors.reading(() => SENT_AGAIN.read(lend(bytes)));
  assert.equal(
    errors.reading(() => 5),
    5,
  );
  assert.equal(errors.count, 2);
  assert.deepEqual(lines, [
    'Skipped a malformed message about events: Cannot read an answer to a request for missing messages: ' +
      'it must be a list, but is 1',
  ]);
});
