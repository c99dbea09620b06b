import { setTimeout as delay } from 'node:timers/promises';
import { WebhookTarget } from '../listen/webhook.ts';
import { Bed, type Measured, WITNESS } from '../process/bed.ts';
import type { Result } from '../report/result.ts';
import { BOTH_TOPICS, commandOf, profiling } from './load_run.ts';
import { memorySeries } from './memory_series.ts';
import type { Asked, Profile } from './profile.ts';
import { roundFences } from './site.ts';

/** How long the sink does not answer, and the duration of the measurement before. */
const SECONDS = 60;
const CALM_SECONDS = 30;
/** Locations per second, each an entry or an exit. */
const RATE = 500;
const PROVIDERS = 500;
const SPACING_METERS = 60;
const SAMPLE_MS = 1000;
const LOOK_MS = 50;
const CATCHES_UP_MS = 600_000;

/** A webhook sink at 500 events a second that stops answering, and answers again. */
export const DEAD_SINK: Profile = {
  name: 'dead-sink',
  summary: 'a webhook sink that does not answer for a minute at 500 events/s: PUT latencies, memory, catching up',
  async run(asked: Asked): Promise<Result> {
    const target = await WebhookTarget.start();
    try {
      const bed = await openBed(asked, target.url);
      try {
        return await measured(bed, target, asked);
      } finally {
        await bed.close();
      }
    } finally {
      await target.stop();
    }
  },
};

function openBed(asked: Asked, url: string): Promise<Bed> {
  const providers = Math.ceil(PROVIDERS * asked.scale);
  const connections = Math.min(16, providers);
  return Bed.open({
    settings: { sink_allowed_hosts: '127.0.0.1' },
    nodeArgs: profiling(asked),
    plan: { kind: 'flip', spacingMeters: SPACING_METERS, way: 'put-one', perMessage: 1, connections, providers },
    groups: BOTH_TOPICS,
    async create(rest) {
      await rest.createAll('/fences', roundFences(providers, { spacingMeters: SPACING_METERS, radiusMeters: 10 }));
      const sink = { name: 'dead sink', type: 'webhook', url, topics: ['fence_events'], format: 'cloudevents_batch' };
      await rest.createAll('/sinks', [sink]);
    },
  });
}

async function measured(bed: Bed, target: WebhookTarget, asked: Asked): Promise<Result> {
  const { rate = RATE, seconds = SECONDS } = asked;
  const at = (forSeconds: number): Promise<Measured> =>
    bed.measure({ perSecond: rate, warmupSeconds: Math.min(2, forSeconds), seconds: forSeconds });
  asked.progress('measuring with a sink that answers');
  const before = await at(Math.min(CALM_SECONDS, seconds));
  await caughtUp(bed, target);
  const had = target.received.events;
  asked.progress(`measuring with a sink that does not answer, for ${seconds} s`);
  target.answers = false;
  const memory = memorySeries(bed.hub.pid, { name: 'RSS beside a dead sink', everyMs: SAMPLE_MS });
  const during = await at(seconds);
  const samples = await memory.stop();
  asked.progress('the sink answers again');
  target.answers = true;
  target.hangUp();
  const fromMs = performance.now();
  const sinks = JSON.parse((await bed.rest.call('GET', '/sinks')).text) as readonly { readonly id: string }[];
  for (const { id } of sinks) await bed.rest.call('POST', `/sinks/${id}/resume`);
  await caughtUp(bed, target);
  const tookSeconds = (performance.now() - fromMs) / 1000;
  const balance = await bed.balance();
  const { events, repeated, disordered } = target.received;
  const published = balance.received['fence_events']?.objects ?? 0;
  const mb = samples.points.map(([, resident]) => resident);
  return {
    profile: 'dead-sink',
    command: commandOf('dead-sink', asked),
    offered_per_s: rate,
    accepted_per_s: during.sent.measured.accepted / during.sent.measuredSeconds,
    seen_per_s: during.seenPerSecond,
    processed: balance.processed,
    lost: balance.lost,
    events: published,
    put_p50_ms: during.sent.put.p50,
    put_p99_ms: during.sent.put.p99,
    event_p50_ms: during.latency[WITNESS]?.p50 ?? 0,
    event_p99_ms: during.latency[WITNESS]?.p99 ?? 0,
    hub_cpu_s: during.hubCpuSeconds,
    rss_mb: during.residentMb,
    more: {
      put_p50_before_ms: before.sent.put.p50,
      put_p99_before_ms: before.sent.put.p99,
      dead_put_p99_ratio: during.sent.put.p99 / before.sent.put.p99,
      rss_before_mb: before.residentMb,
      rss_most_mb: Math.max(...mb, during.residentMb),
      backlog: events - had,
      caught_up_per_s: (events - had) / tookSeconds,
      undelivered: published - events,
      repeated,
      disordered,
    },
    series: [samples],
  };
}

/** Waits until the sink has received all published events. */
async function caughtUp(bed: Bed, target: WebhookTarget): Promise<void> {
  await bed.drain();
  const { received } = await bed.balance();
  const published = received['fence_events']?.objects ?? 0;
  const untilMs = performance.now() + CATCHES_UP_MS;
  while (target.received.events < published && performance.now() < untilMs) await delay(LOOK_MS);
}
