import { readFileSync } from 'node:fs';
import {
  type Authenticator,
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  headers,
  type Msg,
  type NatsConnection,
  NoRespondersError,
  nkeyAuthenticator,
  type Subscription,
  type TlsOptions,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import { schedule } from '../../time/clock.ts';
import type { BusSettings } from './frames.ts';

/** Timeout of one attempt to reach a server. */
const CONNECT_MS = 2000;
const BETWEEN_TRIES_MS = 250;
/** A silent connection is given up after three of these. */
const PING_MS = 2000;

/** A received message, valid until the function that takes it returns. */
export interface Received {
  readonly subject: string;
  readonly reply: string;
  readonly bytes: Uint8Array;
  /** 0 for a message; otherwise the status that the server sent instead, such as 503 for no responders. */
  readonly code: number;
  /** The code in words. */
  readonly description: string;
  header(name: string): string;
}

/** Observer of the connection. */
export interface ConnectionWatch {
  up(): void;
  down(why: string): void;
  /** A line for the log, such as a subject that this user may not use. */
  notice(text: string): void;
}

interface Listening {
  readonly subject: string;
  readonly take: (message: Received) => void;
  subscription?: Subscription;
}

/**
 * Connection to one of several NATS servers, restored forever. It queues nothing: messages published without a connection are
 * dropped, because callers that need them sent try again, and they would arrive twice. This is the only import of the NATS
 * client.
 */
export class ServerConnection {
  readonly #settings: BusSettings;
  readonly #watch: ConnectionWatch;
  readonly #listening = new Set<Listening>();
  #nats: NatsConnection | undefined;
  #isUp = false;

  constructor(settings: BusSettings, watch: ConnectionWatch) {
    this.#settings = settings;
    this.#watch = watch;
    void this.#keepConnected();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Sends a message. The bytes must not change before this turn's microtasks are done. Throws if they are too many. */
  publish(subject: string, bytes: Uint8Array, reply = '', fields: Readonly<Record<string, string>> = NO_HEADERS): void {
    if (!this.#isUp) return;
    if (fields === NO_HEADERS) {
      this.#nats?.publish(subject, bytes, { reply });
      return;
    }
    const named = headers();
    for (const name in fields) named.set(name, fields[name] as string);
    this.#nats?.publish(subject, bytes, { reply, headers: named });
  }

  /** Subscribes on this connection and all that replace it, until the returned function is called. */
  subscribe(subject: string, take: (message: Received) => void): () => void {
    const listening: Listening = { subject, take };
    this.#listening.add(listening);
    this.#listen(listening);
    return () => {
      this.#listening.delete(listening);
      listening.subscription?.unsubscribe();
    };
  }

  /** Resolves once the server has processed everything sent so far. Rejects if the connection is lost first. */
  async flush(): Promise<void> {
    if (this.#nats === undefined) throw new Error('There is no connection');
    await this.#nats.flush();
  }

  async #keepConnected(): Promise<never> {
    for (;;) {
      try {
        this.#nats = await connect(optionsOf(this.#settings));
        for (const listening of this.#listening) this.#listen(listening);
        this.#up();
        await this.#follow(this.#nats);
        this.#down('the connection was closed');
      } catch (error) {
        this.#down((error as Error).message);
      }
      this.#nats = undefined;
      await new Promise<void>((resolve) => schedule(BETWEEN_TRIES_MS, resolve));
    }
  }

  async #follow(nats: NatsConnection): Promise<void> {
    for await (const status of nats.status()) {
      if (status.type === 'disconnect') this.#down(`lost ${status.server}`);
      else if (status.type === 'reconnect') this.#up();
      else if (status.type === 'error') this.#watch.notice(status.error.message);
      else if (status.type === 'ldm') this.#watch.notice(`${status.server} is about to stop`);
    }
    await nats.closed();
  }

  #up(): void {
    if (this.#isUp) return;
    this.#isUp = true;
    this.#watch.up();
  }

  #down(why: string): void {
    this.#isUp = false;
    this.#watch.down(why);
  }

  #listen(listening: Listening): void {
    // An error, such as a subject that this user may not subscribe to, is reported as a status too.
    const callback = (error: Error | null, message: Msg): void => {
      if (error === null) listening.take(receivedOf(message));
    };
    const subscription = this.#nats?.subscribe(listening.subject, { callback });
    if (subscription !== undefined) listening.subscription = subscription;
  }
}

/** Connects to one server as a hub does, and lists its streams. Rejects with an Error whose message is the reason. */
export async function probeServer(settings: BusSettings, server: string): Promise<void> {
  const nats = await connect({
    ...optionsOf(settings),
    servers: [server],
    reconnect: false,
    ignoreAuthErrorAbort: false,
  });
  try {
    const answer = await nats.request('$JS.API.STREAM.LIST', undefined, { timeout: CONNECT_MS });
    const { error } = answer.json<{ readonly error?: { readonly description: string } }>();
    if (error !== undefined) throw new Error(error.description);
  } catch (cause) {
    const isWithout = (cause as Error).cause instanceof NoRespondersError || cause instanceof NoRespondersError;
    throw isWithout ? new Error('it offers no JetStream', { cause }) : cause;
  } finally {
    await nats.close();
  }
}

const NO_HEADERS = {};

function receivedOf({ subject, reply = '', data: bytes, headers: found }: Msg): Received {
  return {
    subject,
    reply,
    bytes,
    code: found?.code ?? 0,
    description: found?.description ?? '',
    header: (name) => found?.get(name) ?? '',
  };
}

/** Files are read for each connection, so that credentials and certificates can be renewed. */
function optionsOf(settings: BusSettings): ConnectionOptions {
  const { servers, name, memberName, tls } = settings;
  return {
    servers: [...servers],
    name: memberName,
    inboxPrefix: `${name}._INBOX`,
    noEcho: true,
    timeout: CONNECT_MS,
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: BETWEEN_TRIES_MS,
    pingInterval: PING_MS,
    authenticator: authenticatorsOf(settings),
    ...(tls !== undefined && { tls: tlsOf(tls) }),
  };
}

function authenticatorsOf({ credentialsPath, nkeyPath, username, password }: BusSettings): Authenticator[] {
  return [
    ...(credentialsPath === undefined
      ? []
      : [(nonce?: string) => credsAuthenticator(readFileSync(credentialsPath))(nonce)]),
    ...(nkeyPath === undefined ? [] : [(nonce?: string) => nkeyAuthenticator(seedOf(readFileSync(nkeyPath)))(nonce)]),
    ...(username === undefined ? [] : [usernamePasswordAuthenticator(username, password)]),
  ];
}

/** Seed in a file, which tools end with a line break. */
function seedOf(file: Buffer): Uint8Array {
  return new TextEncoder().encode(file.toString('utf8').trim());
}

function tlsOf({ caPath, certificatePath, keyPath }: NonNullable<BusSettings['tls']>): TlsOptions {
  return {
    ...(caPath !== undefined && { caFile: caPath }),
    ...(certificatePath !== undefined && { certFile: certificatePath }),
    ...(keyPath !== undefined && { keyFile: keyPath }),
  };
}
