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
  /** Path of a WebSocket. */
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
  /** Messages of QoS 0 are not stored while the hub is disconnected. */
  readonly qos: 0 | 1;
  /** Whether the broker sends its retained messages. */
  readonly getsRetained: boolean;
  /** Whether the client receives its own messages. */
  readonly getsOwn: boolean;
}

/** Limits of a broker. */
export interface BrokerBounds {
  /** QoS 1 messages in flight. */
  readonly inFlightMax: number;
  /** Bytes of a packet. */
  readonly packetBytesMax: number;
}

export interface MqttConnectionHandlers {
  /** Connected and subscribed. */
  up(broker: BrokerBounds): void;
  message(received: ReceivedPublish): void;
  /** The socket has room for more. */
  room(): void;
  notice(text: string): void;
  /** The connection has closed, or could not be established. `reasonCode`: from the broker, by MQTT 5. Called once. */
  down(why: string, reasonCode?: number): void;
}

export interface ConnectionOptions {
  readonly subscriptions: readonly Subscribing[];
  /** Whether the broker stores the session while the hub is disconnected. False also discards an earlier session. */
  readonly keepsSession: boolean;
  readonly will: { readonly topic: string; readonly payload: string } | undefined;
}

const CONNECT_MS = 10_000;
/** Most bytes waiting in the socket. */
const UNSENT_BYTES_MAX = 1 << 20;
/** Most QoS 1 messages in flight if the broker sets no maximum. */
const IN_FLIGHT_MAX = 1000;
/** Retain handling option of a subscription: no retained messages. */
const NO_RETAINED = 2;

/** Interface of a connection for its thread. */
export type MqttConnection = Pick<BrokerConnection, 'hasRoom' | 'write' | 'publish' | 'read' | 'end'>;

/** A connection that failed before it began. */
const NONE: MqttConnection = {
  hasRoom: false,
  write: () => undefined,
  publish: () => undefined,
  read: () => undefined,
  end: async () => undefined,
};

/** Connects. If that fails at once, for example without a required file, `down` reports it asynchronously. */
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
 * One connection to a broker, from connecting to closing. Reconnecting makes a new object. The library connects, speaks
 * MQTT 5, and keeps the connection alive. It does not handle messages, as they are many:
 *
 * - Messages of the broker are read by packet_reader.ts; the library gets all other packets.
 * - Acknowledgements are sent in batches once the hub has accepted the messages, by `write`.
 * - Messages of QoS 0 are written in batches of packets, by `write`.
 */
class BrokerConnection {
  readonly #client: MqttClient;
  readonly #watch: MqttConnectionHandlers;
  #why = '';
  /** Reason code of MQTT 5 with which the broker has closed the connection. */
  #reasonCode: number | undefined;
  #isUp = false;
  #isDown = false;
  /** Whether it waits for the socket to drain. */
  #isDraining = false;
  /** Whether anything has arrived since the last keepalive check. */
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
    // A busy broker answers a ping late, as it reads the ping after our acknowledgements.
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

  /** Whether the socket has room for more. */
  get hasRoom(): boolean {
    return this.#isUp && this.#client.stream.writableLength < UNSENT_BYTES_MAX;
  }

  /** Writes whole packets. */
  write(packets: Uint8Array): void {
    // Stored messages may arrive, and be accepted, before the library reports the connection as established.
    if (!this.#client.connected || packets.length === 0) return;
    if (this.#client.stream.write(packets) || this.#isDraining) return;
    this.#isDraining = true;
    this.#client.stream.once('drain', () => {
      this.#isDraining = false;
      this.#watch.room();
    });
  }

  /**
   * Publishes with QoS 1. `done` gets the reason if the broker rejects the message. Not called once the connection is
   * down.
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

  /** Disconnects cleanly: the broker publishes no will. */
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
  // A shared subscription gets no retained messages, and must not set the option.
  const isShared = filter.startsWith('$share/');
  return { qos, rh: getsRetained || isShared ? 0 : NO_RETAINED, ...(!getsOwn && { nl: true }) };
}

function optionsFor(settings: BrokerSettings, { keepsSession, will }: ConnectionOptions): IClientOptions {
  const { protocol, host, port, path, clientId, username, password, tls } = settings;
  return {
    ...{ protocol, host, port, clientId, protocolVersion: 5, clean: !keepsSession, keepalive: KEEPALIVE_SECONDS },
    // For TCP, `path` would be that of a Unix socket.
    ...(protocol.startsWith('ws') && { path }),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && readTls(tls)),
    connectTimeout: CONNECT_MS,
    // Each connection is a new object; its owner reconnects.
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

/** Internals of the library: opens a connection and pipes it into the parser. */
interface Building {
  streamBuilder(client: MqttClient): Duplex;
}

/** Routes bytes from the broker to a reader, which passes packets for the library on to it. */
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

/** Reason codes of MQTT 5 and earlier versions that may be caused by settings. */
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

/** Explains errors that may be caused by settings; otherwise returns the library's message. */
function whyOf(error: Error & { code?: string | number }, { tls }: BrokerSettings): string {
  return REASONS[String(error.code)] ?? tlsProblem(error, tls) ?? (error.message || String(error.code));
}
