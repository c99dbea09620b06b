import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Findings, SimulationOptions } from './simulation.ts';

/** Simulations to play. */
export interface Seeds {
  readonly seeds: readonly number[];
  readonly options: SimulationOptions;
  /** Number of processes that play at the same time. */
  readonly processes: number;
  /** Called after each seed, in the order of completion. */
  played(findings: Findings): void;
}

/** Message to a process of simulation_worker.ts. */
export interface SeedToPlay {
  readonly seed: number;
  readonly options: SimulationOptions;
}

const WORKER = fileURLToPath(new URL('../simulation_worker.ts', import.meta.url));
/**
 * With a smaller young generation each garbage collection would copy the objects that hubs create from messages. Helper threads
 * of the engine would only compete with the playing threads, since there is one of these per core.
 */
const NODE_ARGS = ['--max-semi-space-size=64', '--single-threaded'];
/** A seed that takes this long makes no progress: seeds take seconds, even on a busy machine. */
const SEED_MS = 600_000;

/** Plays clusters of hubs in processes of their own. */
export async function playSeeds(seeds: Seeds): Promise<void> {
  const { processes, seeds: all } = seeds;
  const left = all.values();
  await Promise.all(Array.from({ length: Math.min(processes, all.length) }, () => playThrough(left, seeds)));
}

/** Consecutive seeds. */
export function seedsFrom(from: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => from + i);
}

/** Plays the remaining seeds in sequence, and replaces a process that has failed. */
async function playThrough(left: IterableIterator<number>, { options, played }: Seeds): Promise<void> {
  let player = new Player();
  for (const seed of left) {
    const findings = await player.play({ seed, options });
    if (player.isOver) player = new Player();
    played(findings);
  }
  player.end();
}

/** Process that plays seeds in sequence. */
class Player {
  isOver = false;
  readonly #process = fork(WORKER, { execArgv: NODE_ARGS });
  #answer: ((findings: Findings | string) => void) | undefined;

  constructor() {
    this.#process.on('message', (findings: Findings) => this.#answer?.(findings));
    this.#process.on('error', (error) => this.#failed(error.message));
    this.#process.on('exit', (code, signal) => this.#failed(`its process ended with ${signal ?? code}`));
  }

  async play(seed: SeedToPlay): Promise<Findings> {
    const { promise, resolve } = Promise.withResolvers<Findings | string>();
    this.#answer = resolve;
    this.#process.send(seed);
    const timer = setTimeout(() => this.#failed(`not done in ${SEED_MS} ms`), SEED_MS);
    const answer = await promise;
    clearTimeout(timer);
    return typeof answer === 'string' ? { seed: seed.seed, wrongs: [answer], counts: {}, log: [] } : answer;
  }

  end(): void {
    this.isOver = true;
    this.#process.kill('SIGKILL');
  }

  #failed(why: string): void {
    this.end();
    this.#answer?.(why);
  }
}
