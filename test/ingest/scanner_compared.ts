import { Problem } from '../../src/problem.ts';
import assert from 'node:assert/strict';
import { parseBody } from '../../src/api/body.ts';
import { type RecordBuffer, recordBytesMax, writeRecord } from '../../src/core/location/record.ts';
import { checkLocation } from '../../src/ingest/check_location.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';
import { LocationScanner } from '../../wasm/location_scanner.ts';

const RECEIVED_MS = 1_800_000_000_000;
const EXPECTED = { at: '', receivedMs: RECEIVED_MS, zone: () => undefined, knownId: (id: string) => id };
const BOUNDS = { nameBytes: 1024, propertiesBytes: 64 * 1024 };
const [SIZE, NAMES, FLAGS, NUMBERS] = [0, 8, 13, 16] as const;
/** Whether id and string are ASCII. The scanner reports this only if all of a location is. */
const ASCII = 16 | 32;

/** Compares the scanner with the parser and the checks. */
export class Comparison {
  readonly scanner = new LocationScanner(BOUNDS);
  /** Bodies that the hub accepts, and those of them that the scanner accepts. */
  accepted = 0;
  taken = 0;

  /** Throws unless the scanner leaves the list to the parser, or creates the same records from it. */
  list(body: Uint8Array): void {
    this.#compare(body, recordsOf(body), this.scanner.list(body, RECEIVED_MS));
  }

  /** Like `list`, for one location of a provider in a path. */
  one(body: Uint8Array, providerId: string): void {
    this.#compare(body, recordsOf(body, providerId), this.scanner.one(body, RECEIVED_MS, providerId));
  }

  #compare(body: Uint8Array, wanted: ReturnType<typeof recordsOf>, count: number): void {
    const shown = () => Buffer.from(body).toString('utf8').slice(0, 2000);
    if (wanted === undefined) {
      assert.equal(count, -1, `takes what is refused: ${shown()}`);
      return;
    }
    this.accepted++;
    if (count < 0) return;
    this.taken++;
    if (this.scanner.nameCount > 100_000) this.scanner.forgetNames();
    assert.equal(count, wanted.length, shown());
    let at = this.scanner.start;
    for (const { record, end, id, source } of wanted) {
      const { bytes, view } = this.scanner;
      const found = Buffer.from(bytes.subarray(at, at + view.getUint32(at + SIZE, true)));
      const names = [found.readUInt32LE(NUMBERS), found.readUInt32LE(NUMBERS + 4)];
      if (count < 3)
        assert.deepEqual(
          names.map((name) => this.scanner.nameOf(name)),
          [id, source],
          shown(),
        );
      const right = Buffer.from(record.bytes.subarray(0, end));
      for (const each of [found, right]) {
        each.fill(0, NAMES, NAMES + 4);
        each.fill(0, NUMBERS, NUMBERS + 8);
      }
      if (((found[FLAGS] as number) & ASCII) === 0) right[FLAGS] = (right[FLAGS] as number) & ~ASCII;
      if (!found.equals(right)) assert.deepEqual(partsOf(found), partsOf(right), shown());
      at += found.length;
    }
    assert.equal(this.scanner.end, at, shown());
  }
}

/** Records of a list, or of one location, as the hub creates them without the scanner; undefined if it rejects it. */
function recordsOf(body: Uint8Array, providerId?: string) {
  let values: unknown;
  try {
    values = parseBody(body, {});
  } catch {
    return undefined;
  }
  if (providerId !== undefined) values = [values];
  if (!Array.isArray(values)) return undefined;
  const records: { record: RecordBuffer; end: number; id: string; source: string }[] = [];
  for (const value of values) {
    const found = checkLocation(value, { ...EXPECTED, providerId });
    if (found instanceof Problem) return undefined;
    const { location, generatedMs } = found;
    const record = newRecordBuffer(recordBytesMax(location));
    const stamp = { seq: 0, receivedMs: RECEIVED_MS, generatedMs, source: 0, crs: 0 };
    records.push({
      record,
      end: writeRecord(record, 0, location, stamp),
      id: location.provider_id,
      source: location.source,
    });
  }
  return records;
}

/** Returns a record as an object, for comparison. */
function partsOf(record: Buffer): unknown {
  const numbers = Array.from({ length: 10 }, (_, i) => record.readDoubleLE(NUMBERS + 8 * i));
  return { head: record.toString('hex', 0, NUMBERS), numbers, text: record.toString('utf8', 96) };
}
