import { Problem } from '../../src/problem.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AcceptedLocation } from '../../src/core/location/accepted.ts';
import { checkLocation } from '../../src/ingest/check_location.ts';
import { BAD_LOCATIONS, badText, GOOD_LOCATION, titleOf, ZONES } from '../scenarios/bad_locations.ts';
import { HALL } from '../support/hall.ts';

const RECEIVED_MS = Date.parse('2026-03-01T12:00:00Z');
const GOOD = { ...GOOD_LOCATION, timestamp_generated: '2026-03-01T12:00:00.000Z' };

function zone(name: string) {
  return [...ZONES].find(
    (candidate) => candidate.id === name || ('foreign_id' in candidate && candidate.foreign_id === name),
  );
}

function check(value: unknown, more: { at?: string; providerId?: string } = {}) {
  return checkLocation(value, { at: '', receivedMs: RECEIVED_MS, zone: zone as never, knownId, ...more });
}

/** A UUID that exists in upper case. */
function knownId(id: string): string {
  return id.toUpperCase();
}

/** The location in its published form, as far as ingest determines it. */
function served({ text, coordinates, crs }: AcceptedLocation): unknown {
  return { ...JSON.parse(`{${text}}`), position: { type: 'Point', coordinates }, crs };
}

function accepted(more: object, options: { providerId?: string } = {}) {
  const checked = check({ ...GOOD_LOCATION, ...more }, options);
  assert.ok(!(checked instanceof Problem), String(checked));
  return checked;
}

describe('checkLocation rejects, and names field and value of', () => {
  for (const row of BAD_LOCATIONS) {
    test(titleOf(row), () => {
      const found = check(JSON.parse(badText(row)), { at: 'locations[3]' });
      assert.ok(found instanceof Problem, 'is accepted');
      const message = String(found);
      assert.ok(message.startsWith(`locations[3].${row.field}`), message);
      assert.ok(message.includes(row.found), message);
    });
  }
});

describe('checkLocation', () => {
  test('returns provider, source and crs unchanged', () => {
    const { location, generatedMs } = accepted({});
    assert.deepEqual(served(location), GOOD);
    assert.equal(generatedMs, RECEIVED_MS);
  });

  for (const unset of [undefined, null, '']) {
    test(`takes a provider that is ${JSON.stringify(unset)} from the path, and the source from the provider`, () => {
      const { location } = accepted({ provider_id: unset, source: unset }, { providerId: 'tag' });
      assert.equal(location.provider_id, 'tag');
      assert.equal(location.source, 'tag');
    });

    test(`treats a crs that is ${JSON.stringify(unset)} as local`, () => {
      assert.equal(accepted({ crs: unset, source: HALL.id, position: point(5, 5) }).location.crs, 'local');
    });
  }

  test('accepts all members of a location, with any characters in strings and properties', () => {
    const numbers = { accuracy: 0, floor: -1.5, true_heading: 1e21, magnetic_heading: 5e-324, heading_accuracy: 2 };
    const times = { timestamp_generated: '2026-03-01T11:00:00Z', timestamp_sent: '2026-03-01T12:00:00.123456+01:00' };
    const texts = { provider_id: 'a"\\\u2028', source: 'é😀', elevation_ref: 'wgs84' };
    const properties = JSON.parse('{"constructor":{"a":1},"😀\\u0000":"\\ud83e\\udd8a","toJSON":1}');
    const all = { ...numbers, ...times, ...texts, associated: false, speed: -0, course: 359.9999, properties };
    const { location } = accepted(all);
    assert.equal(JSON.stringify(Object.entries(served(location) as object).sort()), sorted({ ...GOOD, ...all }));
  });

  test('names a provider whose id is a UUID as it was created', () => {
    const id = '0b680db2-b39b-45be-be77-40d7d2296cb4';
    const { location } = accepted({ provider_id: id });
    assert.equal(location.provider_id, id.toUpperCase());
    assert.ok(location.text.includes(`"provider_id":"${id.toUpperCase()}"`), location.text);
  });

  test('rejects a provider that differs from the one in the path', () => {
    const message = check(GOOD_LOCATION, { providerId: 'tag' });
    assert.equal(String(message), 'provider_id: must be "tag" as in the path, found "bad-input"');
  });

  for (const name of [HALL.id, 'hall']) {
    test(`finds the zone of a local position by ${name}`, () => {
      assert.equal(accepted({ crs: 'local', source: name, position: point(5, 5) }).location.source, name);
    });
  }

  test('accepts positions on the bounds of longitude and latitude', () => {
    for (const [x, y] of [
      [180, 90],
      [-180, -90],
    ] as const)
      accepted({ position: point(x, y) });
  });

  for (const crs of ['EPSG:32601', 'EPSG:32660', 'EPSG:32701', 'EPSG:32760', 'EPSG:32661', 'EPSG:32761']) {
    test(`accepts ${crs}`, () => {
      assert.equal(accepted({ crs, position: point(500_000, 5_000_000) }).location.crs, crs);
    });
  }

  test('parses the time, including the start of 1970', () => {
    assert.equal(accepted({ timestamp_generated: '1970-01-01T00:00:00Z' }).generatedMs, 0);
    assert.equal(accepted({ timestamp_generated: '2026-03-01T13:00:00.5+01:00' }).generatedMs, RECEIVED_MS + 500);
  });

  test('accepts null for optional members, and omits them', () => {
    const names = ['trackables', 'timestamp_generated', 'timestamp_sent', 'associated', 'accuracy', 'floor', 'speed'];
    const more = ['course', 'true_heading', 'magnetic_heading', 'heading_accuracy', 'elevation_ref', 'properties'];
    const nulls = Object.fromEntries([...names, ...more].map((name) => [name, null]));
    assert.deepEqual(served(accepted(nulls).location), GOOD);
  });

  test('drops unknown members and trackables, and preserves properties', () => {
    const properties = { a: [1, { b: null }], constructor: 'x' };
    const { location } = accepted({ properties, trackables: ['x'], colour: 'red', toString: 1 });
    assert.deepEqual(served(location), { ...GOOD, properties });
  });

  test('rejects properties that are nested too deeply to be passed on', () => {
    const nested = (levels: number) => JSON.parse(`{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`);
    accepted({ properties: nested(200) });
    for (const levels of [201, 100_000]) {
      const message = check({ ...GOOD_LOCATION, properties: nested(levels) });
      assert.equal(String(message), 'properties: must be nested at most 200 levels deep, found more');
    }
  });

  test('takes no members from a __proto__', () => {
    const hidden = JSON.parse(`{"__proto__":${JSON.stringify(GOOD_LOCATION)}}`);
    assert.match(String(check(hidden)), /^(position|provider_type): is required, but is missing$/);
  });

  test('drops members of a position other than type and coordinates', () => {
    const position = { ...point(9, 50), bbox: [1, 2, 3, 4] };
    assert.deepEqual(served(accepted({ position }).location), GOOD);
  });
});

function sorted(value: object): string {
  return JSON.stringify(Object.entries(JSON.parse(JSON.stringify(value))).sort());
}

function point(x: number, y: number) {
  return { type: 'Point', coordinates: [x, y] };
}
