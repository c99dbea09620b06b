import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { ADMIN } from '../auth/authorized_hub.ts';
import { Issuer } from '../auth/issuer.ts';
import { fenceOf, locationOf } from '../durability/hub_process.ts';
import { RawSocket } from '../support/raw_socket.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { Attacker, growthOf, MIB, startHub } from './memory_of_hub.ts';

/** Memory that clients can make the hub allocate, measured by the system for a separate process. */
const skip = process.platform === 'linux' ? false : 'needs /proc';

/** Opcode of a frame. */
const TEXT = 1;
const BODY_BYTES = 9_900_000;

const bodyHead = (more = '') =>
  `POST /hub/v2/zones HTTP/1.1\r\nHost: h\r\n${more}Content-Length: ${BODY_BYTES}\r\n\r\n`;
const UNFINISHED = Buffer.alloc(BODY_BYTES - 1, ' ');

test('150 unfinished bodies without a token are rejected by their headers', { skip }, async (t) => {
  const issuer = await Issuer.open();
  t.after(() => issuer.close());
  const folder = temporaryFolder();
  await writeFile(join(folder, 'permissions.yaml'), ADMIN);
  const hub = await startHub({ ...issuer.settings }, folder);
  const answers: string[] = [];
  const growth = await growthOf(hub, async () => {
    for (let round = 0; round < 15; round++) {
      const attackers = Array.from({ length: 10 }, () => new Attacker(t, hub));
      await Promise.all(
        attackers.map(async (attacker) => {
          const answer = attacker.answer();
          void attacker.send(bodyHead(round % 2 === 0 ? '' : 'Authorization: Bearer e30.e30.e30\r\n'));
          void attacker.send(UNFINISHED);
          answers.push(await answer);
        }),
      );
    }
  });
  assert.deepEqual([...new Set(answers)], ['HTTP/1.1 401 Unauthorized']);
  t.diagnostic(`${Math.round(growth / MIB)} MiB more`);
  assert.ok(growth < 150 * MIB, `${growth} bytes more`);
  await hub.stop();
});

test('the memory of incomplete bodies is bounded, and small bodies are still accepted', { skip }, async (t) => {
  const hub = await startHub({ max_body_memory: 64 });
  const attackers = Array.from({ length: 60 }, () => new Attacker(t, hub));
  const growth = await growthOf(hub, async () => {
    const refused = Promise.all(attackers.map((attacker) => attacker.answer()));
    await Promise.all(
      attackers.map(async (attacker) => {
        await attacker.send(bodyHead());
        await attacker.send(UNFINISHED);
      }),
    );
    const small = await hub.put('/providers/tag/location', locationOf('tag', 0));
    assert.equal(small?.status, 204);
    for (const attacker of attackers) attacker.socket.destroy();
    await refused;
  });
  const statuses = new Set(attackers.map(({ received }) => received.split(' ')[1]));
  assert.deepEqual([...statuses].sort(), ['503', undefined]);
  t.diagnostic(`${Math.round(growth / MIB)} MiB more`);
  assert.ok(growth < 64 * MIB + 150 * MIB, `${growth} bytes more`);
  // The memory is free again: a large body is accepted.
  const large = await hub.post('/fences', fenceOf('11111111-1111-4111-8111-111111111111', { name: 'x'.repeat(900) }));
  assert.equal(large?.status, 201);
  const text = JSON.stringify(Array.from({ length: 20_000 }, (_, n) => locationOf(`tag-${n}`, n)));
  assert.equal((await fetch(`${hub.base}/providers/locations`, { method: 'PUT', body: text })).status, 204);
  await hub.stop();
});

test('unread responses do not accumulate, regardless of the number of requests', { skip }, async (t) => {
  const hub = await startHub();
  const request = 'GET /hub/v2/openapi.json HTTP/1.1\r\nHost: h\r\n\r\n';
  const attackers = Array.from({ length: 4 }, () => new Attacker(t, hub));
  const growth = await growthOf(hub, async () => {
    for (const { socket } of attackers) socket.pause();
    await Promise.all(attackers.map((attacker) => attacker.send(request.repeat(4000))));
    // After the other bytes: the hub has processed them all, or has closed the connection.
    for (let n = 0; n < 50; n++) assert.equal((await hub.get('/version'))?.status, 200);
  });
  t.diagnostic(`${Math.round(growth / MIB)} MiB more`);
  assert.ok(growth < 100 * MIB, `${growth} bytes more`);
  await hub.stop();
});

test('subscribers that read nothing share one bound, and the slowest is closed first', { skip }, async (t) => {
  const hub = await startHub({ max_unsent_memory: 32, websocket_buffer_size: 16 });
  const port = Number(new URL(hub.base).port);
  const sleepers: RawSocket[] = [];
  for (let n = 0; n < 25; n++) {
    const sleeper = await RawSocket.open(port, '/v2/ws/socket', 'sleeper');
    sleeper.send(TEXT, '{"event":"subscribe","topic":"location_updates"}');
    await sleeper.frame(({ opcode }) => opcode === TEXT);
    sleeper.pause();
    sleepers.push(sleeper);
    t.after(() => sleeper.close());
  }
  const note = 'x'.repeat(10_000);
  const growth = await growthOf(hub, async () => {
    for (let n = 0; n < 200; n++) {
      const body = Array.from({ length: 20 }, (_, i) => locationOf(`tag-${i}`, n, { properties: { note } }));
      assert.equal((await hub.put('/providers/locations', body))?.status, 204);
    }
  });
  t.diagnostic(`${Math.round(growth / MIB)} MiB more`);
  // 200 × 20 × 10 kB would be 40 MB for each of the 25.
  assert.ok(growth < 300 * MIB, `${growth} bytes more`);
  assert.equal((await hub.get('/version'))?.status, 200);
  await hub.stop();
});
