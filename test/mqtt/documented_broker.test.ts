import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { freePort } from '../../bench/process/free_port.ts';
import { type AsyncApi, topicsIn } from '../contract/async_api.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { inHall } from '../support/scene.ts';
import { Broker, whyNo } from './brokers.ts';
import { DocumentedBroker } from './documented_broker.ts';
import { connected } from './connected_hub.ts';
import { TestMqttClient, until } from './mqtt_client.ts';

const PUB = '/omlox/json/location_updates/pub';
const EARTH = '/omlox/json/location_updates/epsg4326';
const READ = '/omlox/json/proximity_updates';
const COMMAND = join(import.meta.dirname, 'mosquitto_command.ts');
const skip = (await whyNo('mosquitto')) ?? false;
const onEarth = (id: string) => ({ ...inHall(id, 9, 50), crs: 'EPSG:4326', source: 'gps' });

describe('mosquitto with the users and rules of docs/mqtt.md', { skip }, () => {
  let documented: DocumentedBroker;
  let broker: Broker;
  let hub: TestHub;
  const clients = new Map<string, TestMqttClient>();
  const as = (user: string): TestMqttClient => clients.get(user) ?? assert.fail(user);

  before(async () => {
    documented = new DocumentedBroker();
    broker = await Broker.start('mosquitto', { lines: documented.lines });
    for (const user of documented.passwords.keys()) {
      clients.set(user, await TestMqttClient.open(broker.port, documented.login(user)));
    }
    await as('display').subscribe('#');
    await as('uwb-1').subscribe('#');
    const { username, password } = documented.login('hub');
    const login = { mqtt_user: username, mqtt_password: password };
    hub = await openTestHub({ mqtt_address: '127.0.0.1', mqtt_port: broker.port, ...login });
    await connected(hub);
  });
  after(async () => {
    for (const client of clients.values()) await client.close();
    await hub.close();
    await broker.close();
    documented.close();
  });

  test('lets a source publish under its own name, and subscribers receive the results', async () => {
    await as('uwb-1').publish(`${PUB}/uwb-1`, onEarth('uwb-1'));
    const { payload } = await as('display').on(`${EARTH}/uwb-1`);
    assert.equal(payload?.provider_id, 'uwb-1');
    assert.deepEqual(as('uwb-1').received, []);
  });

  for (const [user, topic] of [
    ['uwb-1', `${PUB}/uwb-2`],
    ['uwb-1', PUB],
    ['uwb-1', `${PUB}/uwb-1/more`],
    ['uwb-1', `${EARTH}/uwb-1`],
    ['uwb-1', `${READ}/other/uwb-1`],
    ['display', `${PUB}/uwb-1`],
    ['hub', `${PUB}/uwb-1`],
  ] as const) {
    test(`does not let ${user} publish under ${topic}`, async () => {
      await assert.rejects(as(user).publish(topic, onEarth('uwb-1')), { code: 135 });
    });
  }

  test('lets an RFID reader publish its own detections', async () => {
    await as('uwb-1').publish(`${READ}/uwb-1/card`, { provider_type: 'rfid' });
  });

  test('lets the hub publish everything that it has to publish', async () => {
    const { body } = await hub.get('/asyncapi.json');
    const topics = topicsIn(body as AsyncApi).filter(({ actions }) => actions.has('send'));
    assert.ok(topics.length > 12, `${topics.length} topics`);
    // Empty events: a client that may write the topic is not rejected.
    for (const { address } of topics) await as('hub').publish(address.replaceAll(/\{\w+\}/g, 'x'), {});
    assert.equal((await hub.get('/health/mqtt')).body.refused, 0);
    assert.deepEqual(
      hub.logged.filter(({ message }) => message.includes('refuses')),
      [],
    );
  });

  test('rejects clients without a password', async () => {
    await assert.rejects(TestMqttClient.open(broker.port, { reconnectPeriod: 0 }));
  });
});

describe('npm run mosquitto', { skip }, () => {
  const run = (...args: string[]): ChildProcess =>
    spawn(process.execPath, [COMMAND, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });

  for (const args of [[], ['--password']]) {
    test(`prints working commands ${args.join()}`, async (t) => {
      const port = await freePort();
      const child = run('--port', String(port), ...args);
      t.after(() => child.kill('SIGKILL'));
      let printed = '';
      child.stdout?.on('data', (chunk) => {
        printed += chunk;
      });
      await until(async () => printed.includes('Ctrl-C'));
      const environment = [...printed.matchAll(/\bHUB_(MQTT_\w+)=(\S+)/g)].map(([, name = '', value]) => [
        name.toLowerCase(),
        value,
      ]);
      const written = [...printed.matchAll(/^ {2}(mqtt_\w+): (\S+)$/gm)].map(([, name, value]) => [name, value]);
      assert.deepEqual(written, environment);
      const isClosed = args.length > 0;
      if (isClosed) {
        const hub = await openTestHub(Object.fromEntries(environment));
        t.after(hub.close);
        await connected(hub);
      }
      const [, topic = '', payload = ''] = / -t (\S+\/pub\/\S+) -m '(.+)'/.exec(printed) ?? [];
      const login = (tool: string) => {
        const [, username, password] = new RegExp(`mosquitto_${tool} .*-u (\\S+) -P (\\S+)`).exec(printed) ?? [];
        return username === undefined || password === undefined ? {} : { username, password };
      };
      const reader = await TestMqttClient.open(port, login('sub'));
      t.after(() => reader.close());
      await reader.subscribe(
        ...[...(/mosquitto_sub .*/.exec(printed)?.[0] ?? '').matchAll(/-t '(\S+)'/g)].map(([, f = '']) => f),
      );
      const source = await TestMqttClient.open(port, login('pub'));
      t.after(() => source.close());
      await source.publish(topic, payload);
      await reader.on(isClosed ? topic.replace('/pub/', '/epsg4326/') : topic);
      child.kill('SIGINT');
      assert.deepEqual(await once(child, 'exit'), [0, null]);
    });
  }

  test('reports a port that is in use or invalid', async (t) => {
    const server = createServer().listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    for (const [given, expected] of [
      [String(port), new RegExp(`^--port: cannot listen on 127.0.0.1:${port} \\(EADDRINUSE\\)`)],
      ['0', /^--port: must be a whole number from 1 to 65535, found 0\n/],
    ] as const) {
      const child = run('--port', given);
      const [said, [code]] = await Promise.all([text(child.stderr as NodeJS.ReadableStream), once(child, 'exit')]);
      assert.match(said, expected);
      assert.equal(code, 1);
    }
  });
});
