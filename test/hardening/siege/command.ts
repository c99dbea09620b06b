import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Bed, type Measured } from '../../../bench/process/bed.ts';
import { MOSQUITTO, Mosquitto } from '../../../bench/process/mosquitto.ts';
import { childrenMb, residentMb } from '../../../bench/process/proc.ts';
import { polygonFences, sideFor } from '../../../bench/profiles/site.ts';

/**
 * `npm run siege -- --minutes 10`: attackers of every kind together with honest load. Prints the effects on honest
 * clients, and exits with 1 if something acknowledged is lost, memory is unbounded, or a response is an internal error
 * of the hub. `--only` selects the attacks by a regular expression; `--cpu-prof` names a folder for CPU profiles of the
 * hub.
 */
const RATE = 10_000;
const PER_MESSAGE = 100;
const PROVIDERS = 5_000;
const FENCES = 500;
const CALM_SECONDS = 20;
const WARMUP_SECONDS = 5;
const RSS_MAX_MB = 1500;
/** Memory and heap of a query, and memory of an idle process. */
const QUERIES_MAX_MB = 512 + 1024 + 150;
const SLOWER_MAX = 3;
const BACK_WITHIN_SECONDS = 30;
const BACK_TO = 1.2;
const SAMPLE_MS = 500;
/** A periodic honest history query must be answered or rejected within its queueing and execution timeouts. */
const [QUESTION_EVERY_MS, QUERY_TIMEOUT_MS] = [1000, 2000] as const;
const ANSWERED_WITHIN_MS = 3 * QUERY_TIMEOUT_MS + 4000;

const ATTACKERS = fileURLToPath(new URL('attackers.ts', import.meta.url));

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    only: { type: 'string', default: '' },
    'cpu-prof': { type: 'string' },
  },
});
const seconds = Math.max(10, Number(values.minutes) * 60);
const say = (line: string): void => console.error(`… ${line}`);

const sideMeters = sideFor(FENCES);
const profiles = values['cpu-prof'];
const broker = MOSQUITTO === undefined ? undefined : await Mosquitto.start();
if (broker === undefined) say('there is no mosquitto: attacks by MQTT are left out');
const bed = await Bed.open({
  ...(broker && { publishesTo: broker }),
  settings: {
    history: true,
    history_query_timeout: QUERY_TIMEOUT_MS,
    ...(broker && { uns_root: 'siege', mqtt_publish: 'fence_events' }),
  },
  nodeArgs: profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`],
  plan: {
    kind: 'walk',
    way: 'put-many',
    connections: 8,
    perMessage: PER_MESSAGE,
    providers: PROVIDERS,
    sideMeters,
    stepMeters: 1.4,
  },
  groups: [
    { name: 'location_updates', topic: 'location_updates', params: [{}] },
    { name: 'fence_events', topic: 'fence_events', params: [{}] },
  ],
  async create(rest) {
    await rest.createAll('/fences', polygonFences({ count: FENCES, vertices: 16, sideMeters, radiusMeters: [15, 25] }));
  },
});
const perSecond = RATE / PER_MESSAGE;

say(`${RATE} locations a second for ${CALM_SECONDS} s, without attackers`);
const calm = await bed.measure({ perSecond, warmupSeconds: WARMUP_SECONDS, seconds: CALM_SECONDS });
const before = residentMb(bed.hub.pid);

say(`the same for ${seconds} s, with attackers`);
const attackers = spawn(process.execPath, [ATTACKERS, String(bed.hub.port), values.only, String(broker?.port ?? '')], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
// They would be on other machines, so they run here at the lowest priority.
setPriority(attackers.pid as number, constants.priority.PRIORITY_LOW);
const attackersClosed = once(attackers, 'close');
const report = text(attackers.stdout);
const watch = watchMemory(bed.hub.pid);
const honest = askHonestly(bed.hub.port);
const besieged = await bed.measure({ perSecond, warmupSeconds: WARMUP_SECONDS, seconds });
const most = watch.stop();
const asked = await honest.stop();
attackers.stdin.end();
const { rounds, statuses } = JSON.parse(await report) as {
  rounds: Record<string, number>;
  statuses: Record<string, number>;
};
await attackersClosed;

const left = await deleteEntities();
say(`deleted what attackers created: ${counted(left)}`);
await delay(BACK_WITHIN_SECONDS * 1000);
const afterwards = residentMb(bed.hub.pid);
const { lost, accepted } = await bed.balance();
const mqtt = JSON.parse((await bed.rest.call('GET', '/health/mqtt')).text) as {
  connected?: boolean;
  connections?: number;
};
await bed.close();

const [calmMs, besiegedMs] = [p99(calm), p99(besieged)];
const faults = Object.entries(statuses).filter(([status]) => Number(status) >= 500 && !['503', '505'].includes(status));
const verdicts: readonly (readonly [holds: boolean, name: string, facts: string])[] = [
  [besiegedMs <= SLOWER_MAX * calmMs, 'honest p99', `${calmMs.toFixed(1)} ms, under siege ${besiegedMs.toFixed(1)} ms`],
  [
    besieged.seenPerSecond > 0.99 * RATE,
    'honest load',
    `${Math.round(besieged.seenPerSecond)} locations a second seen`,
  ],
  // The witness receives what attackers send as well.
  [lost <= 0, 'nothing is lost', `${accepted} accepted, ${accepted - lost} seen`],
  [most.hub <= RSS_MAX_MB, 'memory is bounded', `${before.toFixed(0)} MB, at most ${most.hub.toFixed(0)} MB`],
  [most.queries <= QUERIES_MAX_MB, 'memory of queries', `at most ${most.queries.toFixed(0)} MB`],
  [
    afterwards <= BACK_TO * before,
    'memory comes back',
    `${afterwards.toFixed(0)} MB ${BACK_WITHIN_SECONDS} s afterwards`,
  ],
  ...(broker === undefined
    ? []
    : [
        [
          mqtt.connected === true && mqtt.connections === 1,
          'the broker stays',
          `${mqtt.connections} connections`,
        ] as const,
      ]),
  [faults.length === 0, 'no fault is answered', counted(statuses)],
  [
    asked.answers > 0 && asked.longestMs <= ANSWERED_WITHIN_MS,
    'history answers',
    `${asked.answers} answers, ${asked.refusals} rejections, ${Math.round(asked.longestMs)} ms at most`,
  ],
];
for (const [name, count] of Object.entries(rounds)) say(`${count} rounds of: ${name}`);
for (const [holds, name, facts] of verdicts)
  console.log(`${(holds ? 'ok' : 'NOT').padEnd(5)}${name.padEnd(22)}${facts}`);
process.exit(verdicts.every(([holds]) => holds) ? 0 : 1);

function p99({ latency }: Measured): number {
  // Attackers delete the fences, among all else.
  return latency['location_updates']?.p99 ?? Number.NaN;
}

/** Deletes all entities, which attackers created without end. Returns how many there were, by path. */
async function deleteEntities(): Promise<Readonly<Record<string, string>>> {
  const deleted: Record<string, string> = {};
  for (const path of ['/trackables', '/fences', '/zones', '/providers']) {
    const { text: listed } = await bed.rest.call('GET', path);
    deleted[path] = `${(JSON.parse(listed) as unknown[]).length} of ${Math.round(listed.length / 1e6)} MB`;
    await bed.rest.call('DELETE', path);
  }
  return deleted;
}

function counted(counts: Readonly<Record<string, number | string>>): string {
  return Object.entries(counts)
    .map(([key, count]) => `${key}: ${count}`)
    .join(', ');
}

/** Sends quick history queries in sequence. A missing response counts as a long one. */
function askHonestly(port: number): {
  stop(): Promise<{ readonly answers: number; readonly refusals: number; readonly longestMs: number }>;
} {
  const seen = { answers: 0, refusals: 0, longestMs: 0 };
  const ending = new AbortController();
  const asking = (async () => {
    while (!ending.signal.aborted) {
      const startMs = performance.now();
      const reply = await fetch(`http://127.0.0.1:${port}/v2/history/snapshot?limit=1`, {
        signal: AbortSignal.timeout(2 * ANSWERED_WITHIN_MS),
      }).catch(() => undefined);
      if (reply?.status === 200) seen.answers++;
      else seen.refusals++;
      await reply?.arrayBuffer().catch(() => undefined);
      seen.longestMs = Math.max(seen.longestMs, performance.now() - startMs);
      await delay(QUESTION_EVERY_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  return {
    async stop() {
      ending.abort();
      await asking;
      return seen;
    },
  };
}

interface MostMemory {
  readonly hub: number;
  /** Total memory of the processes that answer history queries. */
  readonly queries: number;
}

/** Watches the memory of a hub, in MB. */
function watchMemory(pid: number): { stop(): MostMemory } {
  let most: MostMemory = { hub: residentMb(pid), queries: 0 };
  const timer = setInterval(() => {
    most = { hub: Math.max(most.hub, residentMb(pid)), queries: Math.max(most.queries, childrenMb(pid)) };
  }, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      return most;
    },
  };
}
