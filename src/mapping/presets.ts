import type { Source, SourcePreset } from '../model/source.ts';

interface Preset extends SourcePreset {
  readonly source: Pick<Source, 'kind' | 'format' | 'map'> & Partial<Omit<Source, 'id' | 'name'>>;
}

/** Meters per second of a knot. */
const KNOT = 1852 / 3600;

/**
 * Formats of known systems. test/mapping/presets.test.ts maps samples that were published elsewhere, and names their
 * origins. The samples here have the same form and made-up values.
 */
export const PRESETS: readonly Preset[] = [
  {
    id: 'pozyx',
    name: 'Pozyx',
    note: 'The MQTT stream of a local server (port 1883, topic tags). Set the zone of its coordinates.',
    source: {
      kind: 'mqtt',
      topic: 'tags',
      format: 'json',
      map: {
        when: [{ path: '/success', in: [true] }],
        provider_id: '/tagId',
        provider_type: { value: 'uwb' },
        // Millimeters.
        x: { path: '/data/coordinates/x', scale: 0.001 },
        y: { path: '/data/coordinates/y', scale: 0.001 },
        z: { path: '/data/coordinates/z', scale: 0.001 },
        source: { value: 'pozyx' },
        timestamp_generated: { path: '/timestamp', unit: 's' },
      },
    },
    sample:
      '[{"version":"2.0","tagId":"24576","timestamp":1795169047.12,"success":true,"data":{"coordinates":{"x":12500,"y":7850,"z":1100},"tagData":{"blinkIndex":7}}}]',
  },
  {
    id: 'quuppa',
    name: 'Quuppa (REST)',
    note: 'Polls getTagData of the positioning engine. Zones are found by locationCoordSysId: use it as their foreign id.',
    source: {
      kind: 'poll',
      interval: 1000,
      format: 'json',
      map: {
        items: '/tags/*',
        // Tags without a position have no location.
        when: [{ path: '/locationType', in: ['position', 'presence'] }],
        provider_id: '/tagId',
        provider_type: { value: 'ble-aoa' },
        x: '/location/0',
        y: '/location/1',
        z: '/location/2',
        source: '/locationCoordSysId',
        timestamp_generated: { path: '/locationTS', unit: 'ms' },
        accuracy: '/locationRadius',
        properties: { name: '/tagName' },
      },
    },
    sample:
      '{"code":0,"status":"Ok","tags":[{"tagId":"a4da22e10001","tagName":"Cart 7","locationType":"position","location":[12.4,3.1,1.2],"locationRadius":0.42,"locationTS":1795169047900,"locationCoordSysId":"hall-1"}]}',
  },
  {
    id: 'quuppa_udp',
    name: 'Quuppa (UDP)',
    note: 'A UDP push output with the format of getTagData. The port must be in source_udp_ports.',
    source: {
      kind: 'udp',
      format: 'json',
      map: {
        when: [{ path: '/locationType', in: ['position', 'presence'] }],
        provider_id: '/tagId',
        provider_type: { value: 'ble-aoa' },
        x: '/location/0',
        y: '/location/1',
        z: '/location/2',
        source: '/locationCoordSysId',
        timestamp_generated: { path: '/locationTS', unit: 'ms' },
        accuracy: '/locationRadius',
        properties: { name: '/tagName' },
      },
    },
    sample:
      '{"tagId":"a4da22e10001","tagName":"Cart 7","locationType":"position","location":[12.4,3.1,1.2],"locationRadius":0.42,"locationTS":1795169047900,"locationCoordSysId":"hall-1"}',
  },
  {
    id: 'sewio',
    name: 'Sewio RTLS',
    note: 'The WebSocket of RTLS Studio. open_message subscribes: insert the API key. Set the zone, and the time zone of the server.',
    source: {
      kind: 'websocket',
      open_message: '{"headers":{"X-ApiKey":"API-KEY"},"method":"subscribe","resource":"/feeds/"}',
      format: 'json',
      map: {
        items: '/body',
        provider_id: '/id',
        provider_type: { value: 'uwb' },
        x: '/datastreams/[id=posX]/current_value',
        y: '/datastreams/[id=posY]/current_value',
        z: '/datastreams/[id=posZ]/current_value',
        source: { value: 'sewio' },
        timestamp_generated: '/datastreams/[id=posX]/at',
      },
    },
    sample:
      '{"resource":"/feeds/16","body":{"id":"16","datastreams":[{"id":"posX","current_value":" 12.50","at":"2026-11-20 09:15:30.250481"},{"id":"posY","current_value":" 7.85","at":"2026-11-20 09:15:30.250481"}]}}',
  },
  {
    id: 'owntracks_mqtt',
    name: 'OwnTracks (MQTT)',
    note: 'The apps publish to owntracks/user/device. Other messages than locations are skipped.',
    source: {
      kind: 'mqtt',
      topic: 'owntracks/+/+',
      format: 'json',
      map: { ...ownTracks(), provider_id: { template: '{$topic/1}-{$topic/2}' } },
    },
    sample:
      '{"_type":"location","tid":"kl","lat":50.1113,"lon":8.6828,"acc":12,"alt":112,"vel":36,"cog":270,"batt":80,"tst":1795169047}',
    topic: 'owntracks/kim/phone',
  },
  {
    id: 'owntracks_http',
    name: 'OwnTracks (HTTP)',
    note: 'The apps post to the URL of the source. The password of the app is the token of the source.',
    source: {
      kind: 'http',
      format: 'json',
      map: { ...ownTracks(), provider_id: { path: '/topic', or: ['/tid'] } },
    },
    sample:
      '{"_type":"location","tid":"kl","lat":50.1113,"lon":8.6828,"acc":12,"alt":112,"vel":36,"cog":270,"batt":80,"tst":1795169047}',
  },
  {
    id: 'traccar',
    name: 'Traccar',
    note: 'Settings of Traccar: forward.type json, forward.url the URL of the source, forward.header "Authorization: Bearer <token>".',
    source: {
      kind: 'http',
      format: 'json',
      map: {
        when: [{ path: '/position/valid', in: [true] }],
        provider_id: '/device/uniqueId',
        provider_type: { value: 'gps' },
        x: '/position/longitude',
        y: '/position/latitude',
        crs: { value: 'EPSG:4326' },
        timestamp_generated: '/position/fixTime',
        speed: { path: '/position/speed', scale: KNOT },
        course: '/position/course',
        properties: { name: '/device/name', attributes: '/position/attributes' },
      },
    },
    sample:
      '{"position":{"deviceId":7,"protocol":"osmand","valid":true,"fixTime":"2026-11-20T09:15:30.000+00:00","latitude":50.1113,"longitude":8.6828,"speed":10,"course":90,"accuracy":0,"attributes":{"motion":true}},"device":{"id":7,"name":"Van 3","uniqueId":"860000000000001"}}',
  },
  {
    id: 'nmea',
    name: 'NMEA 0183 (RMC, GGA)',
    note: 'A receiver or gateway that sends sentences over TCP. NMEA has no device id: set provider_id.',
    source: {
      kind: 'tcp',
      format: 'nmea',
      map: {
        provider_id: { value: 'gnss-1' },
        provider_type: { value: 'gps' },
        x: '/longitude',
        y: '/latitude',
        crs: { value: 'EPSG:4326' },
        timestamp_generated: '/time',
        speed: '/speed',
        course: '/course',
        properties: { altitude: '/altitude', satellites: '/satellites', hdop: '/hdop' },
      },
    },
    sample: '$GPRMC,091530.00,A,5006.678,N,00840.968,E,019.4,270.0,201126,,',
  },
  {
    id: 'espresense',
    name: 'ESPresense',
    note: 'Nodes publish to espresense/devices/<device>/<room>. Each room is a proximity zone with the name of the room as its foreign id.',
    source: {
      kind: 'mqtt',
      topic: 'espresense/devices/+/+',
      format: 'json',
      map: {
        as: 'proximity',
        provider_id: { path: '/id', or: ['$topic/2'] },
        provider_type: { value: 'ibeacon' },
        source: '$topic/3',
        accuracy: '/distance',
        properties: { rssi: '/rssi' },
      },
    },
    sample: '{"id":"phone:kim","rssi@1m":-65,"rssi":-74,"raw":2.31,"distance":2.25,"speed":0.02,"interval":615}',
    topic: 'espresense/devices/phone:kim/kitchen',
  },
  {
    id: 'vda5050',
    name: 'VDA 5050 (2.x)',
    note: 'State or visualization messages of vehicles. Zones are found by mapId. course assumes that y points north: otherwise change its offset.',
    source: {
      kind: 'mqtt',
      topic: 'uagv/v2/+/+/state',
      format: 'json',
      map: {
        when: [{ path: '/agvPosition/positionInitialized', in: [true] }],
        provider_id: { template: '{/manufacturer}-{/serialNumber}' },
        provider_type: { value: 'virtual' },
        x: '/agvPosition/x',
        y: '/agvPosition/y',
        source: '/agvPosition/mapId',
        timestamp_generated: '/timestamp',
        accuracy: '/agvPosition/deviationRange',
        // theta is counterclockwise from the x axis, in radians.
        course: { path: '/agvPosition/theta', scale: -180 / Math.PI, offset: 90 },
        properties: { battery: '/batteryState/batteryCharge', driving: '/driving' },
      },
    },
    sample:
      '{"headerId":100,"timestamp":"2026-11-20T09:15:30.25Z","version":"2.1.0","manufacturer":"acme","serialNumber":"agv-1","driving":true,"agvPosition":{"x":12.5,"y":7.85,"theta":1.5707963267948966,"mapId":"hall-1","positionInitialized":true},"batteryState":{"batteryCharge":85,"charging":false}}',
    topic: 'uagv/v2/acme/agv-1/state',
  },
];

/** Kilometers per hour, meters, degrees and seconds. */
function ownTracks(): Omit<Source['map'], 'provider_id'> {
  return {
    when: [{ path: '/_type', in: ['location'] }],
    provider_type: { value: 'gps' },
    x: '/lon',
    y: '/lat',
    crs: { value: 'EPSG:4326' },
    timestamp_generated: { path: '/tst', unit: 's' },
    accuracy: '/acc',
    speed: { path: '/vel', scale: 1 / 3.6 },
    course: '/cog',
    properties: { battery: '/batt', tracker_id: '/tid' },
  };
}
