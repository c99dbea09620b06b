import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { WebSocket } from 'ws';
import { HubProcess, locationOf } from '../durability/hub_process.ts';
import { makeCertificate, type TestCertificate, writeCertificate } from '../support/certificates.ts';
import { openTestHub, type TestSettings } from '../support/running_hub.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const FILES = { public_key_path: 'certificate.pem', private_key_path: 'key.pem' };
const DAY_MS = 86_400_000;

async function statusOf(url: string, { certificate: ca }: TestCertificate): Promise<number | undefined> {
  const [response] = await once(get(url, { ca, agent: false }), 'response');
  response.resume();
  return response.statusCode;
}

test('a hub with force_https announces that, serves REST and WebSocket, and changes its certificate on SIGHUP', async () => {
  const folder = temporaryFolder();
  const first = await makeCertificate();
  writeCertificate(folder, first, 'a secret');
  const settings = { ...FILES, private_key_password: 'a secret', force_https: true, certificate_reload_interval: 0 };
  const hub = await HubProcess.start(folder, settings);
  assert.match(hub.base, /^https:\/\/127\.0\.0\.1:\d+\/hub\/v2$/);
  assert.equal(await statusOf(`${hub.base}/zones`, first), 200);

  const socket = new WebSocket(`${hub.base.replace('https', 'wss')}/ws/socket`, { ca: first.certificate });
  await once(socket, 'open');
  socket.send('{"event":"subscribe","topic":"location_updates"}');
  assert.match(String(await once(socket, 'message')), /"subscribed"/);
  const publish = () => ({ event: 'message', topic: 'location_updates', payload: [locationOf('tag', 1)] });
  socket.send(JSON.stringify(publish()));
  assert.match(String(await once(socket, 'message')), /"provider_id":"tag"/);

  const second = await makeCertificate();
  writeCertificate(folder, second, 'a secret');
  assert.equal(await statusOf(`${hub.base}/zones`, first), 200);
  hub.hangUp();
  await hub.logged('The certificate has changed, and is served from now on');
  assert.equal(await statusOf(`${hub.base}/zones`, second), 200);
  await assert.rejects(statusOf(`${hub.base}/zones`, first));
  socket.send(JSON.stringify(publish()));
  assert.match(String(await once(socket, 'message')), /"provider_id":"tag"/);

  const ended = await hub.stop();
  assert.equal(ended.code, 0);
  assert.doesNotMatch(ended.stdout + ended.stderr, /a secret/);
});

test('a hub polls for a new certificate', async (t) => {
  const folder = temporaryFolder();
  writeCertificate(folder, await makeCertificate());
  const hub = await openTestHub({ ...FILES, certificate_reload_interval: 1 }, { folder });
  t.after(hub.close);
  const renewed = await makeCertificate();
  writeCertificate(folder, renewed);
  const url = hub.base.replace('http', 'https');
  while ((await statusOf(`${url}/health`, renewed).catch(() => undefined)) !== 200) await new Promise(setImmediate);
  assert.equal((await hub.get('/health')).status, 200);
});

test('an invalid certificate is logged once, and the old one is served', async (t) => {
  const folder = temporaryFolder();
  const made = await makeCertificate();
  writeCertificate(folder, made);
  const hub = await openTestHub({ ...FILES, certificate_reload_interval: 0 }, { folder });
  t.after(hub.close);
  writeFileSync(join(folder, 'certificate.pem'), '-----BEGIN CERTIFICATE-----\nhalf');
  for (let i = 0; i < 3; i++) await hub.hub.renewCertificate();
  assert.deepEqual(
    hub.logged.map(({ level, message }) => [level, message]),
    [['error', 'The certificate has changed, but is of no use']],
  );
  assert.equal(await statusOf(`${hub.base.replace('http', 'https')}/health`, made), 200);
});

const ENDS: readonly (readonly [days: number, warning: string | undefined])[] = [
  [-1, 'The certificate has expired'],
  [13, 'The certificate expires soon'],
  [15, undefined],
];
for (const [days, warning] of ENDS) {
  test(`a certificate that expires in ${days} days makes the hub ${warning === undefined ? 'log nothing' : 'warn'}`, async (t) => {
    const folder = temporaryFolder();
    writeCertificate(folder, await makeCertificate('localhost', Date.now() + days * DAY_MS));
    const hub = await openTestHub({ ...FILES, certificate_reload_interval: 0 }, { folder });
    t.after(hub.close);
    await hub.hub.renewCertificate();
    assert.deepEqual(
      hub.logged.map(({ message }) => message),
      warning === undefined ? [] : [warning],
    );
  });
}

const certificate = await makeCertificate();

describe('a hub does not start', () => {
  const rows: readonly (readonly [what: string, settings: TestSettings, message: RegExp])[] = [
    [
      'with force_https and no certificate',
      { force_https: true },
      /^force_https: needs public_key_path and private_key/,
    ],
    [
      'with a certificate and no key',
      { public_key_path: 'certificate.pem' },
      /^public_key_path: needs private_key_path/,
    ],
    ['with a key and no certificate', { private_key_path: 'key.pem' }, /^private_key_path: needs public_key_path/],
    [
      'without the file',
      { ...FILES, public_key_path: 'none.pem' },
      /^public_key_path: cannot read \/.*\/none\.pem: there is no such file$/,
    ],
    [
      'with a key for a certificate',
      { ...FILES, public_key_path: 'key.pem' },
      /^public_key_path: must name a file with a certificate, found none in/,
    ],
    [
      'with a certificate for a key',
      { ...FILES, private_key_path: 'certificate.pem' },
      /^private_key_path: must name a file with a private key, found none in/,
    ],
    [
      'with a file that is no PEM',
      { ...FILES, dh_params_path: 'text.txt' },
      /^dh_params_path: must name a PEM file, found none in/,
    ],
    [
      'with invalid parameters',
      { ...FILES, dh_params_path: 'certificate.pem' },
      /^dh_params_path: must name a file with such parameters, found none in \/.*certificate\.pem$/,
    ],
    [
      'with the key of another certificate',
      { ...FILES, private_key_path: 'other.pem' },
      /^private_key_path: is not the key of the certificate in/,
    ],
    [
      'without the password',
      { ...FILES, private_key_path: 'locked.pem' },
      /^private_key_password: is required, since \/.*locked\.pem is encrypted$/,
    ],
    [
      'with a wrong password',
      { ...FILES, private_key_path: 'locked.pem', private_key_password: 'wrong one' },
      /^private_key_password: does not open \/.*locked\.pem$/,
    ],
  ];
  for (const [what, settings, message] of rows) {
    test(what, async () => {
      const folder = temporaryFolder();
      writeCertificate(folder, certificate);
      writeFileSync(join(folder, 'text.txt'), 'text');
      writeFileSync(join(folder, 'other.pem'), (await makeCertificate()).key);
      const cipher = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'right' } as const;
      writeFileSync(join(folder, 'locked.pem'), certificate.privateKey.export(cipher));
      await assert.rejects(openTestHub(settings, { folder }), (error: Error) => {
        assert.match(error.message, message);
        return !`${error.stack}${error.cause}`.includes('wrong one');
      });
    });
  }
});
