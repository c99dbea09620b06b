import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { RpcClient } from '../support/rpc_client.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';
import { BROKERS, Broker, whyNo } from './brokers.ts';
import { connected } from './connected_hub.ts';
import { TestMqttClient, until } from './mqtt_client.ts';
import { MqttRpc } from './mqtt_rpc.ts';

const XCMD = 'com.omlox.core.xcmd';
const BUSY = { code: 3, message: 'busy' };

for (const name of BROKERS) {
  const skip = (await whyNo(name)) ?? false;
  // One hub publishes in one style; the second hub publishes in both.
  const slash = name === 'mosquitto' ? '/' : '';
  describe(`Remote procedure calls over ${name}`, { skip }, () => {
    let broker: Broker;
    let hub: TestHub;
    let second: TestHub;
    const ended: (() => Promise<void>)[] = [];

    before(async () => {
      broker = await Broker.start(name);
      const settings = { mqtt_address: '127.0.0.1', mqtt_port: broker.port };
      hub = await openTestHub({ ...settings, mqtt_topic_style: slash === '/' ? 'slash' : 'plain' });
      second = await openTestHub({ ...settings, mqtt_topic_style: 'both' });
      for (const each of [hub, second])
        await until(async () => (await handlersOf('com.omlox.ping', each)).length === 2);
    });
    afterEach(async () => {
      for (const end of ended.splice(0)) await end();
    });
    after(async () => {
      await hub.close();
      await second.close();
      await broker.close();
    });

    const handlersOf = async (method: string, at = hub): Promise<readonly string[]> =>
      (await at.get('/rpc/available')).body[method]?.handler_id ?? [];
    const openMqtt = async (id: string): Promise<MqttRpc> => {
      const rpc = await MqttRpc.open(broker.port, { slash, id });
      ended.push(() => rpc.close());
      return rpc;
    };
    /** A handler on MQTT, which the hub knows. */
    const mqttHandler = async (id: string, method: string, at = hub): Promise<MqttRpc> => {
      const rpc = await openMqtt(id);
      await rpc.announce(method);
      await until(async () => (await handlersOf(method, at)).includes(id));
      ended.unshift(() => rpc.withdraw(method));
      return rpc;
    };
    const socketHandler = async (method: string, zoneId?: string, at = hub): Promise<RpcClient> => {
      const client = await RpcClient.open(at.origin);
      ended.push(() => client.close());
      assert.equal((await client.register(method, zoneId)).result, true);
      return client;
    };
    const put = (request: object) => hub.put('/rpc', { jsonrpc: '2.0', id: 1, ...request });

    test('methods of the hub and of WebSocket clients are announced, retained for 120 s, until they are removed', async () => {
      const led = await socketHandler('Blink LED');
      const [id] = await handlersOf('Blink LED');
      const listener = await TestMqttClient.open(broker.port);
      ended.push(() => listener.close());
      await listener.subscribe(`${slash}omlox/jsonrpc/rpc/available/#`);
      const {
        payload,
        isRetained,
        lifeSeconds = 0,
      } = await listener.on(`${slash}omlox/jsonrpc/rpc/available/Blink LED`);
      assert.deepEqual(payload, { id, method_name: 'Blink LED' });
      assert.ok(isRetained && lifeSeconds > 0 && lifeSeconds <= 120, `${isRetained}, ${lifeSeconds} s`);
      const { payload: ping } = await listener.on(`${slash}omlox/jsonrpc/rpc/available/com.omlox.ping`);
      assert.equal(ping.method_name, 'com.omlox.ping');
      await until(async () => (await handlersOf('Blink LED', second)).length === 1);
      await led.close();
      await listener.next(({ topic, payload }) => topic.endsWith('/Blink LED') && payload === undefined);
      await until(async () => (await handlersOf('Blink LED', second)).length === 0);
    });

    test('a handler on MQTT that withdraws its announcement is removed', async () => {
      const led = await mqttHandler('led', 'withdrawn');
      await led.withdraw('withdrawn');
      await until(async () => (await handlersOf('withdrawn')).length === 0);
    });

    test('callers by REST and by WebSocket reach a handler on MQTT', async () => {
      const led = await mqttHandler('led', 'Blink LED');
      const replied = put({ id: 'a', method: 'Blink LED', params: { times: 3, _timeout: 9000, _caller_id: 'me' } });
      const { id, params, ...request } = await led.answer({ result: { lit: true } });
      assert.ok(Number(id) >= 10_000);
      assert.deepEqual(request, { jsonrpc: '2.0', method: 'Blink LED' });
      const { _caller_id: callerId, ...given } = params;
      assert.deepEqual([typeof callerId, given], ['string', { times: 3, _timeout: 9000 }]);
      assert.deepEqual((await replied).body, { jsonrpc: '2.0', id: 'a', result: { lit: true } });
      const caller = await RpcClient.open(hub.origin);
      ended.push(() => caller.close());
      const answered = caller.ask({ id: 7, method: 'Blink LED' });
      await led.answer({ error: BUSY });
      assert.deepEqual(await answered, { jsonrpc: '2.0', id: 7, error: BUSY });
    });

    test('a caller on MQTT reaches the hubs, all of them or one, and a WebSocket client', async () => {
      const caller = await openMqtt('caller');
      const ping = await caller.call('com.omlox.ping', { expected: 2 });
      assert.deepEqual(
        ping.map(({ result }) => result),
        ['Pong', 'Pong'],
      );
      const [first, other] = await handlersOf('com.omlox.ping');
      for (const handlerId of [first, other]) {
        const [identity] = await caller.call('com.omlox.identify', { handlerId: handlerId as string });
        assert.equal(identity?.result.id, handlerId);
      }
      const led = await socketHandler('Blink LED');
      const answered = caller.call('Blink LED', { params: { times: 3 } });
      const { params } = await led.answer({ result: 'on' });
      assert.deepEqual(params, { times: 3 });
      const [{ jsonrpc, result } = {}] = await answered;
      assert.deepEqual([jsonrpc, result], ['2.0', 'on']);
    });

    test('a call reaches handlers on MQTT, of the hub and of another hub, each once', async () => {
      const far = await socketHandler('m4', undefined, second);
      await until(async () => (await handlersOf('m4')).length === 1);
      const [near, mqtt] = [await socketHandler('m4'), await mqttHandler('led', 'm4')];
      const replied = put({ method: 'm4', params: { _timeout: 60_000 } });
      await far.answer({ result: 'far' });
      await mqtt.answer({ error: BUSY });
      await near.answer({ result: 'near' });
      const { responses } = (await replied).body.result;
      const ids = await handlersOf('m4');
      assert.deepEqual(responses.map((each: { handler_id: string }) => each.handler_id).toSorted(), ids.toSorted());
      const said = responses.map(({ result, error }: { result?: string; error?: object }) => result ?? error);
      assert.ok(
        ['far', 'near', BUSY].every((each) =>
          said.some((one: unknown) => JSON.stringify(one) === JSON.stringify(each)),
        ),
      );
    });

    test('a hub calls a handler on MQTT or of another hub once, although it publishes in both styles', async () => {
      const [near, mqtt] = [await socketHandler('n5'), await mqttHandler('led', 'n5', second)];
      await until(async () => (await handlersOf('n5', second)).length === 2);
      const asked = () => second.put('/rpc', { jsonrpc: '2.0', id: 1, method: 'n5', params: { _timeout: 60_000 } });
      for (let round = 0; round < 2; round++) {
        const replied = asked();
        await Promise.all([near.answer({ result: round }), mqtt.answer({ result: round })]);
        const { responses } = (await replied).body.result;
        assert.deepEqual(
          responses.map(({ result }: { result: number }) => result),
          [round, round],
        );
      }
    });

    test('aggregations count handlers on MQTT like all others', async () => {
      const [mqtt, near] = [await mqttHandler('led', 'm6'), await socketHandler('m6')];
      const asked = async (aggregation: string, first: object, second?: object) => {
        const replied = put({ method: 'm6', params: { _aggregation: aggregation, _timeout: 60_000 } });
        await mqtt.answer(first);
        // If the first answer is enough, the other handler has not answered yet.
        const early = second === undefined ? await replied : undefined;
        await near.answer(second ?? { result: 2 });
        const { body } = early ?? (await replied);
        return body.result ?? body.error;
      };
      assert.equal(await asked('_return_first_success', { result: 1 }), 1);
      assert.equal(await asked('_return_first_success', { error: BUSY }, { result: 2 }), 2);
      assert.equal((await asked('_return_first_success', { error: BUSY }, { error: BUSY })).code, -32002);
      assert.deepEqual(await asked('_return_first_error', { error: BUSY }), BUSY);
      assert.equal((await asked('_return_first_error', { result: 1 }, { result: 2 })).responses.length, 2);
    });

    test('a WebSocket client gets the first response, all of them, or a list, of handlers on MQTT as well', async () => {
      const [mqtt, near] = [await mqttHandler('led', 'm7'), await socketHandler('m7')];
      const caller = await RpcClient.open(hub.origin);
      ended.push(() => caller.close());
      for (const [more, frames] of [
        [{}, 1],
        [{ stream: true }, 2],
        [{ aggregate: true }, 1],
      ] as const) {
        caller.send({ jsonrpc: '2.0', id: 7, method: 'm7', ...more });
        await mqtt.answer({ result: 'mqtt' });
        const responses = frames === 2 || !('aggregate' in more) ? [await caller.next()] : [];
        await near.answer({ result: 'near' });
        while (responses.length < frames) responses.push(await caller.next());
        const results = responses.flatMap(({ result }) => result as unknown[]);
        if ('aggregate' in more)
          assert.deepEqual(results.map((each) => (each as { result: string }).result).toSorted(), ['mqtt', 'near']);
        else assert.deepEqual(results, ['mqtt', 'near'].slice(0, frames));
      }
    });

    test('a handler on MQTT is called by its id, and an unknown one yields −32000', async () => {
      const led = await mqttHandler('led', 'm8');
      await mqttHandler('other', 'm8');
      const replied = put({ method: 'm8', params: { _handler_id: 'led' } });
      await led.answer({ result: 1 });
      assert.equal((await replied).body.result, 1);
      assert.equal((await put({ method: 'm8', params: { _handler_id: 'nobody' } })).body.error.code, -32000);
      const aggregated = { _handler_id: 'led', _aggregation: '_return_first_error' };
      assert.equal((await put({ method: 'm8', params: aggregated })).body.error.code, -32602);
      assert.equal((await put({ method: 'm8', params: { _aggregation: 'best' } })).body.error.code, -32602);
    });

    test('a handler on MQTT that does not answer ends a call by −32001', async () => {
      await mqttHandler('led', 'm9');
      assert.equal((await put({ method: 'm9', params: { _timeout: 50 } })).body.error.code, -32001);
    });

    test('a request without an id reaches a handler on MQTT, and can come from a caller there', async () => {
      const led = await mqttHandler('led', 'm10');
      assert.equal((await put({ id: undefined, method: 'm10', params: { a: 1 } })).status, 204);
      assert.deepEqual(await led.request(), { jsonrpc: '2.0', method: 'm10', params: { a: 1 } });
      const near = await socketHandler('n10');
      await led.client.publish(`${led.root}/n10/request`, { jsonrpc: '2.0', method: 'n10', params: { b: 2 } });
      assert.deepEqual(await near.next(), { jsonrpc: '2.0', method: 'n10', params: { b: 2 } });
    });

    test('a caller on MQTT calls the handlers of a named zone', async () => {
      const [hall, roof] = [await socketHandler('m11', 'hall'), await socketHandler('m11', 'roof')];
      const caller = await openMqtt('caller');
      const answered = caller.call('m11', { params: { zone_id: 'roof' } });
      await roof.answer({ result: 'roof' });
      assert.equal((await answered)[0]?.result, 'roof');
      const both = caller.call('m11', { expected: 2 });
      await Promise.all([hall.answer({ result: 1 }), roof.answer({ result: 2 })]);
      assert.equal((await both).length, 2);
    });

    test('a caller on MQTT receives errors of its request, and of a handler that has left', async () => {
      const caller = await openMqtt('caller');
      const [id = ''] = await handlersOf('com.omlox.ping');
      const wrong = await caller.call('com.omlox.ping', { handlerId: id, params: { _timeout: 0 } });
      assert.equal(wrong[0]?.error.code, -32602);
      const gone = await caller.call('com.omlox.ping', { handlerId: `${id}:gone` });
      assert.equal(gone[0]?.error.code, -32000);
    });

    test('xcmd is listed and called once a core zone has announced it on MQTT', async () => {
      assert.deepEqual(await handlersOf(XCMD), []);
      assert.equal((await put({ method: XCMD })).body.error.code, -32050);
      const core = await mqttHandler('zone-1', XCMD);
      assert.deepEqual(await handlersOf(XCMD), ['zone-1']);
      const replied = put({ method: XCMD, params: { command: 'XCMD_REQ' } });
      assert.equal((await core.answer({ result: 'done' })).params.command, 'XCMD_REQ');
      assert.equal((await replied).body.result, 'done');
    });

    test('each broadcast of a core zone is delivered once per hub to subscribers of the WebSocket and of the broker', async () => {
      const core = await openMqtt('zone-1');
      const display = await TestMqttClient.open(broker.port);
      ended.push(() => display.close());
      await display.subscribe('/omlox/jsonrpc/rpc/+/broadcast', 'omlox/jsonrpc/rpc/+/broadcast');
      const subscribers = [await hub.subscribe('xcmd_broadcast'), await second.subscribe('xcmd_broadcast')];
      const sent = [{ command: 'XCMD_BC', args: [1.0] }, { last: true }];
      for (const each of sent) await core.client.publish(`${core.root}/${XCMD}/broadcast`, each);
      for (const subscriber of subscribers) {
        await subscriber.next(({ last }) => last);
        assert.deepEqual(subscriber.events, sent);
      }
      await display.next(({ payload }) => payload?.last);
      assert.deepEqual(
        display.received.map(({ payload }) => payload),
        sent,
      );
    });

    test('a broadcast that is not an object is rejected', async () => {
      const core = await openMqtt('zone-1');
      const topic = `${core.root}/${XCMD}/broadcast`;
      const rejected = async (): Promise<number> => (await hub.get('/health/mqtt')).body.rejected;
      const before = await rejected();
      const updates = await hub.subscribe('xcmd_broadcast');
      for (const wrong of ['{', '[1]', '5']) await core.client.publish(topic, wrong);
      await until(async () => (await rejected()) >= before + 3);
      await core.client.publish(topic, { right: true });
      await updates.next(({ right }) => right);
      assert.deepEqual(updates.events, [{ right: true }]);
    });

    test('a handler on MQTT cannot answer the call of another method, nor guess its id', async () => {
      const [led, spy] = [await mqttHandler('led', 'n19'), await mqttHandler('spy', 'm19')];
      const ids: number[] = [];
      for (let round = 0; round < 2; round++) {
        const replied = put({ method: 'n19', params: { _timeout: 60_000 } });
        const { id, params } = await led.request();
        ids.push(Number(id));
        const response = { jsonrpc: '2.0', id, result: 'forged' };
        await spy.client.publish(`${spy.root}/m19/response/${encodeURIComponent(params._caller_id)}`, response);
        const under = `${led.root}/n19/response/${encodeURIComponent(params._caller_id)}`;
        await led.client.publish(under, { ...response, result: 'true' });
        assert.equal((await replied).body.result, 'true');
      }
      const [first = 0, next = 0] = ids;
      assert.ok(first >= 2 ** 32 && next >= 2 ** 32 && Math.abs(next - first) > 1000, ids.join());
    });

    for (const [what, said, code, message] of [
      [
        'a result and an error',
        { result: 1, error: BUSY },
        -32603,
        /has answered what is no response of JSON-RPC 2\.0/,
      ],
      ['neither of both', {}, -32603, /has answered what is no response of JSON-RPC 2\.0/],
      [
        '300,000 bytes',
        { result: 'x'.repeat(300_000) },
        -32010,
        /response of handler "led" .*must have at most 262,144 bytes, found 300,\d{3}/,
      ],
    ] as const) {
      test(`a response of a handler on MQTT with ${what} ends its call with ${code}`, async () => {
        const led = await mqttHandler('led', 'm20');
        const replied = put({ method: 'm20', params: { _timeout: 60_000 } });
        await led.answer(said);
        const { error } = (await replied).body;
        assert.equal(error.code, code);
        assert.match(error.message, message);
      });
    }

    for (const [what, request, code, message] of [
      ['of another method than its topic', { method: 'other' }, -32600, /^method: must be "n21" .* found "other"$/],
      ['without a method', {}, -32600, /^method: must be a string that is not empty, found nothing$/],
      [
        'of 300,000 bytes',
        { method: 'n21', params: { text: 'x'.repeat(300_000) } },
        -32010,
        /^message: must have at most 262,144 bytes, found 300,\d{3}$/,
      ],
    ] as const) {
      test(`a request ${what} is answered ${code}, under the topic of its method`, async () => {
        await socketHandler('n21');
        const caller = await openMqtt('caller');
        const params = { ...('params' in request && request.params), _caller_id: 'caller' };
        await caller.client.publish(`${caller.root}/n21/request`, { jsonrpc: '2.0', id: what, ...request, params });
        const { payload } = await caller.client.next(({ topic }) => topic.endsWith('/n21/response/caller'));
        assert.deepEqual([payload.id, payload.error.code], [what, code]);
        assert.match(payload.error.message, message);
      });
    }

    test('names of any kind are percent-encoded in topics', async () => {
      const led = await mqttHandler('a-b', 'LED/+#%\n');
      const replied = put({ method: 'LED/+#%\n' });
      await led.answer({ result: 'on' });
      assert.equal((await replied).body.result, 'on');
      const near = await socketHandler('n/1');
      const caller = await openMqtt('caller');
      const answered = caller.call('n/1');
      await near.answer({ result: 1 });
      assert.equal((await answered)[0]?.result, 1);
    });

    test('rejected messages are counted by reason, and handlers by their transport', async () => {
      const sample = async (metric: string): Promise<number> => {
        const { text } = await hub.get(`${hub.origin}/metrics`);
        return Number(
          text
            .split('\n')
            .find((line) => line.startsWith(`${metric} `))
            ?.split(' ')
            .at(-1),
        );
      };
      const rejected = 'hub_mqtt_rejected_total{reason="json"}';
      const before = await sample(rejected);
      const caller = await openMqtt('caller');
      await caller.client.publish(`${caller.root}/available/m15`, '{');
      await until(async () => (await sample(rejected)) === before + 1);
      // At least ping and identify of the second hub.
      assert.ok((await sample('hub_rpc_handlers{way="mqtt"}')) >= 2);
      assert.ok(hub.logged.some(({ message }) => message === 'A message of the MQTT broker is refused'));
    });
  });
}

describe('Remote procedure calls without their broker', { skip: (await whyNo('mosquitto')) ?? false }, () => {
  test('fail immediately, and work again with new announcements when it is back', async (t) => {
    const broker = await Broker.start('mosquitto');
    t.after(() => broker.close());
    const hub = await openTestHub({ mqtt_address: '127.0.0.1', mqtt_port: broker.port });
    t.after(() => hub.close());
    await connected(hub);
    const ask = () => hub.put('/rpc', { jsonrpc: '2.0', id: 1, method: 'm', params: { _timeout: 60_000 } });
    for (let round = 0; round < 2; round++) {
      const led = await MqttRpc.open(broker.port, { slash: '/', id: 'led' });
      await led.client.next(({ topic }) => topic.endsWith('available/com.omlox.ping'));
      await led.announce('m');
      await until(async () => (await hub.get('/rpc/available')).body['m'] !== undefined);
      const replied = ask();
      await led.answer({ result: round });
      assert.equal((await replied).body.result, round);
      await led.close();
      await broker.kill();
      await until(async () => (await hub.get('/health/mqtt')).body.connected === false);
      const { code, message } = (await ask()).body.error;
      assert.deepEqual([code, message], [-32000, 'handler "led" of "m" cannot be reached']);
      await broker.start();
      await connected(hub);
    }
  });
});
