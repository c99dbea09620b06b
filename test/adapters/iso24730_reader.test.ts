import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { newLineCounts, RtlsStreamReader } from '../../src/adapters/iso24730/reader.ts';
import { checker } from '../../src/model/check.ts';
import { Location } from '../../src/model/location.ts';

const NONE = { useful: () => undefined, useless: () => undefined, unknown: () => undefined };
const LINE_4 = 'HallNorth,DFT,02,00A1B2C3D4E5,12.40,7.85,1.10,0,2026-11-20T10:15:30.250+01:00';
const DEFINITION =
  'LocateMessageDefinition,HallNorth,POSE,Tag ID Format,Tag ID,X,Y,Z,Battery,Timestamp,Classification,Yaw';
const POSE = 'HallNorth,POSE,03,0011223344556677,12.5,8,0,3,2026-11-20T09:15:31Z,3D,1.5708';
const SAMPLE = [
  'FieldDefinition,Yaw,yaw,decimal,1,12',
  DEFINITION,
  'KeepAlive,20',
  LINE_4,
  POSE,
  'HallNorth,S,02,00A1B2C3D4E5,10,0,2.5,1,2026-11-20T09:15:32Z,P',
  'YardWest,DFT,02,00A1B2C3D4E6,-3.25,140.75,,0,2026-11-20T09:15:33Z',
  'HallNorth,DFT,02,00A1B2C3D4E5,12.6,7.9,1.1,7,2026-11-20T10:15:34:120+1',
  'HallNorth,DFT,02,00A1B2C3D4E5,1,2,0,0',
  'HallNorth,DFT,02,,1,2,0,0,2026-11-20T09:15:35Z',
  'HallNorth,DFT,02,00A1B2C3D4E5,NaN,2,0,0,2026-11-20T09:15:35Z',
  'Heartbeat,abc',
  'T,0021F7B1,29.53,18.38,1.52,12,1433877485.930,4',
  'LabR,Std0,0000,00000a5,21.68,55.45,10.80,7,2016-01-12T13:52:31:239+1,2,0038,0000',
];

function openReader() {
  const counts = newLineCounts();
  const reader = new RtlsStreamReader({ source: 'hall', providerType: 'uwb' }, counts, NONE);
  const read = (...lines: readonly string[]) => reader.push(Buffer.from(lines.map((line) => `${line}\r\n`).join('')));
  return { reader, counts, read };
}

/** Locations in these lines, which are read at once. */
function located(...lines: readonly string[]) {
  return openReader().read(...lines).locations;
}

function brief(location: Location | undefined) {
  return location && [location.provider_id, location.position.coordinates, location.timestamp_generated];
}

describe('StreamReader', () => {
  test('reads a stream of every kind of message', () => {
    const { read, counts, reader } = openReader();
    const { locations, hasMessage, keepAliveSeconds } = read(...SAMPLE);
    assert.deepEqual(locations.map(brief), [
      ['00A1B2C3D4E5', [12.4, 7.85, 1.1], '2026-11-20T09:15:30.250Z'],
      ['0011223344556677', [12.5, 8, 0], '2026-11-20T09:15:31.000Z'],
      ['00A1B2C3D4E5', [10, 0, 2.5], '2026-11-20T09:15:32.000Z'],
      ['00A1B2C3D4E6', [-3.25, 140.75], '2026-11-20T09:15:33.000Z'],
      ['00A1B2C3D4E5', [12.6, 7.9, 1.1], '2026-11-20T09:15:34.120Z'],
      ['00A1B2C3D4E5', [1, 2, 0], undefined],
      ['00000a5', [21.68, 55.45, 10.8], '2016-01-12T12:52:31.239Z'],
    ]);
    assert.deepEqual([hasMessage, keepAliveSeconds], [true, 20]);
    assert.deepEqual(counts, {
      unknown_messages: 2,
      overlong_lines: 0,
      no_tag_id: 1,
      no_position: 1,
      no_timestamp: 1,
    });
    assert.deepEqual(reader.declaredFields, ['Yaw']);
  });

  test('creates a location with all values of the message', () => {
    assert.deepEqual(located(DEFINITION, POSE), [
      {
        position: { type: 'Point', coordinates: [12.5, 8, 0] },
        source: 'hall',
        provider_type: 'uwb',
        provider_id: '0011223344556677',
        crs: 'local',
        timestamp_generated: '2026-11-20T09:15:31.000Z',
        properties: {
          iso24730: {
            Yaw: '1.5708',
            source: 'HallNorth',
            format: 'POSE',
            tag_id_format: '03',
            battery: 3,
            classification: '3D',
          },
        },
      },
    ]);
  });

  test('preserves values without a column', () => {
    const [location] = located(SAMPLE.at(-1) ?? '');
    assert.deepEqual(location?.properties, {
      iso24730: {
        source: 'LabR',
        format: 'Std0',
        tag_id_format: '0000',
        battery: 7,
        extra: ['2', '0038', '0000'],
      },
    });
  });

  test('preserves every digit of numbers that it only passes on', () => {
    const details = (battery: string, antenna: string) => {
      const names = 'locatemessagedefinition,A,F,tid,x,y,bat,ant';
      const [location] = located(names, `A,F,AB,1,2,${battery},${antenna}`);
      return JSON.stringify(location?.properties);
    };
    assert.match(details('3.60', '723413320329068590'), /"battery":3\.60,"antenna_id":723413320329068590\}/);
    // JSON has no such notation.
    assert.match(details('+3.60', '007'), /"battery":3\.6,"antenna_id":7\}/);
  });

  test('finds columns by name in any case, by XML tag, and with source and format repeated', () => {
    for (const names of [
      'idfmt,tid,y,x,z,bat,t,exc,ant',
      'TAG_ID_FORMAT,tag-id,Y,X,Z,battery,TimeStamp,Exciter ID,ANTENNA id',
      'Source,Format,Tag ID Format,Tag ID,Y,X,Z,Battery,Timestamp,ExciterID,AntennaID',
    ]) {
      const [location] = located(
        `locatemessagedefinition,A,F,${names}`,
        'A,F,01,AB,1,2,3,low,2026-11-20T09:15:31Z,E7,12',
      );
      assert.deepEqual(brief(location), ['AB', [2, 1, 3], '2026-11-20T09:15:31.000Z'], names);
      assert.deepEqual(location?.properties?.['iso24730'], {
        source: 'A',
        format: 'F',
        tag_id_format: '01',
        battery: 'low',
        exciter_id: 'E7',
        antenna_id: 12,
      });
    }
  });

  test('lets a definition replace an earlier one, also of DFT, for its source only', () => {
    const swapped = 'LocateMessageDefinition,A,DFT,Tag ID Format,Tag ID,Y,X';
    const [a, b, c] = located('A,dft,01,T,1,2', swapped, 'A,DFT,01,T,1,2', 'B,DFT,01,T,1,2');
    assert.deepEqual(
      [a, b, c].map((location) => location?.position.coordinates),
      [
        [1, 2],
        [2, 1],
        [1, 2],
      ],
    );
  });

  test('creates no location for a format without a tag or a position', () => {
    const { read, counts } = openReader();
    const { locations, hasMessage } = read('LocateMessageDefinition,A,F,Tag ID,X', 'A,F,T,1', 'A,F,,1');
    assert.deepEqual(locations, []);
    assert.equal(hasMessage, true);
    assert.deepEqual([counts.no_position, counts.no_tag_id], [1, 1]);
  });

  test('treats a vendor field of any name as data', () => {
    const [location] = located('LocateMessageDefinition,A,F,tid,x,y,__proto__,constructor,', 'A,F,T,1,2,a,b,c');
    const details = location?.properties?.['iso24730'] as object;
    assert.equal(Object.getPrototypeOf(details), Object.prototype);
    assert.deepEqual(Object.entries(details).slice(0, 2), [
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
    assert.deepEqual(Object.entries(details).at(-1), ['extra', ['c']]);
  });

  const NOT_NUMBERS = ['', '0x10', 'Infinity', '1e999', '--1', '1.2.3', 'one', '.'];
  for (const x of NOT_NUMBERS) {
    test(`rejects ${JSON.stringify(x)} as a coordinate`, () => {
      assert.deepEqual(located(`A,DFT,01,T,${x},2,0,0,2026-11-20T09:15:35Z`), []);
    });
  }
  for (const [x, expected] of [
    ['-3.25', -3.25],
    ['+5', 5],
    ['.5', 0.5],
    ['5.', 5],
    ['1.5E1', 15],
    [' 7 ', 7],
  ] as const) {
    test(`parses ${JSON.stringify(x)} as the coordinate ${expected}`, () => {
      assert.deepEqual(located(`A,DFT,01,T,${x},2`)[0]?.position.coordinates, [expected, 2]);
    });
  }

  test('locates a tag without a numeric height in two dimensions', () => {
    assert.deepEqual(located('A,DFT,01,T,1,2,high')[0]?.position.coordinates, [1, 2]);
  });

  for (const line of ['KeepAlive', 'KeepAlive,0', 'KeepAlive,-5', 'KeepAlive,soon', 'keepalive,1e3']) {
    test(`treats ${line} as a heartbeat without an announcement`, () => {
      const { hasMessage, keepAliveSeconds } = openReader().read(line);
      assert.deepEqual([hasMessage, keepAliveSeconds], [true, undefined]);
    });
  }

  for (const line of [
    '<SLMF><src>A</src></SLMF>',
    'GET / HTTP/1.1',
    'LocateMessageDefinition,A,F',
    'DFT',
    '{}',
    ',,,,,,,,,',
  ]) {
    test(`counts ${line} as unknown`, () => {
      const { read, counts } = openReader();
      assert.deepEqual(read(line), { locations: [], hasMessage: false, keepAliveSeconds: undefined });
      assert.equal(counts.unknown_messages, 1);
    });
  }

  test('continues after a line that is too long', () => {
    const { read, counts } = openReader();
    assert.deepEqual(read('x'.repeat(70 * 1024), LINE_4).locations.map(brief), located(LINE_4).map(brief));
    assert.equal(counts.overlong_lines, 1);
  });

  test('retains a bounded number of definitions', () => {
    const { read, counts, reader } = openReader();
    for (let i = 0; i < 200; i++) read(`FieldDefinition,F${i},f,String,1,2`, `LocateMessageDefinition,A,F${i},tid,x,y`);
    assert.equal(reader.declaredFields.length, 64);
    assert.equal(counts.unknown_messages, 2 * (200 - 64));
    assert.equal(read('A,F63,T,1,2').locations.length, 1);
    assert.equal(read('A,F64,T,1,2').locations.length, 0);
    const wide = `LocateMessageDefinition,A,F0,${'x,'.repeat(300)}`;
    assert.equal(read(wide).hasMessage, false);
  });

  test('returns the same locations regardless of chunk boundaries', () => {
    const bytes = Buffer.from(`${SAMPLE.join('\r\n')}\r\n`);
    const expected = openReader().reader.push(bytes).locations;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: bytes.length }), { maxLength: 60 }), (ends) => {
        const { reader } = openReader();
        let from = 0;
        const locations: unknown[] = [];
        for (const end of [...ends.sort((a, b) => a - b), bytes.length]) {
          locations.push(...reader.push(bytes.subarray(from, end)).locations);
          from = end;
        }
        assert.deepEqual(locations, expected);
      }),
      { numRuns: 100, seed: 5 },
    );
  });

  test('never throws, and returns only locations, for any input', () => {
    const LOCATION = checker(Location);
    const word = fc.constantFrom(
      'LocateMessageDefinition',
      'FieldDefinition',
      'KeepAlive',
      'DFT',
      'A',
      'x',
      'tid',
      'y',
      '1',
      '-2.5',
      '',
    );
    const line = fc.oneof(
      fc.array(word, { maxLength: 12 }).map((words) => words.join(',')),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.uint8Array(), (lines, rest) => {
        const { reader, read } = openReader();
        const { locations } = read(...lines);
        reader.push(rest);
        for (const location of locations) assert.equal(LOCATION.explain(location), undefined);
      }),
      { numRuns: 500, seed: 3 },
    );
  });
});
