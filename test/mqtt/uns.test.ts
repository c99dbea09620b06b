import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DeliveryBatch } from '../../src/fanout/batch.ts';
import type { FanoutListener } from '../../src/fanout/fanout.ts';
import type { Trackable } from '../../src/model/trackable.ts';
import { placeText, Uns, unsClaimOf } from '../../src/mqtt/uns.ts';

const SETTINGS = { root: 'plant', levelsMax: 32, bytesMax: 1024 };

/** An isolated namespace: trackables by id with their paths, and the published messages. */
function openUns(paths: Readonly<Record<string, string>>, stored: Readonly<Record<string, string>> = {}) {
  const known = new Map(Object.entries(paths).map(([id, path]) => [id, withPath(id, path)]));
  const published: string[] = [];
  const notices: string[] = [];
  const owners = new Map(Object.entries(stored));
  const listeners = new Map<string, FanoutListener>();
  const uns = new Uns(SETTINGS, {
    fanout: {
      listen: (listener, { topic }) => {
        listeners.set(topic, listener);
        return () => undefined;
      },
    },
    trackable: (id) => known.get(id),
    trackables: () => [...known.values()],
    publish: (topic, payload) => void published.push(`${topic} ${Buffer.from(payload).toString()}`),
    storedOwner: (topic) => owners.get(topic),
    storeOwner(topic, trackable) {
      if (trackable === undefined) owners.delete(topic);
      else owners.set(topic, trackable);
    },
    notice: (problem, text, trackable) => void notices.push(`${trackable}: ${problem}: ${text}`),
  });
  return {
    ...{ published, notices, owners, uns },
    move: (id: string) => listeners.get('trackable_motions')?.receive(DeliveryBatch.of([id]), [[id]], 'published'),
    change(id: string, path?: string) {
      if (path === undefined) known.delete(id);
      else known.set(id, withPath(id, path));
      listeners.get('trackable_changes')?.receive(DeliveryBatch.of(['{}']), [[id, 'update']], 'announced');
    },
  };
}

function withPath(id: string, path: string): Trackable {
  return { id, type: 'omlox', properties: { 'com.flowcate.uns': path } } as Trackable;
}

describe('Uns', () => {
  test('clears the topic of a deleted trackable, even if it was published before a restart of the hub', () => {
    const { published, move, change } = openUns({ a: 'hall/a', b: 'hall/b' });
    move('a');
    change('a');
    change('b');
    assert.deepEqual(published, [
      'plant/hall/a/sensor/wgs84 a',
      'plant/hall/a/sensor/wgs84 ',
      'plant/hall/b/sensor/wgs84 ',
    ]);
    move('a');
    assert.equal(published.length, 3);
  });

  test('moves a trackable from one topic to another, and keeps its topic after other changes', () => {
    const { published, move, change } = openUns({ a: 'hall/a' });
    change('a', 'hall/a');
    assert.deepEqual(published, []);
    change('a', 'yard/a');
    move('a');
    change('new', 'yard/new');
    move('new');
    assert.deepEqual(published, [
      'plant/hall/a/sensor/wgs84 ',
      'plant/yard/a/sensor/wgs84 a',
      'plant/yard/new/sensor/wgs84 new',
    ]);
  });
});

describe('Uns has one owner of a topic', () => {
  const TOPIC = 'plant/hall/a/sensor/wgs84';

  test('the first claimant: a later one neither publishes nor removes anything', () => {
    const { published, notices, uns, owners, move, change } = openUns({ a: 'hall/a' });
    change('b', '/hall//a');
    move('b');
    assert.deepEqual(published, []);
    move('a');
    assert.deepEqual(published, [`${TOPIC} a`]);
    assert.deepEqual(notices, [
      `b: taken: properties.com.flowcate.uns: must be a path of one trackable, found that of "a" (topic "${TOPIC}")`,
    ]);
    assert.deepEqual([uns.health().topics, uns.health().refused, uns.health().problems[0]?.id], [1, 1, 'b']);
    assert.equal(uns.refusals().taken, 1);
    assert.deepEqual([...owners], [[TOPIC, 'a']]);
    change('b');
    assert.deepEqual(published, [`${TOPIC} a`]);
    assert.deepEqual([...owners, uns.health().refused], [0]);
  });

  for (const how of ['is deleted', 'goes elsewhere'] as const) {
    test(`until that ${how}: then the first that waits`, () => {
      const { published, uns, owners, move, change } = openUns({ a: 'hall/a', b: 'hall/a', c: 'hall/a' });
      if (how === 'is deleted') change('a');
      else change('a', 'yard/a');
      for (const id of ['a', 'b', 'c']) move(id);
      const elsewhere = how === 'is deleted' ? [] : ['plant/yard/a/sensor/wgs84 a'];
      assert.deepEqual(published, [`${TOPIC} `, ...elsewhere, `${TOPIC} b`]);
      assert.deepEqual([...owners], [[TOPIC, 'b']]);
      assert.match(uns.health().problems[0]?.problem ?? '', /found that of "b"/);
      change('c', 'hall/c');
      assert.deepEqual([[...owners], uns.health().refused], [[], 0]);
    });
  }

  test('the same after a restart, in any order of trackables', () => {
    const { published, owners, move } = openUns({ a: 'hall/a', b: 'hall/a' }, { [TOPIC]: 'b' });
    for (const id of ['a', 'b']) move(id);
    assert.deepEqual(published, [`${TOPIC} b`]);
    assert.deepEqual([...owners], [[TOPIC, 'b']]);
  });

  test('that has a topic again after its path is no longer rejected', () => {
    const { published, uns, move, change } = openUns({ a: 'hall/+' });
    move('a');
    assert.deepEqual([published, uns.refusals().characters], [[], 1]);
    change('a', 'hall/a');
    move('a');
    assert.deepEqual([published, uns.refusals().characters], [[`${TOPIC} a`], 0]);
  });
});

const PATHS: readonly [path: unknown, expected: string | RegExp | undefined][] = [
  ['hall/shelf', 'plant/hall/shelf/sensor/wgs84'],
  ['/hall//shelf/', 'plant/hall/shelf/sensor/wgs84'],
  ['', undefined],
  ['/', undefined],
  [null, undefined],
  ['hall/+', /^characters: properties\.com\.flowcate\.uns: must have neither .* found "hall\/\+"$/],
  ['#', /^characters: /],
  ['a\u0000b', /^characters: /],
  [5, /^characters: properties\.com\.flowcate\.uns: must be a string, found 5$/],
  ['a/'.repeat(32), `plant/${'a/'.repeat(32)}sensor/wgs84`],
  ['a/'.repeat(33), /^levels: properties\.com\.flowcate\.uns: must have at most 32 levels, found 33$/],
  ['a'.repeat(1024 - 'plant//sensor/wgs84'.length), `plant/${'a'.repeat(1024 - 19)}/sensor/wgs84`],
  ['ä'.repeat(503), /^length: properties\.com\.flowcate\.uns: must make a topic of at most 1,024 bytes, found 1,025$/],
];
for (const [path, expected] of PATHS) {
  const shown = [expected, JSON.stringify(path)].map((each) => String(each).slice(0, 80));
  test(`unsClaimOf() returns ${shown[0]} for ${shown[1]}`, () => {
    const claim = unsClaimOf(SETTINGS, { properties: { 'com.flowcate.uns': path } } as never);
    const found = claim && ('topic' in claim ? claim.topic : `${claim.problem}: ${claim.text}`);
    if (expected instanceof RegExp) assert.match(found ?? '', expected);
    else assert.equal(found, expected);
  });
}

test('placeText() includes only known members of a position', () => {
  const location = {
    position: { type: 'Point', coordinates: [9, 50, 3] },
    floor: 0,
    speed: null,
    source: 's',
    crs: 'x',
  };
  assert.equal(placeText(JSON.stringify({ location })), '{"longitude":9,"latitude":50,"altitude":3,"floor":0}');
});
