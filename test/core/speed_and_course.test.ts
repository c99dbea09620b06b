import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { speedAndCourse } from '../../src/core/location/locate.ts';

const angleBetween = (a: number, b: number): number => Math.abs(((a - b + 540) % 360) - 180);

describe('speedAndCourse', () => {
  const at = (lon: number, lat: number, eventTimeMs: number) => ({ lon, lat, eventTimeMs });

  it('is distance over time, along the initial bearing', () => {
    const { speed, course } = speedAndCourse(at(0, 0, 1000), at(0.001, 0, 3000));
    assert.ok(Math.abs((speed as number) - 111.31949 / 2) < 1e-4, `${speed}`);
    assert.ok(Math.abs((course as number) - 90) < 1e-9, `${course}`);
  });

  it('is unknown when no time has passed', () => {
    const unknown = { speed: undefined, course: undefined };
    assert.deepEqual(speedAndCourse(at(0, 0, 1000), at(1, 0, 1000)), unknown);
    assert.deepEqual(speedAndCourse(at(0, 0, 1000), at(1, 0, 999)), unknown);
    assert.deepEqual(speedAndCourse(at(0, 0, 1000), at(0, 0, 1000)), unknown);
  });

  it('is 0 without a course for a stationary object', () => {
    const still = { speed: 0, course: undefined };
    assert.deepEqual(speedAndCourse(at(8.7, 50.1, 0), at(8.7, 50.1, 1)), still);
    assert.deepEqual(speedAndCourse(at(180, 50.1, 0), at(-180, 50.1, 1)), still);
    assert.deepEqual(speedAndCourse(at(0, 90, 0), at(120, 90, 1)), still);
  });

  it('crosses the antimeridian and a pole by the shortest path', () => {
    const east = speedAndCourse(at(179.9999, 10, 0), at(-179.9999, 10, 1000));
    assert.ok(Math.abs((east.speed as number) - 21.93) < 0.01 && angleBetween(east.course as number, 90) < 1e-3);
    const over = speedAndCourse(at(0, 89.9999, 0), at(180, 89.9999, 1000));
    assert.ok(Math.abs((over.speed as number) - 22.34) < 0.01 && angleBetween(over.course as number, 0) < 1e-6);
  });
});
