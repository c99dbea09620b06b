import { parseArgs } from 'node:util';
import { courseOf, courseText, isFlat } from './samples.ts';
import { isBalanced, type SourceSoaked, soakSources } from './source_soak.ts';

/**
 * `npm run soak:sources -- --minutes 10 --rate 10`: a simulated device of each source transport, each preset and each
 * adapter sends payloads to one hub. Exits with 1 if a payload is lost or has another outcome than expected, or if memory
 * grows. Needs mosquitto.
 */
const MEMORY_CHANCE_MB = 25;

// Calls process.exit, so that started processes are stopped too.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, rate: { type: 'string', default: '10' } },
});
const soaked = await soakSources({
  minutes: Number(values.minutes),
  rate: Number(values.rate),
  progress: (text) => console.error(`… ${text}`),
});
const verdicts = verdictsOf(soaked);
for (const [holds, name, facts] of verdicts)
  console.log(`${(holds ? 'ok' : 'NOT').padEnd(5)}${name.padEnd(30)}${facts}`);
process.exit(verdicts.every(([holds]) => holds) ? 0 : 1);

type Verdict = readonly [holds: boolean, name: string, facts: string];

function verdictsOf({ devices, memory, seen, counters }: SourceSoaked): readonly Verdict[] {
  const mapped = devices.reduce((sum, { counted }) => sum + (counted['mapped'] ?? 0), 0);
  const course = courseOf(memory, ({ residentMb }) => residentMb);
  const count = (name: string) => counters.get(`hub_locations_${name}_total`) ?? 0;
  const [received, processed, outdated, rejected] = [
    count('received'),
    count('processed'),
    count('outdated'),
    count('rejected'),
  ];
  return [
    ...devices.map((device): Verdict => {
      const { name, kind, sent, counted, failures } = device;
      const facts = [`sent ${countsText(sent)}`, `counted ${countsText(counted)}`, ...failures.slice(0, 1)];
      return [isBalanced(device), `${name}, ${kind}`, facts.join('; ')];
    }),
    [seen === mapped, 'a subscriber', `accepted ${mapped}, seen ${seen}`],
    [
      outdated === 0 && received === processed + rejected,
      'counters',
      `received ${received} = processed ${processed} + outdated ${outdated} + rejected ${rejected}`,
    ],
    [isFlat(course, MEMORY_CHANCE_MB), 'flat memory', courseText(course, 'MB')],
  ];
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const names = Object.keys(counts).toSorted();
  return `${total} (${names.map((name) => `${name} ${counts[name]}`).join(', ')})`;
}
