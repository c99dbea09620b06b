import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import type { Event, Recorder } from '../support/socket_client.ts';
import { expectationOf, type OracleFence, type OracleLocation } from './opensky_oracle.ts';

const DATA = new URL('../../../shared/data/opensky-germany/', import.meta.url);
const BATCH = 256;
const LOCATIONS = 8368;

function read(name: string): string {
  return readFileSync(new URL(name, DATA), 'utf8');
}

async function createAll(hub: TestHub, path: string, entities: readonly object[]): Promise<void> {
  const replies = await Promise.all(entities.map((entity) => hub.post(path, entity)));
  for (const { status, text } of replies) assert.equal(status, 201, text);
}

const skip = existsSync(DATA) ? false : 'the data of OpenSky is not there';

describe('real flights over Germany', { skip }, () => {
  let hub: TestHub;
  let events: Recorder;
  let fences: OracleFence[];
  let locations: OracleLocation[];

  before(async () => {
    fences = JSON.parse(read('fences.json'));
    const lines = read('locations.ndjson').split('\n');
    locations = lines.filter((line) => line !== '').map((line) => JSON.parse(line));
    hub = await openTestHub();
    events = await hub.subscribe('fence_events');
    await createAll(hub, '/fences', fences);
    await createAll(hub, '/trackables', JSON.parse(read('trackables.json')));
  });
  after(() => hub.close());

  /** Sends locations as fast as the hub accepts them. Returns the changes of the hub's counters. */
  async function replay(track: readonly OracleLocation[]) {
    const counted = hub.hub.counts();
    for (let start = 0; start < track.length; start += BATCH) {
      const { status, text } = await hub.put('/providers/locations', track.slice(start, start + BATCH));
      assert.equal(status, 204, text);
    }
    await hub.settle();
    const { received, processed, outdated, rejected } = hub.hub.counts();
    return {
      received: received - counted.received,
      processed: processed - counted.processed,
      outdated: outdated - counted.outdated,
      rejected: rejected - counted.rejected,
    };
  }

  test('enter and exit fences as computed by brute force', async (t) => {
    const expected = expectationOf(fences, locations);
    assert.ok(expected.crossings.size > 500, `only ${expected.crossings.size} flights have met a fence`);
    const startMs = performance.now();
    const counts = await replay(locations);
    const seconds = (performance.now() - startMs) / 1000;
    assert.deepEqual(counts, { received: LOCATIONS, processed: LOCATIONS, outdated: 0, rejected: 0 });
    const received = events.take();
    t.diagnostic(`${LOCATIONS} locations in ${seconds.toFixed(2)} s, ${received.length} fence events`);
    assert.deepEqual(crossingsOf(received.filter(isOfProvider)), sorted(expected.crossings));
    assertAlternating(received.filter((event) => !isOfProvider(event)));
    const { body: list } = await hub.get('/providers/locations');
    assert.equal(list.length, new Set(locations.map(({ provider_id: id }) => id)).size);
  });

  test('do so even if their locations are delayed and out of order', async () => {
    const late = shuffled(locations).map((location) => {
      const id = `late ${location.provider_id}`;
      return { ...location, provider_id: id, source: id };
    });
    const expected = expectationOf(fences, late);
    assert.ok(expected.outdated > 1000, `only ${expected.outdated} are outdated`);
    const counts = await replay(late);
    assert.deepEqual(counts, {
      received: LOCATIONS,
      processed: LOCATIONS - expected.outdated,
      outdated: expected.outdated,
      rejected: 0,
    });
    assert.deepEqual(crossingsOf(events.take()), sorted(expected.crossings));
    assert.deepEqual(hub.logged, []);
  });
});

/** Moves each location by up to 2000 places, deterministically. */
function shuffled(locations: readonly OracleLocation[]): OracleLocation[] {
  let state = 1;
  const places = locations.map((location, index) => {
    state = (state * 48_271) % 0x7fffffff;
    return { location, place: index + (state / 0x7fffffff) * 2000 };
  });
  return places.sort((a, b) => a.place - b.place).map(({ location }) => location);
}

function isOfProvider({ trackable_id: trackable }: Event): boolean {
  return trackable === null;
}

function crossingsOf(events: readonly Event[]): object {
  const crossings = new Map<string, string[]>();
  for (const {
    fence_id: fence,
    provider_id: provider,
    event_type: type,
    entry_time: entry,
    exit_time: exit,
  } of events) {
    const key = `${fence} ${provider}`;
    crossings.set(key, [...(crossings.get(key) ?? []), `${type} ${Date.parse(exit ?? entry)}`]);
  }
  return sorted(crossings);
}

function sorted(crossings: ReadonlyMap<string, readonly string[]>): object {
  return Object.fromEntries([...crossings].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function assertAlternating(events: readonly Event[]): void {
  const inside = new Set<string>();
  assert.notEqual(events.length, 0);
  for (const { fence_id: fence, trackable_id: trackable, event_type: type } of events) {
    const key = `${fence} ${trackable}`;
    assert.equal(inside.has(key), type === 'region_exit', `${type} of ${key}`);
    if (type === 'region_entry') inside.add(key);
    else inside.delete(key);
  }
}
