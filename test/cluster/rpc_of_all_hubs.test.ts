import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { Broker, whyNo } from '../mqtt/brokers.ts';
import { until } from '../mqtt/mqtt_client.ts';
import { MqttRpc } from '../mqtt/mqtt_rpc.ts';
import { RpcClient } from '../support/rpc_client.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { testNats } from './test_nats.ts';

const nats = await testNats();
const skip = nats.skip || ((await whyNo('mosquitto')) ?? false);

describe('Remote procedure calls of two hubs with a broker', { skip }, () => {
  let broker: Broker;
  let a: TestHub;
  let b: TestHub;
  let ended: (() => Promise<void>)[] = [];

  before(async () => {
    broker = await Broker.start('mosquitto');
    const shared = {
      ...{ cluster_servers: nats.servers.addresses.join(','), cluster_replicas: 1, cluster_name: 'rpc' },
      ...{ cluster_journal_max_size: 16, mqtt_address: '127.0.0.1', mqtt_port: broker.port },
    };
    const open = (name: string): Promise<TestHub> =>
      openTestHub({ ...shared, cluster_hub_name: name }, { isAlone: true });
    [a, b] = [await open('a'), await open('b')];
    for (const hub of [a, b]) {
      await until(async () => (await hub.get('/health/mqtt')).body.connected === true);
      await until(async () => (await handlersOf('com.omlox.ping', hub)).length === 2);
    }
  });
  afterEach(async () => {
    for (const end of ended) await end();
    ended = [];
  });
  after(async () => {
    await Promise.all([a.close(), b.close()]);
    await broker.close();
  });

  const handlersOf = async (method: string, at: TestHub): Promise<readonly string[]> =>
    (await at.get('/rpc/available')).body[method]?.handler_id ?? [];
  const put = async (at: TestHub, request: object) =>
    (await at.put('/rpc', { jsonrpc: '2.0', id: 1, ...request })).body;
  const handler = async (method: string, at: TestHub, zoneId?: string): Promise<RpcClient> => {
    const client = await RpcClient.open(at.origin);
    ended.push(() => client.close());
    assert.equal((await client.register(method, zoneId)).result, true);
    return client;
  };
  test('a ping lists a handler of each, and each answers', async () => {
    const [ids, others] = [await handlersOf('com.omlox.ping', a), await handlersOf('com.omlox.ping', b)];
    assert.deepEqual(ids.toSorted(), others.toSorted());
    assert.deepEqual(ids.map((id) => id.slice(-2)).toSorted(), ['-a', '-b']);
    const { responses } = (await put(b, { method: 'com.omlox.ping' })).result;
    assert.deepEqual(
      responses.map(({ result }: { result: string }) => result),
      ['Pong', 'Pong'],
    );
    for (const id of ids) {
      const { result } = await put(b, { method: 'com.omlox.identify', params: { _handler_id: id } });
      assert.equal(result.id, id);
    }
  });

  test('a handler at one hub is reached by REST and WebSocket at the other one, once, until it is removed', async () => {
    const led = await handler('Blink LED', a);
    await until(async () => (await handlersOf('Blink LED', b)).length === 1);
    const replied = put(b, { id: 'x', method: 'Blink LED', params: { times: 3 } });
    assert.deepEqual((await led.answer({ result: 'on' })).params, { times: 3 });
    assert.deepEqual(await replied, { jsonrpc: '2.0', id: 'x', result: 'on' });
    const caller = await RpcClient.open(b.origin);
    ended.push(() => caller.close());
    const answered = caller.ask({ id: 7, method: 'Blink LED', params: { _timeout: 60_000 } });
    // The next frame is the next call: the first has arrived once.
    assert.deepEqual((await led.answer({ error: { code: 3, message: 'busy' } })).params, {});
    assert.equal((await answered).error?.code, 3);
    caller.send({ jsonrpc: '2.0', method: 'Blink LED', params: { n: 1 } });
    assert.deepEqual(await led.next(), { jsonrpc: '2.0', method: 'Blink LED', params: { n: 1 } });
    const lost = put(b, { method: 'Blink LED', params: { _timeout: 60_000 } });
    await led.next();
    await led.close();
    assert.equal((await lost).error.code, -32000);
    await until(async () => (await handlersOf('Blink LED', b)).length === 0);
  });

  test('a zone leaves out handlers of other zones, at all hubs', async () => {
    const [hall, roof] = [await handler('zoned', a, 'hall'), await handler('zoned', a, 'roof')];
    await until(async () => (await handlersOf('zoned', b)).length === 2);
    const replied = put(b, { method: 'zoned', params: { zone_id: 'roof', _timeout: 60_000 } });
    await roof.answer({ result: 'roof' });
    assert.equal((await replied).result, 'roof');
    assert.equal((await hall.register('zoned', 'roof')).result, true);
    const ask = () => put(b, { method: 'zoned', params: { zone_id: 'roof', _timeout: 200 } });
    await until(async () => {
      const answered = ask();
      await roof.answer({ result: 'roof' });
      const { result } = await answered;
      return Array.isArray(result?.responses) || result !== 'roof';
    });
  });

  test('a caller and a handler on MQTT meet handlers and callers of both, each once', async () => {
    const mqtt = await MqttRpc.open(broker.port, { slash: '/', id: 'mqtt' });
    ended.push(() => mqtt.close());
    const handlers = [await handler('m', a), await handler('m', b)];
    const answered = mqtt.call('m', { expected: 2 });
    await Promise.all(handlers.map((each, n) => each.answer({ result: n })));
    const results = (await answered).map(({ result }) => result);
    assert.deepEqual(results.toSorted(), [0, 1]);
    await mqtt.announce('m');
    for (const hub of [a, b]) await until(async () => (await handlersOf('m', hub)).length === 3);
    for (const hub of [a, b]) {
      const replied = put(hub, { method: 'm', params: { _timeout: 60_000 } });
      await Promise.all([...handlers, mqtt].map((each) => each.answer({ result: 1 })));
      assert.equal((await replied).result.responses.length, 3);
    }
  });

  test('a handler that is also known to the broker is called without the broker', async () => {
    const led = await handler('both', a);
    await until(async () => (await handlersOf('both', b)).length === 1);
    await broker.kill();
    await until(async () => (await b.get('/health/mqtt')).body.connected === false);
    const replied = put(b, { method: 'both', params: { _timeout: 60_000 } });
    await led.answer({ result: 'on' });
    assert.equal((await replied).result, 'on');
    await broker.start();
    for (const hub of [a, b]) await until(async () => (await hub.get('/health/mqtt')).body.connected === true);
  });

  // The last test, because it closes a hub.
  test('handlers of a hub that has left are removed', async () => {
    await handler('leaving', a);
    await until(async () => (await handlersOf('leaving', b)).length === 1);
    await a.close();
    await until(async () => (await handlersOf('leaving', b)).length === 0);
    await until(async () => (await handlersOf('com.omlox.ping', b)).length === 1);
    assert.equal((await put(b, { method: 'com.omlox.ping' })).result, 'Pong');
  });
});
