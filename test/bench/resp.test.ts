import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EventCounter, MARKS, type Marks } from '../../bench/listen/counter.ts';
import { PushCounter } from '../../bench/listen/push_client.ts';
import { PushParser } from '../../bench/listen/push_parser.ts';
import type { Fate } from '../../bench/load/connection.ts';
import { MovingFeed } from '../../bench/load/feed.ts';
import { RespConnection } from '../../bench/load/resp_connection.ts';
import { pipelineOf, respCommand, setPipeline, writeSet } from '../../bench/load/set_commands.ts';
import { Stamp } from '../../bench/load/slots.ts';
import type { FenceBody } from '../../bench/process/contender.ts';
import { fenceCommand } from '../../bench/process/tile38.ts';
import { answeringInPieces } from './pieces.ts';

const NOW_US = 1_800_000_000_500_000;
const DUE_US = NOW_US - 1235;

/** Arguments of the commands of a pipeline, split by their lengths. */
function commandsOf(bytes: Buffer): string[][] {
  const commands: string[][] = [];
  for (let at = 0; at < bytes.length; ) {
    const number = (sign: string): number => {
      const end = bytes.indexOf('\r\n', at);
      const line = bytes.toString('latin1', at, end);
      assert.equal(line[0], sign);
      at = end + 2;
      return Number(line.slice(1));
    };
    commands.push(
      Array.from({ length: number('*') }, () => {
        const length = number('$');
        const word = bytes.toString('utf8', at, at + length);
        assert.equal(bytes.toString('latin1', at + length, at + length + 2), '\r\n');
        at += length + 2;
        return word;
      }),
    );
  }
  return commands;
}

test('A pipeline sets each object to its position, with the time at which that was due', () => {
  const stamp = new Stamp();
  stamp.set(DUE_US);
  const units = fc.integer({ min: -1_800_000_000, max: 1_800_000_000 });
  fc.assert(
    fc.property(units, units, (lon, lat) => {
      const { bytes, slots } = setPipeline([4, 7], ['tag-000004', 'tag-000007']);
      assert.deepEqual(
        slots.map(({ provider }) => provider),
        [4, 7],
      );
      for (const of of slots) writeSet(bytes, of, lon, lat, stamp);
      const commands = commandsOf(bytes);
      assert.deepEqual(commands.at(-1), ['PING']);
      for (const [i, id] of ['tag-000004', 'tag-000007'].entries()) {
        const words = commands[i] ?? [];
        assert.deepEqual(words.slice(0, 7), ['SET', 'fleet', id, 'FIELD', 'due', String(DUE_US), 'POINT']);
        // Go's syntax of a number: a sign and digits, no spaces.
        for (const word of words.slice(7)) assert.match(word, /^[+-]\d{3}\.\d{7}$/);
        assert.deepEqual(words.slice(7).map(Number), [lat / 1e7, lon / 1e7]);
      }
    }),
    { seed: 1, numRuns: 300, examples: [[0, 0]] },
  );
});

test('MovingFeed moves the same providers to the same positions for every protocol', () => {
  const plan = { kind: 'walk', providers: 7, sideMeters: 100, stepMeters: 1, connections: 2, perMessage: 3 } as const;
  const [hub, peer] = [new MovingFeed({ ...plan, way: 'put-many' }), new MovingFeed({ ...plan, way: 'resp' })];
  const stamp = new Stamp();
  stamp.set(NOW_US);
  for (let turn = 0; turn < 6; turn++) {
    const body =
      hub
        .next(turn % 2, stamp)
        .bytes.toString('latin1')
        .split('\r\n\r\n')[1] ?? '';
    const locations = JSON.parse(body) as { provider_id: string; position: { coordinates: number[] } }[];
    const sets = commandsOf(peer.next(turn % 2, stamp).bytes).slice(0, -1);
    assert.deepEqual(
      sets.map(([, , id, , , , , lat, lon]) => [id, Number(lon), Number(lat)]),
      locations.map(({ provider_id: id, position }) => [id, ...position.coordinates]),
    );
  }
});

test('fenceCommand creates a channel from a polygon or a circle', () => {
  const triangle = [
    [8, 50],
    [8.1, 50],
    [8, 50.1],
    [8, 50],
  ];
  const polygon: FenceBody = { name: 'a', region: { type: 'Polygon', coordinates: [triangle] } };
  const circle: FenceBody = { name: 'b', region: { type: 'Point', coordinates: [8, 50] }, radius: 10 };
  const watched = ['fleet', 'FENCE', 'DETECT', 'enter,exit'];
  assert.deepEqual(commandsOf(Buffer.from(fenceCommand(polygon) + fenceCommand(circle))), [
    ['SETCHAN', 'a', 'INTERSECTS', ...watched, 'OBJECT', JSON.stringify(polygon.region)],
    ['SETCHAN', 'b', 'NEARBY', ...watched, 'POINT', '50', '8', '10'],
  ]);
});

/** Outcome of a response that arrives in these chunks, each in a separate packet. */
async function fateOf(pieces: readonly string[]): Promise<{ fate: Fate; error: string }> {
  const { server, port } = await answeringInPieces(pieces);
  const connection = await RespConnection.open(port);
  const fate = await new Promise<Fate>((resolve) => connection.send(pipelineOf([]), resolve));
  connection.close();
  server.close();
  return { fate, error: connection.error };
}

test('RespConnection reports when a whole pipeline is answered, regardless of chunk boundaries', async () => {
  const fine = '+OK\r\n+OK\r\n:1\r\n+PONG\r\n';
  const bad = "+OK\r\n-ERR invalid argument 'GO'\r\n+OK\r\n+PONG\r\n";
  const cases: [pieces: string[], fate: Fate, error: RegExp][] = [
    [[fine], 'accepted', /^$/],
    [[...fine], 'accepted', /^$/],
    [[bad], 'failed', /^-ERR invalid argument 'GO'/],
    [[...bad], 'failed', /^-ERR invalid argument 'GO'/],
    [[], 'failed', /closed/],
  ];
  for (const [pieces, fate, error] of cases) {
    const found = await fateOf(pieces);
    assert.equal(found.fate, fate, pieces.join('|'));
    assert.match(found.error, error);
  }
});

function eventOf(id: string): string {
  const event = { command: 'set', detect: 'enter', hook: 'fence 1', key: 'fleet', time: '2027-01-15T08:00:00Z', id };
  return JSON.stringify({ ...event, object: { type: 'Point', coordinates: [8, 50] }, fields: { due: DUE_US } });
}

test('PushParser extracts events regardless of chunk boundaries', () => {
  const confirmed = '*3\r\n$10\r\npsubscribe\r\n$1\r\n*\r\n:1\r\n';
  const events = ['a', 'é', 'ccc'].map(eventOf);
  const stream = Buffer.from(
    confirmed + events.map((event) => respCommand('pmessage', '*', 'fence 1', event)).join(''),
  );
  for (const size of [1, 2, 7, 100, stream.length]) {
    const seen: string[] = [];
    const counter = new PushCounter(() => NOW_US);
    let confirmations = 0;
    const parser = new PushParser({
      subscribed: () => confirmations++,
      event(bytes, from, to) {
        seen.push(bytes.toString('utf8', from, to));
        counter.event(bytes, from, to);
      },
    });
    for (let at = 0; at < stream.length; at += size) parser.push(stream.subarray(at, at + size));
    assert.deepEqual(seen, events, `in pieces of ${size}`);
    assert.equal(confirmations, 1);
    const { count, p50 } = counter.latencies.percentiles();
    assert.deepEqual([counter.objects, count], [3, 3]);
    assert.ok(Math.abs(p50 - 1.235) < 0.01, `${p50} ms`);
  }
});

test('PushParser and PushCounter report what is wrong with their input', () => {
  const parser = new PushParser({ event: () => undefined, subscribed: () => undefined });
  assert.throws(() => parser.push(Buffer.from('-ERR no\r\n')), /Cannot subscribe: answered -ERR no/);
  const bare = Buffer.from('{"id":"a"}');
  assert.throws(() => new PushCounter(() => NOW_US).event(bare, 0, bare.length), /has no due: \{"id":"a"\}/);
});

test('EventCounter measures the age of every event with agesOfAll', () => {
  const counted = new EventCounter(MARKS['fence_events'] as Marks, () => NOW_US, { agesOfAll: true });
  const entry = { id: 'a', fence_id: 'f', entry_time: '2027-01-15T08:00:00.400Z' };
  const payload = [entry, { ...entry, exit_time: '2027-01-15T08:00:00.490Z' }, entry];
  counted.frame(Buffer.from(JSON.stringify({ event: 'message', topic: 'fence_events', payload })));
  const { count, p50, max } = counted.latencies.percentiles();
  assert.equal(count, 3);
  assert.ok(Math.abs(p50 - 100) < 1 && Math.abs(max - 100) < 1, `${p50}, ${max} ms`);
});
