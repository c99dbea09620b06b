import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TRACK_LENGTH } from '../../../src/core/tracking/track.ts';
import { TRACK_TEXT_BYTES, trackIn, writeTrackText } from '../../../src/core/tracking/track_text.ts';

test('a track is the base64 of its bytes, and the text is read back exactly', () => {
  fc.assert(
    fc.property(fc.array(fc.double(), { minLength: TRACK_LENGTH, maxLength: TRACK_LENGTH }), (numbers) => {
      const track = Float64Array.from(numbers);
      const [bytes, text] = [Buffer.from(track.buffer), Buffer.alloc(TRACK_TEXT_BYTES)];
      assert.equal(writeTrackText(bytes, 0, text, 0), TRACK_TEXT_BYTES);
      const filled = Buffer.concat([bytes, Buffer.alloc((TRACK_TEXT_BYTES / 4) * 3 - bytes.length)]);
      assert.equal(text.toString(), filled.toString('base64'));
      assert.deepEqual(trackIn(text.toString()), track);
    }),
  );
});

test('other texts are no tracks', () => {
  for (const text of ['', 'AAAA', `${'A'.repeat(TRACK_TEXT_BYTES - 1)}?`, 'A'.repeat(TRACK_TEXT_BYTES + 4)]) {
    assert.equal(trackIn(text), undefined);
  }
});
