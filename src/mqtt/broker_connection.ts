import type { Duplex } from 'node:stream';
import mqtt, { type IClientOptions, type IClientSubscribeOptions, type MqttClient } from 'mqtt';
import { type BrokerTls, readTls, tlsProblem } from './broker_tls.ts';
import { PacketReader, type ReceivedPublish } from './packet_reader.ts';
import { KEEPALIVE_SECONDS, PACKET_BYTES_MAX, RECEIVE_MAX, SESSION_SECONDS, SESSION_TAKEN_OVER } from './session.ts';

/** Address and credentials of a broker. */
export interface BrokerSettings {
  readonly protocol: 'mqtt' | 'mqtts' | 'ws' | 'wss';
  readonly host: string;
  readonly port: number;
  /** Path of the WebSocket endpoint. */
  readonly path: string;
  readonly clientId: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: BrokerTls | undefined;
}

/** A message to publish with QoS 1. */
interface Sent {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly isRetained: boolean;
  /** Expiry interval; 0 for none. */
  readonly lifeMs: number;
}

/** A subscription of the client. */
export interface Subscribing {
  readonly filter: string;
  /** The broker stores QoS 0 messages for no disconnected client. */
  readonly qos: 0 | 1;
  /** Whether the broker sends retained messages on subscribing. */
  readonly getsRetained: boolean;
  /** Whether the client also receives messages that it has published. */
  readonly getsOwn: boolean;
}

/** Limits of a broker. */
export interface BrokerBounds {
  /** Maximum number of QoS 1 messages in flight. */
  readonly inFlightMax: number;
  /** Maximum size of a packet in bytes. */
  readonly packetBytesMax: number;
}

export interface MqttConnectionHandlers {
  /** Called when the client is connected and subscribed. */
  up(broker: BrokerBounds): void;
  message(received: ReceivedPublish): void;
  /** Called when the socket has room again. */
  room(): void;
  notice(text: string): void;
  /**
   * Called once, when the connection has closed or could not be established. `reasonCode` is the broker's MQTT 5 reason
   * code.
   */
  down(why: string, reasonCode?: number): void;
}

export interface ConnectionOptions {
  readonly subscriptions: readonly Subscribing[];
  /** Whether the broker stores the session while the hub is disconnected. False also discards an earlier session. */
  readonly keepsSession: boolean;
  readonly will: { readonly topic: string; readonly payload: string } | undefined;
}

const CONNECT_MS = 10_000;
/** Maximum unsent bytes in the socket. */
const UNSENT_BYTES_MAX = 1 << 20;
/** Maximum number of QoS 1 messages in flight if the broker sets no maximum. */
const IN_FLIGHT_MAX = 1000;
/** Retain handling option of a subscription: no retained messages. */
const NO_RETAINED = 2;

/** Connection as the thread uses it. */
export type MqttConnection = Pick<BrokerConnection, 'hasRoom' | 'write' | 'publish' | 'read' | 'end'>;

/** Connection that failed before it was opened. */
const NONE: MqttConnection = {
  hasRoom: false,
  write: () => undefined,
  publish: () => undefined,
  read: () => undefined,
  end: async () => undefined,
};

/**
 * Connects to a broker. An immediate failure, for example a missing file, is also reported asynchronously by `down`.
 */
export function connectBroker(
  settings: BrokerSettings,
  options: ConnectionOptions,
  watch: MqttConnectionHandlers,
): MqttConnection {
  try {
    return new BrokerConnection(settings, options, watch);
  } catch (error) {
    queueMicrotask(() => watch.down((error as Error).message));
    return NONE;
  }
}

/**
 * A connection to a broker, from connecting to closing; each reconnect creates a new object. The library connects,
 * speaks MQTT 5, and keeps the connection alive. Messages bypass it for throughput:
 *
 * - Messages of the broker are read by packet_reader.ts; the library gets all other packets.
 * - Acknowledgments are sent in batches by `write`, once the hub has accepted the messages.
 * - QoS 0 messages are written as batches of packets by `write`.
 */
class BrokerConnection {
  readonly #client: MqttClient;
  readonly #watch: MqttConnectionHandlers;
  #why = '';
  /** MQTT 5 reason code with which the broker closed the connection. */
  #reasonCode: number | undefined;
  #isUp = false;
  #isDown = false;
  /** Whether a `drain` event of the socket is awaited. */
  #isDraining = false;
  /** Whether bytes were received since the last keepalive check. */
  #hasReceived = false;

  constructor(settings: BrokerSettings, options: ConnectionOptions, watch: MqttConnectionHandlers) {
    this.#watch = watch;
    const client = mqtt.connect(optionsFor(settings, options));
    this.#client = client;
    readsOnlyOthers(client, (library) => {
      const reader = new PacketReader(
        { message: watch.message, others: (packets) => void library.write(packets) },
        { bytesMax: PACKET_BYTES_MAX },
      );
      return (chunk) => this.#take(reader, chunk);
    });
    const giveUp = client.onKeepaliveTimeout.bind(client);
    // A busy broker answers a ping late because it first reads the acknowledgments sent before. Any received bytes
    // count as a sign of life.
    client.onKeepaliveTimeout = () => {
      if (!this.#hasReceived) return giveUp();
      this.#hasReceived = false;
      client.sendPing();
      client.reschedulePing(true);
    };
    client.on('connect', ({ properties }) =>
      this.#subscribe(options.subscriptions, {
        inFlightMax: properties?.receiveMaximum ?? IN_FLIGHT_MAX,
        packetBytesMax: properties?.maximumPacketSize ?? Number.POSITIVE_INFINITY,
      }),
    );
    client.on('disconnect', ({ reasonCode, properties }) => {
      this.#reasonCode = reasonCode;
      const reason = properties?.reasonString ?? REASONS[String(reasonCode)] ?? `reason code ${reasonCode}`;
      this.#why ||= `the broker closes the connection: ${reason}`;
    });
    client.on('error', (error) => {
      this.#why ||= whyOf(error, settings);
      client.end(true);
    });
    client.on('close', () => this.#down());
    client.connect();
  }

  /** Whether the socket has room for more packets. */
  get hasRoom(): boolean {
    return this.#isUp && this.#client.stream.writableLength < UNSENT_BYTES_MAX;
  }

  /** Writes whole packets. */
  write(packets: Uint8Array): void {
    // Messages that the broker stored may be received and accepted before the library reports the connection as
    // established.
    if (!this.#client.connected || packets.length === 0) return;
    if (this.#client.stream.write(packets) || this.#isDraining) return;
    this.#isDraining = true;
    this.#client.stream.once('drain', () => {
      this.#isDraining = false;
      this.#watch.room();
    });
  }

  /**
   * Publishes with QoS 1. Calls `done` with the reason if the broker rejects the message, or with undefined if it
   * accepts it. `done` is not called after the connection has closed.
   */
  publish({ topic, payload, isRetained, lifeMs }: Sent, done: (refused: string | undefined) => void): void {
    const properties = lifeMs > 0 && { properties: { messageExpiryInterval: Math.ceil(lifeMs / 1000) } };
    this.#client.publish(
      topic,
      Buffer.from(payload.buffer, payload.byteOffset, payload.length),
      { qos: 1, retain: isRetained, ...properties },
      (error) => {
        if (!this.#isDown) done(error == null ? undefined : error.message);
      },
    );
  }

  /** Resumes or pauses reading from the broker. */
  read(isWanted: boolean): void {
    if (this.#isDown) return;
    if (isWanted) this.#client.stream.resume();
    else this.#client.stream.pause();
  }

  /** Disconnects cleanly, so that the broker does not publish the last will. */
  async end(): Promise<void> {
    await this.#client.endAsync(!this.#isUp).catch(() => undefined);
    this.#down();
  }

  #take(reader: PacketReader, chunk: Uint8Array): void {
    if (this.#isDown || this.#why !== '') return;
    this.#hasReceived = true;
    try {
      reader.push(chunk);
    } catch (error) {
      this.#why = (error as Error).message;
      this.#client.end(true);
    }
  }

  #subscribe(subscriptions: readonly Subscribing[], broker: BrokerBounds): void {
    const asked = Object.fromEntries(subscriptions.map((each) => [each.filter, subscribeOptions(each)]));
    this.#client.subscribe(asked, (error, granted = []) => {
      if (this.#isDown) return;
      const refused = granted.filter(({ qos }) => qos >= 0x80).map(({ topic }) => topic);
      if (refused.length > 0) this.#watch.notice(`The broker refuses the subscription to ${refused.join(', ')}`);
      else if (error) this.#watch.notice(`The broker refuses the subscriptions: ${error.message}`);
      this.#isUp = true;
      this.#watch.up(broker);
    });
  }

  #down(): void {
    if (this.#isDown) return;
    this.#isDown = true;
    this.#isUp = false;
    this.#watch.down(this.#why || 'the connection was closed', this.#reasonCode);
  }
}

function subscribeOptions({ filter, qos, getsRetained, getsOwn }: Subscribing): IClientSubscribeOptions {
  // Brokers send no retained messages for a shared subscription, and reject the option.
  const isShared = filter.startsWith('$share/');
  return { qos, rh: getsRetained || isShared ? 0 : NO_RETAINED, ...(!getsOwn && { nl: true }) };
}

function optionsFor(settings: BrokerSettings, { keepsSession, will }: ConnectionOptions): IClientOptions {
  const { protocol, host, port, path, clientId, username, password, tls } = settings;
  return {
    ...{ protocol, host, port, clientId, protocolVersion: 5, clean: !keepsSession, keepalive: KEEPALIVE_SECONDS },
    // With TCP, the library would treat `path` as a Unix socket.
    ...(protocol.startsWith('ws') && { path }),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && readTls(tls)),
    connectTimeout: CONNECT_MS,
    // The owner of this connection reconnects, with a new object.
    reconnectPeriod: 0,
    // The reader must be installed before the library connects.
    manualConnect: true,
    queueQoSZero: false,
    properties: {
      sessionExpiryInterval: keepsSession ? SESSION_SECONDS : 0,
      receiveMaximum: RECEIVE_MAX,
      maximumPacketSize: PACKET_BYTES_MAX,
    },
    ...(will && { will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: true } }),
  };
}

/** Internal function of the library that opens a connection, whose bytes are piped into the parser. */
interface Building {
  streamBuilder(client: MqttClient): Duplex;
}

/** Passes bytes from the broker through a reader, which forwards only packets other than messages to the library. */
function readsOnlyOthers(
  client: MqttClient,
  readerFor: (library: NodeJS.WritableStream) => (chunk: Uint8Array) => void,
) {
  const building = client as unknown as Building;
  const build = building.streamBuilder.bind(client);
  building.streamBuilder = (given) => {
    const stream = build(given);
    stream.pipe = (library) => {
      stream.on('data', readerFor(library));
      return library;
    };
    return stream;
  };
}

/** Explanations of reason codes of MQTT 5 and earlier versions that settings may cause. */
const REASONS: Readonly<Record<string, string>> = {
  1: 'the broker does not speak MQTT 5',
  132: 'the broker does not speak MQTT 5',
  133: 'the broker refuses mqtt_client_id',
  4: 'the broker refuses mqtt_user or mqtt_password',
  134: 'the broker refuses mqtt_user or mqtt_password',
  5: 'the broker does not authorize this hub',
  135: 'the broker does not authorize this hub',
  [SESSION_TAKEN_OVER]: 'another client has connected with the same client id',
};

/** Returns an explanation of errors that settings may cause; the library's message for others. */
function whyOf(error: Error & { code?: string | number }, { tls }: BrokerSettings): string {
  return REASONS[String(error.code)] ?? tlsProblem(error, tls) ?? (error.message || String(error.code));
}
