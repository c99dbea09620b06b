import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestHub } from '../support/running_hub.ts';
import { openCollector } from './collector.ts';

test('A hub exports its metrics, and a span for each request that reaches the API', async (t) => {
  const collector = await openCollector(t);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b' };
  const hub = await openTestHub({}, { env, isAlone: true });
  t.after(hub.close);
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` };
  assert.equal((await hub.request('GET', '/zones', undefined, headers)).status, 200);
  await hub.close();
  const [spans] = collector.of('/v1/traces').map(({ resourceSpans }) => resourceSpans[0].scopeSpans[0].spans);
  assert.deepEqual([spans.length, spans[0].traceId, spans[0].name], [1, trace, 'GET']);
  const [metrics] = collector.of('/v1/metrics').map(({ resourceMetrics }) => resourceMetrics[0]);
  const names = metrics.scopeMetrics[0].metrics.map(({ name }: { name: string }) => name);
  for (const name of ['hub_locations_received_total', 'process_resident_memory_bytes']) assert.ok(names.includes(name));
  const service = metrics.resource.attributes.find(({ key }: { key: string }) => key === 'service.name');
  assert.equal(service.value.stringValue, 'location-hub');
  assert.equal(collector.headers[0]?.['api-key'], 'a b');
});

test('A variable of OpenTelemetry that is invalid stops the start', async () => {
  for (const [env, message] of [
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /OTEL_EXPORTER_OTLP_ENDPOINT: must be an http or https URL/],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_METRIC_EXPORT_INTERVAL: 'soon' },
      /OTEL_METRIC_EXPORT_INTERVAL: must be milliseconds, at least 100, found "soon"/,
    ],
  ] as const) {
    await assert.rejects(openTestHub({}, { env, isAlone: true }), message);
  }
});

test('Each delivery of a sink is a span, which the target can continue', async (t) => {
  const [collector, target] = [await openCollector(t), await openCollector(t)];
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
  const hub = await openTestHub({ sink_allowed_hosts: ['127.0.0.1'] }, { env, isAlone: true });
  t.after(hub.close);
  const sink = { name: 'Target', type: 'webhook', url: `${target.endpoint}/hook`, topics: ['fence_events'] };
  const { id } = (await hub.post('/sinks', sink)).body as { readonly id: string };
  for (const status of [200, 500]) {
    target.answer(status);
    assert.equal((await hub.post(`/sinks/${id}/test`, undefined)).status, 200);
  }
  await hub.close();
  const all = collector.of('/v1/traces').flatMap(({ resourceSpans }) => resourceSpans[0].scopeSpans[0].spans);
  const spans = all.filter(({ name }: { name: string }) => name === 'deliver webhook');
  assert.deepEqual(
    target.headers.map(({ traceparent }) => traceparent),
    spans.map(({ traceId, spanId }: Record<string, string>) => `00-${traceId}-${spanId}-01`),
  );
  assert.deepEqual(
    spans.map(({ kind, status }: Record<string, unknown>) => [kind, status]),
    [
      [3, undefined],
      [3, { code: 2, message: 'the target answered 500' }],
    ],
  );
  assert.deepEqual(spans[0].attributes[0], { key: 'hub.sink.id', value: { stringValue: id } });
});
