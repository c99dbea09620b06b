import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HubError } from '../../src/errors.ts';
import { Ingest } from '../../src/ingest/ingest.ts';
import { GOOD_LOCATION } from '../scenarios/bad_locations.ts';

const LIST = { root: 'locations' };
const BAD = { ...GOOD_LOCATION, floor: 'top' };

/** An Ingest whose clock advances with each turn of the event loop, and a limited capacity. */
function openIngest({ room = Number.POSITIVE_INFINITY, failsAt = '' } = {}) {
  let nowMs = 1000;
  const reported: { readonly id: string; readonly receivedMs: number }[] = [];
  const ingest = new Ingest({
    now: () => nowMs,
    providerId: (id) => id,
    zone: () => undefined,
    hasCapacity: (count) => reported.length + count <= room,
    location({ provider_id: id }, { receivedMs }) {
      if (id === failsAt) throw new Error('defect');
      reported.push({ id, receivedMs });
    },
    ensureProvider: () => undefined,
    publishProximity: () => undefined,
    committed: () => undefined,
  });
  const clock = setImmediate(function tick() {
    nowMs++;
    ticking = setImmediate(tick);
  });
  let ticking = clock;
  return { ingest, reported, stop: () => clearImmediate(ticking) };
}

const listOf = (count: number, name = 'p') =>
  Array.from({ length: count }, (_, n) => ({ ...GOOD_LOCATION, provider_id: `${name}${n}` }));
const unavailable = (error: unknown) => error instanceof HubError && error.status === 503;

describe('A long list', () => {
  test('is accepted as a whole, in order, each part as received when it is passed on', async (t) => {
    const { ingest, reported, stop } = openIngest();
    t.after(stop);
    await ingest.locations(listOf(4500), LIST);
    assert.deepEqual(
      reported.map(({ id }) => id),
      listOf(4500).map(({ provider_id: id }) => id),
    );
    const times = reported.map(({ receivedMs }) => receivedMs);
    assert.deepEqual(times, times.toSorted());
    assert.equal(new Set(times).size, 5);
    assert.deepEqual(ingest.counts, { received: 4500, rejected: 0 });
  });

  test('is rejected as a whole if one location is invalid, whose index is named', async (t) => {
    const { ingest, reported, stop } = openIngest();
    t.after(stop);
    const taking = ingest.locations([...listOf(3210), BAD], LIST);
    await assert.rejects(taking ?? assert.fail(), /locations\[3210\]\.floor: must be a number, found "top"/);
    assert.deepEqual(reported, []);
    assert.deepEqual(ingest.counts, { received: 3211, rejected: 3211 });
    assert.deepEqual(
      [...ingest.rejections()],
      [
        ['floor', 1],
        ['list', 3210],
      ],
    );
  });

  test('of a message is accepted except for the invalid ones', async (t) => {
    const { ingest, reported, stop } = openIngest();
    t.after(stop);
    const { problems } = await ingest.publishedLocations([...listOf(2000), BAD, ...listOf(500, 'q')]);
    assert.deepEqual(problems.map(String), ['payload[2000].floor: must be a number, found "top"']);
    assert.equal(reported.length, 2500);
    assert.deepEqual(ingest.counts, { received: 2501, rejected: 1 });
  });

  test('yields to others, and keeps its promised capacity', async (t) => {
    const { ingest, reported, stop } = openIngest({ room: 4000 });
    t.after(stop);
    const long = ingest.locations(listOf(3000), LIST);
    while (reported.length === 0) await new Promise(setImmediate);
    // A thousand are passed on, and room is reserved for two thousand.
    ingest.locations(listOf(900, 'other'), LIST);
    assert.throws(() => ingest.locations(listOf(900, 'more'), LIST), unavailable);
    await long;
    assert.equal(reported.length, 3900);
    assert.ok(reported.findIndex(({ id }) => id === 'other0') < 3000, 'others are passed on in between');
  });

  test('that fails while it is passed on gives back the room of its rest', async (t) => {
    const { ingest, stop } = openIngest({ room: 3000, failsAt: 'p0' });
    t.after(stop);
    const body = Buffer.from(JSON.stringify(listOf(3000)));
    for (const taking of [ingest.locations(listOf(3000), LIST), ingest.longBody(body, LIST)]) {
      await assert.rejects(taking ?? assert.fail(), /defect/);
    }
    await ingest.locations(listOf(3000, 'q'), LIST);
  });

  test('is rejected if there is no room for all of it', async (t) => {
    const { ingest, reported, stop } = openIngest({ room: 2000 });
    t.after(stop);
    await assert.rejects(ingest.locations(listOf(2001), LIST) ?? assert.fail(), unavailable);
    assert.deepEqual(reported, []);
    assert.equal(ingest.counts.rejected, 2001);
  });
});
