import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { readKml, readKmz } from '../../src/hub-ui/formats/kml.ts';
import { coordinatesOf } from '../../src/hub-ui/formats/kml_coordinates.ts';
import { readXml } from '../../src/hub-ui/formats/xml.ts';

const RING = [
  [8.682, 50.111],
  [8.6835, 50.111],
  [8.6835, 50.112],
  [8.682, 50.112],
  [8.682, 50.111],
] as const;
const KML = 'xmlns="http://www.opengis.net/kml/2.2"';
const POLYGON = `<Polygon><outerBoundaryIs><LinearRing><coordinates>${RING.join(' ')}</coordinates></LinearRing></outerBoundaryIs></Polygon>`;
const placemark = (inner: string): string => `<Placemark>${inner}${POLYGON}</Placemark>`;
const documentOf = (inner: string): string => `<kml ${KML}><Document>${inner}</Document></kml>`;
const shapesOf = (text: string) => readKml(text).layers.flatMap(({ shapes }) => shapes);

const withHeight = (height: number) => RING.map(([x, y]) => [x, y, height]);

for (const [what, text, expected] of [
  ['as specified, with altitude', RING.map((at) => `${at},0`).join(' '), withHeight(0)],
  ['as specified, without altitude', RING.join('\n'), RING],
  [
    'altitude in some positions only',
    '8,50,1 9,50 9,51,2',
    [
      [8, 50, 1],
      [9, 50],
      [9, 51, 2],
    ],
  ],
  ['a blank after each comma, with altitude', RING.map(([x, y]) => `${x}, ${y}, 0`).join('\n'), withHeight(0)],
  ['the same in one line', RING.map(([x, y]) => `${x}, ${y}, 0`).join(' '), withHeight(0)],
  ['a blank after each comma, no altitude', RING.map(([x, y]) => `${x}, ${y}`).join('\n'), RING],
  ['a blank before the comma', RING.map(([x, y]) => `${x} ,${y}`).join('\n'), RING],
  ['blanks on both sides of the comma', RING.map(([x, y]) => `${x} , ${y}`).join('\n'), RING],
  ['commas everywhere, with altitude', RING.map((at) => `${at},0`).join(','), withHeight(0)],
  ['commas everywhere, no altitude', RING.join(','), RING],
  ['commas and blanks everywhere', RING.map(([x, y]) => `${x}, ${y}`).join(', '), RING],
  ['a comma before each position', RING.map((at) => `,${at}`).join(' '), RING],
  ['a comma after each position', RING.map((at) => `${at},`).join(' '), RING],
  ['commas and line breaks between positions', RING.map((at) => `${at},0`).join(',\n'), withHeight(0)],
  ['blanks everywhere', RING.map(([x, y]) => `${x} ${y}`).join(' '), RING],
  ['exponents and signs', '+8.5e0,-5.01E+1', [[8.5, -50.1]]],
  ['one position', ' 8.682, 50.111 ', [[8.682, 50.111]]],
  ['nothing', ' \n', /are empty/],
  ['a word', '8.682,50.111 somewhere', /contain "somewhere"/],
  ['a semicolon', '8.682;50.111', /contain ";"/],
  ['no number', 'NaN,NaN', /contain "NaN,NaN"/],
  ['one number', '8.682', /do not show where a position ends/],
  ['decimal commas with altitude', '8,682,50,111,0 8,683,50,111,0', /do not show where a position ends/],
  ['minus signs as separators', '8.682-50.111', /do not show where a position ends/],
  ['commas everywhere, not closed, of two or three numbers', '1,2,3,4,5,6', /same separator everywhere/],
] as const) {
  test(`KML coordinates with ${what}`, () => {
    const found = coordinatesOf(text);
    if (expected instanceof RegExp) assert.match(String(found), expected);
    else assert.deepEqual(found, expected);
  });
}

test('KML data are strings, unless a schema gives their field another type', () => {
  const values = {
    ...{ room: '0012', version: '1.10', phone: '00491700000', asset: '700000000000012' },
    ...{ big: '90071992547409931234', sign: '-0', plain: '12', flag: 'true' },
  };
  const data = Object.entries(values).map(([key, value]) => `<Data name="${key}"><value> ${value}\n</value></Data>`);
  const [untyped] = shapesOf(documentOf(placemark(`<name>Room</name><ExtendedData>${data.join('')}</ExtendedData>`)));
  assert.deepEqual(untyped?.properties, values);

  const fields = { room: 'string', seats: 'int', area: 'double', big: 'int', flag: 'bool', no: 'float', odd: 'bool' };
  const written = {
    room: '0012',
    seats: '12',
    area: '1.50',
    big: '90071992547409931234',
    flag: '1',
    no: 'x',
    odd: 'y',
  };
  const schema = Object.entries(fields).map(([name, type]) => `<SimpleField type="${type}" name="${name}"/>`);
  const simple = Object.entries(written).map(([name, value]) => `<SimpleData name="${name}">${value}</SimpleData>`);
  const [typed] = shapesOf(
    documentOf(
      `<Schema name="Rooms" id="R">${schema.join('')}</Schema>` +
        placemark(`<ExtendedData><SchemaData schemaUrl="#R">${simple.join('')}</SchemaData></ExtendedData>`),
    ),
  );
  assert.deepEqual(typed?.properties, { ...written, seats: 12, area: 1.5, flag: true });
});

test('KML keeps the description, times and data of other namespaces', () => {
  const [shape] = shapesOf(
    documentOf(
      placemark(
        '<description><![CDATA[<b>Keep out</b>]]></description><TimeSpan><begin>2026</begin></TimeSpan>' +
          '<ExtendedData xmlns:camp="http://camp.example"><camp:number>014</camp:number></ExtendedData>',
      ),
    ),
  );
  assert.deepEqual(shape?.properties, {
    description: '<b>Keep out</b>',
    timespan: { begin: '2026', end: undefined },
    'camp:number': '014',
  });
});

const named = placemark('<name>Bay</name>');
for (const [what, text, name] of [
  [
    'xsi:schemaLocation without its namespace',
    `<kml ${KML}><Document xsi:schemaLocation="a b">${named}</Document></kml>`,
    'Bay',
  ],
  ['gx: without its namespace', documentOf(`<gx:balloonVisibility>1</gx:balloonVisibility>${named}`), 'Bay'],
  ['an ampersand', documentOf(named.replace('Bay', 'Bay A & B')), 'Bay A & B'],
  ['references', documentOf(named.replace('Bay', 'A&amp;B&#32;&#x26; &lt;C&nbsp;')), 'A&B & <C&nbsp;'],
  ['an empty line before the declaration', `\n<?xml version="1.0"?>${documentOf(named)}`, 'Bay'],
  ['a byte order mark', `\uFEFF${documentOf(named)}`, 'Bay'],
  [
    'a prefix for all elements',
    `<k:kml xmlns:k="http://www.opengis.net/kml/2.2">${named.replaceAll(/<(\/?)(\w)/g, '<$1k:$2')}</k:kml>`,
    'Bay',
  ],
  ['a prefix declared and not used', `<kml xmlns:kml="http://www.opengis.net/kml/2.2">${named}</kml>`, 'Bay'],
  [
    'the namespace of Google Earth 4',
    `<k:kml xmlns:k="http://earth.google.com/kml/2.1">${named.replaceAll(/<(\/?)(\w)/g, '<$1k:$2')}</k:kml>`,
    'Bay',
  ],
  [
    'a name of another namespace',
    documentOf(named.replace('<name>', '<a:name xmlns:a="http://www.w3.org/2005/Atom">x</a:name><name>')),
    'Bay',
  ],
  ['a document type', `<!DOCTYPE kml [<!ENTITY a "b">]>${documentOf(named)}`, 'Bay'],
  ['comments', documentOf(`<!-- <Placemark> -->${named}`), 'Bay'],
] as const) {
  test(`KML with ${what} is read`, () => {
    assert.deepEqual(
      shapesOf(text).map((shape) => shape.name),
      [name],
    );
  });
}

test('readKml names the line of an error', () => {
  for (const [text, message] of [
    [
      `<kml ${KML}>\n<Document>\n<Folder></Document></kml>`,
      'The file is not XML: line 3: </Document> ends no open element',
    ],
    [`<kml ${KML}>\r\n<Document>`, 'The file is not XML: line 2: <Document> is not closed'],
    [`<kml ${KML}>\n<name a=b>x</name></kml>`, 'The file is not XML: line 2: the tag of <name> is damaged'],
    ['<kml><![CDATA[x</kml>', 'The file is not XML: line 1: ]]> is missing'],
    ['<kml></kml>\n<kml></kml>', 'The file is not XML: line 2: a second document begins'],
    ['{"type": "FeatureCollection"}', 'The file is not XML: line 1: text outside of all elements'],
    ['', 'The file is not XML: line 1: it has no elements'],
    [`<kml>${'<Folder>'.repeat(600)}`, 'The file is not XML: line 1: elements are nested too deep'],
    ['<gpx><wpt/></gpx>', 'The file is XML, but not KML'],
  ] as const) {
    assert.throws(() => readKml(text), { message });
  }
});

test('KML without usable coordinates is rejected with the reason', () => {
  const point = (text: string) =>
    documentOf(`<Placemark><name>P</name><Point><coordinates>${text}</coordinates></Point></Placemark>`);
  const whyNot = (text: string) => readKml(text).unusable.map(({ where, why }) => `${where}: ${why}`);
  assert.deepEqual(whyNot(point('8,50 9,51')), ['Feature 1, P: A point has more than one position.']);
  assert.deepEqual(whyNot(point('8;50')), ['Feature 1, P: Its coordinates contain ";".']);
  assert.deepEqual(whyNot(point('50.1,128.6')), ['Feature 1, P: 50.1, 128.6 has latitude before longitude.']);
  assert.deepEqual(whyNot(documentOf('<Placemark><gx:Track/></Placemark>')), [
    'Feature 1: Geometries of the type Track cannot be used.',
  ]);
});

test('readKmz reads doc.kml, or the first KML file, of an archive', () => {
  const kml = (name: string) => strToU8(documentOf(named.replace('Bay', name)));
  const nameIn = (archive: Uint8Array) => readKmz(archive).drawing.layers[0]?.shapes[0]?.name;
  assert.equal(nameIn(zipSync({ 'other.kml': kml('Other'), 'doc.kml': kml('Main'), 'a.png': kml('') })), 'Main');
  assert.equal(nameIn(zipSync({ 'files/a.png': kml(''), 'Site.KML': kml('Site') })), 'Site');
  assert.throws(() => readKmz(zipSync({ 'a.png': kml('') })), { message: /KMZ file.*no KML file/ });
  assert.throws(() => readKmz(strToU8('PK no archive, but long enough')), { message: /KMZ file.*not a zip archive/ });
});

test('readXml returns names without known prefixes, and text with its whitespace', () => {
  const root = readXml(
    '<a xmlns:x="urn:other" b=\'1 &amp; 2\'>\r\n<x:c/><y:d> t<!-- --><![CDATA[<&]]> </y:d></a>',
    () => false,
  );
  assert.deepEqual(
    root.children.map(({ name, text }) => [name, text]),
    [
      ['x:c', ''],
      ['d', ' t<& '],
    ],
  );
  assert.deepEqual([root.name, root.text, root.attributes.get('b')], ['a', '\n', '1 & 2']);
});
