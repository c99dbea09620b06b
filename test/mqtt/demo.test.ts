import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { brokerAddress } from '../../src/cli/options.ts';
import { runCli, startCli } from '../cli/run_cli.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { Broker, whyNo } from './brokers.ts';
import { connected } from './connected_hub.ts';
import { TestMqttClient, until } from './mqtt_client.ts';

const skip = (await whyNo('mosquitto')) ?? false;

test('brokerAddress() accepts hosts, with ports, and only URLs of brokers', () => {
  for (const [given, expected] of [
    ['broker', 'mqtt://broker'],
    ['127.0.0.1:1884', 'mqtt://127.0.0.1:1884'],
    ['wss://user:word@broker:443/mqtt', 'wss://user:word@broker:443/mqtt'],
  ] as const) {
    assert.equal(brokerAddress(given), expected);
  }
  for (const given of ['amqp://broker', 'mqtt://', '']) {
    assert.throws(() => brokerAddress(given), {
      message: /^It must be a host, or host:port, or a URL that begins with/,
    });
  }
});

describe('demo --mqtt', { skip }, () => {
  let broker: Broker;
  let hub: TestHub;
  const health = async () => (await hub.get('/health/mqtt')).body;

  before(async () => {
    // Default of mosquitto: 20 messages in flight, fewer than one tick of the demo.
    broker = await Broker.start('mosquitto', { lines: ['allow_anonymous true'] });
    hub = await openTestHub({ mqtt_address: '127.0.0.1', mqtt_port: broker.port });
    await connected(hub);
  });
  after(async () => {
    await hub.close();
    await broker.close();
  });

  test('sends through the broker of the hub, with the same results, until it is interrupted', async (t) => {
    const listener = await TestMqttClient.open(broker.port);
    t.after(() => listener.close());
    await listener.subscribe('/omlox/json/location_updates/pub/#', '/omlox/json/proximity_updates/#');
    const { child, finished } = startCli('demo', '--mqtt', '--hub', hub.origin);
    await listener.next(() => listener.received.length > 100);
    child.kill('SIGINT');
    const { code, err } = await finished;
    assert.equal(code, 0, err);
    assert.match(err, new RegExp(`\nFeeding 40 tags into mqtt://127.0.0.1:${broker.port}\\. Stop with Ctrl-C\n`));
    const [, locations, readings] = /\nStopped\. \d+ s {2}(\d+) locations {2}(\d+) gate readings /.exec(err) ?? [];
    // The last tick may have been interrupted.
    const counted = Number(locations) + Number(readings);
    assert.ok(counted > 50, err);
    await until(
      async () => listener.received.length >= counted && (await health()).received === listener.received.length,
    );
    for (const { topic, payload } of listener.received) {
      assert.equal(topic.split('/').at(-1), payload?.provider_id, topic);
    }
    assert.equal((await health()).rejected, 0);
  });

  test('reports a disconnected broker while it feeds', async (t) => {
    const other = await Broker.start('mosquitto', { lines: ['allow_anonymous true'] });
    t.after(() => other.close());
    const listener = await TestMqttClient.open(other.port);
    t.after(() => listener.close());
    await listener.subscribe('#');
    const { finished } = startCli('demo', '--mqtt', `mqtt://user:secret@127.0.0.1:${other.port}`, '--hub', hub.origin);
    await listener.next(({ topic }) => topic.includes('/pub/'));
    await other.kill();
    const { code, err } = await finished;
    assert.equal(code, 1);
    assert.match(err, new RegExp(`\n[^\n]*MQTT broker at mqtt://127.0.0.1:${other.port}[^\n]*\n$`));
    assert.doesNotMatch(err, /secret/);
    const again = await runCli('demo', '--mqtt', `127.0.0.1:${other.port}`, '--hub', hub.origin);
    const expected = `Cannot reach the MQTT broker at mqtt://127.0.0.1:${other.port}: is it running? npm run mosquitto starts one\n`;
    assert.deepEqual(again, { code: 1, out: '', err: expected });
  });

  test('reports why it cannot reach the broker', async (t) => {
    const alone = await openTestHub();
    t.after(alone.close);
    await broker.kill();
    await until(async () => (await health()).problem?.includes('ECONNREFUSED') === true);
    const address = `127.0.0.1:${broker.port}`;
    for (const [args, expected] of [
      [['--mqtt', '--hub', alone.origin], `The hub at ${alone.origin} has no MQTT broker: set mqtt_address\n`],
      [
        ['--mqtt', '--hub', hub.origin],
        `The hub at ${hub.origin} is not connected to its MQTT broker at mqtt://${address}: connect ECONNREFUSED ${address}\n`,
      ],
    ] as const) {
      const { code, out, err } = await runCli('demo', ...args);
      assert.deepEqual({ code, out, err }, { code: 1, out: '', err: expected });
    }
  });
});
