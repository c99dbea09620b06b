import { createHash } from 'node:crypto';
import type { Sink } from '../model/sink.ts';
import { type Failure, failureOf } from '../model/target_failure.ts';
import { problemOf } from '../problem.ts';
import type { Outcome, QueueLimits, QueuedEvent } from './delivery_queue.ts';

/** Connection to the target of a sink. */
export interface Sender {
  /** Sends one batch. `traceparent`: of the span of this attempt, if the hub exports spans. Never rejects. */
  send(events: readonly QueuedEvent[], traceparent?: string): Promise<Outcome>;
  close(): Promise<void>;
}

/** A request of a sink, as far as fetch is used. */
interface SinkRequest {
  readonly method?: string;
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly redirect: 'manual';
}

/** A response of a target, as far as it is used. */
interface SinkResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
}

/** A span of an attempt to deliver events. */
export interface DeliverySpan {
  /** Header of W3C Trace Context for the target. */
  readonly traceparent: string;
  /** Ends the span; `why` says how the attempt failed. */
  end(why?: string): void;
}

/** Services of the hub for senders. */
export interface SenderDeps {
  /** Starts a span; undefined if the hub exports no spans. */
  startSpan?(name: string, attributes: Readonly<Record<string, string>>): DeliverySpan;
  /** Wall-clock time. */
  now(): number;
  schedule(delayMs: number, callback: () => void): () => void;
  /** Sends an HTTP request to an allowed host, if needed through a proxy. */
  fetch(url: string, request: SinkRequest): Promise<SinkResponse>;
  /** Returns why the host of a URL must not be a target. */
  whyNotHost(hostname: string): string | undefined;
  /** Resolves a host to an allowed address. Rejects with the reason if the host has no such address. */
  resolve(hostname: string): Promise<string>;
  /** Id of this hub. */
  readonly hubId: string;
  /** The `source` of CloudEvents. */
  readonly source: string;
}

export interface OpenedSender {
  readonly sender: Sender;
  readonly limits: QueueLimits;
  /** Returns the end of the quiet hours; 0 outside of them. */
  notBeforeMs?(nowMs: number): number;
}

/** Bounds of the events that wait for one sink, of each kind. */
export const QUEUE_BOUNDS = { eventsMax: 1000, bytesMax: 8 * 2 ** 20, batchBytes: 2 ** 20 } as const;

/** Events in one message of a batch format, and messages in flight, by default. */
const BATCH_MAX = 100;
const CONCURRENCY = 4;

/** Bounds of a sink that sends messages of one event, or of a batch. */
export function messageLimits({ format, concurrency, batch_max: batchMax, overflow }: Sink): QueueLimits {
  return {
    ...QUEUE_BOUNDS,
    batchMax: format === 'cloudevents_batch' ? (batchMax ?? BATCH_MAX) : 1,
    concurrency: concurrency ?? CONCURRENCY,
    gatherMs: 0,
    isolates: true,
    overflow: overflow ?? 'newest_per_object',
  };
}

/** A message with one or more events. */
export interface SinkMessage {
  /** Stable across attempts with the same events. */
  readonly id: string;
  readonly contentType: string;
  readonly body: string;
}

export type SinkFormat = 'cloudevents' | 'cloudevents_batch' | 'plain';

/** Media types of CloudEvents in JSON: one event, and an array. */
const ONE = 'application/cloudevents+json; charset=utf-8';
const MANY = 'application/cloudevents-batch+json; charset=utf-8';

/** Prefix of the types of CloudEvents. The rest is the topic. */
const TYPE_PREFIX = 'com.omlox.';

/**
 * Serializes events. The formats `cloudevents` and `plain` have one event per message. Events contain JSON, which is
 * inserted unparsed, so numbers are exact.
 */
export function messageOf(events: readonly QueuedEvent[], format: SinkFormat, source: string): SinkMessage {
  const [first] = events;
  if (first === undefined) throw new Error('Cannot serialize a message: it has no events');
  if (format === 'cloudevents_batch') {
    const body = `[${events.map((event) => cloudEvent(event, source)).join(',')}]`;
    return { id: batchId(events), contentType: MANY, body };
  }
  if (format === 'plain') return { id: first.id, contentType: 'application/json; charset=utf-8', body: first.json };
  return { id: first.id, contentType: ONE, body: cloudEvent(first, source) };
}

/** Returns an event as a CloudEvent 1.0 in JSON. */
function cloudEvent({ id, topic, key, timeMs, json, cursor }: QueuedEvent, source: string): string {
  const attributes = {
    specversion: '1.0',
    id,
    source,
    type: TYPE_PREFIX + topic,
    subject: key,
    time: new Date(timeMs).toISOString(),
    datacontenttype: 'application/json',
    ...(cursor !== undefined && { cursor }),
  };
  return `${JSON.stringify(attributes).slice(0, -1)},"data":${json}}`;
}

function batchId(events: readonly QueuedEvent[]): string {
  const hash = createHash('sha256');
  for (const { id } of events) hash.update(`${id}\n`);
  return `batch_${hash.digest('base64url').slice(0, 22)}`;
}

/** The failure of a request that took too long. */
export function tooSlow(timeoutMs: number): Failure {
  return failureOf(problemOf('target_too_slow', { timeout: timeoutMs }));
}
