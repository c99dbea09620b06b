import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listenSettings } from '../../src/config/settings.ts';
import { StartupError } from '../../src/errors.ts';
import { load } from './given.ts';

const MIB = 2 ** 20;

/** Settings, and the bounds of one frame and of all frames in bytes, or the error of the start. */
const FRAMES: readonly [file: string, expected: readonly [number, number] | string][] = [
  ['', [16 * MIB, 256 * MIB]],
  ['websocket_max_frame_size: 131072', [128 * MIB, 256 * MIB]],
  [
    'websocket_max_frame_size: 131073',
    'max_frame_memory: must be at least 257 for a websocket_max_frame_size of 131073, found 256',
  ],
  ['require_authorization: true\nwebsocket_max_frame_size: 65536', [64 * MIB, 256 * MIB]],
  [
    'require_authorization: true\nmax_frame_memory: 63',
    'max_frame_memory: must be at least 64 for a websocket_max_frame_size of 16384, found 63',
  ],
  ['max_frame_memory: 1\nwebsocket_max_frame_size: 64', [64 * 1024, MIB]],
];

for (const [file, expected] of FRAMES) {
  test(`listenSettings bounds frames with ${JSON.stringify(file)}`, () => {
    const config = load({ file });
    if (typeof expected === 'string') {
      assert.throws(
        () => listenSettings(config),
        (error) => error instanceof StartupError && error.message === expected,
      );
      return;
    }
    const { frameMaxBytes, framesMaxBytes } = listenSettings(config);
    assert.deepEqual([frameMaxBytes, framesMaxBytes], expected);
  });
}

for (const [file, expectedMib] of [
  ['', 64],
  ['max_body_memory: 10', 10],
  ['max_body_memory: 1\nclient_max_body_size: 20480', 20],
] as const) {
  test(`listenSettings has room for the largest body with ${JSON.stringify(file)}`, () => {
    assert.equal(listenSettings(load({ file })).bodiesMaxBytes, expectedMib * MIB);
  });
}
