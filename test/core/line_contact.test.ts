import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { selfContact } from '../../src/core/geo/line_contact.ts';

describe('selfContact', () => {
  const rows: readonly [name: string, line: readonly (readonly number[])[], at: number | undefined][] = [
    [
      'a straight line',
      [
        [0, 0],
        [1, 0],
        [2, 0],
      ],
      undefined,
    ],
    [
      'a bent line',
      [
        [0, 0],
        [1, 0],
        [1, 1],
      ],
      undefined,
    ],
    [
      'a closed line',
      [
        [0, 0],
        [2, 0],
        [1, 1],
        [0, 0],
      ],
      undefined,
    ],
    [
      'a line that goes back',
      [
        [0, 0],
        [2, 0],
        [1, 0],
      ],
      1,
    ],
    [
      'a line there and back',
      [
        [0, 0],
        [2, 0],
        [0, 0],
      ],
      1,
    ],
    [
      'a loop',
      [
        [0, 0],
        [2, 0],
        [2, 2],
        [1, -1],
      ],
      2,
    ],
    [
      'a line that ends on itself',
      [
        [0, 0],
        [2, 0],
        [2, 2],
        [1, 0],
      ],
      2,
    ],
    [
      'a line through its start',
      [
        [1, 0],
        [2, 0],
        [2, 2],
        [1, 2],
        [1, -2],
      ],
      3,
    ],
    [
      'an edge along an earlier one',
      [
        [0, 0],
        [4, 0],
        [4, 1],
        [3, 0],
        [1, 0],
      ],
      2,
    ],
  ];
  for (const [name, line, at] of rows) {
    it(`finds ${at === undefined ? 'none' : `that of position ${at}`} in ${name}`, () => {
      assert.equal(selfContact(Float64Array.from(line.flat())), at);
    });
  }
});
