import { parseArgs } from 'node:util';
import { natsProgram } from '../../bench/process/nats_program.ts';
import { type AtEnd, randomFrom } from '../durability/hub_process.ts';
import { type KilledHubs, openClusteredHubs, openSingleHub } from './killed_hubs.ts';
import { runSdkRounds } from './sdk_rounds.ts';
import { startPython } from './python_run.ts';
import { installPythonTools } from './python_tools.ts';
import { type SdkRun, startTypeScript } from './sdk_run.ts';

/**
 * `npm run crash:sdk -- --seconds 600 --every 20 --seed 1 --sdk python --cluster 2`: kills a hub, with `--cluster` one of
 * two, every 20 s on average while a client with an SDK publishes and subscribes. Fails if the client's picture differs
 * from the hub's at a quiescence, or if an event is missing or repeated.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    every: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    sdk: { type: 'string', default: 'typescript' },
    cluster: { type: 'string', default: '1' },
  },
});
const everyMs = Number(values.every) * 1000;
const kills = Math.max(1, Math.round((Number(values.seconds) * 1000) / everyMs));
const ends: (() => void)[] = [];
const atEnd: AtEnd = (callback) => void ends.push(callback);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const end of ends) end();
    process.exit(1);
  });
}
const done = (round: number): void => void process.stderr.write(`round ${round} of ${kills}\n`);
const start = await starter(values.sdk);
const findings = await runSdkRounds({
  hubs: await opened(Number(values.cluster)),
  start,
  seed: Number(values.seed),
  everyMs,
  kills,
  atEnd,
  done,
});
console.log(
  `${findings.kills} kills, ${findings.published} locations, ${findings.events} fence events, ` +
    `${findings.quiescences} comparisons, ${findings.problems.length} problems`,
);
for (const problem of findings.problems) console.log(problem);
for (const end of ends) end();
process.exit(findings.problems.length === 0 ? 0 : 1);

/** Returns how to start a client with an SDK. Throws if there is none with this name, or if it cannot be installed. */
async function starter(sdk: string): Promise<(url: string, end: AtEnd) => Promise<SdkRun>> {
  if (sdk === 'typescript') return startTypeScript;
  if (sdk !== 'python') throw new Error(`--sdk: must be typescript or python, found ${sdk}`);
  const { folder, skip } = await installPythonTools();
  if (skip !== false) throw new Error(skip);
  return (url, end) => startPython(folder, url, end);
}

/** Starts a hub, or a cluster of some. Throws if there is no nats-server for it. */
async function opened(hubs: number): Promise<KilledHubs> {
  if (hubs === 1) return openSingleHub(atEnd);
  const program = await natsProgram();
  if ('missing' in program) throw new Error(`--cluster: there is no nats-server: ${program.missing}`);
  return openClusteredHubs({ hubs, program: program.path, random: randomFrom(Number(values.seed)), atEnd });
}
