import { isIP, type LookupFunction } from 'node:net';
import {
  type BrokerWithRack,
  compatibilityPartitioner,
  Producer,
  type ProducerOptions,
  type SASLOptions,
} from '@platformatic/kafka';
import { kafkaMechanismOf, targetNameOf } from '../entities/sinks.ts';
import type { Sink } from '../model/sink.ts';
import { type Failure, failureOf, failureWith, reasonOfFailure } from '../model/target_failure.ts';
import { problemOf } from '../problem.ts';
import type { Outcome, QueuedEvent } from './delivery_queue.ts';
import { messageLimits, messageOf, type OpenedSender, type SenderDeps, tooSlow } from './sender.ts';

const PORT = 9092;
const TIMEOUT_MS = 15_000;
const BATCH_MAX = 100;
/** The library repeats a request this many times, after this delay. Then the schedule of the sink applies. */
const [RETRIES, RETRY_MS] = [2, 250] as const;
/** Errors of brokers for a record, or a batch of records, that is too large. */
const TOO_LARGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);

/**
 * Opens a sink that produces to a Kafka topic: one record per event, with the id of its object as the key. A record is
 * delivered when all in-sync replicas have stored it. All events that are due share one request, so only one is in flight.
 */
export function openKafka(sink: Sink, deps: SenderDeps): OpenedSender {
  const limits = { ...messageLimits(sink), batchMax: sink.batch_max ?? BATCH_MAX, concurrency: 1 };
  const client = new KafkaClient(sink, deps);
  return { limits, sender: { send: (...sent) => client.send(...sent), close: () => client.close() } };
}

type BytesProducer = Producer<Buffer, Buffer, Buffer, Buffer>;
type ProducedRecord = Parameters<BytesProducer['send']>[0]['messages'][number];

/** A producer, created for the first batch, and for the next one after a failure. */
class KafkaClient {
  readonly #sink: Sink;
  readonly #deps: SenderDeps;
  readonly #topic: string;
  readonly #timeoutMs: number;
  #producer: BytesProducer | undefined;

  constructor(sink: Sink, deps: SenderDeps) {
    this.#sink = sink;
    this.#deps = deps;
    this.#topic = targetNameOf(sink.url);
    this.#timeoutMs = sink.timeout ?? TIMEOUT_MS;
  }

  async send(events: readonly QueuedEvent[], traceparent?: string): Promise<Outcome> {
    const { schedule } = this.#deps;
    const late = Promise.withResolvers<Outcome>();
    const aborter = new AbortController();
    const cancel = schedule(this.#timeoutMs, () => {
      aborter.abort();
      late.resolve({ what: 'failed', ...tooSlow(this.#timeoutMs) });
    });
    const outcome = await Promise.race([this.#produce(events, aborter.signal, traceparent), late.promise]);
    cancel();
    // After a failure, requests in flight belong to a producer that is closed. The next one has other sequence numbers.
    if (outcome.what !== 'delivered') void this.close();
    return outcome;
  }

  async close(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    await producer?.close(true).catch(() => undefined);
  }

  async #produce(events: readonly QueuedEvent[], signal: AbortSignal, traceparent?: string): Promise<Outcome> {
    try {
      const producer = this.#producer ?? (await this.#connect(signal));
      await producer.send({ messages: events.map((event) => this.#recordOf(event, traceparent)) });
      return { what: 'delivered' };
    } catch (error) {
      const cause = innermost(error);
      const { apiId = '' } = cause as { readonly apiId?: string };
      if (TOO_LARGE.has(apiId)) {
        return { what: 'rejected', ...failureWith('target_rejects', cause.message) };
      }
      return { what: 'failed', ...this.#failureOf(cause, apiId) };
    }
  }

  #failureOf(cause: Error, apiId: string): Failure {
    if (apiId === 'SASL_AUTHENTICATION_FAILED') return failureOf(problemOf('target_credentials'));
    if (apiId === 'UNSUPPORTED_SASL_MECHANISM') {
      const mechanism = kafkaMechanismOf(this.#sink.url) ?? '';
      return failureOf(problemOf('target_mechanism', { mechanism }));
    }
    const problem = reasonOfFailure(cause);
    return { why: problem.reason === 'target_certificate' ? String(problem) : cause.message, problem };
  }

  #recordOf(event: QueuedEvent, traceparent: string | undefined): ProducedRecord {
    const { contentType, body } = messageOf([event], this.#sink.format ?? 'cloudevents', this.#deps.source);
    const headers = {
      ...{ 'content-type': contentType, 'x-hub-id': event.id, 'x-hub-topic': event.topic },
      ...(traceparent !== undefined && { traceparent }),
    };
    return {
      topic: this.#topic,
      key: Buffer.from(event.key),
      value: Buffer.from(body),
      timestamp: BigInt(Math.round(event.timeMs)),
      headers: new Map(Object.entries(headers).map(([name, value]) => [Buffer.from(name), Buffer.from(value)])),
    };
  }

  /**
   * Creates the producer. Brokers name each other in metadata, so their hosts are checked as the host of the URL is: the
   * first answer is only read. In all further answers, the hosts are replaced by their checked addresses, and brokers with
   * other hosts are removed, so the producer cannot connect to them.
   */
  async #connect(signal: AbortSignal): Promise<BytesProducer> {
    const { resolve } = this.#deps;
    const { url, ca_certificate: authorities } = this.#sink;
    const { hostname, port, protocol } = new URL(url);
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    const isSecure = protocol === 'kafka+tls:';
    const addresses = new Map([[host, await resolve(host)]]);
    signal.throwIfAborted();
    const producer: BytesProducer = new Producer({
      ...this.#options(),
      bootstrapBrokers: [
        { host: isSecure ? host : (addresses.get(host) ?? ''), port: port === '' ? PORT : Number(port) },
      ],
      // With TLS a connection needs the name, so its look-up returns the checked address.
      ...(isSecure && { tls: { lookup: lookupIn(addresses), ...(authorities != null && { ca: authorities }) } }),
    });
    this.#producer = producer;
    const hosts = new Set<string>();
    producer.on('client:metadata', ({ brokers }: { readonly brokers: Map<number, BrokerWithRack> }) => {
      for (const [id, broker] of [...brokers]) {
        hosts.add(broker.host);
        const address = addresses.get(broker.host);
        if (address === undefined) brokers.delete(id);
        else if (!isSecure) brokers.set(id, { ...broker, host: address });
      }
    });
    await producer.metadata({ topics: [this.#topic], autocreateTopics: false });
    for (const each of hosts) addresses.set(each, await resolve(each));
    producer.clearMetadata();
    return producer;
  }

  #options(): Omit<ProducerOptions<Buffer, Buffer, Buffer, Buffer>, 'bootstrapBrokers'> {
    const { secret, url } = this.#sink;
    const sasl = secret == null ? undefined : credentialsOf(secret, url);
    return {
      clientId: 'omlox-location-hub',
      idempotent: true,
      autocreateTopics: false,
      retries: RETRIES,
      retryDelay: RETRY_MS,
      timeout: this.#timeoutMs,
      requestTimeout: this.#timeoutMs,
      connectTimeout: this.#timeoutMs,
      // The partition of a key is that of other clients.
      partitioner: compatibilityPartitioner,
      ...(sasl !== undefined && { sasl }),
    };
  }
}

/** Credentials in a secret, `user:password`, for the mechanism in the URL. */
function credentialsOf(secret: string, url: string): SASLOptions {
  const colon = secret.indexOf(':');
  const [username, password] = [secret.slice(0, colon), secret.slice(colon + 1)];
  return { mechanism: kafkaMechanismOf(url) ?? 'PLAIN', username, password };
}

/** Answers look-ups with checked addresses only. */
function lookupIn(addresses: ReadonlyMap<string, string>): LookupFunction {
  return (host, { all }, done) => {
    const address = addresses.get(host);
    if (address === undefined) done(new Error(`host "${host}" is not checked`), '');
    else if (all === true) done(null, [{ address, family: isIP(address) }]);
    else done(null, address, isIP(address));
  };
}

/** Returns the error that caused the others: the library wraps those of all attempts. */
function innermost(error: unknown): Error {
  const { errors, cause } = (error ?? {}) as { readonly errors?: readonly unknown[]; readonly cause?: unknown };
  const inner = errors?.findLast(Boolean) ?? cause;
  if (inner !== undefined && inner !== null) return innermost(inner);
  return error instanceof Error ? error : new Error(String(error));
}
