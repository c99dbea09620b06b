import type { Duplex } from 'node:stream';
import mqtt, { type IClientOptions, type IClientSubscribeOptions, type MqttClient } from 'mqtt';
import { type BrokerTls, readTls, tlsProblem } from './broker_tls.ts';
import { PacketReader, type Received } from './packet_reader.ts';
import { KEEPALIVE_SECONDS, PACKET_BYTES_MAX, RECEIVE_MAX, SESSION_SECONDS, SESSION_TAKEN_OVER } from './session.ts';

/** How a broker is reached. */
export interface BrokerSettings {
  readonly protocol: 'mqtt' | 'mqtts' | 'ws' | 'wss';
  readonly host: string;
  readonly port: number;
  /** Of a WebSocket. */
  readonly path: string;
  readonly clientId: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: BrokerTls | undefined;
}

/** What is published with QoS 1. */
interface Sent {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly isRetained: boolean;
  /** How long it is of use; 0: for ever. */
  readonly lifeMs: number;
}

/** What the client subscribes to. */
export interface Subscribing {
  readonly filter: string;
  /** What comes of QoS 0 while the hub is away is not kept for it. */
  readonly qos: 0 | 1;
  /** Whether it gets what the broker has stored before. */
  readonly getsRetained: boolean;
  /** Whether it gets what it publishes itself. */
  readonly getsOwn: boolean;
}

/** What a broker takes. */
export interface BrokerBounds {
  /** Messages of QoS 1 at once. */
  readonly inFlightMax: number;
  /** Bytes of a packet. */
  readonly packetBytesMax: number;
}

export interface ConnectionWatch {
  /** It stands, and is subscribed. */
  up(broker: BrokerBounds): void;
  message(received: Received): void;
  /** More can be written. */
  room(): void;
  notice(text: string): void;
  /** It has ended, or was never made: why, and the reason code of MQTT 5 if the broker has sent one. Called once. */
  down(why: string, reasonCode?: number): void;
}

export interface ConnectionOptions {
  readonly subscriptions: readonly Subscribing[];
  /** Whether the broker keeps the session, with what comes for it, while the hub is away; or forgets the one before. */
  readonly keepsSession: boolean;
  readonly will: { readonly topic: string; readonly payload: string } | undefined;
}

const CONNECT_MS = 10_000;
/** What may wait in the socket for the broker to read it. */
const UNSENT_BYTES_MAX = 1 << 20;
/** Where the broker names no maximum, in-flight messages of ours are bounded by this. */
const IN_FLIGHT_MAX = 1000;
/** Of a subscription: retained messages are not sent. */
const NO_RETAINED = 2;

/** What a connection is for its thread. */
export type Connection = Pick<BrokerConnection, 'hasRoom' | 'write' | 'publish' | 'read' | 'end'>;

/** An attempt that has failed before it began. */
const NONE: Connection = {
  hasRoom: false,
  write: () => undefined,
  publish: () => undefined,
  read: () => undefined,
  end: async () => undefined,
};

/** Attempts to connect. Where that fails at once, as without a file that it needs, `down` tells so a moment later. */
export function connectBroker(
  settings: BrokerSettings,
  options: ConnectionOptions,
  watch: ConnectionWatch,
): Connection {
  try {
    return new BrokerConnection(settings, options, watch);
  } catch (error) {
    queueMicrotask(() => watch.down((error as Error).message));
    return NONE;
  }
}

/**
 * One connection to a broker, from the attempt to its end; the next one is another object. The library connects, speaks
 * MQTT 5, and keeps the connection alive. Messages are not its business, because they are many:
 *
 * - Those of the broker are read here, out of what it sends (packet_reader.ts); the library gets everything else.
 * - They are acknowledged when the hub has taken them, many at once, by `write`.
 * - Messages of QoS 0 are written as packets of many, by `write`.
 */
class BrokerConnection {
  readonly #client: MqttClient;
  readonly #watch: ConnectionWatch;
  #why = '';
  /** Why the broker has closed it, as MQTT 5 has it. */
  #reasonCode: number | undefined;
  #isUp = false;
  #isDown = false;
  /** Whether it waits for the socket to be drained. */
  #isBehind = false;
  /** Whether anything has come since it was last asked whether the broker is still there. */
  #hasHeard = false;

  constructor(settings: BrokerSettings, options: ConnectionOptions, watch: ConnectionWatch) {
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
    // A broker that has much to do answers a ping late, since it reads it behind our acknowledgements.
    client.onKeepaliveTimeout = () => {
      if (!this.#hasHeard) return giveUp();
      this.#hasHeard = false;
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

  /** Whether more should be written now. */
  get hasRoom(): boolean {
    return this.#isUp && this.#client.stream.writableLength < UNSENT_BYTES_MAX;
  }

  /** Writes whole packets. */
  write(packets: Uint8Array): void {
    // What the broker has kept may come, and be taken, before the library says that the connection stands.
    if (!this.#client.connected || packets.length === 0) return;
    if (this.#client.stream.write(packets) || this.#isBehind) return;
    this.#isBehind = true;
    this.#client.stream.once('drain', () => {
      this.#isBehind = false;
      this.#watch.room();
    });
  }

  /** Publishes with QoS 1. `done` gets why the broker has refused it, if it has; it is not called once the connection is down. */
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

  /** Reads what the broker sends, or leaves it where it is: the broker then waits. */
  read(isWanted: boolean): void {
    if (this.#isDown) return;
    if (isWanted) this.#client.stream.resume();
    else this.#client.stream.pause();
  }

  /** Ends it in order: the broker sends no will. */
  async end(): Promise<void> {
    await this.#client.endAsync(!this.#isUp).catch(() => undefined);
    this.#down();
  }

  #take(reader: PacketReader, chunk: Uint8Array): void {
    if (this.#isDown || this.#why !== '') return;
    this.#hasHeard = true;
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
  // A shared subscription never gets retained messages, and must say nothing of them.
  const isShared = filter.startsWith('$share/');
  return { qos, rh: getsRetained || isShared ? 0 : NO_RETAINED, ...(!getsOwn && { nl: true }) };
}

function optionsFor(settings: BrokerSettings, { keepsSession, will }: ConnectionOptions): IClientOptions {
  const { protocol, host, port, path, clientId, username, password, tls } = settings;
  return {
    ...{ protocol, host, port, clientId, protocolVersion: 5, clean: !keepsSession, keepalive: KEEPALIVE_SECONDS },
    // Of TCP it would be the path of a Unix socket.
    ...(protocol.startsWith('ws') && { path }),
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && readTls(tls)),
    connectTimeout: CONNECT_MS,
    // Each connection is an object of its own, and tried again by who has made it.
    reconnectPeriod: 0,
    // What the library gets of the broker is settled before it connects.
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

/** What the library calls to open a connection; it pipes what that brings into its parser. */
interface Building {
  streamBuilder(client: MqttClient): Duplex;
}

/** Has somebody else read what the broker sends, who writes to the library what is for it. */
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

/** Reason codes of MQTT 5, and of versions before it, that can have to do with the settings. */
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

/** Words for what people set up wrong; the library's own for the rest. */
function whyOf(error: Error & { code?: string | number }, { tls }: BrokerSettings): string {
  return REASONS[String(error.code)] ?? tlsProblem(error, tls) ?? (error.message || String(error.code));
}
