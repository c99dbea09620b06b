import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { NatsServer, NatsServers } from '../../../bench/process/nats_server.ts';
import { PROTOCOLS } from '../../../src/cluster/config/protocols.ts';
import { locationOf } from '../hub_process.ts';
import type { HubSeat, LogLine } from './hub_seat.ts';

/** Faults of a cluster, and how often each occurs in a series of rounds. Each affects a random hub. */
const DECK = {
  'kill of a hub': 6,
  'stop of a hub': 2,
  'cut of a hub': 2,
  'leave of a hub': 3,
  'kill of a NATS server': 2,
} as const;
/** `way back`: a hub of the previous release replaces a stopped one, or must not start if it cannot read the data. */
export type FaultKind = keyof typeof DECK | 'way back';

/** How long a hub is suspended or partitioned. */
const AWAY_MS = { min: 3000, max: 6000 };
/** Times within which it detects its expulsion, and is a member again. */
const OUT_MS = 10_000;
const BACK_MS = 30_000;
const LOOK_MS = 50;
/** Message of a hub that cannot read data written by others. */
const REFUSAL = /Cannot join cluster .* the cluster uses version/;

/** Yields each kind of fault as often as the deck has it, shuffled, repeatedly. */
export function* shuffledFaults(random: () => number, hasReplicas: boolean): Generator<FaultKind, never> {
  for (;;) {
    const deck = Object.entries(DECK).flatMap(([kind, times]) => Array<FaultKind>(times).fill(kind as FaultKind));
    const left = hasReplicas ? deck : deck.filter((kind) => kind !== 'kill of a NATS server');
    while (left.length > 0) yield left.splice(Math.floor(random() * left.length), 1)[0] as FaultKind;
  }
}

/** A fault in progress. */
export interface Fault {
  /** Hub that is unaffected. */
  readonly survivor: HubSeat;
  /** Start of the fault. */
  readonly atMs: number;
  /** Ends the fault: killed processes restart, suspended ones continue. Resolves when all hubs are members again. */
  mend(): Promise<void>;
}

interface Place {
  /** Hub that the fault affects. */
  readonly struck: HubSeat;
  readonly survivor: HubSeat;
  readonly nats: NatsServers;
  readonly random: () => number;
  /** Folder of the previous release. */
  readonly release: string | undefined;
  /** Records the log of a killed hub. */
  buried(seat: HubSeat, logged: readonly LogLine[]): void;
}

export async function beginFault(kind: FaultKind, { struck, survivor, ...place }: Place): Promise<Fault> {
  const { nats, random, release, buried } = place;
  const awayMs = AWAY_MS.min + random() * (AWAY_MS.max - AWAY_MS.min);
  const atMs = performance.now();
  switch (kind) {
    case 'kill of a hub':
      buried(struck, await struck.kill());
      return { survivor, atMs, mend: () => struck.start() };
    case 'leave of a hub':
      return { survivor, atMs, mend: () => replaced(struck, buried) };
    case 'stop of a hub':
      struck.isAway = true;
      struck.pause();
      return { survivor, atMs, mend: () => back(struck, { atMs, awayMs, end: () => struck.resume() }) };
    case 'cut of a hub':
      struck.isAway = true;
      struck.cut();
      return { survivor, atMs, mend: () => back(struck, { atMs, awayMs, end: () => struck.restore() }) };
    case 'way back':
      return { survivor, atMs, mend: () => wayBack(struck, release as string, buried) };
    case 'kill of a NATS server': {
      const server = nats.servers[Math.floor(random() * nats.servers.length)] as NatsServer;
      await server.kill();
      return { survivor, atMs, mend: () => server.start() };
    }
  }
}

/** Stops a hub, and starts another process in its seat. */
async function replaced(seat: HubSeat, buried: Place['buried']): Promise<void> {
  buried(seat, await seat.leave());
  await seat.start();
}

/**
 * Stops a hub, and starts one of the previous release in its seat. If that can read the current protocol, it serves;
 * otherwise it fails with an error. Then one of this release takes the seat.
 */
async function wayBack(seat: HubSeat, release: string, buried: Place['buried']): Promise<void> {
  const isOpen = await readsWhatIsWritten(release);
  buried(seat, await seat.leave());
  seat.release = release;
  const why = await seat.start().then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (isOpen && why !== undefined) throw new Error(`The release before does not start in seat ${seat.name}: ${why}`);
  if (!isOpen && (why === undefined || !REFUSAL.test(why)))
    throw new Error(`The release before must not start in seat ${seat.name}: ${why ?? 'it has started'}`);
  if (isOpen) {
    await serving(seat);
    buried(seat, await seat.leave());
  }
  seat.release = undefined;
  await seat.start();
}

/** Whether a release can read the version that hubs of this release use among themselves. */
export async function readsWhatIsWritten(release: string): Promise<boolean> {
  const path = join(release, 'src/cluster/config/protocols.ts');
  // The first releases had no such file, and supported only the first version.
  if (!existsSync(path)) return false;
  const found = (await import(pathToFileURL(path).href)) as { readonly PROTOCOLS: readonly number[] };
  return found.PROTOCOLS.includes(PROTOCOLS.at(-1) as number);
}

interface Away {
  readonly atMs: number;
  readonly awayMs: number;
  end(): void;
}

/** A hub that was suspended beyond the failure timeout is expelled, and joins again. */
async function back(seat: HubSeat, { atMs, awayMs, end }: Away): Promise<void> {
  const outs = seat.timesOut;
  await delay(atMs + awayMs - performance.now());
  end();
  for (const untilMs = performance.now() + OUT_MS; seat.timesOut === outs && performance.now() < untilMs; ) {
    await delay(LOOK_MS);
  }
  // Otherwise there was no fault, and the round has tested nothing.
  if (seat.timesOut === outs)
    throw new Error(`Hub ${seat.name} was away for ${Math.round(awayMs)} ms, and no member expelled it`);
  await serving(seat);
  seat.isAway = false;
}

/** Resolves when locations are acknowledged at a hub. */
export async function serving(seat: HubSeat): Promise<void> {
  for (const untilMs = performance.now() + BACK_MS; performance.now() < untilMs; await delay(LOOK_MS)) {
    if (seat.died !== undefined) throw new Error(seat.died);
    if (
      (await seat.request('PUT', `/providers/back%20at%20${seat.name}/location`, locationOf(`back at ${seat.name}`, 0)))
        ?.status === 204
    )
      return;
  }
  throw new Error(`Hub ${seat.name} is not back after ${BACK_MS} ms:\n${seat.logged.map(({ msg }) => msg).join('\n')}`);
}
