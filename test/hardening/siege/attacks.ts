import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import mqtt from 'mqtt';
import { RawSocket } from '../../support/raw_socket.ts';
import { attack, newReport } from '../attack.ts';

/** Target of an attack, and the recorder of its responses. */
export interface Siege {
  readonly port: number;
  /** Port of the hub's broker; undefined without one. */
  readonly brokerPort: number | undefined;
  /** Aborted at the end. */
  readonly signal: AbortSignal;
  /** Counts a response by its HTTP status; 0 if the connection closed without one. */
  answered(status: number): void;
}

const BODY_BYTES = 9_900_000;
const HOLD_MS = 3000;
/** Opcode of an unfragmented text frame. */
const TEXT = 1;

/** Bodies that are sent repeatedly, built once: the attackers must load the hub and not themselves. */
const UNFINISHED_BODY = Buffer.alloc(BODY_BYTES - 1, ' ');
const UNFINISHED_FRAME = Buffer.alloc(14_999_999, ' ');
const LONG_SOURCE = Buffer.from(
  JSON.stringify({
    provider_id: 'hostile',
    provider_type: 'uwb',
    source: 's'.repeat(8_000_000),
    position: { type: 'Point', coordinates: [9, 50] },
  }),
);
const STAR = Buffer.from(JSON.stringify({ region: { type: 'Polygon', coordinates: [starOf(99_999)] } }));
const LISTS = Buffer.from(`${'['.repeat(4_000_000)}${']'.repeat(4_000_000)}`);
const NUMBERED = Buffer.from(
  JSON.stringify({
    type: 'omlox',
    properties: Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [String(n * 7), n])),
  }),
);
const LOCATIONS = Buffer.from(
  JSON.stringify(
    Array.from({ length: 60_000 }, (_, n) => ({
      provider_id: `hostile${n % 50}`,
      provider_type: 'uwb',
      crs: 'EPSG:4326',
      position: { type: 'Point', coordinates: [9 + n / 1e6, n === 59_999 ? 'north' : 50] },
    })),
  ),
);

/** A location of any provider. */
const HERE = {
  provider_type: 'uwb',
  source: 'siege',
  crs: 'EPSG:4326',
  position: { type: 'Point', coordinates: [9, 50] },
};
/** A call whose handler is on the broker, and never answers. */
const FORGED_CALL = { jsonrpc: '2.0', method: 'forged', params: { _timeout: HOLD_MS } };
/** A fence in whose events the history would store 900 kB each. */
const HEAVY_FENCE_ID = '0c5c1b0e-54b5-4b64-8d5f-00000000f17e';
const HEAVY_FENCE = Buffer.from(
  JSON.stringify({
    id: HEAVY_FENCE_ID,
    region: { type: 'Point', coordinates: [0.5, 0.5] },
    radius: 20,
    properties: { text: 'p'.repeat(900_000) },
  }),
);

/** Everything that was found to harm a hub, repeated until the end. */
export const ATTACKS: Readonly<Record<string, (siege: Siege, round: number) => Promise<void>>> = {
  'bodies that never end': (siege) =>
    held(siege, 40, (socket) => {
      socket.write(`POST /v2/zones HTTP/1.1\r\nHost: h\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`);
      socket.write(UNFINISHED_BODY);
    }),
  'unread answers': (siege) =>
    held(siege, 4, (socket) => {
      socket.pause();
      socket.write('GET /v2/openapi.json HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(4000));
    }),
  'subscribers that do not read': async (siege) => {
    const sleepers = await Promise.all(Array.from({ length: 10 }, () => openSocket(siege)));
    for (const sleeper of sleepers) {
      sleeper.send(TEXT, '{"event":"subscribe","topic":"location_updates"}');
      sleeper.pause();
    }
    await rest(siege);
    for (const sleeper of sleepers) sleeper.close();
  },
  'frames that never end': (siege) =>
    held(siege, 10, (socket) => {
      socket.write(upgradeOf());
      // A masked frame of 15 MB, of which the last byte is missing.
      const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
      head.writeBigUInt64BE(15_000_000n, 2);
      socket.write(head);
      socket.write(UNFINISHED_FRAME);
    }),
  'headers by the byte': (siege) => held(siege, 50, (socket) => socket.write('GET /v2/zones HTTP/1.1\r\nHo')),
  'sources of 8 MB': async (siege) => {
    await put(siege, '/v2/providers/hostile/location', LONG_SOURCE);
    await rest(siege, 500);
  },
  'renderings without a reader': async (siege, round) => {
    const socket = await openSocket(siege);
    for (let n = 0; n < 492; n++) {
      const params = { crs: `EPSG:${32_601 + (n % 60)}`, provider_id: `nobody ${n}` };
      socket.send(
        TEXT,
        JSON.stringify({ event: 'subscribe', topic: round % 2 ? 'location_updates' : 'trackable_motions', params }),
      );
    }
    await rest(siege);
    socket.close();
  },
  'stars of 100,000 positions': async (siege) => {
    await post(siege, '/v2/fences', STAR);
    await rest(siege);
  },
  'crossings of a fence with 900 kB of properties': async (siege, round) => {
    if (round % 50 === 0) await put(siege, `/v2/fences/${HEAVY_FENCE_ID}`, HEAVY_FENCE);
    for (let n = 0; n < 50; n++) {
      const position = { type: 'Point', coordinates: [0.5 + (n % 2) / 100, 0.5] };
      const location = { provider_id: 'heavy', provider_type: 'uwb', source: 's', crs: 'EPSG:4326', position };
      await put(siege, '/v2/providers/heavy/location', location);
    }
    await rest(siege, 100);
  },
  'a chain of parents': async (siege, round) => {
    let parent: string | undefined;
    for (let n = 0; n < 40; n++) {
      const id = `0c5c1b0e-54b5-4b64-8d5f-${String(round % 100).padStart(4, '0')}${String(n).padStart(8, '0')}`;
      await post(siege, '/v2/trackables', { id, type: 'omlox', ...(parent && { parent }) });
      parent = id;
    }
    await rest(siege);
  },
  'lists within lists': async (siege) => {
    await post(siege, '/v2/zones', LISTS);
    await rest(siege, 500);
  },
  'names that look like numbers': async (siege) => {
    await post(siege, '/v2/trackables', NUMBERED);
    await rest(siege, 500);
  },
  'locations by the ten thousand, the last of them bad': async (siege) => {
    await put(siege, '/v2/providers/locations', LOCATIONS);
    await rest(siege, 500);
  },
  'paths in the unified namespace: of 300 levels, and of another client': async (siege, round) => {
    const paths = ['a/'.repeat(300), 'a'.repeat(60_000), 'hall/a', 'hall/a', 'hall/\u0000', 'hall/#'];
    const ids = paths.map(
      (_, n) => `0c5c1b0e-54b5-4b64-9d5f-${String(round % 100).padStart(4, '0')}${String(n).padStart(8, '0')}`,
    );
    for (const [n, path] of paths.entries()) {
      const [id, provider] = [ids[n] as string, `uns ${n}`];
      await post(siege, '/v2/trackables', {
        ...{ id, type: 'omlox', location_providers: [provider] },
        properties: { 'com.flowcate.uns': path },
      });
      await put(siege, `/v2/providers/${encodeURIComponent(provider)}/location`, { ...HERE, provider_id: provider });
    }
    await rest(siege);
    for (const id of ids) await send(siege, 'DELETE', `/v2/trackables/${id}`, '');
  },
  'a thousand calls that stay open': async (siege) => {
    const handler = await RawSocket.open(siege.port, '/v2/ws/rpc', 'siege');
    handler.send(TEXT, '{"jsonrpc":"2.0","id":1,"method":"register","params":{"method":"slow"}}');
    await rest(siege, 100);
    const call = { jsonrpc: '2.0', id: 1, method: 'slow', params: { _timeout: HOLD_MS } };
    await Promise.all(Array.from({ length: 1000 }, () => put(siege, '/v2/rpc', call)));
    handler.close();
  },
  'messages of remote procedure calls that are forged, or too long': async (siege, round) => {
    if (siege.brokerPort === undefined) return rest(siege);
    const client = await mqtt.connectAsync({ port: siege.brokerPort, host: '127.0.0.1', protocolVersion: 5 });
    const rpc = '/omlox/jsonrpc/rpc';
    const publish = (topic: string, value: object): Promise<unknown> =>
      client.publishAsync(`${rpc}/${topic}`, JSON.stringify({ jsonrpc: '2.0', ...value }), { qos: 1 });
    await client.publishAsync(`${rpc}/available/forged`, '{"id":"siege","method_name":"forged"}', { qos: 1 });
    const calls = Array.from({ length: 5 }, () => put(siege, '/v2/rpc', { ...FORGED_CALL, id: round }));
    const long = 'x'.repeat(300_000);
    for (let n = 0; n < 200; n++) {
      await publish(`forged/response/hub`, { id: 10_000 + n, result: 1, error: { code: 1, message: 'both' } });
      await publish('com.omlox.ping/request', { id: n, method: 'com.omlox.identify', params: { _caller_id: 'siege' } });
    }
    await publish('com.omlox.ping/request', { id: 1, method: 'com.omlox.ping', params: { _caller_id: 'siege', long } });
    await publish('forged/response/hub', { id: 10_000, result: long });
    await publish('com.omlox.core.xcmd/broadcast', { long });
    await Promise.all(calls);
    await client.endAsync(true);
  },
  'questions about the past that keep JavaScript busy': async (siege, round) => {
    if (round === 0) await goRound(siege);
    const path = `/v2/analytics/trips?trackable_id=${ROUND}&from=${at(0)}&to=${at(CIRCLE_PLACES)}`;
    // An occasional flood; otherwise one that a single client causes.
    const questions = Array.from({ length: round % 5 === 4 ? 80 : 1 }, (_, n) => {
      return get(siege, `${path}&radius=${DIAMETER_METERS - (n % 8) / 1e6}&min_stop=${1000 * (CIRCLE_PLACES / 2)}`);
    });
    await Promise.all(questions);
    await rest(siege);
  },
  'questions about the past whose clients leave': async (siege) => {
    const path = `/v2/analytics/heatmap?from=${at(0)}&kind=provider&cell=0.01`;
    await held(siege, 5, (socket) => socket.write(`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`), 300);
    await held(siege, 10, (socket) => {
      socket.pause();
      socket.write(`GET /v2/providers/circle/history?format=csv&from=${at(0)} HTTP/1.1\r\nHost: h\r\n\r\n`);
    });
  },
  'ids and cursors that break statements': async (siege) => {
    for (const text of ['%00', 'a%00b', '%27%00--', '%0a', '%7f', '%C2%85', "x')%20OR%201=1--"]) {
      await get(siege, `/v2/providers/${text}/history`);
      await get(siege, `/v2/fences/${text}/visits`);
      await get(siege, `/v2/analytics/dwell?fence_id=${text}`);
      await get(siege, `/v2/analytics/trips?trackable_id=${text}`);
      await get(siege, `/v2/history/events?event_type=${text}`);
    }
    for (const values of [
      ['9'.repeat(18)],
      ['9'.repeat(40)],
      ['-1', 'x'],
      ["1) UNION SELECT '", 1e300],
      [null],
      ['1', '\0'],
    ]) {
      for (const list of ['places', 'tracks', 'events', 'visits', 'snapshot', 'objects', 'way']) {
        const cursor = Buffer.from(JSON.stringify([list, ...values])).toString('base64url');
        await get(siege, `/v2/providers/circle/history?cursor=${cursor}`);
        await get(siege, `/v2/history/tracks?cursor=${cursor}`);
        await get(siege, `/v2/history/events?cursor=${cursor}`);
        await get(siege, `/v2/history/snapshot?cursor=${cursor}`);
        await get(siege, `/v2/ogc/mf/collections/providers/items?cursor=${cursor}`);
      }
    }
    await get(siege, '/v2/history/tracks?cursor=99999999999999999999.1');
    await rest(siege, 500);
  },
  'what chance brings': async (siege, round) => {
    const report = newReport();
    await attack(siege.port, { count: 400, seed: round, report });
    for (const [status, count] of report.statuses) for (let n = 0; n < count; n++) siege.answered(status);
  },
};

/** A trackable that circles, with each position as far from the opposite one as it is wide. */
const [ROUND, CIRCLE_PLACES, ROUND_PLACES, DIAMETER_METERS] = [
  '0c5c1b0e-54b5-4b64-8d5f-aaaaaaaaaaaa',
  20_000,
  1000,
  4,
] as const;
/** Radii of curvature of WGS 84 on the equator, in meters. */
const [ACROSS_METERS, ALONG_METERS] = [6_378_137, 6_335_439.327] as const;
const FIRST_MS = Date.now() - 2 * 1000 * CIRCLE_PLACES;

function at(second: number): string {
  return new Date(FIRST_MS + 1000 * second).toISOString();
}

async function goRound(siege: Siege): Promise<void> {
  await post(siege, '/v2/trackables', { id: ROUND, type: 'omlox', location_providers: ['circle'] });
  const degrees = (meters: number, radius: number): number => (meters / radius) * (180 / Math.PI);
  const locations = Array.from({ length: CIRCLE_PLACES }, (_, i) => {
    const angle = (2 * Math.PI * (i % ROUND_PLACES)) / ROUND_PLACES;
    const x = degrees((DIAMETER_METERS / 2) * Math.cos(angle), ACROSS_METERS);
    const y = degrees((DIAMETER_METERS / 2) * Math.sin(angle), ALONG_METERS);
    return {
      ...{ provider_id: 'circle', provider_type: 'uwb', crs: 'EPSG:4326', timestamp_generated: at(i) },
      position: { type: 'Point', coordinates: [x, y] },
    };
  });
  await put(siege, '/v2/providers/locations', locations);
}

/** A ring of which every edge crosses nearly every other one. */
function starOf(positions: number): number[][] {
  const ring = Array.from({ length: positions }, (_, n) => {
    const angle = (n * 2 * Math.PI * ((positions - 1) / 2)) / positions;
    return [9 + Math.cos(angle) / 100, 50 + Math.sin(angle) / 100];
  });
  return [...ring, ring[0] as number[]];
}

async function rest({ signal }: Siege, ms = HOLD_MS): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

/** Opens connections, sends something on each, and holds them for a while. */
async function held(siege: Siege, count: number, send: (socket: Socket) => void, ms = HOLD_MS): Promise<void> {
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(siege.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.once('data', (chunk: Buffer) => siege.answered(statusOf(chunk.toString('latin1'))));
    send(socket);
    return socket;
  });
  await rest(siege, ms);
  for (const socket of sockets) socket.resetAndDestroy();
}

function openSocket({ port }: Siege): Promise<RawSocket> {
  return RawSocket.open(port, '/v2/ws/socket', 'siege');
}

function upgradeOf(): string {
  const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
  return `GET /v2/ws/socket HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${key}\r\n`;
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}

const get = (siege: Siege, path: string) => send(siege, 'GET', path);
const put = (siege: Siege, path: string, body: unknown) => send(siege, 'PUT', path, body);
const post = (siege: Siege, path: string, body: unknown) => send(siege, 'POST', path, body);

async function send({ port, signal, answered }: Siege, method: string, path: string, body?: unknown): Promise<void> {
  const bytes = body instanceof Buffer || body === undefined ? body : Buffer.from(JSON.stringify(body));
  const url = `http://127.0.0.1:${port}${path}`;
  if (signal.aborted) return;
  const reply = await fetch(url, { method, body: bytes ?? null, signal }).catch(() => undefined);
  if (signal.aborted) return;
  await reply?.arrayBuffer().catch(() => undefined);
  answered(reply?.status ?? 0);
}
