import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parse } from 'yaml';
import { freePort } from '../../bench/process/free_port.ts';
import { natsProgram } from '../../bench/process/nats_program.ts';
import { readDocuments } from '../documents/documents.ts';
import { HubProcess, locationOf } from '../durability/hub_process.ts';
import { makeCertificate, writeCertificate } from '../support/certificates.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';

const { blocks = [] } = readDocuments().find(({ path }) => path === 'docs/cluster.md') ?? {};
const SERVER = blocks.find(({ language }) => language === 'conf')?.text ?? '';
const HUB = blocks.find(({ language }) => language === 'yaml')?.text ?? '';

const program = await natsProgram();
const skip = 'missing' in program ? `no nats-server: ${program.missing}` : false;
const folder = temporaryFolder();
const children: ChildProcess[] = [];
after(async () => {
  const ended = children.map((child) => child.exitCode === null && once(child, 'exit'));
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(ended);
});

/** The text with all local values replaced. Each must be there. */
function adapted(text: string, replacements: readonly (readonly [from: string, to: string])[]): string {
  return replacements.reduce((before, [from, to]) => {
    assert.ok(before.includes(from), `docs/cluster.md has no ${from}`);
    return before.replaceAll(from, to);
  }, text);
}

test('Servers and hubs with the configuration of docs/cluster.md form a cluster', { skip }, async () => {
  const { certificatePath, keyPath } = writeCertificate(folder, await makeCertificate());
  const freePorts = async () => [await freePort(), await freePort(), await freePort()] as const;
  const ports = await Promise.all([1, 2, 3].map(freePorts));
  const routes = ports.map(([, route], index) => {
    return [`nats://nats-${index + 1}.example:6222`, `nats://127.0.0.1:${route}`] as const;
  });
  for (const [index, [port, route, monitor]] of ports.entries()) {
    const configuration = adapted(SERVER, [
      ['server_name: nats-1', `server_name: nats-${index + 1}`],
      ['0.0.0.0:4222', `127.0.0.1:${port}`],
      ['0.0.0.0:6222', `127.0.0.1:${route}`],
      ['127.0.0.1:8222', `127.0.0.1:${monitor}`],
      ['/var/lib/nats', join(folder, `store-${index}`)],
      ['/etc/nats/server.pem', certificatePath],
      ['/etc/nats/server-key.pem', keyPath],
      ['/etc/nats/ca.pem', certificatePath],
      ...routes,
    ]);
    const file = join(folder, `${index}.conf`);
    writeFileSync(file, configuration);
    children.push(spawn((program as { readonly path: string }).path, ['-c', file], { stdio: 'ignore' }));
  }
  const settings = parse(
    adapted(HUB, [
      ...ports.map(([port], index) => [`nats-${index + 1}.example:4222`, `127.0.0.1:${port}`] as const),
      ['client.pem', certificatePath],
      ['client-key.pem', keyPath],
      [': ca.pem', `: ${certificatePath}`],
    ]),
  ) as Record<string, string>;
  // In the meantime the servers elect their leader.
  const hub = new HubProcess(temporaryFolder(), { ...settings, host: '127.0.0.1' });
  await hub.listening();
  assert.equal((await hub.put('/providers/tag-1/location', locationOf('tag-1', 1)))?.status, 204, hub.log);
  assert.equal((await hub.get('/providers/tag-1/location'))?.body.provider_id, 'tag-1');
  assert.equal((await hub.stop()).code, 0);
  assert.doesNotMatch(hub.log, /permissions violation/i);
});

test('The first try of docs/cluster.md is a cluster of two hubs, which its commands show', { skip }, async () => {
  const [start = '', look = ''] = blocks
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => text)
    .slice(2);
  const [, configuration = ''] = /<<'END'\n([\s\S]*?)\nEND\n/.exec(start) ?? [];
  const [port, monitor] = [await freePort(), await freePort()];
  const file = join(folder, 'first.conf');
  const store = join(folder, 'first');
  const replacements = [
    ['127.0.0.1:4222', `127.0.0.1:${port}`],
    ['127.0.0.1:8222', `127.0.0.1:${monitor}`],
    ['"nats-data"', JSON.stringify(store)],
  ] as const;
  writeFileSync(file, adapted(configuration, replacements));
  children.push(spawn((program as { readonly path: string }).path, ['--config', file], { stdio: 'ignore' }));
  const [shared = '', ...own] = start.split('\n').filter((line) => line.includes('HUB_CLUSTER_'));
  assert.equal(own.length, 2);
  const hubs = own.map((line) => {
    const found = [...`${shared} ${line}`.matchAll(/HUB_(CLUSTER_\w+)=(\S+)/g)];
    const settings = Object.fromEntries(found.map(([, name = '', value = '']) => [name.toLowerCase(), value]));
    const servers = adapted(settings['cluster_servers'] ?? '', [['127.0.0.1:4222', `127.0.0.1:${port}`]]);
    return new HubProcess(temporaryFolder(), { ...settings, cluster_servers: servers, cluster_replicas: 1 });
  });
  await Promise.all(hubs.map((hub) => hub.listening()));
  const origins = hubs.map(({ base }) => new URL(base).origin);
  const answers: unknown[] = [];
  for (const [, options = '', documented = ''] of look.matchAll(/^curl (.*?)(http:\S+)$/gm)) {
    const url = ['8081', '8082'].reduce(
      (before, each, index) => {
        return before.replace(`http://127.0.0.1:${each}`, origins[index] as string);
      },
      documented.replace(':8222', `:${monitor}`),
    );
    const [, body] = /-d '(.*)'/.exec(options) ?? [];
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, body === undefined ? {} : { method: 'POST', headers, body });
    assert.ok(answer.ok, `${documented} is answered ${answer.status}`);
    answers.push(await answer.json());
  }
  const [, provider, health, nats] = answers;
  assert.equal((provider as { id: string }).id, 'tag-1');
  assert.deepEqual(nats, { status: 'ok' });
  assert.equal((health as { cluster: { members: readonly object[] } }).cluster.members.length, 2);
  for (const hub of hubs) assert.equal((await hub.stop()).code, 0);
});
