import { randomBytes } from 'node:crypto';
import { StartupError } from '../errors.ts';
import type { HubIdentity } from '../model/health.ts';
import type { Metrics } from '../operation/metrics.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { schedule } from '../time/clock.ts';
import type { Log } from './log.ts';
import { VERSION_INFO } from './version_info.ts';

/** Environment of the hub. */
export type Env = Readonly<Record<string, string | undefined>>;

interface TelemetryDeps {
  readonly metrics: Metrics;
  readonly identity: HubIdentity;
  readonly now: () => number;
  readonly log: Log;
}

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const INTERVAL = 'OTEL_METRIC_EXPORT_INTERVAL';
const INTERVAL_MS = 60_000;
const INTERVAL_MIN_MS = 100;

/**
 * Starts the export by the OpenTelemetry Protocol, if the environment names a collector. The variables are those of the
 * OpenTelemetry specification. Returns undefined without one: then none of its code is loaded. Throws a StartupError if a
 * variable is invalid.
 */
export async function connectTelemetry(env: Env, deps: TelemetryDeps): Promise<Telemetry | undefined> {
  const endpoint = env[ENDPOINT];
  if (endpoint === undefined || endpoint === '') return undefined;
  if (!URL.canParse(endpoint) || !/^https?:/.test(endpoint)) {
    throw new StartupError(`${ENDPOINT}: must be an http or https URL, found ${JSON.stringify(endpoint)}`);
  }
  const { metrics, identity, now, log } = deps;
  const { openTelemetry } = await import('../telemetry/telemetry.ts');
  const { outgoingFetch } = await import('./outgoing_fetch.ts');
  return openTelemetry({
    endpoint,
    headers: pairsOf(env['OTEL_EXPORTER_OTLP_HEADERS']),
    resource: {
      'service.name': env['OTEL_SERVICE_NAME'] || 'location-hub',
      'service.version': VERSION_INFO.hub_version,
      'service.instance.id': identity.hub_id,
      ...pairsOf(env['OTEL_RESOURCE_ATTRIBUTES']),
    },
    metricIntervalMs: intervalOf(env[INTERVAL]),
    fetch: outgoingFetch({ env }).fetch,
    now,
    schedule,
    randomHex: (bytes) => randomBytes(bytes).toString('hex'),
    read: metrics.read,
    failed: (reason) => log.warn('Telemetry cannot be exported', { endpoint, reason }),
  });
}

function intervalOf(text: string | undefined): number {
  if (text === undefined || text === '') return INTERVAL_MS;
  const interval = Number(text);
  if (Number.isInteger(interval) && interval >= INTERVAL_MIN_MS) return interval;
  const found = JSON.stringify(text);
  throw new StartupError(`${INTERVAL}: must be milliseconds, at least ${INTERVAL_MIN_MS}, found ${found}`);
}

/** Parses `name=value,name=value`, whose values are percent-encoded. */
function pairsOf(text = ''): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at <= 0 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]];
  });
  return Object.fromEntries(pairs);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
