import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeText, unescapeDxf } from '../../src/hub-ui/formats/decode_text.ts';

const latin1 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'latin1'));
const utf8 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));
const utf16 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'utf16le'));
const utf16be = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'utf16le').swap16());
const xml = (encoding: string, text: string): string =>
  `<?xml version="1.0" encoding="${encoding}"?><name>${text}</name>`;
const dxf = (version: string, page: string | undefined, text: string): string =>
  [
    ...['0', 'SECTION', '2', 'HEADER', '9', '$ACADVER', '1', version],
    ...(page === undefined ? [] : ['9', '$DWGCODEPAGE', '3', page]),
    ...['0', 'ENDSEC', '8', text, ''],
  ].join('\r\n');

/** Bytes of a string, with each `@` replaced by bytes of another encoding. */
function withBytes(text: string, ...bytes: readonly number[]): Uint8Array {
  const at = text.indexOf('@');
  return Uint8Array.from([...latin1(text.slice(0, at)), ...bytes, ...latin1(text.slice(at + 1))]);
}

const GUESSED = /declares no encoding and is not UTF-8\. It was read as Windows-1252/;
const NOT_AS_DECLARED = (declared: string, encoding: string) =>
  new RegExp(`declares the encoding ${declared}, but cannot be decoded as such. It was read as ${encoding}`);

for (const [what, bytes, format, text, note] of [
  ['UTF-8', utf8('Bühne 仓'), undefined, 'Bühne 仓', undefined],
  ['UTF-8 with a byte order mark', utf8('\uFEFFBühne'), undefined, 'Bühne', undefined],
  ['UTF-16 with a byte order mark', utf16('\uFEFFBühne'), undefined, 'Bühne', undefined],
  ['UTF-16 big-endian with a byte order mark', utf16be('\uFEFFBühne'), undefined, 'Bühne', undefined],
  ['UTF-16 without a byte order mark', utf16('Bühne'), undefined, 'Bühne', undefined],
  ['UTF-16 big-endian without a byte order mark', utf16be('Bühne'), undefined, 'Bühne', undefined],
  ['Windows-1252', Uint8Array.of(66, 0xfc, 0x80, 0x96), undefined, 'Bü€–', GUESSED],
  ['an empty file', new Uint8Array(0), undefined, '', undefined],
  ['one byte', Uint8Array.of(65), undefined, 'A', undefined],
  ['XML in ISO-8859-1', latin1(xml('ISO-8859-1', 'Bühne')), 'xml', xml('ISO-8859-1', 'Bühne'), undefined],
  ['XML in Shift_JIS', withBytes(xml('Shift_JIS', '@'), 0x91, 0x71), 'xml', xml('Shift_JIS', '倉'), undefined],
  ['XML after an empty line', latin1(`\n${xml('latin1', 'ü')}`), 'xml', `\n${xml('latin1', 'ü')}`, undefined],
  ['XML in UTF-16', utf16(`\uFEFF${xml('UTF-16', 'ü')}`), 'xml', xml('UTF-16', 'ü'), undefined],
  [
    'XML converted to UTF-8, whose declaration says UTF-16',
    utf8(xml('UTF-16', 'ü')),
    'xml',
    xml('UTF-16', 'ü'),
    undefined,
  ],
  [
    'XML that is not UTF-8 as declared',
    latin1(xml('UTF-8', 'ü')),
    'xml',
    xml('UTF-8', 'ü'),
    NOT_AS_DECLARED('UTF-8', 'Windows-1252'),
  ],
  ['XML in an unknown encoding', utf8(xml('x-own', 'ü')), 'xml', xml('x-own', 'ü'), NOT_AS_DECLARED('x-own', 'UTF-8')],
  ['ASCII in an unknown encoding', utf8(xml('x-own', 'u')), 'xml', xml('x-own', 'u'), undefined],
  [
    'DXF in ANSI_1252',
    latin1(dxf('AC1015', 'ANSI_1252', 'TÜREN')),
    'dxf',
    dxf('AC1015', 'ANSI_1252', 'TÜREN'),
    undefined,
  ],
  [
    'DXF in ANSI_936',
    withBytes(dxf('AC1018', 'ANSI_936', '@'), 0xb2, 0xd6),
    'dxf',
    dxf('AC1018', 'ANSI_936', '仓'),
    undefined,
  ],
  [
    'DXF in ANSI_932',
    withBytes(dxf('AC1018', 'ansi_932', '@'), 0x91, 0x71),
    'dxf',
    dxf('AC1018', 'ansi_932', '倉'),
    undefined,
  ],
  [
    'DXF in ANSI_1251',
    withBytes(dxf('AC1015', 'ANSI_1251', '@'), 0xc4),
    'dxf',
    dxf('AC1015', 'ANSI_1251', 'Д'),
    undefined,
  ],
  ['DXF in DOS850', withBytes(dxf('AC1009', 'DOS850', '@'), 0x9a), 'dxf', dxf('AC1009', 'DOS850', 'Ü'), undefined],
  [
    'DXF of AutoCAD 2007, always UTF-8',
    utf8(dxf('AC1021', 'ANSI_1252', 'TÜREN')),
    'dxf',
    dxf('AC1021', 'ANSI_1252', 'TÜREN'),
    undefined,
  ],
  [
    'DXF without a code page',
    utf8(dxf('AC1009', undefined, 'TÜREN')),
    'dxf',
    dxf('AC1009', undefined, 'TÜREN'),
    undefined,
  ],
  [
    'DXF without a code page, not UTF-8',
    latin1(dxf('AC1009', undefined, 'TÜREN')),
    'dxf',
    dxf('AC1009', undefined, 'TÜREN'),
    GUESSED,
  ],
] as const) {
  test(`decodeText decodes ${what}`, () => {
    const decoded = decodeText(bytes, format);
    assert.equal(decoded.text, text);
    if (note === undefined) assert.equal(decoded.note, undefined);
    else assert.match(decoded.note ?? '', note);
  });
}

test('unescapeDxf replaces only DXF escape sequences', () => {
  for (const [value, text] of [
    ['T\\U+00DCREN', 'TÜREN'],
    ['\\u+4ed3\\U+5E93', '仓库'],
    ['\\M+5B2D6', '仓'],
    ['\\M+19171', '倉'],
    ['\\M+9B2D6', '\\M+9B2D6'],
    ['C:\\Users \\P \\U+12', 'C:\\Users \\P \\U+12'],
  ] as const) {
    assert.equal(unescapeDxf(value), text);
  }
});
