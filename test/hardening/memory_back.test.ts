import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { HUB_ENV } from '../../src/launch.mjs';
import { HubProcess, locationOf } from '../durability/hub_process.ts';
import { RawSocket } from '../support/raw_socket.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

/** Memory of a hub after floods, with the environment of `npm start`. */
const skip = process.platform === 'linux' ? false : 'needs /proc';

const WITHIN_MS = 30_000;
const TIMES = 1.2;
/** Opcode of a frame. */
const TEXT = 1;

const mibOf = (hub: HubProcess): number => {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${hub.pid}/status`, 'utf8'))?.[1]) / 1024;
};

async function put(hub: HubProcess, locations: readonly unknown[]): Promise<void> {
  assert.equal((await hub.put('/providers/locations', locations))?.status, 204);
}

/** Locations of 5,000 tags, 100 at a time. */
async function honestLoad(hub: HubProcess, rounds: number): Promise<void> {
  for (let n = 0; n < rounds; n++) {
    await put(
      hub,
      Array.from({ length: 100 }, (_, i) => locationOf(`tag-${(n * 100 + i) % 5000}`, n)),
    );
  }
}

function client(hub: HubProcess): Socket {
  const { hostname, port } = new URL(hub.base);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  return socket;
}

/** Floods, each of which ends when its clients have disconnected. */
const FLOODS: Readonly<Record<string, (hub: HubProcess) => Promise<void>>> = {
  async 'subscribers that read nothing'(hub) {
    const sleepers: RawSocket[] = [];
    for (let n = 0; n < 25; n++) {
      const sleeper = await RawSocket.open(Number(new URL(hub.base).port), '/v2/ws/socket', 'sleeper');
      sleeper.send(TEXT, '{"event":"subscribe","topic":"location_updates"}');
      await sleeper.frame(({ opcode }) => opcode === TEXT);
      sleeper.pause();
      sleepers.push(sleeper);
    }
    const note = 'x'.repeat(10_000);
    for (let n = 0; n < 120; n++) {
      const locations = Array.from({ length: 20 }, (_, i) => locationOf(`tag-${i}`, n, { properties: { note } }));
      await put(hub, locations);
    }
    for (const sleeper of sleepers) sleeper.close();
  },
  async 'unfinished bodies'(hub) {
    const head = 'POST /hub/v2/zones HTTP/1.1\r\nHost: h\r\nContent-Length: 9900000\r\n\r\n';
    const body = Buffer.alloc(9_899_999, ' ');
    const attackers = Array.from({ length: 100 }, () => client(hub));
    await Promise.all(
      attackers.map((socket) => {
        socket.write(head);
        return new Promise<void>((resolve) => {
          socket.once('close', () => resolve());
          socket.once('data', () => resolve());
          socket.write(body, () => resolve());
        });
      }),
    );
    for (const socket of attackers) socket.destroy();
  },
  async 'long lists that are not read'(hub) {
    const readers: Socket[] = [];
    for (let n = 0; n < 16; n++) {
      // In sequence: the hub closes idle connections, and the test would not notice that.
      const socket = client(hub);
      readers.push(socket);
      socket.write('GET /hub/v2/providers/locations HTTP/1.1\r\nHost: h\r\n\r\n');
      // The hub may close it because of the others' unread bytes before any of the response has arrived.
      await new Promise<void>((resolve) => socket.once('data', () => resolve()).once('close', () => resolve()));
      socket.pause();
    }
    for (const socket of readers) socket.destroy();
  },
};

for (const [name, flood] of Object.entries(FLOODS)) {
  test(`Memory is released after ${name}, while the hub keeps running`, { skip }, async (t) => {
    Object.assign(process.env, HUB_ENV);
    const hub = await HubProcess.start(temporaryFolder());
    const note = 'y'.repeat(400);
    for (let n = 0; n < 30; n++) {
      await put(
        hub,
        Array.from({ length: 1000 }, (_, i) => locationOf(`still-${n}-${i}`, i, { properties: { note } })),
      );
    }
    await honestLoad(hub, 300);
    const before = mibOf(hub);
    await flood(hub);
    const most = mibOf(hub);
    const deadline = Date.now() + WITHIN_MS;
    let after = most;
    while (after > TIMES * before && Date.now() < deadline) {
      await honestLoad(hub, 1);
      await new Promise((resolve) => setTimeout(resolve, 20));
      after = mibOf(hub);
    }
    const [start, flooded, left] = [before, most, after].map((mib) => Math.round(mib));
    t.diagnostic(`${start} MiB before, ${flooded} MiB at the end of the flood, ${left} MiB afterwards`);
    assert.ok(after <= TIMES * before, `${start} MiB before, ${left} MiB ${WITHIN_MS / 1000} s after the flood`);
    await hub.stop();
  });
}
