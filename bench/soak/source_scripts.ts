/** A fix of a tag, which a script writes in the format of a system. */
interface Fix {
  /** Number of the tag. */
  readonly tag: number;
  /** Meters in the hall. */
  readonly x: number;
  readonly y: number;
  readonly timeMs: number;
}

/** Outcome of a payload: its item is mapped, skipped, or refused with this reason. */
export type Outcome = 'mapped' | 'skipped' | string;

export interface Payload {
  readonly text: string;
  readonly topic?: string;
  readonly outcome: Outcome;
}

/** Payloads of one kind of system. */
export interface Script {
  readonly name: string;
  /** Transport; an adapter is no data source, and has no map. */
  readonly kind: 'http' | 'mqtt' | 'udp' | 'tcp' | 'websocket' | 'poll' | 'cisco' | 'iso24730';
  /** Preset of the hub. */
  readonly preset?: string;
  /** Changes of the map of the preset. */
  readonly map?: Readonly<Record<string, unknown>>;
  readonly columns?: readonly string[];
  topic?(fix: Fix): string;
  /** Returns a valid payload. */
  write(fix: Fix): string;
  /** Returns a payload that the map skips. */
  skipped?(fix: Fix): string;
  /** Returns a payload that the hub refuses, and the reason. */
  refused?(fix: Fix): readonly [text: string, reason: string];
}

/** Foreign id of the zone whose local coordinates the systems send. */
export const HALL = 'hall-1';
/** Foreign id of the proximity zone. */
export const KITCHEN = 'kitchen';
/** Zone of the notifications of Cisco. */
export const FLOOR = 'Campus>Hall>Level 0';
const [LONGITUDE, LATITUDE] = [8.6821, 50.1109];
const DEGREE = 111_320;

/** Longitude and latitude of local coordinates. */
export function geographic(x: number, y: number): readonly [longitude: number, latitude: number] {
  return [LONGITUDE + x / (DEGREE * Math.cos((LATITUDE * Math.PI) / 180)), LATITUDE + y / DEGREE];
}

const iso = (timeMs: number): string => new Date(timeMs).toISOString();
const nameOf = (prefix: string, { tag }: Fix): string => `${prefix}-${tag}`;

const ownTracks = (fix: Fix, type = 'location'): object => {
  const [lon, lat] = geographic(fix.x, fix.y);
  return {
    _type: type,
    topic: nameOf('ot', fix),
    tid: 'ot',
    lat,
    lon,
    acc: 5,
    vel: 5,
    cog: 90,
    tst: fix.timeMs / 1000,
  };
};

const quuppa = (prefix: string, fix: Fix, x: unknown = fix.x): object => ({
  tagId: nameOf(prefix, fix),
  tagName: 'Cart',
  locationType: 'position',
  location: [x, fix.y, 1.2],
  locationRadius: 0.4,
  locationTS: fix.timeMs,
  locationCoordSysId: HALL,
});

const traccar = (fix: Fix, valid = true, longitude: unknown = geographic(fix.x, fix.y)[0]): string =>
  JSON.stringify({
    position: {
      valid,
      fixTime: iso(fix.timeMs),
      latitude: geographic(fix.x, fix.y)[1],
      longitude,
      speed: 3,
      course: 90,
    },
    device: { name: 'Van', uniqueId: nameOf('van', fix) },
  });

const sewio = (fix: Fix, x: string): string => {
  const at = iso(fix.timeMs).replace('T', ' ').replace('Z', '000');
  const datastreams = [
    { id: 'posX', current_value: x, at },
    { id: 'posY', current_value: String(fix.y), at },
  ];
  return JSON.stringify({ resource: '/feeds/1', body: { id: nameOf('sewio', fix), datastreams } });
};

const pozyx = (fix: Fix, success = true, x: unknown = fix.x * 1000): string =>
  JSON.stringify([
    {
      version: '2.0',
      tagId: nameOf('pozyx', fix),
      timestamp: fix.timeMs / 1000,
      success,
      data: { coordinates: { x, y: fix.y * 1000, z: 1100 } },
    },
  ]);

const vda5050 = (fix: Fix, positionInitialized = true, x: unknown = fix.x): string =>
  JSON.stringify({
    timestamp: iso(fix.timeMs),
    manufacturer: 'acme',
    serialNumber: nameOf('agv', fix),
    driving: true,
    agvPosition: { x, y: fix.y, theta: 1, mapId: HALL, positionInitialized },
  });

/** An angle as NMEA 0183 has it: degrees and minutes. */
const angle = (degrees: number, digits: number): string => {
  const whole = Math.floor(degrees);
  return `${String(whole).padStart(digits, '0')}${((degrees - whole) * 60).toFixed(5).padStart(8, '0')}`;
};

const nmea = (fix: Fix): string => {
  const [lon, lat] = geographic(fix.x, fix.y);
  const time = iso(fix.timeMs);
  const [clock, date] = [
    time.slice(11, 23).replaceAll(':', ''),
    `${time.slice(8, 10)}${time.slice(5, 7)}${time.slice(2, 4)}`,
  ];
  return `$GPRMC,${clock},A,${angle(lat, 2)},N,${angle(lon, 3)},E,003.0,090.0,${date},,`;
};

const cisco = (fix: Fix, hierarchy: string): string =>
  JSON.stringify({
    notifications: [
      {
        notificationType: 'locationupdate',
        deviceId: nameOf('wifi', fix),
        locationMapHierarchy: hierarchy,
        locationCoordinate: { x: fix.x, y: fix.y, z: 0, unit: 'METERS' },
        timestamp: fix.timeMs,
      },
    ],
  });

/** Systems with each transport and each preset, with the adapters, and with CSV, which no preset has. */
export const SCRIPTS: readonly Script[] = [
  {
    name: 'OwnTracks (HTTP)',
    kind: 'http',
    preset: 'owntracks_http',
    write: (fix) => JSON.stringify(ownTracks(fix)),
    skipped: (fix) => JSON.stringify(ownTracks(fix, 'lwt')),
    refused: (fix) => [JSON.stringify({ ...ownTracks(fix), lon: 'far' }), 'not_a_number'],
  },
  {
    name: 'Traccar',
    kind: 'http',
    preset: 'traccar',
    write: (fix) => traccar(fix),
    skipped: (fix) => traccar(fix, false),
    refused: (fix) => [traccar(fix, true, 200), 'axis_out_of_range'],
  },
  {
    name: 'Quuppa (REST)',
    kind: 'poll',
    preset: 'quuppa',
    write: (fix) => JSON.stringify({ code: 0, tags: [quuppa('quuppa', fix)] }),
    skipped: (fix) => JSON.stringify({ code: 0, tags: [{ ...quuppa('quuppa', fix), locationType: 'noData' }] }),
    refused: (fix) => [JSON.stringify({ code: 0, tags: [quuppa('quuppa', fix, 'far')] }), 'not_a_number'],
  },
  {
    name: 'Quuppa (UDP)',
    kind: 'udp',
    preset: 'quuppa_udp',
    write: (fix) => JSON.stringify(quuppa('quuppa-udp', fix)),
    skipped: (fix) => JSON.stringify({ ...quuppa('quuppa-udp', fix), locationType: 'noData' }),
    refused: (fix) => [JSON.stringify(quuppa('quuppa-udp', fix)).slice(1), 'not_json'],
  },
  {
    name: 'Sewio RTLS',
    kind: 'websocket',
    preset: 'sewio',
    map: { source: { value: HALL }, time_zone: 'UTC' },
    write: (fix) => sewio(fix, ` ${fix.x}`),
    refused: (fix) => [sewio(fix, 'far'), 'not_a_number'],
  },
  {
    name: 'Pozyx',
    kind: 'mqtt',
    preset: 'pozyx',
    map: { source: { value: HALL } },
    topic: () => 'tags',
    write: (fix) => pozyx(fix),
    skipped: (fix) => pozyx(fix, false),
    refused: (fix) => [pozyx(fix, true, 'far'), 'not_a_number'],
  },
  {
    name: 'OwnTracks (MQTT)',
    kind: 'mqtt',
    preset: 'owntracks_mqtt',
    topic: (fix) => `owntracks/kim/${fix.tag}`,
    write: (fix) => JSON.stringify(ownTracks(fix)),
    skipped: (fix) => JSON.stringify(ownTracks(fix, 'waypoint')),
    refused: (fix) => [JSON.stringify({ ...ownTracks(fix), lat: 91 }), 'axis_out_of_range'],
  },
  {
    name: 'ESPresense',
    kind: 'mqtt',
    preset: 'espresense',
    topic: (fix) => `espresense/devices/beacon-${fix.tag}/${KITCHEN}`,
    write: (fix) => JSON.stringify({ id: nameOf('beacon', fix), rssi: -70, distance: 2.25 }),
    refused: (fix) => [JSON.stringify({ id: nameOf('beacon', fix), distance: 'far' }), 'not_a_number'],
  },
  {
    name: 'VDA 5050',
    kind: 'mqtt',
    preset: 'vda5050',
    topic: (fix) => `uagv/v2/acme/agv-${fix.tag}/state`,
    write: (fix) => vda5050(fix),
    skipped: (fix) => vda5050(fix, false),
    refused: (fix) => [vda5050(fix, true, 'far'), 'not_a_number'],
  },
  {
    name: 'NMEA 0183',
    kind: 'tcp',
    preset: 'nmea',
    write: (fix) => nmea(fix),
    refused: () => ['noise', 'not_nmea'],
  },
  {
    name: 'CSV over TCP',
    kind: 'tcp',
    columns: ['id', 'x', 'y', 'time'],
    map: {
      provider_id: '/id',
      x: '/x',
      y: '/y',
      source: { value: HALL },
      timestamp_generated: { path: '/time', unit: 'ms' },
    },
    write: (fix) => [nameOf('csv', fix), fix.x, fix.y, fix.timeMs].join(','),
    refused: (fix) => [[nameOf('csv', fix), 'far', fix.y, fix.timeMs].join(','), 'not_a_number'],
  },
  {
    name: 'Cisco notifications',
    kind: 'cisco',
    write: (fix) => cisco(fix, FLOOR),
    refused: (fix) => [cisco(fix, 'Nowhere'), 'not_a_foreign_id'],
  },
  {
    name: 'ISO 24730 server',
    kind: 'iso24730',
    write: (fix) => `North,DFT,02,${nameOf('iso', fix)},${fix.x},${fix.y},0,0,${iso(fix.timeMs)}`,
    skipped: () => 'KeepAlive,20',
    refused: (fix) => [`North,DFT,02,${nameOf('iso', fix)},far,${fix.y},0,0,${iso(fix.timeMs)}`, 'no_position'],
  },
];

const TAGS = 20;
/** Every Nth payload is skipped, and every Nth is refused. */
const [SKIPPED_EVERY, REFUSED_EVERY] = [15, 25];

/** Returns the Nth payload of a script. */
export function payloadOf(script: Script, n: number, timeMs: number): Payload {
  const turn = n / TAGS;
  const fix = { tag: n % TAGS, x: 50 + 20 * Math.cos(turn), y: 50 + 20 * Math.sin(turn), timeMs };
  const topic = script.topic === undefined ? {} : { topic: script.topic(fix) };
  if (n % REFUSED_EVERY === 0 && script.refused !== undefined) {
    const [text, outcome] = script.refused(fix);
    return { text, outcome, ...topic };
  }
  if (n % SKIPPED_EVERY === 0 && script.skipped !== undefined) {
    return { text: script.skipped(fix), outcome: 'skipped', ...topic };
  }
  return { text: script.write(fix), outcome: 'mapped', ...topic };
}
