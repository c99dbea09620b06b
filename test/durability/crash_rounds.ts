import { temporaryFolder } from '../support/temporary_folder.ts';
import { Findings } from './findings.ts';
import { type AtEnd, HubProcess, randomFrom } from './hub_process.ts';
import { type Crash, Ledger } from './ledger.ts';
import { Pairs } from './pairs.ts';
import { RESTART_DELAY_MS, Walkers } from './walkers.ts';

/** Clients that send requests sequentially, in addition to the walkers and the pairs. */
const CLIENTS = ['a', 'b', 'c', 'd'];
/** With fast writes: age of last locations that a busy hub may lose. */
const LOST_MS = 2000;
/** Load before the end of a round. Every fifth round is longer than the time that may be lost. */
const LOAD_MS = { min: 50, max: 1000, long: LOST_MS + 500 };
const LONG_EVERY = 5;
/** Every Nth round stops the hub under the same load instead. */
const STOP_EVERY = 10;

export interface RoundsOptions {
  readonly rounds: number;
  readonly seed: number;
  /** Called after each round, with the number of completed rounds. */
  done?(rounds: number): void;
  readonly atEnd?: AtEnd;
}

/**
 * Starts a hub on one folder repeatedly, with each value of db_fast_writes in turn, and kills it at a random moment of
 * mixed load. Each start is compared with all that the hub acknowledged and published in earlier rounds.
 */
export async function runCrashRounds({ rounds, seed, done, atEnd }: RoundsOptions): Promise<Findings> {
  const folder = temporaryFolder();
  const findings = new Findings();
  const random = randomFrom(seed);
  const ledger = new Ledger();
  const walkers = new Walkers();
  const pairs = new Pairs();
  let crash: Crash = { crashedAtMs: 0, lostMs: 0 };
  for (let round = 1; round <= rounds + 1; round++) {
    const isFast = round % 2 === 1;
    const settings = { db_fast_writes: isFast, restart_event_delay: RESTART_DELAY_MS, num_threads: 2 };
    const hub = await HubProcess.start(folder, settings, atEnd);
    if (round === 1) for (const moving of [walkers, pairs]) await moving.configure(hub);
    // The subscriber of overdue exits first, because the hub does not wait for it.
    await walkers.arrive(hub, findings);
    await pairs.arrive(hub, findings);
    await ledger.check(hub, findings, crash);
    // The last start only serves to check the result of the last crash.
    const isLast = round > rounds;
    const isStopped = isLast || round % STOP_EVERY === 0;
    const load = isLast ? [] : loadOn(hub, { ledger, walkers, pairs, random });
    const forMs = round % LONG_EVERY === 1 ? LOAD_MS.long : LOAD_MS.min + random() * (LOAD_MS.max - LOAD_MS.min);
    if (!isLast) await new Promise((resolve) => setTimeout(resolve, forMs));
    // Events in flight to the subscriber at the crash may be lost. Each is published at most once in either case.
    crash = { crashedAtMs: isStopped ? Number.POSITIVE_INFINITY : performance.now(), lostMs: isFast ? LOST_MS : 0 };
    const { code, stderr } = await (isStopped ? hub.stop() : hub.crash());
    await Promise.all(load);
    walkers.look(findings);
    pairs.look(findings);
    if (code !== (isStopped ? 0 : null) || stderr !== '') findings.wrong(`the hub ended with ${code}: ${stderr}`);
    findings.count(isStopped ? 'orderly stops' : `kills with db_fast_writes ${isFast}`);
    if (!isLast) done?.(round);
  }
  return findings;
}

interface Load {
  readonly ledger: Ledger;
  readonly walkers: Walkers;
  readonly pairs: Pairs;
  readonly random: () => number;
}

function loadOn(hub: HubProcess, { ledger, walkers, pairs, random }: Load): Promise<void>[] {
  const clients = CLIENTS.map(async (own) => {
    while (await ledger.ask(hub, own, random));
  });
  const walks = Array.from({ length: Walkers.count }, (_, index) => walkers.walk(hub, index, random));
  const drives = Array.from({ length: Pairs.count }, (_, index) => pairs.drive(hub, index, random));
  return [...clients, ...walks, ...drives];
}

const WRONGS_SHOWN = 20;

/** Formats the findings as lines. */
export function reportOf({ counts, wrongs }: Findings, { rounds, seed }: RoundsOptions): string {
  const all = [['rounds', `${rounds}, seed ${seed}`], ...counts, ['lost, repeated or wrong', wrongs.length]];
  return [...all.map(([what, times]) => `${String(what).padEnd(36)}${times}`), ...wrongs.slice(0, WRONGS_SHOWN)].join(
    '\n',
  );
}
