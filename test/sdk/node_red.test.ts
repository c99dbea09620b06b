import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { freePort } from '../../bench/process/free_port.ts';
import { installed, run, runInstall } from '../clients/generators/tools.ts';
import { documentOf } from '../documents/documents.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { CART, createScene, FENCE, inHall, send } from '../support/scene.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { SDK } from './sdk_document.ts';

const MODULES = new URL('../../node_modules/', import.meta.url).pathname;
const QUIET = ['--no-audit', '--no-fund', '--silent', '--fetch-retries=1'];
const [RUNTIME, HELPER] = ['node-red', 'node-red-node-test-helper'] as const;
const PACKAGE = 'node-red-contrib-omlox-location-hub';
const [START_MS, TEST_MS] = [60_000, 180_000] as const;

const nodeRed = await installed('node-red', async (cwd) => {
  await writeFile(join(cwd, 'package.json'), '{ "private": true }');
  await runInstall('npm', ['install', ...QUIET, `${RUNTIME}@5.0.7`, `${HELPER}@0.3.6`], { cwd });
});

interface FlowNode {
  readonly id: string;
  readonly type: string;
  readonly [name: string]: unknown;
}

/** A node of a loaded flow, with the messages that it sends and receives. */
interface RunningNode {
  on(event: string, listener: (message: Readonly<Record<string, unknown>>) => void): void;
  receive(message: object): void;
}

interface Helper {
  init(runtime: string): void;
  startServer(done: () => void): void;
  stopServer(done: () => void): void;
  load(nodes: unknown, flow: readonly FlowNode[]): Promise<void>;
  unload(): Promise<void>;
  getNode(id: string): RunningNode;
}

describe('The nodes for Node-RED', { skip: nodeRed.skip, timeout: TEST_MS }, () => {
  let folder: string;
  let hub: TestHub;
  let skip: string | undefined;
  before(async () => {
    folder = temporaryFolder();
    hub = await openTestHub();
    await createScene(hub);
    skip = await packed().then(
      () => undefined,
      (error: Error) => `packages cannot be installed: ${error.message.split('\n').at(-1)}`,
    );
  });
  after(async () => {
    await hub.close();
  });

  /** Packs the SDK and the nodes, and installs both in the folder, which becomes a user directory of Node-RED. */
  async function packed(): Promise<void> {
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    const archives: string[] = [];
    for (const name of ['typescript', 'node-red']) {
      const cwd = join(folder, 'sources', name);
      await cp(SDK + name, cwd, { recursive: true });
      // The compiler finds the SDK in the folder, where it is already installed.
      await symlink(name === 'typescript' ? MODULES : join(folder, 'node_modules'), join(cwd, 'node_modules'));
      const env = { PATH: `${MODULES}.bin:${process.env['PATH']}` };
      const output = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd, env });
      archives.push(`./${output.trim().split('\n').at(-1)}`);
      await runInstall('npm', ['install', ...QUIET, ...archives], { cwd: folder });
    }
  }

  test('run the flows of their README in a real Node-RED', async (t) => {
    if (skip !== undefined) return t.skip(skip);
    const { origin } = await openNodeRed(t, folder, await flowsOfReadme(hub));
    const nodes = await fetch(`${origin}/nodes`, { headers: { accept: 'application/json' } });
    const sets = (await nodes.json()) as readonly { id: string; enabled: boolean; types: string[]; err?: string }[];
    const set = sets.find(({ id }) => id.startsWith(PACKAGE));
    assert.deepEqual(
      [set?.enabled, set?.err, set?.types.toSorted()],
      [true, undefined, ['omlox-events', 'omlox-hub', 'omlox-location', 'omlox-rpc', 'omlox-where-is']],
    );
    const editor = await (await fetch(`${origin}/nodes`, { headers: { accept: 'text/html' } })).text();
    for (const type of set?.types ?? []) {
      assert.ok(editor.includes(`data-template-name="${type}"`) && editor.includes(`data-help-name="${type}"`), type);
    }

    const post = (body: object) =>
      fetch(`${origin}/tag`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    assert.equal((await post({ tag: 'gps-1', longitude: 9.01, latitude: 50 })).status, 204);
    assert.deepEqual((await hub.get('/providers/gps-1/location')).body.position.coordinates, [9.01, 50]);
    assert.equal((await post({ tag: 'gps-1', longitude: 1000, latitude: 50 })).status, 400);

    await send(hub, inHall('cart-tag', 5, 5));
    for (;;) {
      const entry = await fetch(`${origin}/entry`);
      const text = await entry.text();
      if (!text.includes(FENCE.id)) continue;
      assert.equal((JSON.parse(text) as { event_type: string }).event_type, 'region_entry');
      break;
    }

    const where = (await (await fetch(`${origin}/where/${CART.id}`)).json()) as Readonly<Record<string, unknown>>;
    assert.deepEqual([where['kind'], where['id']], ['trackable', CART.id]);
    assert.deepEqual(
      (where['fences'] as readonly { id: string }[]).map(({ id }) => id),
      [FENCE.id],
    );
    const { kind } = (await (await fetch(`${origin}/where/gps-1`)).json()) as { kind: string };
    assert.equal(kind, 'provider');
    const ping = await fetch(`${origin}/ping`);
    assert.equal(ping.status, 200, await ping.text());
  });

  describe('in a flow of the test helper', () => {
    let helper: Helper;
    let register: unknown;
    before(async () => {
      if (skip !== undefined) return;
      const require = createRequire(join(nodeRed.folder, 'package.json'));
      helper = require(HELPER) as Helper;
      helper.init(require.resolve(RUNTIME));
      const main = join(folder, 'node_modules', PACKAGE, 'dist/nodes.js');
      ({ default: register } = (await import(pathToFileURL(main).href)) as { default: unknown });
      await new Promise<void>((resolve) => helper.startServer(resolve));
    });
    after(async () => {
      if (skip === undefined) await new Promise<void>((resolve) => helper.stopServer(resolve));
    });

    /** Loads a node between the test and a node that receives its messages, and the errors of the flow. */
    async function load(t: TestContext, node: Omit<FlowNode, 'id'>) {
      const url = `${hub.origin}/hub/v2`;
      // Node-RED takes a node without coordinates for a configuration.
      const shown = { z: 'tab', x: 100, y: 100 };
      await helper.load(register, [
        { id: 'tab', type: 'tab', label: 'Test' },
        { id: 'hub', type: 'omlox-hub', url },
        { id: 'node', ...shown, hub: 'hub', wires: [['next']], type: '', ...node },
        { id: 'next', ...shown, type: 'helper' },
        { id: 'catch', ...shown, type: 'catch', wires: [['caught']] },
        { id: 'caught', ...shown, type: 'helper' },
      ]);
      t.after(() => helper.unload());
      const nextOf = (id: string) =>
        new Promise<Readonly<Record<string, unknown>>>((resolve) => helper.getNode(id).on('input', resolve));
      const errorOf = async () =>
        ((await nextOf('caught'))['error'] as { message: string }).message.replace(/^Error: /, '');
      return { node: helper.getNode('node'), next: () => nextOf('next'), caught: errorOf };
    }

    test('omlox-location accepts a list, and reports invalid and rejected locations', async (t) => {
      if (skip !== undefined) return t.skip(skip);
      const { node, next, caught } = await load(t, { type: 'omlox-location' });
      const list = [inHall('list-1', 50, 50), inHall('list-2', 51, 50)];
      const accepted = next();
      node.receive({ payload: list, any: 'member' });
      assert.deepEqual([(await accepted)['payload'], (await accepted)['any']], [list, 'member']);
      assert.equal((await hub.get('/providers/list-2/location')).status, 200);
      for (const [payload, expected] of [
        ['here', /^payload: must be a location or a list of them, found "here"$/],
        [[], /found \[\]$/],
        [{ ...inHall('list-1', 1, 1), position: 'here' }, /position/],
      ] as const) {
        const error = caught();
        node.receive({ payload });
        assert.match(await error, expected);
      }
    });

    test('omlox-events filters by its params, and sends the state first if it should', async (t) => {
      if (skip !== undefined) return t.skip(skip);
      await send(hub, inHall('cart-tag', 5, 5));
      const params = JSON.stringify({ event_type: 'region_exit', object_type: 'trackable' });
      const { next } = await load(t, { type: 'omlox-events', topic: 'fence_events', params, state: true });
      const state = await next();
      assert.deepEqual([state['kind'], state['topic']], ['state', 'fence_events']);
      const event = next();
      await send(hub, inHall('lift-tag', 6, 6), inHall('cart-tag', 50, 50));
      const { kind, payload } = await event;
      const { event_type: type, trackable_id: trackable } = payload as Readonly<Record<string, unknown>>;
      assert.deepEqual([kind, type, trackable], ['event', 'region_exit', CART.id]);
    });

    test('omlox-events reports a topic that the hub rejects', async (t) => {
      if (skip !== undefined) return t.skip(skip);
      const { caught } = await load(t, { type: 'omlox-events', topic: 'lamps' });
      assert.match(await caught(), /^The hub rejects the subscription: /);
    });

    test('omlox-where-is answers null for an unknown object, and rejects a payload that is not an id', async (t) => {
      if (skip !== undefined) return t.skip(skip);
      const { node, next, caught } = await load(t, { type: 'omlox-where-is' });
      const found = next();
      node.receive({ payload: 'unknown' });
      assert.equal((await found)['payload'], null);
      const error = caught();
      node.receive({ payload: 5 });
      assert.equal(await error, 'payload: must be the id of a trackable or provider, found 5');
    });

    test('omlox-rpc returns the result of a method, and reports a method without a handler', async (t) => {
      if (skip !== undefined) return t.skip(skip);
      const { node, next, caught } = await load(t, { type: 'omlox-rpc' });
      const result = next();
      node.receive({ method: 'com.omlox.ping', payload: {} });
      assert.notEqual((await result)['payload'], undefined);
      const error = caught();
      node.receive({ method: 'absent', payload: {} });
      assert.match(await error, /^absent: .*\(-32601\)$/);
    });
  });
});

/** Returns the flows of the README as one, for a hub. */
async function flowsOfReadme(hub: TestHub): Promise<readonly FlowNode[]> {
  const path = 'node-red/README.md';
  const { blocks } = documentOf(path, await readFile(SDK + path, 'utf8'));
  const flows = blocks
    .filter(({ language }) => language === 'json')
    .map(({ text }) => JSON.parse(text.replaceAll('http://127.0.0.1:8081', hub.origin)) as readonly FlowNode[]);
  assert.equal(flows.length, 3);
  return [...new Map(flows.flat().map((node) => [node.id, node])).values()];
}

/** Starts Node-RED with a user directory and flows. Resolves when the flows have started. */
async function openNodeRed(t: TestContext, folder: string, flows: readonly FlowNode[]): Promise<{ origin: string }> {
  const port = await freePort();
  await writeFile(join(folder, 'flows.json'), JSON.stringify(flows));
  const settings = { uiHost: '127.0.0.1', uiPort: port, flowFile: 'flows.json', telemetry: { enabled: false } };
  await writeFile(join(folder, 'settings.js'), `module.exports = ${JSON.stringify(settings)};`);
  const main = join(nodeRed.folder, 'node_modules/node-red/red.js');
  const child = spawn(process.execPath, [main, '-u', folder, '-s', join(folder, 'settings.js')]);
  t.after(() => stop(child));
  let log = '';
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`Node-RED does not start: ${log}`)), START_MS);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        log += chunk.toString();
        if (!log.includes('Started flows')) return;
        clearTimeout(timer);
        resolve();
      });
    }
    child.on('exit', (code) => reject(new Error(`Node-RED exits with ${code}: ${log}`)));
  });
  return { origin: `http://127.0.0.1:${port}` };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
