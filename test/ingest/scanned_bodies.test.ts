import { errorWith } from '../support/errors.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asRefusal, parseBody, parseLongBody } from '../../src/api/body.ts';
import type { AcceptedLocation } from '../../src/core/location/accepted.ts';
import { ReceivedLocation } from '../../src/core/location/received.ts';
import { PROVIDER_NAME, recordSize, SOURCE_NAME } from '../../src/core/location/record.ts';
import type { ScannedBody } from '../../src/core/location/scanned_body.ts';
import { HubError } from '../../src/errors.ts';
import { ScannedNames } from '../../src/ingest/body_scanner.ts';
import { Ingest, UNUSUAL } from '../../src/ingest/ingest.ts';
import { lend } from '../../src/model/borrowed.ts';
import { Arrivals } from '../../src/operation/arrivals.ts';
import { TaskScheduler } from '../../src/time/task_scheduler.ts';
import { LocationScanner } from '../../wasm/location_scanner.ts';
import { type Dice, diceOf } from '../support/dice.ts';
import { wildBody, wildLocation } from './wild_locations.ts';

const UUID = '6fa459ea-ee8a-4ca4-894e-db77e160355e';
const RECEIVED_MS = Date.parse('2026-12-01T00:00:00Z');

interface Scene {
  readonly capacity?: number;
  readonly pieceBytes?: number;
  readonly isMoving?: boolean;
  /** Returns the id as it was created. */
  readonly knownId?: (id: string) => string;
  readonly providersChanged?: () => number;
  /** Whether a provider is still being created. */
  readonly isWaiting?: (id: string) => boolean;
}

/** One for all tests: each instance allocates its own memory. */
const scanner = new LocationScanner({ nameBytes: 1024, propertiesBytes: 65_536 });

/** An Ingest that records its actions as strings. */
function openIngest({
  capacity = Number.POSITIVE_INFINITY,
  isMoving = false,
  knownId = (id) => id,
  providersChanged,
  isWaiting = () => false,
  pieceBytes,
}: Scene = {}) {
  const reported: string[] = [];
  const arrivals = new Arrivals(() => undefined);
  scanner.forgetNames();
  const ingest = new Ingest({
    now: () => RECEIVED_MS,
    providerId: knownId,
    zone: () => undefined,
    hasCapacity: (count) => count <= capacity,
    scanner,
    canTakeScanned: () => !isMoving,
    location: (location, times) => reported.push(`${shown(location)} ${times.generatedMs} ${times.receivedMs}`),
    scanned: (body) => reported.push(...shownScanned(body)),
    accepted: (location, receivedMs, via) => arrivals.arrived(location, receivedMs, via),
    located: (id) => arrivals.markActive(id),
    countConsecutive: (count, from) => arrivals.came(count, from),
    ensureProvider(id, type) {
      reported.push(`provider ${id} ${type}`);
      return isWaiting(id) ? Promise.resolve() : undefined;
    },
    ...(providersChanged && { providersChanged }),
    ...(pieceBytes && { pieceBytes }),
    publishProximity: () => undefined,
    committed: () => undefined,
  });
  return { ingest, reported, arrivals };
}

function shown({ provider_id, source, positionText, text }: AcceptedLocation): string {
  return `location ${provider_id} of ${source}: ${positionText}${text}`;
}

function shownScanned({ records, start, end, receivedMs, nameOf }: ScannedBody): string[] {
  const shown: string[] = [];
  for (let at = start; at < end; at += recordSize(records, at)) {
    const nameAt = (field: number) => nameOf(records.view.getUint32(at + field, true));
    const record = new ReceivedLocation(records, at, []);
    assert.deepEqual([record.receivedMs, record.providerId], [receivedMs, nameAt(PROVIDER_NAME)]);
    const text = Buffer.alloc(record.textBytes);
    record.copyText(text, 0);
    shown.push(
      `location ${record.providerId} of ${nameAt(SOURCE_NAME)}: ${text} ${record.generatedMs} ${record.receivedMs}`,
    );
  }
  return shown;
}

/** The providers of a body may be ensured before any of its locations is passed on. */
function ordered(reported: readonly string[]): string[] {
  const ofKind = (kind: string) => reported.filter((line) => line.startsWith(kind));
  const found = [...ofKind('provider'), ...ofKind('location')];
  assert.equal(found.length, reported.length);
  return found;
}

/** Returns the result of a body: calls and counts, or the error. */
function outcomeOf(act: (ingest: Ingest) => unknown, scene: Scene = {}) {
  const { ingest, reported, arrivals } = openIngest(scene);
  let error: string | undefined;
  try {
    act(ingest);
  } catch (cause) {
    assert.ok(cause instanceof HubError, String(cause));
    error = cause.message;
  }
  const observed = { active: [...arrivals.active], sources: arrivals.sources() };
  return { reported: ordered(reported), observed, error, counts: ingest.counts, rejections: [...ingest.rejections()] };
}

const parsed = (body: Uint8Array) => (ingest: Ingest) => {
  const values = parseBody(body, {});
  if (!Array.isArray(values)) throw errorWith('HUB_BAD_REQUEST', 'no list');
  ingest.locations(values, { root: 'locations' });
};
const scannedOr = (body: Uint8Array) => (ingest: Ingest) => {
  if (ingest.body(lend(body), {}) === UNUSUAL) parsed(body)(ingest);
};
const bodyOf = (...ids: string[]): Buffer =>
  Buffer.from(
    JSON.stringify(
      ids.map((id) => ({
        position: { type: 'Point', coordinates: [9, 50] },
        provider_type: 'uwb',
        provider_id: id,
        crs: 'EPSG:4326',
        timestamp_generated: '2026-11-20T10:00:00Z',
      })),
    ),
  );

describe('The locations of a body', () => {
  test('are accepted, and counted, equally by scanner and parser, for any body', () => {
    for (let seed = 1; seed < 3000; seed++) {
      const body = wildBody(diceOf(seed));
      assert.deepEqual(outcomeOf(scannedOr(body)), outcomeOf(parsed(body)), Buffer.from(body).toString());
    }
  });

  test('may be a single one of the provider in a path', () => {
    let taken = 0;
    for (let seed = 1; seed < 3000; seed++) {
      const dice = diceOf(seed);
      const providerId = ['tag-1', 'tag-2', 'ä', 'a"b', ''][dice(5)] as string;
      const text =
        dice(4) > 0 ? wildLocation(dice).replace(/"provider_id"\s*:\s*"tag-\d+"\s*,\s*/, '') : wildLocation(dice);
      const body = Buffer.from(text.replace(/"tag-\d+"/, '"tag-1"'));
      const asOne = (ingest: Ingest) =>
        void ingest.locations([parseBody(body, {})], { root: '', ...(providerId && { providerId }) });
      const either = (ingest: Ingest) => {
        if (providerId === '' || ingest.body(lend(body), { providerId }) === UNUSUAL) asOne(ingest);
        else taken++;
      };
      assert.deepEqual(outcomeOf(either), outcomeOf(asOne), text);
    }
    assert.ok(taken > 300, `${taken}`);
  });

  test('may be in a WebSocket message with any other members', () => {
    let [taken, both] = [0, 0];
    for (let seed = 1; seed < 3000; seed++) {
      const dice = diceOf(seed);
      const frame = wildMessage(dice);
      const { ingest, reported } = openIngest();
      const result = ingest.message(lend(frame));
      const wanted = publishedOf(frame);
      if (result === UNUSUAL) {
        assert.deepEqual([reported, ingest.counts.received], [[], 0]);
        if (wanted !== undefined) both++;
        continue;
      }
      taken++;
      both++;
      assert.ok(wanted, Buffer.from(frame).toString());
      const read = openIngest();
      assert.deepEqual(read.ingest.locationsEach(wanted).problems, []);
      assert.deepEqual([ordered(reported), ingest.counts], [ordered(read.reported), read.ingest.counts]);
    }
    assert.ok(taken > 300 && taken > both / 2, `${taken} of ${both}`);
  });

  test('are rejected together when the shards are full', () => {
    const { reported, error, counts, rejections } = outcomeOf(
      (ingest) => ingest.body(lend(bodyOf('a', 'b', 'c')), {}),
      {
        capacity: 2,
      },
    );
    assert.match(String(error), /too many are waiting/);
    assert.deepEqual(
      { reported, counts, rejections },
      { reported: [], counts: { received: 3, rejected: 3 }, rejections: [['full', 3]] },
    );
  });

  test('are parsed while objects migrate, and if a provider is named by its UUID in another case', () => {
    const { ingest } = openIngest({ isMoving: true });
    assert.equal(ingest.body(lend(bodyOf('a')), {}), UNUSUAL);
    const knownId = (id: string) => id.toLowerCase();
    const other = openIngest({ knownId });
    assert.equal(other.ingest.body(lend(bodyOf('a', UUID.toUpperCase())), {}), UNUSUAL);
    assert.deepEqual(other.reported, []);
    assert.equal(other.ingest.body(lend(bodyOf('a', UUID)), {}), undefined);
    assert.equal(other.reported.length, 4);
  });

  test('ask once for a provider that is stored, and again after a deletion', () => {
    let gone = 0;
    const waiting = new Set<string>();
    const { ingest, reported } = openIngest({ providersChanged: () => gone, isWaiting: (id) => waiting.has(id) });
    const asked = () => reported.splice(0).filter((line) => line.startsWith('provider'));
    const send = (...ids: string[]) => void ingest.body(lend(bodyOf(...ids)), {});
    send('a', 'b', 'a');
    assert.deepEqual(asked(), ['provider a uwb', 'provider b uwb']);
    send('b', 'a', 'c');
    assert.deepEqual(asked(), ['provider c uwb']);
    gone++;
    waiting.add('a');
    send('a', 'b');
    send('a', 'b');
    assert.deepEqual(asked(), ['provider a uwb', 'provider b uwb', 'provider a uwb'], 'a is not stored yet');
    waiting.clear();
    send('a');
    send('a');
    assert.deepEqual(asked(), ['provider a uwb']);
  });

  test('may name any number of providers', () => {
    const { ingest, reported } = openIngest();
    let unusual = 0;
    for (let from = 0; from < 200_000; from += 1000) {
      reported.length = 0;
      const ids = Array.from({ length: 1000 }, (_, i) => `provider ${from + i}`);
      const body = bodyOf(...ids);
      if (ingest.body(lend(body), {}) === UNUSUAL) unusual++;
      else assert.match(reported.at(-1) as string, new RegExp(`^location ${ids.at(-1)} of ${ids.at(-1)}: `));
    }
    assert.ok(unusual <= 1, `${unusual} bodies were left to the parser`);
  });

  test('may name any number of providers by long ids', () => {
    const { ingest } = openIngest();
    let unusual = 0;
    for (let from = 0; from < 20_000; from += 100) {
      const ids = Array.from({ length: 100 }, (_, i) => `${from + i} ${'x'.repeat(900)}`);
      if (ingest.body(lend(bodyOf(...ids)), {}) === UNUSUAL) unusual++;
    }
    assert.ok(unusual > 0 && unusual < 10, `${unusual} bodies were left to the parser`);
  });
});

describe('The locations of a long body', () => {
  /** Returns the result, parsed in chunks of `pieceBytes`; without it, as a whole. */
  async function outcomeOfLong(body: Uint8Array, { pieceBytes, ...scene }: Scene) {
    const { ingest, reported } = openIngest({ ...scene, ...(pieceBytes && { pieceBytes }) });
    const whole = async () => {
      const values = await parseLongBody(body, { everywhere: false, textMax: body.length, turns });
      if (!Array.isArray(values)) throw errorWith('HUB_BAD_REQUEST', 'no list');
      return ingest.locations(values, LIST);
    };
    const pieces = () => ingest.longBody(body, LIST).then((taken) => (taken === UNUSUAL ? whole() : taken.committed));
    let error: HubError | undefined;
    await (pieceBytes ? pieces() : whole()).catch((cause: unknown) => {
      const refusal = asRefusal(cause);
      assert.ok(refusal instanceof HubError, String(cause));
      error = refusal;
    });
    return {
      reported: ordered(reported),
      error: error?.message,
      counts: ingest.counts,
      rejections: [...ingest.rejections()],
    };
  }
  const LIST = { root: 'locations' };
  const turns = new TaskScheduler();

  test('are accepted, rejected, and counted, as those of a short one, for any chunk size', async (t) => {
    const seen = { taken: 0, refused: 0, noJson: 0 };
    for (let seed = 1; seed <= 1500; seed++) {
      const dice = diceOf(seed);
      const body = longBody(dice);
      const scene = { isMoving: dice(5) === 0, capacity: dice(20) === 0 ? 3 : 1000 };
      const wanted = await outcomeOfLong(body, scene);
      const found = await outcomeOfLong(body, { ...scene, pieceBytes: 50 + dice(1500) });
      // The first problem is reported: in truncated JSON that may be a location.
      const isJson = wanted.error === undefined || /locations\[|capacity|waiting|no list/.test(wanted.error);
      if (isJson) assert.deepEqual(found, wanted, `${seed} ${body}`);
      else assert.deepEqual([found.reported, found.error === undefined], [[], false], `${seed} ${body}`);
      seen[wanted.error === undefined ? 'taken' : isJson ? 'refused' : 'noJson']++;
    }
    t.diagnostic(JSON.stringify(seen));
    assert.ok(Math.min(...Object.values(seen)) > 100, JSON.stringify(seen));
  });

  test('may be empty, not a list, or too long for a chunk', async () => {
    for (const body of [
      '[]',
      ' [ \n] ',
      '{}',
      '',
      'x',
      '[',
      '[1',
      ']',
      '[}',
      '[{]}',
      '[],',
      '[1,]',
      '[,1]',
      '["\\',
      '[[]]',
    ]) {
      const wanted = await outcomeOfLong(Buffer.from(body), {});
      const found = await outcomeOfLong(Buffer.from(body), { pieceBytes: 1000 });
      assert.deepEqual(
        [found.reported, found.error === undefined],
        [wanted.reported, wanted.error === undefined],
        body,
      );
    }
    const { ingest, reported } = openIngest({ pieceBytes: 100 });
    assert.equal(await ingest.longBody(bodyOf('x'.repeat(1000)), LIST), UNUSUAL);
    assert.deepEqual([reported, ingest.counts], [[], { received: 0, rejected: 0 }]);
  });

  test('are checked before any is accepted, and yield in between', async () => {
    const { ingest, reported } = openIngest({ pieceBytes: 300 });
    const ids = Array.from({ length: 100 }, (_, n) => `p${n}`);
    const reading = ingest.longBody(bodyOf(...ids), LIST);
    let turnsTaken = 0;
    while (reported.length === 0) {
      await new Promise(setImmediate);
      turnsTaken++;
    }
    assert.ok(turnsTaken > 30, `${turnsTaken} turns before the first was accepted`);
    assert.ok(reported.length < 30, `${reported.length} at once`);
    await reading;
    assert.deepEqual(
      reported.filter((line) => line.startsWith('provider')),
      ids.map((id) => `provider ${id} uwb`),
    );
  });
});

/** A list of some locations, most of them valid. */
function longBody(dice: Dice): Uint8Array {
  const good = () =>
    JSON.stringify(JSON.parse(bodyOf(`tag ${dice(30)}`).toString())[0], undefined, dice(4) === 0 ? 1 : 0);
  const wild = dice(3);
  const items = Array.from({ length: 1 + dice(20) }, () => (dice(20) < wild ? wildLocation(dice) : good()));
  const body = Buffer.from(`[${items.join(',')}]`);
  if (dice(4) > 0) return body;
  // A part of it is omitted.
  const at = dice(body.length);
  return Buffer.concat([body.subarray(0, at), body.subarray(at + 1 + dice(3))]);
}

/** A message that publishes locations, with random defects. */
function wildMessage(dice: Dice): Uint8Array {
  const list = Buffer.from(wildBody(dice)).toString('latin1');
  const members = [
    ['event', dice(12) === 0 ? '"subscribe"' : '"message"'],
    ['topic', dice(12) === 0 ? '"proximity_updates"' : '"location_updates"'],
    ['payload', list],
  ];
  if (dice(3) === 0) members.reverse();
  if (dice(12) === 0) members.push(['params', '{}']);
  if (dice(20) === 0) members.push(members[dice(3)] as string[]);
  if (dice(20) === 0) members.splice(dice(3), 1);
  const blank = () => ['', '', ' ', '\n'][dice(4)];
  const texts = members.map(([name, value]) => `${blank()}"${name}"${blank()}:${blank()}${value}${blank()}`);
  return Buffer.from(`${blank()}{${texts.join(',')}}${dice(20) === 0 ? '}' : blank()}`, 'latin1');
}

/** Returns the values of a message that is accepted as a whole; undefined for any other. */
function publishedOf(frame: Uint8Array): readonly unknown[] | undefined {
  let message: unknown;
  try {
    message = parseBody(frame, {});
  } catch {
    return undefined;
  }
  const { event, topic, payload } = (message ?? {}) as Record<string, unknown>;
  if (event !== 'message' || topic !== 'location_updates' || !Array.isArray(payload) || payload.length === 0)
    return undefined;
  return openIngest().ingest.locationsEach(payload).problems.length === 0 ? payload : undefined;
}

test('Names are cached once, and dropped together', () => {
  const texts = ['a', UUID, 'b'];
  const table = {
    nameCount: 2,
    namesMax: 3,
    areNamesFull: false,
    nameOf: (number: number) => texts[number] as string,
    forgetNames: () => undefined,
  };
  const names = new ScannedNames(table);
  names.learn({ ...table, nameCount: 1 });
  assert.equal(names.hasUuids, false);
  names.learn(table);
  assert.deepEqual([names.hasUuids, names.of(0), names.of(1)], [true, 'a', UUID]);
  names.makeRoom(table);
  assert.equal(names.of(1), UUID);
  names.makeRoom({ ...table, areNamesFull: true });
  assert.equal(names.hasUuids, false);
});
