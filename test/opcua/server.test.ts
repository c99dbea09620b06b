import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeCertificate, writeCertificate } from '../support/certificates.ts';
import { openTestHub } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { freePort } from './opcua_client.ts';

/** Sends the first message of OPC UA over TCP, and resolves to the type of the reply. */
async function greeted(port: number): Promise<string> {
  const url = Buffer.from(`opc.tcp://127.0.0.1:${port}`);
  const hello = Buffer.alloc(32 + url.length);
  hello.write('HELF');
  for (const [i, number] of [hello.length, 0, 65_536, 65_536, 0, 0, url.length].entries()) {
    hello.writeUInt32LE(number, 4 + 4 * i);
  }
  url.copy(hello, 32);
  const socket = connect(port, '127.0.0.1');
  socket.write(hello);
  const [reply] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return reply.toString('latin1', 0, 3);
}

test('A hub with a port for OPC UA listens on it until it is closed, and creates a certificate once', async (t) => {
  const [port, folder] = [await freePort(), temporaryFolder()];
  const certificates: string[] = [];
  for (let start = 0; start < 2; start++) {
    const hub = await openTestHub({ opcua_port: port }, { isAlone: true, folder });
    t.after(hub.close);
    assert.ok(hub.logged.some(({ facts }) => 'url' in facts && facts.url === `opc.tcp://127.0.0.1:${port}`));
    assert.equal(await greeted(port), 'ACK');
    await hub.close();
    await assert.rejects(greeted(port), /ECONNREFUSED/);
    certificates.push(readFileSync(join(folder, 'opcua/certificate.pem'), 'utf8'));
  }
  assert.match(certificates[0] ?? '', /^-----BEGIN CERTIFICATE-----/);
  assert.equal(certificates[0], certificates[1]);
});

test('A hub without such a port starts no thread and creates no files for it', async (t) => {
  const folder = temporaryFolder();
  const hub = await openTestHub({}, { isAlone: true, folder });
  t.after(hub.close);
  assert.ok(!existsSync(join(folder, 'opcua')));
  assert.ok(hub.logged.every(({ message }) => !message.includes('OPC UA')));
});

test('A setting with which the server cannot start stops the start of the hub, and names itself', async (t) => {
  const folder = temporaryFolder();
  const { certificatePath, keyPath } = writeCertificate(folder, await makeCertificate());
  const [empty, missing] = [temporaryFolder(), join(folder, 'missing.pem')];
  const wrong = join(empty, 'notes.txt');
  await writeFile(wrong, 'nothing');
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const { port: takenPort } = taken.address() as { readonly port: number };
  const port = await freePort();
  for (const [settings, message] of [
    [{ opcua_port: takenPort }, /^opcua_port: .*EADDRINUSE/],
    [{ opcua_port: 0 }, /HUB_OPCUA_PORT: must be >= 1, found 0/],
    [{ opcua_security: 'Encrypt' }, /HUB_OPCUA_SECURITY: must be .*"Encrypt"/],
    [{ opcua_certificate_path: certificatePath }, /^opcua_certificate_path: needs opcua_private_key_path/],
    [{ opcua_private_key_path: keyPath }, /^opcua_private_key_path: needs opcua_certificate_path/],
    [
      { opcua_certificate_path: missing, opcua_private_key_path: keyPath },
      /^opcua_certificate_path: cannot read .*missing\.pem: ENOENT/,
    ],
    [
      { opcua_certificate_path: wrong, opcua_private_key_path: keyPath },
      /^opcua_certificate_path: cannot read .*notes\.txt/,
    ],
    [
      { opcua_certificate_path: certificatePath, opcua_private_key_path: keyPath },
      /^opcua_certificate_path: needs an RSA key, found ec in/,
    ],
    [{ opcua_trusted_clients_path: missing }, /^opcua_trusted_clients_path: cannot read/],
    [
      { opcua_trusted_clients_path: empty },
      /^opcua_trusted_clients_path: .* contains no \.pem, \.crt, \.cer or \.der file/,
    ],
  ] as const) {
    const opening = openTestHub({ opcua_port: port, ...settings }, { isAlone: true, folder: temporaryFolder() });
    await assert.rejects(opening, ({ message: found }: Error) => {
      assert.match(found, message);
      return true;
    });
  }
  assert.deepEqual(readdirSync(empty), ['notes.txt']);
});
