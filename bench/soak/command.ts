import { parseArgs } from 'node:util';
import { courseOf, courseText, isFlat } from './samples.ts';
import { SOAK_PARTS, type Soaked, type SoakPart, soak } from './soak.ts';

/**
 * `npm run soak -- --minutes 10 --rate 20000 --with history,alerts,mqtt`: a hub under steady load. Reports whether its
 * memory stays flat, its log bounded and its counters balanced, and exits with 1 otherwise. `--with` names optional
 * parts of the hub; `mqtt` needs mosquitto.
 */
const MEMORY_CHANCE_MB = 25;
/** The log is copied from 17 MB on, and at 67 MB at the latest. */
const LOG_MAX_MB = 80;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    rate: { type: 'string' },
    with: { type: 'string', default: '' },
  },
});
const parts = values.with.split(',').filter((part) => part !== '');
const unknown = parts.find((part) => !SOAK_PARTS.some((known) => known === part));
if (unknown !== undefined) {
  console.error(`--with: must name some of ${SOAK_PARTS.join(', ')}, found ${unknown}`);
  process.exit(2);
}
// The hub and the broker end with this process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));
const soaked = await soak({
  parts: new Set(parts as SoakPart[]),
  minutes: Number(values.minutes),
  rate: values.rate === undefined ? undefined : Number(values.rate),
  progress: (text) => console.error(`… ${text}`),
});
const verdicts = verdictsOf(soaked);
for (const { name, holds, facts } of verdicts)
  console.log(`${(holds ? 'ok' : 'NOT').padEnd(5)}${name.padEnd(22)}${facts}`);
process.exit(verdicts.every(({ holds }) => holds) ? 0 : 1);

interface Verdict {
  readonly name: string;
  readonly holds: boolean;
  readonly facts: string;
}

function verdictsOf({ rate, samples, balance, counters, backups, churned }: Soaked): readonly Verdict[] {
  const memory = courseOf(samples, ({ residentMb }) => residentMb);
  const heaps = courseOf(samples, ({ heapsMb }) => heapsMb);
  const log = courseOf(samples, ({ logMb }) => logMb);
  const pending = courseOf(samples, ({ pendingRows }) => pendingRows);
  const count = (name: string) => counters.get(`hub_locations_${name}_total`) ?? 0;
  const [received, processed, outdated, rejected] = ['received', 'processed', 'outdated', 'rejected'].map(count);
  const sum = (processed ?? 0) + (outdated ?? 0) + (rejected ?? 0);
  return [
    {
      name: 'load',
      holds: samples.every(({ isFailing }) => !isFailing),
      facts: `${Math.round(rate)}/s for ${samples.at(-1)?.atSeconds.toFixed(0)} s, ${churned} entities came and went, ${backups} backups`,
    },
    { name: 'flat memory', holds: isFlat(memory, MEMORY_CHANCE_MB), facts: courseText(memory, 'MB') },
    { name: 'flat heaps', holds: isFlat(heaps, MEMORY_CHANCE_MB), facts: courseText(heaps, 'MB') },
    { name: 'bounded log', holds: log.most < LOG_MAX_MB, facts: courseText(log, 'MB') },
    { name: 'rows that wait', holds: pending.most < 100_000, facts: courseText(pending, '') },
    {
      name: 'balanced counters',
      holds: received === sum && balance.lost === 0,
      facts: `received ${received} = processed ${processed} + outdated ${outdated} + rejected ${rejected}; accepted ${balance.accepted}, seen ${balance.seen}`,
    },
  ];
}
