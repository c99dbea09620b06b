import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePayload, type PayloadFormat } from '../../src/mapping/decode.ts';
import { Problem } from '../../src/problem.ts';

const CSV: PayloadFormat = { format: 'csv', columns: undefined };
const NMEA: PayloadFormat = { format: 'nmea', columns: undefined };
const RECEIVED = Date.parse('2026-11-29T00:00:10Z');

test('Rows of CSV are objects by the headings, or by the columns of the source', () => {
  const rows = [
    { id: 'a', x: '1.5', note: 'one, two' },
    { id: 'b', x: '', note: '' },
  ];
  assert.deepEqual(decodePayload('\uFEFFid;x;note\r\na;1.5;"one, two"\r\n\r\nb;;\n', CSV, 0), rows);
  assert.deepEqual(decodePayload('a,1.5,"one, two"\nb,,', { ...CSV, columns: ['id', 'x', 'note'] }, 0), rows);
  assert.match(String(decodePayload('id,x\n"a,1', CSV, 0)), /^\$\/1: must be CSV, found Record 2: unterminated quote/);
});

test('JSON that cannot be parsed is a problem of the payload', () => {
  for (const text of ['{"a":', '', '{"__proto__":{}}']) {
    assert.ok(decodePayload(text, { format: 'json', columns: undefined }, 0) instanceof Problem, text);
  }
});

test('RMC and GGA give positions in degrees, speeds in meters per second and times', () => {
  const text = [
    '$GPRMC,235959.50,A,4807.038,N,01131.000,E,022.4,084.4,281126,003.1,W*4C',
    '$GPGGA,235959.50,4807.038,S,01131.000,W,1,08,0.9,545.4,M,46.9,M,,*6F',
    '$GPGSV,1,1,00*79',
    '',
  ].join('\r\n');
  const fixes = decodePayload(text, NMEA, RECEIVED);
  assert.deepEqual(fixes, [
    {
      sentence: 'RMC',
      talker: 'GP',
      latitude: 48.1173,
      longitude: 11 + 31 / 60,
      time: '2026-11-28T23:59:59.500Z',
      speed: 22.4 * (1852 / 3600),
      course: 84.4,
    },
    {
      sentence: 'GGA',
      talker: 'GP',
      latitude: -48.1173,
      longitude: -(11 + 31 / 60),
      // A moment before midnight, received after it.
      time: '2026-11-28T23:59:59.500Z',
      quality: 1,
      satellites: 8,
      hdop: 0.9,
      altitude: 545.4,
    },
  ]);
});

test('Sentences without a fix are skipped; damaged ones are problems', () => {
  assert.deepEqual(decodePayload('$GPRMC,120000,V,,,,,,,281126,,', NMEA, RECEIVED), []);
  assert.deepEqual(decodePayload('$GPGGA,120000,,,,,0,00,,,M,,M,,', NMEA, RECEIVED), []);
  assert.match(
    String(decodePayload('$GPRMC,120000,A*00', NMEA, RECEIVED)),
    /^\$\/0: must be \*[0-9A-F]{2}, found "\*00"/,
  );
  assert.match(String(decodePayload('GET / HTTP/1.1', NMEA, RECEIVED)), /^\$\/0: must be a sentence of NMEA 0183/);
});
