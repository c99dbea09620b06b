import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../bench/process/free_port.ts';
import { readDocuments, ROOT } from '../documents/documents.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const { blocks = [] } = readDocuments().find(({ path }) => path === 'docs/cluster.md') ?? {};
const HAPROXY = blocks.find(({ language }) => language === 'haproxy')?.text ?? '';
const NGINX = blocks.find(({ language }) => language === 'nginx')?.text ?? '';
const BASE = readFileSync(join(ROOT, 'deploy/compose/haproxy.cfg'), 'utf8');
const HUBS = ['hub-1', 'hub-2'] as const;
const PROVIDERS = ['tag-1', 'tag-2', 'tag-3', 'tag-10', 'a%2Fb', 'tag%201'];
const READY_MS = 10_000;

const skipOf = (program: string) => spawnSync(program, ['-v']).error !== undefined && `${program} is not installed`;

/** The text with all of these replaced. Each must be there. */
function adapted(text: string, replacements: readonly (readonly [from: string | RegExp, to: string])[]): string {
  return replacements.reduce((before, [from, to]) => {
    assert.notEqual(before.search(from), -1, `docs/cluster.md has no ${from}`);
    return typeof from === 'string' ? before.replaceAll(from, to) : before.replace(from, to);
  }, text);
}

/** Two hubs, which answer with their name, and name the owner of each provider as a hub does. */
async function openHubs(context: TestContext) {
  const servers: Server[] = [];
  for (const hub of HUBS) {
    const server = createServer((incoming, answer) => {
      incoming.resume();
      const [id = ''] = /[^/]+(?=\/location$)/.exec(incoming.url ?? '') ?? [];
      if (id !== '' && ownerOf(id) !== hub)
        answer.setHeader('Owner-Hub', `"${ownerOf(id)}";url="http://${ownerOf(id)}"`);
      answer.end(hub);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    context.after(() => server.closeAllConnections());
    context.after(() => server.close());
  }
  return { servers, ports: servers.map((server) => (server.address() as AddressInfo).port) };
}

function ownerOf(provider: string): string {
  return HUBS[provider.length % 2] as string;
}

/** Starts a balancer, and resolves once it listens. */
async function start(context: TestContext, port: number, program: string, args: readonly string[]): Promise<void> {
  let log = '';
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (log += text));
  context.after(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  for (const untilMs = performance.now() + READY_MS; performance.now() < untilMs; await delay(20)) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise((resolve) =>
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false)),
    );
    socket.destroy();
    if (isOpen === true) return;
  }
  assert.fail(`${program} does not listen: ${log}`);
}

/** Name of the hub that gets a location through a balancer. */
async function put(port: number, provider: string): Promise<string> {
  const url = `http://127.0.0.1:${port}/v2/providers/${provider}/location`;
  const answer = await fetch(url, { method: 'PUT', body: '{}' });
  assert.equal(answer.status, 200, url);
  return answer.text();
}

test('HAProxy with the configuration of docs/cluster.md learns the owner of each provider, and skips one that is down', {
  skip: skipOf('haproxy'),
}, async (context) => {
  const folder = temporaryFolder();
  const { servers, ports } = await openHubs(context);
  const port = await freePort();
  const [frontend = '', rules = ''] = HAPROXY.split('\n\nbackend hubs\n');
  const withRules = adapted(BASE, [
    [/frontend api\n(?: .*\n)+/, `${frontend}\n`],
    ['  balance leastconn\n', `  balance leastconn\n${rules}\n`],
  ]);
  const configuration = adapted(withRules, [
    ['bind :8081', `bind 127.0.0.1:${port}`],
    ['/etc/haproxy/owners.map', join(folder, 'owners.map')],
    [/resolvers docker\n(?: .*\n)+/, ''],
    [' resolvers docker init-addr libc,none', ''],
    [/ {2}server hub-3 .*\n/, ''],
    ['hub-1:8081', `127.0.0.1:${ports[0]}`],
    ['hub-2:8081', `127.0.0.1:${ports[1]}`],
    ['inter 1s', 'inter 500ms'],
  ]);
  writeFileSync(join(folder, 'owners.map'), '');
  writeFileSync(join(folder, 'haproxy.cfg'), configuration);
  await start(context, port, 'haproxy', ['-f', join(folder, 'haproxy.cfg')]);
  for (const provider of PROVIDERS) await put(port, provider);
  for (const provider of [...PROVIDERS, ...PROVIDERS])
    assert.equal(await put(port, provider), ownerOf(provider), provider);
  // Other requests are distributed as before.
  const others = await Promise.all(
    Array.from({ length: 8 }, async () => (await fetch(`http://127.0.0.1:${port}/v2/providers`)).text()),
  );
  assert.deepEqual([...new Set(others)].toSorted(), HUBS);
  servers[0]?.closeAllConnections();
  servers[0]?.close();
  // Connections to a hub that is found to be down are closed.
  const whole = (id: string) =>
    fetch(`http://127.0.0.1:${port}/v2/providers/${id}/location`).then((answer) => answer.text());
  const isDown = async () =>
    (await Promise.all(PROVIDERS.map((id) => whole(id).catch(() => '')))).every((hub) => hub === 'hub-2');
  for (const untilMs = performance.now() + READY_MS; !(await isDown()); ) assert.ok(performance.now() < untilMs);
  for (const provider of PROVIDERS) assert.equal(await put(port, provider), 'hub-2');
});

test('NGINX with the configuration of docs/cluster.md sends all single locations of a provider to one hub', {
  skip: skipOf('nginx'),
}, async (context) => {
  const folder = temporaryFolder();
  const { ports } = await openHubs(context);
  const port = await freePort();
  const http = adapted(NGINX, [
    ['listen 8081', `listen 127.0.0.1:${port}`],
    ['hub-1:8081', `127.0.0.1:${ports[0]}`],
    ['hub-2:8081', `127.0.0.1:${ports[1]}`],
  ]);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join('\n');
  const file = join(folder, 'nginx.conf');
  const main = `daemon off; master_process off; pid ${join(folder, 'pid')}; error_log stderr;\nevents {}`;
  writeFileSync(file, `${main}\nhttp {\naccess_log off;\n${temporary}\n${http}\n}\n`);
  execFileSync('nginx', ['-t', '-q', '-c', file], { stdio: 'ignore' });
  await start(context, port, 'nginx', ['-c', file]);
  const providers = Array.from({ length: 20 }, (_, number) => `tag-${number}`);
  const hubs: string[] = [];
  for (const provider of providers) hubs.push(await put(port, provider));
  assert.deepEqual([...new Set(hubs)].toSorted(), HUBS);
  for (const [number, provider] of providers.entries()) assert.equal(await put(port, provider), hubs[number], provider);
});
