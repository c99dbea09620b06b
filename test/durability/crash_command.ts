// The hubs run the bundles that users run, and start with half the CPU.
import '../stripped.mjs';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { natsProgram } from '../../bench/process/nats_program.ts';
import { KEEPING_BROKERS, whyNo } from '../mqtt/brokers.ts';
import { clusterReport, clusterResults } from './cluster/cluster_report.ts';
import { runClusterRounds } from './cluster/cluster_rounds.ts';
import { reportOf, runCrashRounds } from './crash_rounds.ts';
import { mqttReport, ROUND_HEAD, roundLine } from './mqtt/mqtt_report.ts';
import { runMqttRounds } from './mqtt/mqtt_rounds.ts';
import { runSinkRounds } from './sink_rounds.ts';

/**
 * `npm run crash -- --rounds 100 --seed 1`: kills a hub repeatedly, and reports lost data.
 *
 * `npm run crash -- --cluster 3 --rounds 100 --seed 1 --nats 3 --save FILE`: the same with a cluster of hubs on that
 * many NATS servers, which are killed, suspended and partitioned. The default is three servers for more than two hubs.
 * It fails if anything was lost, published twice or otherwise wrong; `--save` writes all findings as JSON.
 *
 * `npm run crash -- --cluster 3 --release ../hub-before --rounds 6`: a rolling upgrade instead. The hubs start from
 * another checkout with its own node_modules, and in each round the next one is replaced by one of this checkout.
 * Afterwards, one of the other checkout takes a seat again, or fails to start if it cannot read the newer data.
 *
 * `npm run crash -- --mqtt --rounds 50 --seed 1`: a hub and a mosquitto (`--broker hivemq`: another broker) under load
 * of sources with QoS 1. In each round one of them, both, or the connection between them fails. A proxy between them
 * distinguishes what the broker has forgotten from what the hub has lost.
 *
 * `npm run crash -- --sinks --rounds 50 --seed 1`: kills a hub in the middle of requests while a webhook and a WebSocket
 * subscriber receive its fence events. Each must have all events of the log, in order per object.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    cluster: { type: 'string' },
    nats: { type: 'string' },
    save: { type: 'string' },
    release: { type: 'string' },
    mqtt: { type: 'boolean', default: false },
    sinks: { type: 'boolean', default: false },
    broker: { type: 'string', default: 'mosquitto' },
  },
});
/** Maximum number of new problems that a round reports. */
const REPORTED_MAX = 5;
const options = { rounds: Number(values.rounds), seed: Number(values.seed) };
const ends: (() => void)[] = [];
const atEnd = (callback: () => void): void => void ends.push(callback);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Otherwise hubs and servers would outlive it.
  process.once(signal, () => {
    for (const end of ends) end();
    process.exit(1);
  });
}
const tell = (text: string): void => {
  const [before, after] = process.stderr.isTTY ? ['\r\x1b[2K', ''] : ['', '\n'];
  process.stderr.write(`${before}${text}${after}`);
};

const isClean = await crash();
for (const end of ends) end();
process.exit(isClean ? 0 : 1);

function crash(): Promise<boolean> {
  if (values.mqtt) return crashMqtt();
  if (values.sinks) return crashSinks();
  return values.cluster === undefined ? crashOne() : crashCluster(Number(values.cluster));
}

async function crashMqtt(): Promise<boolean> {
  const broker = KEEPING_BROKERS.find((name) => name === values.broker);
  if (broker === undefined) {
    process.stderr.write(`--broker: must be one of ${KEEPING_BROKERS.join(', ')}, found ${values.broker}\n`);
    return false;
  }
  const missing = await whyNo(broker);
  if (missing !== undefined) {
    process.stderr.write(`${missing}\n`);
    return false;
  }
  process.stdout.write(`${ROUND_HEAD}\n`);
  let round = 0;
  const findings = await runMqttRounds({
    ...{ ...options, atEnd, broker },
    done(counts, problems) {
      process.stdout.write(`${roundLine(++round, counts)}\n`);
      for (const problem of problems.slice(0, REPORTED_MAX)) process.stderr.write(`  ${problem}\n`);
    },
  });
  process.stdout.write(`\n${mqttReport(findings, `seed ${values.seed}, ${broker}`)}\n`);
  return findings.problems.length === 0;
}

async function crashSinks(): Promise<boolean> {
  const { rounds: kills, seed } = options;
  const done = (round: number): void => tell(`round ${round} of ${kills}`);
  const { events, interrupted, repeated, problems } = await runSinkRounds({ kills, seed, atEnd, done });
  const counts = `${events} events, ${interrupted} requests interrupted, ${repeated} deliveries repeated`;
  process.stdout.write(`${kills} kills with seed ${seed}: ${counts}, ${problems.length} problems\n`);
  for (const problem of problems) process.stderr.write(`  ${problem}\n`);
  return problems.length === 0;
}

async function crashOne(): Promise<boolean> {
  const done = (round: number): void => tell(`round ${round} of ${options.rounds}`);
  const findings = await runCrashRounds({ ...options, done, atEnd });
  process.stdout.write(`${reportOf(findings, options)}\n`);
  return findings.wrongs.length === 0;
}

async function crashCluster(hubs: number): Promise<boolean> {
  const nats = (values.nats ?? (hubs > 2 ? '3' : '1')) === '3' ? 3 : 1;
  const program = await natsProgram();
  if ('missing' in program) {
    process.stderr.write(`There is no nats-server: ${program.missing}\n`);
    return false;
  }
  let reported = 0;
  const findings = await runClusterRounds({
    ...{ ...options, hubs, nats, atEnd, program: program.path },
    ...(values.release !== undefined && { release: values.release }),
    done(round, fault, { outages, problems }) {
      const counts = `${problems.length} problems`;
      tell(`round ${round} of ${options.rounds}: ${fault}, ${Math.round(outages.at(-1)?.tookMs ?? 0)} ms, ${counts}`);
      for (const { is, what } of problems.slice(reported, reported + REPORTED_MAX))
        process.stderr.write(`  ${is}: ${what}\n`);
      reported = problems.length;
    },
  });
  const servers = `${nats} NATS ${nats === 1 ? 'server' : 'servers'}`;
  process.stdout.write(`${clusterReport(findings, `seed ${values.seed}, ${hubs} hubs, ${servers}`)}\n`);
  if (values.save !== undefined) {
    writeFileSync(values.save, `${JSON.stringify(clusterResults(findings), undefined, 2)}\n`);
  }
  return findings.problems.length === 0;
}
