import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTelemetry, type TelemetryOptions } from '../../src/telemetry/telemetry.ts';
import { lend } from '../../src/model/borrowed.ts';
import type { Event } from '../support/socket_client.ts';
import { openCollector } from './collector.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

const request = (path: string, headers: Readonly<Record<string, string>> = {}) => {
  const header = (name: string) => headers[name];
  return { method: 'GET', path, query: '', header, body: lend(new Uint8Array(0)) };
};

function options(endpoint: string, more: Partial<TelemetryOptions> = {}): TelemetryOptions {
  let random = 0;
  return {
    ...{ endpoint, headers: {}, resource: { 'service.name': 'hub' }, metricIntervalMs: 1000, fetch },
    now: () => 1_800_000_000_000,
    schedule: () => () => undefined,
    randomHex: (bytes) => String(++random).padStart(2 * bytes, '0'),
    read: async () => [
      { name: 'hub_a_total', help: 'A.', samples: [{ labels: { topic: 'x' }, value: 3 }] },
      { name: 'hub_b', help: 'B.', samples: [{ labels: {}, value: 0.5 }] },
    ],
    failed: (reason) => assert.fail(reason),
    ...more,
  };
}

test('Each request is a span, which continues the trace of its client', async (t) => {
  const collector = await openCollector(t);
  const telemetry = openTelemetry(options(collector.endpoint));
  const handle = telemetry.traced(({ path }) =>
    path === '/bad' ? Promise.reject(new Error('defect')) : { status: 204 },
  );
  await handle(request('/a', { traceparent: `00-${TRACE}-${PARENT}-01` }));
  await handle(request('/b', { traceparent: 'no trace' }));
  await assert.rejects(async () => handle(request('/bad')), /defect/);
  await telemetry.close();
  const [body] = collector.of('/v1/traces');
  const { spans } = body.resourceSpans[0].scopeSpans[0];
  assert.deepEqual(
    spans.map((span: Event) => [span.traceId, span.parentSpanId, span.status?.code]),
    [
      [TRACE, PARENT, undefined],
      ['1'.padStart(32, '0').replace(/1$/, '2'), undefined, undefined],
      ['4'.padStart(32, '0'), undefined, 2],
    ],
  );
  assert.equal(spans[0].startTimeUnixNano, '1800000000000000000');
  assert.deepEqual(spans[0].attributes.at(-1), { key: 'http.response.status_code', value: { intValue: '204' } });
});

test('Metrics are exported as cumulative sums and gauges', async (t) => {
  const collector = await openCollector(t);
  await openTelemetry(options(collector.endpoint)).close();
  const [body] = collector.of('/v1/metrics');
  const [sum, gauge] = body.resourceMetrics[0].scopeMetrics[0].metrics;
  assert.deepEqual([sum.name, sum.sum.isMonotonic, sum.sum.dataPoints[0].asDouble], ['hub_a_total', true, 3]);
  assert.deepEqual(sum.sum.dataPoints[0].attributes, [{ key: 'topic', value: { stringValue: 'x' } }]);
  assert.deepEqual([gauge.name, gauge.gauge.dataPoints[0].asDouble], ['hub_b', 0.5]);
});

test('A collector that fails is reported once, and spans beyond the limit are counted', async (t) => {
  const collector = await openCollector(t);
  collector.answer(503);
  const failures: string[] = [];
  const telemetry = openTelemetry(options(collector.endpoint, { failed: (reason) => void failures.push(reason) }));
  const handle = telemetry.traced(() => ({ status: 200 }));
  for (let i = 0; i < 2050; i++) void handle(request('/a'));
  await telemetry.close();
  assert.deepEqual(failures, ['status 503']);
  const [body] = collector.of('/v1/metrics');
  const lost = body.resourceMetrics[0].scopeMetrics[0].metrics.at(-1);
  assert.deepEqual([lost.name, lost.sum.dataPoints[0].asDouble], ['hub_telemetry_spans_dropped_total', 2]);
});
