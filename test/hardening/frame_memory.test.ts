import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { WebSocket } from 'ws';
import { ADMIN } from '../auth/authorized_hub.ts';
import { Issuer } from '../auth/issuer.ts';
import type { HubProcess } from '../durability/hub_process.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { Attacker, growthOf, MIB, startHub } from './memory_of_hub.ts';

/**
 * Frames that never end, from many clients at once, and the memory that the hub retains for them according to the
 * system.
 */
const skip = process.platform === 'linux' ? false : 'needs /proc';

const FRAME_BYTES = 15_000_000;
const MEDIUM_FRAME_BYTES = 1_000_000;
/** Tolerance of the measurement: memory of normal work, and memory that the allocator retains. */
const NOISE = 100 * MIB;
const MEMORY = { max_frame_memory: 128 };
const UPGRADE =
  'GET /v2/ws/socket HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const NO_MASK = [0, 0, 0, 0];
const CLOSE = Buffer.from([0x88, 0x80, ...NO_MASK]);

/** A frame of this many bytes; the first of several unless `isLast`. */
function frameOf(bytes: number, isLast: boolean): Buffer {
  const head = Buffer.from([isLast ? 0x81 : 0x01, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, ...NO_MASK]);
  head.writeBigUInt64BE(BigInt(bytes), 2);
  return Buffer.concat([head, Buffer.alloc(bytes, ' ')]);
}

const UNFINISHED = frameOf(FRAME_BYTES, true).subarray(0, -1);
const MEDIUM_UNFINISHED = frameOf(MEDIUM_FRAME_BYTES, true).subarray(0, -1);

/** Opens connections and sends the same bytes on each, as far as the hub reads them. */
async function attack(t: TestContext, hub: HubProcess, { count, bytes }: { count: number; bytes: Buffer }) {
  const attackers = Array.from({ length: count }, () => new Attacker(t, hub, true));
  await Promise.all(
    attackers.map(async (attacker) => {
      const answer = attacker.answer();
      await attacker.send(UPGRADE);
      assert.equal(await answer, 'HTTP/1.1 101 Switching Protocols');
      await attacker.send(bytes);
    }),
  );
  // After the other bytes, so that the hub has processed all of them.
  for (let n = 0; n < 5; n++) assert.ok(await hub.get('/version'));
  return attackers;
}

async function connect(t: TestContext, hub: HubProcess, headers: Record<string, string> = {}): Promise<WebSocket> {
  const socket = new WebSocket(hub.base.replace(/^http(.*)\/hub\/v2$/, 'ws$1/v2/ws/socket'), { headers });
  t.after(() => socket.terminate());
  await once(socket, 'open');
  return socket;
}

/** Code of the error frame or close frame in response to a frame of this many bytes. */
async function codeFor(socket: WebSocket, bytes: number): Promise<number> {
  const text = '{"event":"unsubscribe","subscription_id":1}';
  socket.send(text.replace('{', `{${' '.repeat(bytes - text.length)}`));
  const [received] = await Promise.race([once(socket, 'message'), once(socket, 'close')]);
  return typeof received === 'number' ? received : JSON.parse(String(received)).code;
}

const UNSUBSCRIBED = 10003;

test('200 connections with frames that never end share one bound on memory, and others continue', {
  skip,
}, async (t) => {
  const hub = await startHub(MEMORY);
  const attackers: Attacker[] = [];
  const growth = await growthOf(hub, async () => {
    attackers.push(...(await attack(t, hub, { count: 30, bytes: UNFINISHED })));
    attackers.push(...(await attack(t, hub, { count: 170, bytes: MEDIUM_UNFINISHED })));
    const honest = await connect(t, hub);
    assert.equal(await codeFor(honest, 65_536), UNSUBSCRIBED);
  });
  t.diagnostic(`${Math.round(growth / MIB)} MiB more`);
  assert.ok(growth < 128 * MIB + NOISE, `${growth} bytes more`);
  await Promise.all(
    attackers.map(async ({ socket }) => {
      if (socket.closed) return;
      socket.resetAndDestroy();
      await once(socket, 'close');
    }),
  );
  assert.equal((await hub.get('/version'))?.status, 200);
  assert.equal(await codeFor(await connect(t, hub), FRAME_BYTES), UNSUBSCRIBED);
  await hub.stop();
});

test('connections that are closed within a frame, and linger, hold no more memory', { skip }, async (t) => {
  const hub = await startHub(MEMORY);
  const bytes = Buffer.concat([frameOf(FRAME_BYTES, false), CLOSE]);
  const growth = await growthOf(hub, async () => {
    for (let wave = 0; wave < 20; wave++) await attack(t, hub, { count: 4, bytes });
  });
  t.diagnostic(`${Math.round(growth / MIB)} MiB more`);
  assert.ok(growth < 128 * MIB + NOISE, `${growth} bytes more`);
  await hub.stop();
});

test('frames that never end, from clients without a token, take no memory from clients with one', {
  skip,
}, async (t) => {
  const issuer = await Issuer.open();
  t.after(() => issuer.close());
  const folder = temporaryFolder();
  await writeFile(join(folder, 'permissions.yaml'), ADMIN);
  const hub = await startHub({ ...issuer.settings, ...MEMORY }, folder);
  const growth = await growthOf(hub, async () => {
    await attack(t, hub, { count: 30, bytes: UNFINISHED });
  });
  t.diagnostic(`${Math.round(growth / MIB)} MiB more`);
  assert.ok(growth < 64 * MIB + NOISE, `${growth} bytes more`);
  const token = await issuer.token({ roles: ['admin'] });
  const honest = await connect(t, hub, { Authorization: `Bearer ${token}` });
  assert.equal(await codeFor(honest, FRAME_BYTES), UNSUBSCRIBED);
  assert.equal(await codeFor(await connect(t, hub), 65_536), UNSUBSCRIBED);
  assert.equal(await codeFor(await connect(t, hub), 65_537), 1009);
  const forged = await connect(t, hub, { Authorization: `Bearer ${token.slice(0, -4)}AAAA` });
  assert.equal(await codeFor(forged, 65_537), 1009);
  await hub.stop();
});
