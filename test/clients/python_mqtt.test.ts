import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BROKERS, Broker, whyNo } from '../mqtt/brokers.ts';
import { until } from '../mqtt/mqtt_client.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { CART, createScene, FENCE, inHall } from '../support/scene.ts';
import type { Event } from '../support/socket_client.ts';
import { installed, runInstall } from './generators/tools.ts';

const PACKAGES = ['aiomqtt==2.5.1', 'paho-mqtt==2.1.0'];
const PIP = ['install', '--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '20'];
const WALK = fileURLToPath(new URL('python/walk_mqtt.py', import.meta.url));

const present = spawnSync('python3', ['--version']).status === 0;
const tool = !present
  ? { folder: '', skip: 'python3 is not installed' }
  : await installed('aiomqtt-2.5.1', async (folder) => {
      await runInstall('python3', ['-m', 'venv', folder], { cwd: folder });
      await runInstall(join(folder, 'bin/python'), ['-m', 'pip', ...PIP, ...PACKAGES], { cwd: folder });
    });

interface Said {
  readonly what: 'message' | 'request' | 'response';
  readonly topic: string;
  readonly value: Event;
  readonly request: { readonly params: Readonly<Record<string, unknown>> };
  readonly response: unknown;
}

/** The running Python client, and its output. */
function startClient(port: number, slash: string, locations: readonly object[]) {
  const child = spawn(join(tool.folder, 'bin/python'), [WALK, String(port), slash, JSON.stringify(locations)]);
  const said: Said[] = [];
  let errors = '';
  createInterface(child.stdout).on('line', (line) => void said.push(JSON.parse(line)));
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return {
    /** Returns the first matching line of output, waiting for it if necessary. */
    async next(fits: (one: Said) => boolean): Promise<Said> {
      await until(async () => said.some(fits) || child.exitCode !== null);
      return said.find(fits) ?? assert.fail(`It has ended: ${errors}`);
    },
    async end(): Promise<void> {
      if (child.exitCode !== null) return;
      const exit = once(child, 'exit');
      child.stdin.end();
      assert.deepEqual(await exit, [0, null], errors);
    },
  };
}

for (const name of BROKERS) {
  describe(`A client in Python, with aiomqtt, on ${name},`, { skip: (await whyNo(name)) ?? tool.skip }, () => {
    let broker: Broker;
    let hub: TestHub;
    before(async () => {
      broker = await Broker.start(name);
      hub = await openTestHub({ mqtt_address: '127.0.0.1', mqtt_port: broker.port, mqtt_topic_style: 'both' });
      await createScene(hub);
      await until(async () => (await hub.get('/health/mqtt')).body.connected === true);
    });
    after(async () => {
      await hub.close();
      await broker.close();
    });

    for (const [style, slash, provider, trackable] of [
      ['slash', '/', 'cart-tag', `trackables/${CART.id}`],
      ['plain', '', 'loner', 'providers/loner'],
    ] as const) {
      it(`is a source, a subscriber, a handler and a caller, in the style ${style}`, async (t) => {
        const client = startClient(broker.port, slash, [inHall(provider, 8, 8), inHall(provider, 8.2, 8)]);
        t.after(() => client.end());
        const omlox = `${slash}omlox/json`;
        const located = await client.next(
          ({ topic, value }) =>
            topic === `${omlox}/location_updates/epsg4326/${provider}` && value.provider_id === provider,
        );
        assert.equal(located.value.crs, 'EPSG:4326');
        const entry = await client.next(({ topic }) => topic === `${omlox}/fence_events/${trackable}`);
        assert.deepEqual([entry.value.event_type, entry.value.fence_id], ['region_entry', FENCE.id]);
        const { topic, response } = await client.next(({ what }) => what === 'response');
        assert.equal(topic, `${slash}omlox/jsonrpc/rpc/com.omlox.ping/response/python-1`);
        assert.deepEqual(response, { jsonrpc: '2.0', id: 'p', result: 'Pong' });
        const isAvailable = async (): Promise<boolean> =>
          (await hub.get('/rpc/available')).body['Blink LED'] !== undefined;
        // Of two hubs, each answers one of two requests.
        await until(async () => (await isAvailable()) && (await isAvailable()));
        const { body } = await hub.put('/rpc', { jsonrpc: '2.0', id: 1, method: 'Blink LED', params: { times: 3 } });
        assert.deepEqual(body, { jsonrpc: '2.0', id: 1, result: { lit: 3 } });
        const { request } = await client.next(({ what }) => what === 'request');
        assert.equal(request.params['times'], 3);
        await client.end();
        await until(async () => !(await isAvailable()));
      });
    }
  });
}
