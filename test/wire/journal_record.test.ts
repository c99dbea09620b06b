import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { lend } from '../../src/model/borrowed.ts';
import {
  JournalRecordError,
  packDelivered,
  packDone,
  packReleased,
  packStep,
  readStoredRecord,
  storedRecord,
  unpackJournalRecord,
} from '../../src/wire/journal_record.ts';

const batch = Uint8Array.of(1, 2, 3);
const effects = Uint8Array.of(4, 5);
const clockSteps = [{ toMs: 500, byMs: 40 }];

test('a record of a step has its batch, its effects, and the clock steps to convert its times', () => {
  const packed = packStep({ nowMs: 1000, config: 7, clockSteps, batch: lend(batch), effects: lend(effects) });
  assert.deepEqual(unpackJournalRecord(packed), {
    kind: 'step',
    config: 7,
    endMs: 960,
    step: { batch, effects, clockSteps },
  });
});

test('a record of released objects is a step without locations, with the sequence of the releasing record', () => {
  const packed = packReleased({ nowMs: 1000, config: 7, sequence: 9, clockSteps, effects: lend(effects) });
  assert.deepEqual(unpackJournalRecord(packed), {
    kind: 'released',
    config: 7,
    endMs: 960,
    sequence: 9,
    step: { batch: new Uint8Array(0), effects, clockSteps },
  });
  const cut = packed.subarray(0, packed.length - effects.length - 1);
  assert.throws(() => unpackJournalRecord(cut), new JournalRecordError('A journal record ends before its effects'));
});

test('a record of a completed journal contains its end and its requests', () => {
  const done = { upTo: 12, config: 7, requests: [{ ingress: 'front', number: 2 ** 40 }] };
  assert.deepEqual(unpackJournalRecord(packDone(done)), { kind: 'done', ...done });
});

test('a record of delivered events contains the sequence of the record that released their objects', () => {
  const delivered = { kind: 'delivered', config: 0, sequence: 2 ** 40 };
  assert.deepEqual(unpackJournalRecord(packDelivered(2 ** 40)), delivered);
});

test('A record is stored as it is while it is small, and compressed when it is large', () => {
  for (const [effectBytes, isCompressed] of [
    [10, false],
    [100_000, true],
  ] as const) {
    const record = packStep({
      nowMs: 1000,
      config: 7,
      clockSteps,
      batch: lend(batch),
      effects: lend(new Uint8Array(effectBytes)),
    });
    const stored = storedRecord(record, zstdCompressSync);
    assert.equal(stored.length < record.length, isCompressed);
    const read = readStoredRecord(stored, (bytes) => new Uint8Array(zstdDecompressSync(bytes)));
    assert.deepEqual(read, unpackJournalRecord(record));
  }
});
