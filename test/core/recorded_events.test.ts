import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { played, RECORD, type Recorded } from './recorded/record.ts';
import { SCENES } from './recorded/scenes.ts';

/**
 * Compares events with the recorded ones, byte by byte. To change one, run `npm run record:events`, and describe the
 * change in the commit message. With a folder after `--`, the command also writes the events themselves, to compare
 * those of two checkouts.
 */
const { $comment: _, ...recorded } = JSON.parse(readFileSync(RECORD, 'utf8')) as Recorded;

describe('The events of a scene are the recorded ones, with each parser of bodies:', () => {
  for (const name of Object.keys(SCENES)) {
    test(name, async () => {
      const [scanner, parser] = [await played(name, 'scanner'), await played(name, 'parser')];
      assert.deepEqual(scanner.digests(), recorded[name]);
      assert.deepEqual(parser.digests(), recorded[name]);
      assert.ok(scanner.scanned > 0 && parser.scanned === 0, `${scanner.scanned} were scanned`);
    });
  }
});

test('Every recorded scene is played, and every subscription of a scene receives events', () => {
  assert.deepEqual(Object.keys(recorded), Object.keys(SCENES));
  const silent = Object.entries(recorded).flatMap(([scene, digests]) =>
    Object.entries(digests).flatMap(([subscription, { count }]) => (count === 0 ? [`${scene}: ${subscription}`] : [])),
  );
  assert.deepEqual(silent, []);
});
