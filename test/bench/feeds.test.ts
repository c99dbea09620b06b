import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Feed, MovingFeed } from '../../bench/load/feed.ts';
import { busiestStart, tracksOf } from '../../bench/load/recording.ts';
import { RecordingFeed } from '../../bench/load/recording_feed.ts';
import { Stamp } from '../../bench/load/slots.ts';
import { checkLocation } from '../../src/ingest/check_location.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

interface Sent {
  readonly provider_id: string;
  readonly timestamp_generated: string;
  readonly position: { readonly coordinates: readonly [number, number] };
}

const NOW_US = 1_800_000_000_123_456;

/** Locations of a connection's next message. Fails if the hub would reject them. */
function nextOf(feed: Feed, connection: number): readonly Sent[] {
  const stamp = new Stamp();
  stamp.set(NOW_US);
  const { bytes, locations } = feed.next(connection, stamp);
  const [head = '', body = ''] = bytes.toString('latin1').split('\r\n\r\n');
  assert.equal(Number(/Content-Length: (\d+)/.exec(head)?.[1]), body.length);
  const value = JSON.parse(body);
  const list: Sent[] = Array.isArray(value) ? value : [value];
  assert.equal(list.length, locations);
  for (const location of list) {
    const expected = { at: '', receivedMs: 0, zone: () => undefined, knownId: (id: string) => id };
    const found = checkLocation(location, expected);
    assert.equal(typeof found, 'object', String(found));
    assert.equal(location.timestamp_generated, '2027-01-15T08:00:00.123456Z');
  }
  return list;
}

test('MovingFeed names every provider once per round, each always on the same connection', () => {
  const shape = { kind: 'walk', providers: 25, sideMeters: 100, stepMeters: 1, connections: 2 } as const;
  for (const plan of [
    { ...shape, way: 'put-many', perMessage: 10 },
    { ...shape, way: 'put-one', perMessage: 1 },
  ] as const) {
    const feed = new MovingFeed(plan);
    const own = [0, 1].map((connection) => {
      const turns = connection === 0 ? Math.ceil(feed.messagesPerRound / 2) : Math.floor(feed.messagesPerRound / 2);
      const round = () => Array.from({ length: turns }, () => nextOf(feed, connection)).flat();
      const [first, second] = [round(), round()];
      const ids = first.map(({ provider_id: id }) => id);
      assert.deepEqual(
        ids,
        second.map(({ provider_id: id }) => id),
      );
      const moved = first.filter(({ position }, i) => {
        return `${position.coordinates}` !== `${second[i]?.position.coordinates}`;
      });
      assert.ok(moved.length > first.length / 2, 'walkers walk');
      return ids;
    });
    assert.equal(new Set(own.flat()).size, 25);
    assert.equal(own.flat().length, 25);
  }
});

test('MovingFeed alternates between outside and inside, but not after a rejected message', () => {
  const plan = {
    kind: 'flip',
    way: 'put-many',
    providers: 3,
    perMessage: 3,
    connections: 1,
    spacingMeters: 60,
  } as const;
  const feed = new MovingFeed(plan);
  const latitudes = () => nextOf(feed, 0).map(({ position }) => position.coordinates[1]);
  const inside = latitudes();
  const outside = latitudes();
  assert.notDeepEqual(outside, inside);
  feed.refused(0);
  assert.deepEqual(latitudes(), outside);
  assert.deepEqual(latitudes(), inside);
});

function line(id: string, second: number, lon: number) {
  return {
    provider_id: id,
    provider_type: 'unknown',
    crs: 'EPSG:4326',
    timestamp_generated: new Date(second * 1000).toISOString(),
    position: { type: 'Point', coordinates: [lon, -50] },
  };
}

test('RecordingFeed sends the recorded providers on straight lines, and starts over at the end', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'recording.ndjson');
  const lines = [line('a', 100, 9), line('b', 101, 5), line('a', 102, 10), line('b', 103, 5)];
  writeFileSync(path, lines.map((text) => `${JSON.stringify(text)}\n`).join(''));
  const plan = {
    kind: 'recording',
    way: 'put-many',
    path,
    hz: 1,
    lengthMs: 4000,
    perMessage: 1,
    connections: 1,
  } as const;
  const feed = new RecordingFeed(plan);
  const seen = Array.from({ length: 5 }, () =>
    nextOf(feed, 0).map(({ provider_id: id, position }) => `${id} ${position.coordinates}`),
  );
  assert.deepEqual(seen, [['a 9,-50'], ['a 9.5,-50', 'b 5,-50'], ['a 10,-50', 'b 5,-50'], ['b 5,-50'], ['a 9,-50']]);
  assert.equal(feed.locationsPerMessage(), 6 / 4);
});

test('busiestStart ignores the few samples from long before and after', () => {
  const seconds = [0, 500, 501, 502, 503, 504, 900];
  assert.equal(busiestStart(tracksOf(seconds.map((second) => line(`${second}`, second, 8))), 10_000), 500_000);
});
