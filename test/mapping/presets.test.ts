import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileMap } from '../../src/mapping/compile_map.ts';
import { decodePayload } from '../../src/mapping/decode.ts';
import { PRESETS } from '../../src/mapping/presets.ts';
import { checker } from '../../src/model/check.ts';
import { Location, Proximity } from '../../src/model/location.ts';
import { SOURCES } from '../../src/entities/sources.ts';
import { Problem } from '../../src/problem.ts';

/** Missing addresses of presets, for the check of the whole source. */
const ADDRESSES = {
  http: {},
  mqtt: { url: 'mqtt://broker.example.com' },
  udp: { port: 5000 },
  tcp: { url: 'tcp://gnss.example.com:4001' },
  websocket: { url: 'wss://rtls.example.com/' },
  poll: { url: 'http://qpe.example.com:8080/qpe/getTagData' },
};
const location = checker(Location);
const proximity = checker(Proximity);

function mapped(id: string, payload: string, topic?: string) {
  const preset = PRESETS.find((each) => each.id === id);
  assert.ok(preset !== undefined, id);
  const { format, columns, map } = preset.source;
  const value = decodePayload(payload, { format, columns: columns ?? undefined }, Date.parse('1994-03-23T12:36:00Z'));
  assert.ok(!(value instanceof Problem), String(value));
  return compileMap(map).run({ value, topic });
}

test('Every preset is a valid source, and maps its sample to a valid location or proximity', () => {
  for (const { id, name, source, sample, topic } of PRESETS) {
    SOURCES.check({ id, name, ...ADDRESSES[source.kind], ...source } as never);
    const { mapped: items, problems } = mapped(id, sample, topic);
    assert.deepEqual([items.length, problems], [1, []], id);
    const check = source.map.as === 'proximity' ? proximity : location;
    assert.equal(check.explain(items[0]?.value), undefined, id);
  }
});

interface Published {
  readonly preset: string;
  /** Where the payload was published. Members without a role in the map are left out. */
  readonly origin: string;
  readonly payload: unknown;
  readonly topic?: string;
  readonly expected: object;
}

const point = (...coordinates: number[]) => ({ type: 'Point', coordinates });

const PUBLISHED: readonly Published[] = [
  {
    preset: 'pozyx',
    origin: 'docs.pozyx.io, MQTT positioning stream data structure, and the example of UWBAnchor in smart-data-models',
    payload: [
      {
        version: '0.1',
        tagId: '10006789',
        timestamp: 1671165464.3779979,
        success: true,
        data: { coordinates: { x: 29340, y: 69521, z: 1000 }, tagData: { blinkIndex: 1896215 } },
      },
    ],
    expected: {
      provider_id: '10006789',
      provider_type: 'uwb',
      position: point(29.34, 69.521, 1),
      source: 'pozyx',
      timestamp_generated: '2022-12-16T04:37:44.377998Z',
    },
  },
  {
    preset: 'quuppa_udp',
    origin: 'a test of a public parser of the DefaultLocationAndInfo output of QPE 9.5',
    payload: {
      tagId: 'a4da22e4e75d',
      tagName: 'swimmer-03',
      location: [12.4, 3.1, 1.2],
      locationTS: 1714123447900,
      locationType: 'position',
      locationRadius: 0.42,
      locationCoordSysId: 'pool-floor-plan',
    },
    expected: {
      provider_id: 'a4da22e4e75d',
      provider_type: 'ble-aoa',
      position: point(12.4, 3.1, 1.2),
      source: 'pool-floor-plan',
      timestamp_generated: '2024-04-26T09:24:07.900Z',
      accuracy: 0.42,
      properties: { name: 'swimmer-03' },
    },
  },
  {
    preset: 'sewio',
    origin:
      'the datastreams of a feed in kedwards/reactls; public clients read them in the body of a WebSocket message',
    payload: {
      body: {
        id: '1',
        datastreams: [
          { id: 'posZ', current_value: '0', at: '2020-04-17 15:01:00.057231' },
          { id: 'posX', current_value: '70.79173', at: '2020-04-17 15:01:00.057231' },
          { id: 'posY', current_value: '24.28782', at: '2020-04-17 15:01:00.057231' },
        ],
      },
    },
    expected: {
      provider_id: '1',
      provider_type: 'uwb',
      position: point(70.79173, 24.28782, 0),
      source: 'sewio',
      timestamp_generated: '2020-04-17T15:01:00.057Z',
    },
  },
  {
    preset: 'owntracks_http',
    origin: 'owntracks.org/booklet/features/traccar',
    payload: { lon: 2.29513, lat: 48.85833, _type: 'location', tst: 1497476456, tid: 'JJ' },
    expected: {
      provider_id: 'JJ',
      provider_type: 'gps',
      position: point(2.29513, 48.85833),
      crs: 'EPSG:4326',
      timestamp_generated: '2017-06-14T21:40:56.000Z',
      properties: { tracker_id: 'JJ' },
    },
  },
  {
    preset: 'traccar',
    origin: 'traccar.org/forums/topic/traccar-webhook-json; PositionData and the units of Position in traccar/traccar',
    payload: {
      position: {
        fixTime: '2024-05-20T14:29:55.000+00:00',
        valid: true,
        latitude: -23.55052,
        longitude: -46.633308,
        speed: 13.5,
        course: 180,
        attributes: { motion: true },
      },
      device: { name: 'Company Car 01', uniqueId: '123456789012345' },
    },
    expected: {
      provider_id: '123456789012345',
      provider_type: 'gps',
      position: point(-46.633308, -23.55052),
      crs: 'EPSG:4326',
      timestamp_generated: '2024-05-20T14:29:55.000Z',
      speed: 13.5 * (1852 / 3600),
      course: 180,
      properties: { name: 'Company Car 01', attributes: { motion: true } },
    },
  },
  {
    preset: 'nmea',
    origin: 'the RMC sentence of gpsinformation.org/dale/nmea.htm, cited by most parsers',
    payload: '$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A',
    expected: {
      provider_id: 'gnss-1',
      provider_type: 'gps',
      position: point(11 + 31 / 60, 48.1173),
      crs: 'EPSG:4326',
      timestamp_generated: '1994-03-23T12:35:19.000Z',
      speed: 22.4 * (1852 / 3600),
      course: 84.4,
    },
  },
  {
    preset: 'nmea',
    origin: 'the GGA sentence of the same page',
    payload: '$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47',
    expected: {
      provider_id: 'gnss-1',
      provider_type: 'gps',
      position: point(11 + 31 / 60, 48.1173),
      crs: 'EPSG:4326',
      timestamp_generated: '1994-03-23T12:35:19.000Z',
      properties: { altitude: 545.4, satellites: 8, hdop: 0.9 },
    },
  },
  {
    preset: 'espresense',
    origin: 'a captured message in a public client; its members are those of BleFingerprint in ESPresense/ESPresense',
    payload: {
      id: '244b03d72780',
      idType: 55,
      'rssi@1m': -71,
      rssi: -84,
      raw: 2.35,
      distance: 2.25,
      speed: 0.02,
      mac: '244b03d72780',
      interval: 615,
    },
    topic: 'espresense/devices/244b03d72780/kitchen',
    expected: {
      provider_id: '244b03d72780',
      provider_type: 'ibeacon',
      source: 'kitchen',
      accuracy: 2.25,
      properties: { rssi: -84 },
    },
  },
  {
    preset: 'vda5050',
    origin: 'a test of a public VDA 5050 2.1 library; the members are those of visualization.schema in VDA5050/VDA5050',
    payload: {
      headerId: 101,
      timestamp: '2024-05-20T15:00:01Z',
      version: '2.1.0',
      manufacturer: 'robot-inc',
      serialNumber: 'agv-001',
      agvPosition: { x: 10.5, y: -5.2, theta: 1.57, mapId: 'level-1', positionInitialized: true },
    },
    expected: {
      provider_id: 'robot-inc-agv-001',
      provider_type: 'virtual',
      position: point(10.5, -5.2),
      source: 'level-1',
      timestamp_generated: '2024-05-20T15:00:01.000Z',
      course: 90 - (1.57 * 180) / Math.PI,
    },
  },
];

for (const { preset, origin, payload, topic, expected } of PUBLISHED) {
  test(`The preset ${preset} maps the payload of ${origin}`, () => {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
    const { mapped: items, problems } = mapped(preset, text, topic);
    assert.deepEqual(problems.map(String), []);
    const { course, ...value } = items[0]?.value ?? {};
    const { course: expectedCourse, ...rest } = expected as { course?: number };
    assert.deepEqual(value, rest);
    assert.equal(typeof course, typeof expectedCourse);
    assert.ok(Math.abs(Number(course ?? 0) - (expectedCourse ?? 0)) < 1e-9, `${course} is not ${expectedCourse}`);
  });
}

const SKIPPED: readonly (readonly [preset: string, payload: unknown])[] = [
  ['owntracks_http', { _type: 'transition', wtst: 1, lat: 1, lon: 2, tst: 1, event: 'enter', tid: 'JP' }],
  ['pozyx', [{ version: '2.0', tagId: '30331', success: false, timestamp: 1, errorCode: '1' }]],
  ['quuppa', { tags: [{ tagId: 'a', locationType: 'noData', location: null }] }],
  ['traccar', { position: { valid: false, latitude: 0, longitude: 0 }, device: { uniqueId: '1' } }],
  ['vda5050', { manufacturer: 'a', serialNumber: '1', agvPosition: { x: 0, y: 0, positionInitialized: false } }],
];

test('Messages without a valid position are skipped, not refused', () => {
  for (const [preset, payload] of SKIPPED) {
    const { mapped: items, problems, skipped } = mapped(preset, JSON.stringify(payload));
    assert.deepEqual([items.length, problems.map(String), skipped], [0, [], 1], preset);
  }
});
