import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Check, Finding, Machine } from '../../src/cli/doctor/finding.ts';
import { checkFolders, checkMachine } from '../../src/cli/doctor/machine_checks.ts';
import { checkCertificate, checkIdentityServer, checkPort, checkServers } from '../../src/cli/doctor/network_checks.ts';
import { loadConfig } from '../../src/config/load.ts';
import { makeCertificate, writeCertificate } from '../support/certificates.ts';
import { startCliWith } from './run_cli.ts';

const DAY_MS = 86_400_000;
const MACHINE: Machine = {
  nowMs: Date.now(),
  nodeVersion: '22.23.3',
  openFilesMax: 65_536,
  isClockSynchronized: true,
  memoryBytes: 8 * 2 ** 30,
};

const folder = mkdtempSync(join(tmpdir(), 'hub-doctor-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a check with these settings in hub_config.yaml. */
async function found(check: Check, file = '', machine: Partial<Machine> = {}): Promise<readonly Finding[]> {
  const env = { HUB_CONFIG_PATH: folder };
  const config = loadConfig({ env, cwd: '/', cores: 2, readFile: () => file });
  return check(config, { ...MACHINE, ...machine });
}

function states(findings: readonly Finding[]): readonly string[] {
  for (const { state, advice } of findings) assert.equal(advice === undefined, state === 'ok');
  return findings.map(({ state }) => state);
}

/** Returns a free port, and one on which a server listens until the end of the tests. */
async function ports(): Promise<{ free: number; used: number }> {
  const servers = [
    createServer(),
    createServer((socket) => {
      socket.on('error', () => undefined).end('220 another program\r\n');
    }),
  ];
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  const [free = 0, used = 0] = servers.map((server) => (server.address() as AddressInfo).port);
  servers[0]?.close();
  after(() => servers[1]?.close());
  return { free, used };
}

const MACHINES: readonly [what: string, machine: Partial<Machine>, warnings: number][] = [
  ['a good machine', {}, 0],
  ['few open files', { openFilesMax: 1024 }, 1],
  ['a clock of its own', { isClockSynchronized: false }, 1],
  ['an unknown clock and limit', { isClockSynchronized: undefined, openFilesMax: undefined }, 0],
  ['little memory', { memoryBytes: 2 ** 29 }, 1],
];

for (const [what, machine, warnings] of MACHINES) {
  test(`The doctor checks the machine: ${what}`, async () => {
    const findings = states(await found(checkMachine, '', machine));
    assert.equal(findings.filter((state) => state === 'warning').length, warnings);
    assert.equal(findings.includes('error'), false);
  });
}

test('The doctor checks that data and history can be written', async () => {
  assert.deepEqual(states(await found(checkFolders)), ['ok']);
  assert.deepEqual(states(await found(checkFolders, 'history: true')), ['ok', 'ok']);
  const [missing] = await found(checkFolders, 'data_path: none');
  assert.equal(missing?.state, 'error');
  assert.match(missing.text, new RegExp(`^Cannot write to the data folder ${folder}/none: ENOENT`));
  writeFileSync(join(folder, 'file'), '');
  assert.match((await found(checkFolders, 'data_path: file'))[0]?.text ?? '', /: it is not a folder$/);
  assert.deepEqual(await found(checkFolders, 'cluster_servers: ["nats://127.0.0.1"]'), []);
});

test('The doctor checks whether the port is free', async () => {
  const { free, used } = await ports();
  assert.deepEqual(states(await found(checkPort, `port: ${free}`)), ['ok']);
  const [taken] = await found(checkPort, `port: ${used}`);
  assert.equal(taken?.text, `Another program listens on port ${used} of 127.0.0.1`);
  const hub = createHttpServer((_, reply) => reply.end('{}'));
  await once(hub.listen(0, '127.0.0.1'), 'listening');
  after(() => hub.close());
  const [running] = await found(checkPort, `port: ${(hub.address() as AddressInfo).port}`);
  assert.match(running?.text ?? '', /probably this hub$/);
  assert.match((await found(checkPort, 'host: 192.0.2.1'))[0]?.text ?? '', /EADDRNOTAVAIL$/);
});

test('The doctor checks the certificate, its dates and its key', async () => {
  const settings = 'public_key_path: certificate.pem\nprivate_key_path: key.pem';
  assert.deepEqual(await found(checkCertificate), []);
  const rows = [
    [90, 'ok'],
    [10, 'warning'],
    [-1, 'error'],
  ] as const;
  for (const [days, state] of rows) {
    writeCertificate(folder, await makeCertificate('localhost', MACHINE.nowMs + days * DAY_MS));
    assert.deepEqual(states(await found(checkCertificate, settings)), [state]);
  }
  writeFileSync(join(folder, 'key.pem'), (await makeCertificate()).key);
  assert.match((await found(checkCertificate, settings))[0]?.text ?? '', /^The key key\.pem is not that of/);
  writeFileSync(join(folder, 'key.pem'), 'no key');
  assert.deepEqual(states(await found(checkCertificate, settings)), ['error']);
});

test('The doctor checks that each server accepts connections', async () => {
  const { free, used } = await ports();
  const broker = `mqtt_address: 127.0.0.1\nmqtt_port: ${used}`;
  assert.deepEqual(states(await found(checkServers, broker)), ['ok']);
  const servers = `cluster_servers: ["nats://127.0.0.1:${used}", "nats://127.0.0.1:${free}"]`;
  const findings = await found(checkServers, servers);
  assert.deepEqual(states(findings), ['ok', 'error']);
  assert.equal(findings[1]?.text, `Cannot connect to the NATS server 127.0.0.1:${free}: ECONNREFUSED`);
});

test('The doctor checks the identity server, and warns about a hub open to the network', async () => {
  assert.deepEqual(states(await found(checkIdentityServer)), ['ok']);
  assert.deepEqual(states(await found(checkIdentityServer, 'host: 0.0.0.0')), ['warning']);
  const replies = ['{"issuer":"https://id.example","jwks_uri":"https://id.example/keys"}', '{}', 'no JSON'];
  const server = createHttpServer((_, reply) => reply.end(replies.shift()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const settings = `require_authorization: true\nopenid_config_url: http://127.0.0.1:${port}/config`;
  for (const state of ['ok', 'error', 'error']) {
    assert.deepEqual(states(await found(checkIdentityServer, settings)), [state]);
  }
  await new Promise((closed) => server.close(closed));
  assert.match((await found(checkIdentityServer, settings))[0]?.text ?? '', /^Cannot read http/);
});

test('The command prints each finding with advice, and fails if a hub would not work', async () => {
  const env = { HUB_CONFIG_PATH: folder, HUB_PORT: '0' };
  const good = await startCliWith(env, 'doctor').finished;
  assert.match(good.out, /^ok {7}The hub listens on any free port$/m);
  assert.match(good.out, /^0 errors, \d warnings?$/m);
  assert.equal(good.code, 0);
  const bad = await startCliWith({ ...env, HUB_DATA_PATH: 'none' }, 'doctor').finished;
  assert.match(bad.out, /^ERROR {4}Cannot write to the data folder .+\n {9}Create the folder/m);
  assert.equal(bad.code, 1);
  const invalid = await startCliWith({ ...env, HUB_PORT: 'many' }, 'doctor').finished;
  assert.match(invalid.err, /HUB_PORT: /);
  assert.equal(invalid.code, 1);
});
