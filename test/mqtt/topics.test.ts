import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Publication, TopicStyle } from '../../src/model/mqtt.ts';
import { levelOf, readInbound, sourceFilters, statusTopics, topicsOf } from '../../src/mqtt/topics.ts';

const IN: readonly [topic: string, expected: object | RegExp][] = [
  ['/omlox/json/location_updates/pub/tag', { kind: 'location', providerId: 'tag' }],
  ['omlox/json/location_updates/pub/tag', { kind: 'location', providerId: 'tag' }],
  ['/omlox/json/location_updates/pub/a%2Fb', { kind: 'location', providerId: 'a/b' }],
  ['/omlox/json/location_updates/pub/a/b', { kind: 'location', providerId: 'a/b' }],
  ['/omlox/json/location_updates/pub/%25', { kind: 'location', providerId: '%' }],
  ['/omlox/json/location_updates/pub', { kind: 'location', providerId: undefined }],
  ['/omlox/json/location_updates/pub/', { kind: 'location', providerId: undefined }],
  ['/omlox/json/location_updates/pub/%ZZ', /^topic: must be percent-encoded UTF-8, found ".*%ZZ"$/],
  ['/omlox/json/proximity_updates/reader/card', { kind: 'proximity', source: 'reader', providerId: 'card' }],
  ['omlox/json/proximity_updates/a%2Fb/c/d', { kind: 'proximity', source: 'a/b', providerId: 'c/d' }],
  ['/omlox/json/proximity_updates/reader/', /^topic: must name a source and a provider, found/],
  ['/omlox/json/proximity_updates/%FF/card', /^topic: must be percent-encoded UTF-8, found/],
  ['/omlox/json/location_updates/public/tag', /^topic: must be one of a source, found/],
  ['/omlox/json/proximity_updatesx/reader/card', /^topic: must be one of a source, found/],
];

const ODD = fc.constantFrom('\u0000', '\n', '\u007f', '\u0085', '\ufdd0', '\uffff', '\u{1fffe}', '/', '+', '#', '%');
const ID = fc.string({
  unit: fc.oneof(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }), ODD),
  minLength: 1,
});

describe('readInbound()', () => {
  for (const [topic, expected] of IN) {
    test(`parses ${topic}`, () => {
      const found = readInbound(topic);
      if (expected instanceof RegExp) assert.match(String(found), expected);
      else assert.deepEqual(found, expected);
    });
  }

  test('round-trips the id of any provider in its topic', () => {
    fc.assert(
      fc.property(ID, (id) => {
        const level = levelOf(id);
        assert.doesNotMatch(level, /[/+#\p{Cc}\p{Noncharacter_Code_Point}]/u);
        assert.deepEqual(readInbound(`/omlox/json/location_updates/pub/${level}`), {
          kind: 'location',
          providerId: id,
        });
      }),
    );
  });
});

const FENCE = ['f/1', 'foreign', 'tag', 'cart', 'region_entry', 'trackable'];
const OF_PROVIDER = ['f', undefined, 'tag', undefined, 'region_exit', 'location_provider'];
const OUT: readonly [Publication, fields: readonly (string | undefined)[], TopicStyle, expected: readonly string[]][] =
  [
    ['location_updates/local', ['a+b'], 'slash', ['/omlox/json/location_updates/local/a%2Bb']],
    ['location_updates/epsg4326', ['tag'], 'plain', ['omlox/json/location_updates/epsg4326/tag']],
    ['trackable_motions/local', ['#'], 'slash', ['/omlox/json/trackable_motions/local/%23']],
    [
      'trackable_motions/epsg4326',
      ['cart'],
      'both',
      ['/omlox/json/trackable_motions/epsg4326/cart', 'omlox/json/trackable_motions/epsg4326/cart'],
    ],
    ['fence_events', FENCE, 'slash', ['/omlox/json/fence_events/f%2F1', '/omlox/json/fence_events/trackables/cart']],
    ['fence_events', OF_PROVIDER, 'plain', ['omlox/json/fence_events/f', 'omlox/json/fence_events/providers/tag']],
    ['collision_events', ['a', 'b'], 'slash', ['/omlox/json/collision_events/epsg4326']],
    ['collision_forecast', ['a', 'b'], 'slash', ['/omlox/json/collision_forecast/epsg4326']],
    [
      'collision_events',
      ['a', 'b'],
      'plain',
      ['omlox/json/collision_events/epsg4326/a', 'omlox/json/collision_events/epsg4326/b'],
    ],
    ['zone_changes', ['z', 'delete'], 'slash', ['flowcate/json/zone_changes/delete/z']],
    ['anchor_changes', ['%', 'create'], 'both', ['flowcate/json/anchor_changes/create/%25']],
  ];

describe('topicsOf()', () => {
  for (const [publication, fields, style, expected] of OUT) {
    test(`names ${publication} of ${fields.join(', ')} in the style ${style}`, () => {
      assert.deepEqual(topicsOf(publication, fields, style), expected);
    });
  }
});

test('sourceFilters() cover both styles, shared or of some topics on request', () => {
  const filters = [
    '/omlox/json/location_updates/pub/#',
    'omlox/json/location_updates/pub/#',
    '/omlox/json/proximity_updates/+/#',
    'omlox/json/proximity_updates/+/#',
  ];
  assert.deepEqual(sourceFilters([]), filters);
  assert.deepEqual(
    sourceFilters([], 'plant'),
    filters.map((filter) => `$share/plant/${filter}`),
  );
  assert.deepEqual(sourceFilters(['proximity_updates/hall/#']), [
    '/omlox/json/proximity_updates/hall/#',
    'omlox/json/proximity_updates/hall/#',
  ]);
});

test('statusTopics() names the hub in the style of its topics', () => {
  assert.deepEqual(statusTopics('a/b', 'both'), ['/omlox/json/hub/a%2Fb/status', 'omlox/json/hub/a%2Fb/status']);
});
