import type { Duplex } from 'node:stream';
import mqtt from 'mqtt';
import { messageOf } from '../errors.ts';
import type { Source } from '../model/source.ts';
import type { Connector, ConnectorDeps, ConnectorEvents } from './connector.ts';
import { dial } from './dial.ts';

const [PORT, TLS_PORT] = [1883, 8883] as const;
const CONNECT_MS = 10_000;
const KEEPALIVE_SECONDS = 30;

/**
 * Subscribes to a topic filter of an MQTT broker with a clean session and QoS 0: a position that was missed is outdated.
 * The client does not reconnect by itself.
 */
export function openMqtt(source: Source, events: ConnectorEvents, deps: ConnectorDeps): Connector {
  const url = new URL(source.url ?? '');
  const isTls = url.protocol === 'mqtts:';
  let isClosed = false;
  let end = (): void => undefined;
  const fail = (why: string): void => {
    if (isClosed) return;
    close();
    events.failed(why);
  };
  const close = (): void => {
    isClosed = true;
    end();
  };
  const open = async (): Promise<void> => {
    const socket: Duplex = await dial({
      ...{ url, isTls, resolve: deps.resolve },
      defaultPort: isTls ? TLS_PORT : PORT,
    });
    socket.on('error', (error) => fail(messageOf(error)));
    if (isClosed) {
      socket.destroy();
      return;
    }
    const client = new mqtt.MqttClient(() => socket as never, {
      clean: true,
      protocolVersion: 4,
      reconnectPeriod: 0,
      connectTimeout: CONNECT_MS,
      keepalive: KEEPALIVE_SECONDS,
      ...(source.username != null && { username: source.username }),
      ...(source.password != null && { password: Buffer.from(source.password) }),
    });
    end = () => void client.end(true);
    client.on('error', (error) => fail(messageOf(error)));
    client.on('close', () => fail('the broker has closed the connection'));
    client.on('message', (topic, content) => {
      if (!isClosed) events.received({ content, topic });
    });
    client.on('connect', () => {
      client.subscribe(source.topic ?? '', { qos: 0 }, (error, granted) => {
        // 128: the broker rejects the subscription.
        if (error != null) fail(messageOf(error));
        else if (granted?.some(({ qos }) => Number(qos) >= 128)) fail('the broker rejects the subscription');
        else if (!isClosed) events.opened();
      });
    });
  };
  open().catch((error: unknown) => fail(messageOf(error)));
  return { close };
}
