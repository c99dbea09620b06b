import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Batch } from '../../src/fanout/batch.ts';
import type { Listener } from '../../src/fanout/fanout.ts';
import type { Trackable } from '../../src/model/trackable.ts';
import { placeText, Uns, unsTopicOf } from '../../src/mqtt/uns.ts';

/** A namespace on a table: trackables by id with their paths, and what is published. */
function openUns(paths: Readonly<Record<string, string>>) {
  const known = new Map(Object.entries(paths).map(([id, path]) => [id, withPath(id, path)]));
  const told: string[] = [];
  const listeners = new Map<string, Listener>();
  new Uns('plant', {
    fanout: {
      listen: (listener, { topic }) => {
        listeners.set(topic, listener);
        return () => undefined;
      },
    },
    trackable: (id) => known.get(id),
    trackables: () => [...known.values()],
    publish: (topic, payload) => void told.push(`${topic} ${Buffer.from(payload).toString()}`),
  });
  return {
    told,
    move: (id: string) => listeners.get('trackable_motions')?.heard(Batch.of([id]), [[id]], 'published'),
    change(id: string, path?: string) {
      if (path === undefined) known.delete(id);
      else known.set(id, withPath(id, path));
      listeners.get('trackable_changes')?.heard(Batch.of(['{}']), [[id, 'update']], 'announced');
    },
  };
}

function withPath(id: string, path: string): Trackable {
  return { id, type: 'omlox', properties: { 'com.flowcate.uns': path } } as Trackable;
}

describe('Uns', () => {
  test('takes back the place of a trackable that is deleted, though it was published by an earlier life of the hub', () => {
    const { told, move, change } = openUns({ a: 'hall/a', b: 'hall/b' });
    move('a');
    change('a');
    change('b');
    assert.deepEqual(told, ['plant/hall/a/sensor/wgs84 a', 'plant/hall/a/sensor/wgs84 ', 'plant/hall/b/sensor/wgs84 ']);
    move('a');
    assert.equal(told.length, 3);
  });

  test('goes with a trackable from one topic to another, and leaves it where it is when something else has changed', () => {
    const { told, move, change } = openUns({ a: 'hall/a' });
    change('a', 'hall/a');
    assert.deepEqual(told, []);
    change('a', 'yard/a');
    move('a');
    change('new', 'yard/new');
    move('new');
    assert.deepEqual(told, [
      'plant/hall/a/sensor/wgs84 ',
      'plant/yard/a/sensor/wgs84 a',
      'plant/yard/new/sensor/wgs84 new',
    ]);
  });
});

const PATHS: readonly [path: unknown, topic: string | undefined][] = [
  ['hall/shelf', 'r/hall/shelf/sensor/wgs84'],
  ['/hall//shelf/', 'r/hall/shelf/sensor/wgs84'],
  ['', undefined],
  ['/', undefined],
  ['hall/+', undefined],
  ['#', undefined],
  ['a\u0000b', undefined],
  [5, undefined],
];
for (const [path, topic] of PATHS) {
  test(`unsTopicOf() makes ${topic} of ${JSON.stringify(path)}`, () => {
    assert.equal(unsTopicOf('r', { properties: { 'com.flowcate.uns': path } } as never), topic);
  });
}

test('placeText() has what is known of the place, and nothing else', () => {
  const location = {
    position: { type: 'Point', coordinates: [9, 50, 3] },
    floor: 0,
    speed: null,
    source: 's',
    crs: 'x',
  };
  assert.equal(placeText(JSON.stringify({ location })), '{"longitude":9,"latitude":50,"altitude":3,"floor":0}');
});
