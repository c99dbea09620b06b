import type { HandleHttp, HttpReply, HttpRequest } from '../exchange.ts';

/*
 * Export by the OpenTelemetry Protocol over HTTP, as JSON (opentelemetry-proto 1.x): the metrics of the hub, and a span per
 * request. Both are sent at intervals. Spans that cannot be sent are dropped, so a collector that fails costs the hub a
 * bounded buffer.
 */

/** A metric family with its samples. */
interface MeasuredFamily {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[];
}

interface Export {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

export interface TelemetryOptions {
  /** URL of the collector, without the path of a signal. */
  readonly endpoint: string;
  /** Headers of each export. */
  readonly headers: Readonly<Record<string, string>>;
  /** Attributes of this hub, such as `service.name`. */
  readonly resource: Readonly<Record<string, string>>;
  readonly metricIntervalMs: number;
  readonly fetch: (url: string, init: Export) => Promise<Pick<Response, 'ok' | 'status' | 'arrayBuffer'>>;
  /** Wall-clock time in milliseconds. */
  readonly now: () => number;
  /** Calls back once after a time; returns how to cancel it. */
  readonly schedule: (delayMs: number, callback: () => void) => () => void;
  /** Returns random bytes as hexadecimal digits. */
  readonly randomHex: (bytes: number) => string;
  read(): Promise<readonly MeasuredFamily[]>;
  /** Reports the first failure after a success. */
  failed(reason: string): void;
}

export interface Telemetry {
  /** Records a span per request. */
  traced(handle: HandleHttp): HandleHttp;
  /** Starts the span of a message to another system, which begins a trace. */
  startSpan(name: string, attributes: Readonly<Record<string, string>>): OutgoingSpan;
  /** Exports what is buffered, and stops. */
  close(): Promise<void>;
}

/** A span of a message to another system. */
export interface OutgoingSpan {
  /** Header of the message by which its receiver continues the trace. */
  readonly traceparent: string;
  /** Ends the span; `why` says how the message failed. */
  end(why?: string): void;
}

const SPAN_INTERVAL_MS = 5000;
const SPANS_MAX = 2048;
const EXPORT_MS = 10_000;
/** Version, trace id, parent id and flags (W3C Trace Context, level 1). */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const [SERVER_KIND, CLIENT_KIND] = [2, 3] as const;
const ERROR_STATUS = 2;
const CUMULATIVE = 2;

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly [member: string]: unknown;
}

export function openTelemetry(options: TelemetryOptions): Telemetry {
  const { now, schedule, metricIntervalMs, read } = options;
  const startNs = nanoseconds(now());
  let spans: Span[] = [];
  let dropped = 0;
  let isFailing = false;

  async function send(signal: 'metrics' | 'traces', body: object): Promise<void> {
    const url = `${options.endpoint.replace(/\/$/, '')}/v1/${signal}`;
    try {
      const response = await options.fetch(url, {
        method: 'POST',
        headers: { ...options.headers, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(EXPORT_MS),
      });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`status ${response.status}`);
      isFailing = false;
    } catch (error) {
      if (!isFailing) options.failed(error instanceof Error ? error.message : String(error));
      isFailing = true;
    }
  }

  const resource = { attributes: attributesOf(options.resource) };
  const scope = { name: 'location-hub' };

  async function sendSpans(): Promise<void> {
    if (spans.length === 0) return;
    const sent = spans;
    spans = [];
    await send('traces', { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: sent }] }] });
  }

  async function sendMetrics(): Promise<void> {
    const timeUnixNano = nanoseconds(now());
    const families = await read();
    const lost = { name: 'hub_telemetry_spans_dropped_total', help: 'Spans dropped for lack of room.' };
    const own = { ...lost, samples: [{ labels: {}, value: dropped }] };
    const metrics = [...families, own].map((family) => metricOf(family, { startNs, timeUnixNano }));
    await send('metrics', { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] });
  }

  const stopSpans = every(SPAN_INTERVAL_MS, sendSpans, schedule);
  const stopMetrics = every(metricIntervalMs, sendMetrics, schedule);

  const { randomHex } = options;
  /** Buffers the span that `span` returns, if there is room. */
  function record(span: () => Span): void {
    if (spans.length >= SPANS_MAX) dropped++;
    else spans.push(span());
  }

  return {
    startSpan(name, attributes) {
      const [traceId, spanId, startMs] = [randomHex(16), randomHex(8), now()];
      const end = (why?: string): void =>
        record(() => ({
          ...{ traceId, spanId, name, kind: CLIENT_KIND },
          startTimeUnixNano: nanoseconds(startMs),
          endTimeUnixNano: nanoseconds(now()),
          attributes: attributesOf(attributes),
          ...(why !== undefined && { status: { code: ERROR_STATUS, message: why } }),
        }));
      return { traceparent: `00-${traceId}-${spanId}-01`, end };
    },
    traced: (handle) => (request) => {
      const startMs = now();
      const ended = (status: number): void =>
        record(() => spanOf(request, { startMs, endMs: now(), status, randomHex }));
      const reply = handle(request);
      if (!(reply instanceof Promise)) {
        ended(reply.status);
        return reply;
      }
      return reply.then(
        (answered: HttpReply) => {
          ended(answered.status);
          return answered;
        },
        (error: unknown) => {
          ended(500);
          throw error;
        },
      );
    },
    async close() {
      stopSpans();
      stopMetrics();
      await Promise.all([sendSpans(), sendMetrics()]);
    },
  };
}

/** Calls an action at an interval, which begins when the previous call has ended. Returns how to stop it. */
function every(intervalMs: number, act: () => Promise<void>, schedule: TelemetryOptions['schedule']): () => void {
  let isStopped = false;
  let cancel = schedule(intervalMs, run);
  function run(): void {
    void act().then(() => {
      if (!isStopped) cancel = schedule(intervalMs, run);
    });
  }
  return () => {
    isStopped = true;
    cancel();
  };
}

interface Timed {
  readonly startMs: number;
  readonly endMs: number;
  readonly status: number;
  readonly randomHex: TelemetryOptions['randomHex'];
}

function spanOf(request: HttpRequest, { startMs, endMs, status, randomHex }: Timed): Span {
  const { method, path } = request;
  const [, traceId = randomHex(16), parent] = TRACEPARENT.exec(request.header('traceparent') ?? '') ?? [];
  return {
    traceId,
    spanId: randomHex(8),
    ...(parent !== undefined && { parentSpanId: parent }),
    name: method,
    kind: SERVER_KIND,
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: [
      ...attributesOf({ 'http.request.method': method, 'url.path': path }),
      { key: 'http.response.status_code', value: { intValue: String(status) } },
    ],
    ...(status >= 500 && { status: { code: ERROR_STATUS } }),
  };
}

interface Times {
  readonly startNs: string;
  readonly timeUnixNano: string;
}

function metricOf({ name, help, samples }: MeasuredFamily, { startNs, timeUnixNano }: Times): object {
  const dataPoints = samples.map(({ labels, value }) => {
    return { attributes: attributesOf(labels), startTimeUnixNano: startNs, timeUnixNano, asDouble: value };
  });
  const isCounter = name.endsWith('_total');
  const data = isCounter
    ? { sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } }
    : { gauge: { dataPoints } };
  return { name, description: help, ...data };
}

function attributesOf(values: Readonly<Record<string, string>>): object[] {
  return Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}

/** JSON of a 64-bit integer is a string. */
function nanoseconds(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}
