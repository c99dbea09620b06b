import {
  connect,
  headers,
  type NatsConnection,
  NoRespondersError,
  RequestError,
  type TlsOptions,
} from '@nats-io/transport-node';
import { messageOf as errorText } from '../errors.ts';
import type { Sink } from '../model/sink.ts';
import { failureWith, reasonOfFailure } from '../model/target_failure.ts';
import type { Outcome, QueuedEvent } from './delivery_queue.ts';
import { messageLimits, messageOf, type OpenedSender, type SenderDeps, type SinkMessage } from './sender.ts';

const PORT = 4222;
const TIMEOUT_MS = 15_000;

/**
 * Opens a sink that publishes to a NATS subject. If a stream of JetStream has the subject, a message is delivered when the
 * stream has stored it; `Nats-Msg-Id` deduplicates repetitions. Otherwise it is delivered when the server has received it.
 */
export function openNats(sink: Sink, deps: SenderDeps): OpenedSender {
  const { format, timeout } = sink;
  const limits = messageLimits(sink);
  const publisher = new Publisher(sink, { deps, timeoutMs: timeout ?? TIMEOUT_MS });
  const send = async (events: readonly QueuedEvent[], traceparent?: string): Promise<Outcome> => {
    const message = messageOf(events, format ?? 'cloudevents', deps.source);
    try {
      return await publisher.publish(message, traceparent);
    } catch (error) {
      return { what: 'failed', why: errorText(error), problem: reasonOfFailure(error) };
    }
  };
  return { limits, sender: { send, close: () => publisher.close() } };
}

/** A connection, opened for the first message, and for the next one after a failure. It does not reconnect by itself. */
class Publisher {
  readonly #url: URL;
  readonly #secret: string | undefined;
  readonly #subject: string;
  readonly #deps: SenderDeps;
  readonly #timeoutMs: number;
  #connection: Promise<NatsConnection> | undefined;
  /** Whether a stream has the subject; asked once per connection. */
  #hasStream: Promise<boolean> | undefined;

  constructor({ url, secret }: Sink, { deps, timeoutMs }: { readonly deps: SenderDeps; readonly timeoutMs: number }) {
    this.#url = new URL(url);
    this.#secret = secret ?? undefined;
    this.#subject = decodeURIComponent(this.#url.pathname.slice(1));
    this.#deps = deps;
    this.#timeoutMs = timeoutMs;
  }

  async publish(message: SinkMessage, traceparent: string | undefined): Promise<Outcome> {
    const connection = await this.#connected();
    const bytes = Buffer.from(message.body);
    const limit = connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
    if (bytes.length > limit)
      return {
        what: 'rejected',
        ...failureWith('target_rejects', `the server accepts ${limit} bytes, found ${bytes.length}`),
      };
    const fields = headers();
    fields.set('Nats-Msg-Id', message.id);
    fields.set('Content-Type', message.contentType);
    if (traceparent !== undefined) fields.set('traceparent', traceparent);
    this.#hasStream ??= this.#findStream(connection);
    if (await this.#hasStream) {
      const reply = await connection.request(this.#subject, bytes, { timeout: this.#timeoutMs, headers: fields });
      const { error } = reply.json<{ readonly error?: { readonly description?: string } }>();
      if (error === undefined) return { what: 'delivered' };
      return {
        what: 'failed',
        ...failureWith('target_rejects', `the stream answered: ${error.description ?? 'an error'}`),
      };
    }
    connection.publish(this.#subject, bytes, { headers: fields });
    await connection.flush();
    return { what: 'delivered' };
  }

  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    await connection?.close();
  }

  #connected(): Promise<NatsConnection> {
    this.#connection ??= this.#connect();
    return this.#connection;
  }

  async #connect(): Promise<NatsConnection> {
    try {
      const { hostname, port, protocol } = this.#url;
      const address = await this.#deps.resolve(hostname);
      const server = `${address.includes(':') ? `[${address}]` : address}:${port === '' ? PORT : port}`;
      const connection = await connect({
        servers: server,
        timeout: this.#timeoutMs,
        reconnect: false,
        // The server may name others, whose addresses are not checked.
        ignoreClusterUpdates: true,
        ...(protocol === 'tls:' && { tls: { servername: hostname } as TlsOptions }),
        ...credentialsOf(this.#secret),
      });
      void connection.closed().then(() => this.#forget());
      return connection;
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  #forget(): void {
    this.#connection = undefined;
    this.#hasStream = undefined;
  }

  async #findStream(connection: NatsConnection): Promise<boolean> {
    try {
      const question = JSON.stringify({ subject: this.#subject });
      const reply = await connection.request('$JS.API.STREAM.NAMES', question, { timeout: this.#timeoutMs });
      const { streams } = reply.json<{ readonly streams?: readonly string[] | null }>();
      return (streams ?? []).length > 0;
    } catch (error) {
      // Servers without JetStream do not answer.
      if (error instanceof NoRespondersError || (error instanceof RequestError && error.isNoResponders())) return false;
      this.#hasStream = undefined;
      throw error;
    }
  }
}

/** Credentials in a secret: `user:password`, or a token. */
function credentialsOf(secret: string | undefined): {
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
} {
  if (secret === undefined) return {};
  const colon = secret.indexOf(':');
  return colon < 0 ? { token: secret } : { user: secret.slice(0, colon), pass: secret.slice(colon + 1) };
}
