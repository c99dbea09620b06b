import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HubError } from '../../src/errors.ts';
import { compileMap } from '../../src/mapping/compile_map.ts';
import { decodePayload } from '../../src/mapping/decode.ts';
import type { SourceMap } from '../../src/model/source.ts';

const MINIMAL: SourceMap = { provider_id: '/id', x: '/x', y: '/y' };

/** Maps a payload to its items and the messages of its problems. */
function mapped(map: SourceMap, value: unknown, more: { topic?: string; sender?: string } = {}) {
  const { mapped: items, problems, skipped } = compileMap(map).run({ value, ...more });
  return {
    values: items.map((item) => item.value),
    at: items.map((item) => item.at),
    problems: problems.map(String),
    skipped,
  };
}

test('A map selects, converts and shifts values, and looks up zones', () => {
  const map: SourceMap = {
    items: '/floors/*/tags/*',
    provider_id: { template: '{$/site}-{/id}' },
    provider_type: { value: 'uwb' },
    x: { path: '/mm/0', scale: 0.001 },
    y: { path: '/mm/1', scale: 0.001, offset: -2 },
    z: { path: '/mm/2', scale: 0.001 },
    source: { path: '2/map', lookup: { '7': 'hall-1' } },
    timestamp_generated: { path: '/t', unit: 's' },
    course: { path: '/theta', scale: -180 / Math.PI, offset: 90 },
    accuracy: { path: '/error', default: 0.5 },
    associated: '/on',
    properties: { battery: '/battery', place: '0#', volts: { path: '/mv', scale: 0.001 } },
  };
  const tag = {
    id: 5,
    mm: [1500, '4000', 900],
    t: 1764412200.25,
    theta: Math.PI,
    on: 'true',
    battery: { level: 3 },
    mv: 3100,
  };
  const { values, at, problems } = mapped(map, {
    site: 'A',
    floors: [
      { map: 9, tags: [] },
      { map: 7, tags: [tag] },
    ],
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(at, ['$/floors/1/tags/0']);
  assert.deepEqual(values, [
    {
      provider_type: 'uwb',
      position: { type: 'Point', coordinates: [1.5, 2, 0.9] },
      provider_id: 'A-5',
      source: 'hall-1',
      accuracy: 0.5,
      course: 270,
      associated: true,
      timestamp_generated: '2025-11-29T10:30:00.250Z',
      properties: { battery: { level: 3 }, place: '0', volts: 3.1 },
    },
  ]);
});

test('By default a payload is one item, or each element of a list is', () => {
  const tag = { id: 'a', x: 1, y: 2 };
  assert.deepEqual(mapped(MINIMAL, tag).at, ['$']);
  assert.deepEqual(mapped(MINIMAL, [tag, tag]).at, ['$/0', '$/1']);
  assert.deepEqual(mapped(MINIMAL, []).at, []);
});

test('Levels of the topic, the sender and names of members are values', () => {
  const map: SourceMap = {
    items: '/*',
    as: 'proximity',
    provider_id: '0#',
    source: '$topic/2',
    accuracy: '/distance',
    properties: { gateway: '$sender' },
  };
  const { values } = mapped(map, { tagA: { distance: 2 } }, { topic: 'ble/devices/kitchen', sender: '192.0.2.1' });
  assert.deepEqual(values, [
    {
      provider_type: 'unknown',
      provider_id: 'tagA',
      source: 'kitchen',
      accuracy: 2,
      properties: { gateway: '192.0.2.1' },
    },
  ]);
});

test('An element of an array is selected by the value of a member', () => {
  const map: SourceMap = { provider_id: '/id', x: '/streams/[id=posX]/value', y: '/streams/[id=posY]/value' };
  const streams = [{ id: 'posY', value: ' 2.5' }, 'noise', { id: 'posX', value: '1.5 ' }];
  assert.deepEqual(mapped(map, { id: 1, streams }).values[0]?.['position'], { type: 'Point', coordinates: [1.5, 2.5] });
  assert.deepEqual(mapped(map, { id: 1, streams: [] }).problems, [
    '$/streams/[id=posX]/value: is required, but is missing',
  ]);
});

const FAULTS: readonly (readonly [title: string, map: SourceMap, value: unknown, problem: string])[] = [
  ['a missing item list', { ...MINIMAL, items: '/tags/*' }, { tag: [] }, '$/tags: is required, but is missing'],
  ['a missing id', { ...MINIMAL, items: '/*' }, [{ x: 1, y: 2 }], '$/0/id: is required, but is missing'],
  ['an id that is an object', MINIMAL, { id: {}, x: 1, y: 2 }, '$/id: must be a string or a number, found {}'],
  ['a coordinate in words', MINIMAL, { id: 'a', x: '1.5 m', y: 2 }, '$/x: must be a number, found "1.5 m"'],
  ['a null coordinate', MINIMAL, { id: 'a', x: 1, y: null }, '$/y: is required, but is missing, found null'],
  [
    'a time in words',
    { ...MINIMAL, timestamp_generated: '/t' },
    { id: 'a', x: 1, y: 2, t: 'yesterday' },
    '$/t: must be a date and time, found "yesterday"',
  ],
  [
    'seconds where a date is expected',
    { ...MINIMAL, timestamp_generated: '/t' },
    { id: 'a', x: 1, y: 2, t: 1764412200 },
    '$/t: must be a date and time, found 1764412200',
  ],
  [
    'a time beyond all years',
    { ...MINIMAL, timestamp_generated: { path: '/t', unit: 's' } },
    { id: 'a', x: 1, y: 2, t: 1764412200000 },
    '$/t: must be a date and time, found 1764412200000',
  ],
  [
    'a missing level of the topic',
    { ...MINIMAL, source: { template: '{$topic/9}' } },
    { id: 'a', x: 1, y: 2 },
    '$topic/9: is required, but is missing',
  ],
];

for (const [title, map, value, problem] of FAULTS) {
  test(`The problem of ${title} has the path and the value found`, () => {
    const { values, problems } = mapped(map, value);
    assert.deepEqual([values, problems], [[], [problem]]);
  });
}

test('A faulty item does not affect the others, and items that do not meet the conditions are skipped', () => {
  const map: SourceMap = { ...MINIMAL, when: [{ path: '/type', in: ['location', null] }] };
  const { values, problems, skipped } = mapped(map, [
    { id: 'a', x: 1, y: 2 },
    { id: 'b', type: 'event' },
    { id: 'c', type: 'location' },
    { id: 'd', type: 'location', x: 3, y: 4 },
  ]);
  assert.deepEqual(
    values.map((value) => value['provider_id']),
    ['a', 'd'],
  );
  assert.equal(problems.length, 1);
  assert.equal(skipped, 1);
});

test('Times without an offset are in the time zone of the map, also when clocks change', () => {
  const map: SourceMap = { ...MINIMAL, time_zone: 'Europe/Berlin', timestamp_generated: '/t' };
  const times = [
    ['2026-07-01 12:00:00', '2026-07-01T10:00:00.000Z'],
    ['2026-12-01T12:00:00.5', '2026-12-01T11:00:00.500Z'],
    ['2026-12-01T12:00:00Z', '2026-12-01T12:00:00.000Z'],
    // Skipped in spring, and shown twice in autumn.
    ['2026-03-29 02:30:00', '2026-03-29T01:30:00.000Z'],
    ['2026-10-25 02:30:00', '2026-10-25T00:30:00.000Z'],
  ];
  for (const [t, expected] of times) {
    assert.equal(mapped(map, { id: 'a', x: 1, y: 2, t }).values[0]?.['timestamp_generated'], expected);
  }
});

const INVALID: readonly (readonly [map: SourceMap, message: RegExp])[] = [
  [{ ...MINIMAL, items: 'tags' }, /^map\.items: must be a JSON Pointer, found "tags"/],
  [{ ...MINIMAL, provider_id: 'id' }, /^map\.provider_id: must be a JSON Pointer, .* found "id"/],
  [{ ...MINIMAL, provider_id: 'constructor("x")()' }, /^map\.provider_id: must be a JSON Pointer/],
  [{ ...MINIMAL, x: {} }, /^map\.x: must have exactly one of path, template, value, found none/],
  [
    { ...MINIMAL, x: { path: '/x', value: 1 } },
    /^map\.x: must have exactly one of path, template, value, found path, value/,
  ],
  [{ ...MINIMAL, provider_id: { template: 'a{/b' } }, /^map\.provider_id: .* found "a\{\/b"/],
  [{ ...MINIMAL, time_zone: 'Berlin' }, /^map\.time_zone: must be a time zone, .*found "Berlin"/],
  [{ provider_id: '/id', x: '/x' }, /^map\.y: is required/],
  [{ as: 'proximity', provider_id: '/id' }, /^map\.source: is required/],
  [{ ...MINIMAL, as: 'proximity', source: '/s' }, /^map\.x: must be absent from a map to proximities/],
];

test('An invalid map is rejected with its member and the value found', () => {
  for (const [map, message] of INVALID) {
    assert.throws(
      () => compileMap(map),
      (error: HubError) => error instanceof HubError && message.test(error.message),
      String(message),
    );
  }
});

test('Large ids and members called __proto__ do no harm', () => {
  const text = '{"id": 723413320329068590123, "x": 1, "y": 2}';
  const value = decodePayload(text, { format: 'json', columns: undefined }, 0);
  assert.equal(mapped(MINIMAL, value).values[0]?.['provider_id'], '723413320329068590123');
  const map: SourceMap = { ...MINIMAL, provider_id: '/constructor/name' };
  assert.match(mapped(map, { x: 1, y: 2 }).problems[0] ?? '', /\$\/constructor\/name: is required/);
});

test('A payload with too many items is refused as a whole', () => {
  const { problems } = mapped(
    MINIMAL,
    Array.from({ length: 10_001 }, () => ({ id: 'a', x: 1, y: 2 })),
  );
  assert.match(problems[0] ?? '', /must have at most 10,000 items/);
});

test('No payload makes a map throw, and every item is mapped, skipped or refused', () => {
  const map: SourceMap = {
    provider_id: { path: '/id', or: ['$topic/0', '0#'] },
    x: { path: '/x', scale: 2 },
    y: '1/y',
    timestamp_generated: { path: '/t', unit: 'ms' },
    source: { path: '/s', lookup: { a: 'b' } },
    when: [{ path: '/w', in: [null, 1] }],
    properties: { all: '' },
  };
  const compiled = compileMap(map);
  fc.assert(
    fc.property(fc.jsonValue(), fc.option(fc.string(), { nil: undefined }), (value, topic) => {
      const { mapped: items, problems, skipped } = compiled.run({ value, topic });
      assert.equal(items.length + problems.length + skipped, Array.isArray(value) ? value.length : 1);
    }),
  );
});
