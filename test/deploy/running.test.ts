import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../bench/process/free_port.ts';
import { natsProgram } from '../../bench/process/nats_program.ts';
import { ROOT } from '../documents/documents.ts';
import { HubProcess, locationOf } from '../durability/hub_process.ts';
import { SocketClient } from '../support/socket_client.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { composeEnvironment, NATS_CONFIGURATIONS, podEnvironment, resourcesOf, textOf } from './deploy_files.ts';

const PASSWORDS = { CLUSTER_PASSWORD: 'p12e34', OPERATOR_PASSWORD: 'p56e78' };
/** Timeout for events that should happen within seconds. */
const PATIENCE_MS = 40_000;

const program = await natsProgram();
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0;
const skip = 'missing' in program ? `no nats-server: ${program.missing}` : !hasOpenssl && 'no openssl';

const folder = temporaryFolder();
const certificates = join(folder, 'certificates');
const ends: (() => void)[] = [];
const atEnd = (callback: () => void): void => void ends.push(callback);
const children: ChildProcess[] = [];
after(async () => {
  for (const end of ends) end();
  const ended = children.map((child) => hasEnded(child) || once(child, 'exit'));
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(ended);
});

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Replaces everything that differs on this machine. Each string must occur. */
function adapted(text: string, replacements: readonly (readonly [from: string, to: string])[]): string {
  return replacements.reduce((before, [from, to]) => {
    assert.ok(before.includes(from), `there is no ${from}`);
    return before.replaceAll(from, to);
  }, text);
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + PATIENCE_MS; performance.now() < endMs; await delay(50)) {
    if (await isSo()) return;
  }
  throw new Error(`${what}: not within ${PATIENCE_MS} ms`);
}

interface Server {
  readonly port: number;
  readonly monitor: number;
  readonly process: ChildProcess;
  readonly pidFile: string;
}

/** Three servers of an example on this machine, under one name. They differ in the same settings as the containers. */
async function startServers(of: keyof typeof NATS_CONFIGURATIONS): Promise<readonly Server[]> {
  assert.ok('path' in program);
  const { path } = program;
  const ports = await Promise.all(
    Array.from({ length: 3 }, async () => [await freePort(), await freePort(), await freePort()] as const),
  );
  const routes = ports.map(([, route]) => `"nats://localhost:${route}"`).join(', ');
  const text = NATS_CONFIGURATIONS[of].replace(/routes: \[.*\]/, `routes: [${routes}]`);
  return ports.map(([port, route, monitor], index) => {
    const own = join(folder, `${of}-${index}`);
    mkdirSync(own);
    const pidFile = join(own, 'nats.pid');
    const places: readonly (readonly [string, string])[] =
      of === 'compose'
        ? [
            ['127.0.0.1:8222', `127.0.0.1:${monitor}`],
            ['/run/secrets', certificates],
          ]
        : [
            ['0.0.0.0:8222', `127.0.0.1:${monitor}`],
            ['/etc/nats-tls', certificates],
            ['/run/nats/nats.pid', pidFile],
          ];
    const configuration = adapted(text, [
      ['0.0.0.0:4222', `127.0.0.1:${port}`],
      ['0.0.0.0:6222', `127.0.0.1:${route}`],
      ['"/data"', JSON.stringify(join(own, 'data'))],
      ...places,
    ]);
    const file = join(own, 'nats.conf');
    writeFileSync(file, configuration);
    const env = { ...process.env, ...PASSWORDS, SERVER_NAME: `nats-${index}` };
    const child = spawn(path, ['--config', file], { stdio: 'ignore', env });
    children.push(child);
    return { port, monitor, process: child, pidFile };
  });
}

async function isHealthy({ monitor }: Server, path: string): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${monitor}${path}`).catch(() => undefined))?.ok === true;
}

/** Settings of a hub from its environment in an example, with paths and addresses of this machine. */
function settingsOf(env: Readonly<Record<string, string>>, servers: readonly Server[], port: number) {
  const settings = Object.entries(env)
    .filter(([name]) => name.startsWith('HUB_') && name !== 'HUB_CONFIG_PATH')
    .map(([name, value]) => [
      name.slice(4).toLowerCase(),
      value.replace(/^\/(run\/secrets|etc\/hub-tls)/, certificates),
    ]);
  return {
    ...Object.fromEntries(settings),
    host: '127.0.0.1',
    port,
    num_threads: 1,
    cluster_servers: servers.map((server) => `tls://localhost:${server.port}`).join(','),
    cluster_password: PASSWORDS.CLUSTER_PASSWORD,
  };
}

async function startHub(env: Readonly<Record<string, string>>, servers: readonly Server[]): Promise<HubProcess> {
  const hub = new HubProcess(temporaryFolder(), settingsOf(env, servers, await freePort()), atEnd);
  await hub.listening();
  return hub;
}

before(() => {
  if (skip !== false) return;
  const hosts = ['nats-1', 'nats-2', 'nats-3', 'localhost'];
  execFileSync('sh', [`${ROOT}deploy/certificates.sh`, certificates, ...hosts], { stdio: 'pipe' });
});

describe('The example for compose', { skip }, () => {
  let servers: readonly Server[] = [];
  let hub: HubProcess;
  before(async () => {
    servers = await startServers('compose');
    hub = await startHub(composeEnvironment('hub-1'), servers);
  });

  test('is a hub on NATS servers with all required permissions', async () => {
    assert.equal((await hub.put('/providers/tag-1/location', locationOf('tag-1', 1)))?.status, 204, hub.log);
    assert.equal((await hub.get('/providers/tag-1/location'))?.body.provider_id, 'tag-1');
    assert.equal((await hub.get('/health/system'))?.body.cluster.hub_name, 'hub-1');
    assert.doesNotMatch(hub.log, /permissions violation/i);
    for (const server of servers) assert.ok(await isHealthy(server, '/healthz?js-server-only=true'));
  });

  test('has a balancer that follows /health, and supports WebSockets', {
    skip: !hasHaproxy && 'no haproxy',
  }, async () => {
    const [port, unusedPort] = [await freePort(), await freePort()];
    const configuration = adapted(textOf('compose/haproxy.cfg'), [
      ['bind :8081', `bind 127.0.0.1:${port}`],
      ['hub-1:8081', `127.0.0.1:${unusedPort}`],
      ['hub-2:8081', new URL(hub.base).host],
      ['hub-3:8081', `127.0.0.1:${unusedPort}`],
    ]);
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, configuration);
    const checked = spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8' });
    assert.equal(checked.status, 0, checked.stderr);
    children.push(spawn('haproxy', ['-db', '-f', file], { stdio: 'ignore' }));
    const base = `http://127.0.0.1:${port}/hub/v2`;
    await until('The balancer serves', async () => {
      return (await fetch(`${base}/zones`).catch(() => undefined))?.status === 200;
    });
    const put = { method: 'PUT', body: JSON.stringify([locationOf('tag-1', 2)]) };
    for (let i = 0; i < 5; i++) assert.equal((await fetch(`${base}/providers/locations`, put)).status, 204);
    const socket = await SocketClient.open(`${base.replace('http', 'ws')}/ws/socket`);
    const closed = once(socket.socket, 'close');
    assert.equal((await hub.stop()).code, 0);
    const [code] = await closed;
    assert.equal(code, 1001);
    await until('The balancer has no hub', async () => (await fetch(`${base}/zones`)).status === 503);
  });
});

describe('The example for Kubernetes', { skip }, () => {
  const pod = resourcesOf('kubernetes/hub.yaml').find(({ kind }) => kind === 'StatefulSet')?.spec.template?.spec;
  const nats = resourcesOf('kubernetes/nats.yaml').find(({ kind }) => kind === 'StatefulSet')?.spec.template?.spec;
  assert.ok(pod && nats);
  const [container] = nats.containers;
  let servers: readonly Server[] = [];
  let hub: HubProcess;
  before(async () => {
    servers = await startServers('kubernetes');
    hub = await startHub(podEnvironment(pod.containers[0], 'hub-5d9c-x2x4z'), servers);
  });

  test('is a hub that answers its probes on servers that answer theirs', async () => {
    const { startupProbe, readinessProbe, livenessProbe } = pod.containers[0];
    for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
      const address = new URL(httpGet.path, hub.base);
      await until(`${address} is answered`, async () => (await fetch(address)).status === 200);
    }
    for (const { httpGet } of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
      for (const server of servers) await until(httpGet.path, () => isHealthy(server, httpGet.path));
    }
  });

  test('continues while a server drains after preStop, which SIGTERM does not shorten', async () => {
    assert.equal((await hub.put('/providers/tag-1/location', locationOf('tag-1', 1)))?.status, 204, hub.log);
    const [server] = servers;
    assert.ok(server && 'path' in program);
    const [, ...command] = container.lifecycle.preStop.exec?.command ?? [];
    const args = command.map((word) => word.replace(/^ldm=.*/, `ldm=${server.pidFile}`));
    execFileSync(program.path, args, { stdio: 'pipe' });
    await until('It accepts no more', async () => !(await isHealthy(server, '/healthz?js-enabled-only=true')));
    server.process.kill('SIGTERM');
    for (let east = 2; east < 12; east++) {
      assert.equal((await hub.put('/providers/tag-1/location', locationOf('tag-1', east)))?.status, 204, hub.log);
    }
    if (!hasEnded(server.process)) await once(server.process, 'exit');
    assert.equal(server.process.exitCode, 0);
    assert.equal((await hub.put('/providers/tag-1/location', locationOf('tag-1', 12)))?.status, 204, hub.log);
    assert.equal((await hub.stop()).code, 0);
  });
});

/** A user without an account in group 0, as OpenShift assigns to a container. */
const ANY_USER = { uid: 1_000_660_000, gid: 0 };
const hasAnyUser = process.getuid?.() === 0 && spawnSync(process.execPath, ['-v'], ANY_USER).status === 0;

test("any user of group 0 can run a hub on the image's folder", {
  skip: !hasAnyUser && 'needs root, and files that others may read',
}, async () => {
  const place = temporaryFolder();
  const [, owner = '', mode = ''] = /chown (\w+):0 \/config && chmod (\d+) \/config$/m.exec(textOf('Dockerfile')) ?? [];
  assert.equal(owner, 'node');
  // The user "node" of the image.
  chownSync(place, 1_000, 0);
  chmodSync(place, Number.parseInt(mode, 8));
  const hub = new HubProcess(place, {}, atEnd, { user: ANY_USER });
  await hub.listening();
  assert.equal((await hub.put('/providers/tag/location', locationOf('tag', 0)))?.status, 204);
  assert.equal((await hub.stop()).code, 0);
  assert.equal(statSync(join(place, 'data.dat')).uid, ANY_USER.uid);
});
