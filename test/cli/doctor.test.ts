import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { freePort } from '../../bench/process/free_port.ts';
import { MOSQUITTO } from '../../bench/process/mosquitto.ts';
import { natsProgram } from '../../bench/process/nats_program.ts';
import type { Check, Finding, Machine } from '../../src/cli/doctor/finding.ts';
import { checkFolders, checkMachine } from '../../src/cli/doctor/machine_checks.ts';
import {
  checkCertificate,
  checkIdentityServer,
  checkOpcuaPort,
  checkPort,
  checkUdpPorts,
} from '../../src/cli/doctor/network_checks.ts';
import { checkBroker, checkDatabase, checkNats } from '../../src/cli/doctor/server_checks.ts';
import { loadConfig } from '../../src/config/load.ts';
import { testNats } from '../cluster/test_nats.ts';
import { Broker } from '../mqtt/brokers.ts';
import { makeCertificate, writeCertificate } from '../support/certificates.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { startCliWith } from './run_cli.ts';

const DAY_MS = 86_400_000;
const MACHINE: Machine = {
  nowMs: Date.now(),
  nodeVersion: '22.23.3',
  openFilesMax: 65_536,
  isClockSynchronized: true,
  memoryBytes: 8 * 2 ** 30,
};

const folder = temporaryFolder();

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

test('The doctor checks the ports of the OPC UA server and of sources', async () => {
  const { free, used } = await ports();
  assert.deepEqual(await found(checkOpcuaPort), []);
  assert.deepEqual(states(await found(checkOpcuaPort, `opcua_port: ${free}`)), ['ok']);
  const [taken] = await found(checkOpcuaPort, `opcua_port: ${used}`);
  assert.equal(taken?.text, `Another program listens on port ${used} of 127.0.0.1`);
  const server = createServer((socket) => socket.once('data', () => socket.end('ACKF')));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  after(() => server.close());
  const { port } = server.address() as AddressInfo;
  assert.match((await found(checkOpcuaPort, `opcua_port: ${port}`))[0]?.text ?? '', /^An OPC UA server runs on port/);

  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  after(() => socket.close());
  const sources = (hubPort: number) => `source_udp_ports: [${socket.address().port}]\nport: ${hubPort}`;
  assert.deepEqual(await found(checkUdpPorts), []);
  const [busy] = await found(checkUdpPorts, sources(free));
  assert.equal(busy?.text, `Cannot receive on UDP port ${socket.address().port}: EADDRINUSE`);
  assert.match((await found(checkUdpPorts, sources(used)))[0]?.text ?? '', /is in use, probably by this hub$/);
});

test('The doctor checks folders as the user of the hub', { skip: process.getuid?.() !== 0 && 'not root' }, async () => {
  const file = join(folder, 'data.dat');
  writeFileSync(file, '');
  chmodSync(folder, 0o755);
  process.seteuid?.(65_534);
  try {
    const [place, owner] = await found(checkFolders);
    assert.match(place?.text ?? '', new RegExp(`^Cannot write to the data folder ${folder}: EACCES`));
    assert.match(owner?.text ?? '', new RegExp(`^Cannot write ${file}: EACCES`));
  } finally {
    process.seteuid?.(0);
    rmSync(file);
  }
});

const REFUSED = [
  ['MQTT broker', checkBroker, (port: number) => `mqtt_address: 127.0.0.1\nmqtt_port: ${port}`],
  ['NATS server', checkNats, (port: number) => `cluster_servers: ["nats://127.0.0.1:${port}"]`],
  [
    'database',
    checkDatabase,
    (port: number) => `db_type: widecolumn\nwidecolumn_hosts: [127.0.0.1]\nwidecolumn_port: ${port}`,
  ],
] as const;

for (const [what, check, settings] of REFUSED) {
  test(`The doctor reports that the ${what} is absent`, async () => {
    const { free } = await ports();
    assert.deepEqual(await found(check), []);
    const [absent] = await found(check, settings(free));
    assert.equal(absent?.text, `Cannot connect to the ${what} 127.0.0.1:${free}: ECONNREFUSED`);
  });
}

// A driver waits 12 s for the answer of a database, and its sockets end later.
for (const [what, check, settings] of REFUSED.filter(([, each]) => each !== checkDatabase)) {
  test(`The doctor reports that another program answers as the ${what}`, async () => {
    const { used } = await ports();
    const [other, ...rest] = await found(check, settings(used));
    assert.deepEqual([other?.state, rest], ['error', []]);
    assert.match(other?.text ?? '', new RegExp(`127\\.0\\.0\\.1:${used}`));
  });
}

test('The doctor checks the login at the broker', {
  skip: MOSQUITTO === undefined && 'there is no mosquitto',
}, async (t) => {
  const passwords = join(folder, 'passwords');
  assert.equal(spawnSync('mosquitto_passwd', ['-c', '-b', passwords, 'hub', 'secret']).status, 0);
  chmodSync(passwords, 0o644);
  const broker = await Broker.start('mosquitto', { lines: ['allow_anonymous false', `password_file ${passwords}`] });
  t.after(() => broker.close());
  const settings = (password: string) => {
    return `mqtt_address: 127.0.0.1\nmqtt_port: ${broker.port}\nmqtt_user: hub\nmqtt_password: ${password}`;
  };
  assert.deepEqual(await found(checkBroker, settings('secret')), [
    { state: 'ok', text: `The MQTT broker 127.0.0.1:${broker.port} accepts the hub` },
  ]);
  const [wrong] = await found(checkBroker, settings('wrong'));
  assert.match(
    wrong?.text ?? '',
    /does not accept the hub: the broker (refuses mqtt_user|does not authorize this hub)/,
  );
});

const nats = await testNats({ more: 'authorization { user: hub, password: secret }' });

test('The doctor checks the login at NATS servers, and JetStream', { skip: nats.skip }, async () => {
  const [server] = nats.servers.servers;
  const settings = (password: string) => {
    const login = `cluster_username: hub\ncluster_password: ${password}`;
    return `cluster_servers: ["nats://127.0.0.1:${server?.port}"]\n${login}`;
  };
  assert.deepEqual(await found(checkNats, settings('secret')), [
    { state: 'ok', text: `The NATS server 127.0.0.1:${server?.port} accepts the hub, and offers JetStream` },
  ]);
  const [wrong] = await found(checkNats, settings('wrong'));
  assert.match(wrong?.text ?? '', /cannot be used: .*[Aa]uthorization/);
});

test('The doctor reports a NATS server without JetStream', { skip: nats.skip }, async (t) => {
  const program = await natsProgram();
  assert.ok('path' in program);
  const port = await freePort();
  const server = spawn(program.path, ['--addr', '127.0.0.1', '--port', String(port)], { stdio: 'ignore' });
  t.after(() => server.kill());
  const settings = `cluster_servers: ["nats://127.0.0.1:${port}"]`;
  let [finding] = await found(checkNats, settings);
  while (finding?.text.includes('ECONNREFUSED')) [finding] = await found(checkNats, settings);
  assert.equal(finding?.text, `The NATS server 127.0.0.1:${port} cannot be used: it offers no JetStream`);
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
