import { setTimeout as delay } from 'node:timers/promises';
import type { NatsServer, NatsServers } from '../../../bench/process/nats_server.ts';
import { locationOf } from '../hub_process.ts';
import type { HubSeat, LogLine } from './hub_seat.ts';

/** What is done to a cluster, and how often in a row of rounds. */
const DECK = {
  'kill of the owner': 5,
  'kill of another hub': 1,
  'stop of the owner': 2,
  'cut of the owner': 1,
  'cut of another hub': 1,
  'leave of the owner': 2,
  'leave of another hub': 1,
  'kill of a NATS server': 2,
} as const;
export type FaultKind = keyof typeof DECK;

/** How long a hub is stopped or cut off. */
const AWAY_MS = { min: 3000, max: 6000 };
/** Within this time it learns that it is out, and within that it is a member again. */
const OUT_MS = 10_000;
const BACK_MS = 30_000;
const LOOK_MS = 50;

/** Each kind of fault as often as it is in the deck, shuffled, again and again. */
export function* shuffledFaults(random: () => number, hasReplicas: boolean): Generator<FaultKind, never> {
  for (;;) {
    const deck = Object.entries(DECK).flatMap(([kind, times]) => Array<FaultKind>(times).fill(kind as FaultKind));
    const left = hasReplicas ? deck : deck.filter((kind) => kind !== 'kill of a NATS server');
    while (left.length > 0) yield left.splice(Math.floor(random() * left.length), 1)[0] as FaultKind;
  }
}

/** A fault that has begun. */
export interface Fault {
  /** Who goes on. */
  readonly survivor: HubSeat;
  /** When it began. */
  readonly atMs: number;
  /** Ends it: what was killed runs again, what was stopped goes on. Resolves when all hubs are members again. */
  mend(): Promise<void>;
}

interface Place {
  readonly owner: HubSeat;
  readonly other: HubSeat;
  readonly nats: NatsServers;
  readonly random: () => number;
  /** What a hub that is killed has logged. */
  buried(seat: HubSeat, logged: readonly LogLine[]): void;
}

export async function beginFault(kind: FaultKind, { owner, other, nats, random, buried }: Place): Promise<Fault> {
  const awayMs = AWAY_MS.min + random() * (AWAY_MS.max - AWAY_MS.min);
  const atMs = performance.now();
  switch (kind) {
    case 'kill of the owner':
    case 'kill of another hub': {
      const [killed, survivor] = kind === 'kill of the owner' ? [owner, other] : [other, owner];
      buried(killed, await killed.kill());
      return { survivor, atMs, mend: () => killed.start() };
    }
    case 'leave of the owner':
    case 'leave of another hub': {
      const [leaving, survivor] = kind === 'leave of the owner' ? [owner, other] : [other, owner];
      return { survivor, atMs, mend: () => replaced(leaving, buried) };
    }
    case 'stop of the owner':
      owner.isAway = true;
      owner.pause();
      return { survivor: other, atMs, mend: () => back(owner, { atMs, awayMs, end: () => owner.resume() }) };
    case 'cut of the owner':
    case 'cut of another hub': {
      const [gone, survivor] = kind === 'cut of the owner' ? [owner, other] : [other, owner];
      gone.isAway = true;
      gone.cut();
      return { survivor, atMs, mend: () => back(gone, { atMs, awayMs, end: () => gone.restore() }) };
    }
    case 'kill of a NATS server': {
      const server = nats.servers[Math.floor(random() * nats.servers.length)] as NatsServer;
      await server.kill();
      return { survivor: owner, atMs, mend: () => server.start() };
    }
  }
}

/** A hub is told to stop, and then another process takes its seat. */
async function replaced(seat: HubSeat, buried: Place['buried']): Promise<void> {
  buried(seat, await seat.leave());
  await seat.start();
}

interface Away {
  readonly atMs: number;
  readonly awayMs: number;
  end(): void;
}

/** A hub that was away for longer than others wait is out, and joins anew. */
async function back(seat: HubSeat, { atMs, awayMs, end }: Away): Promise<void> {
  const outs = seat.timesOut;
  await delay(atMs + awayMs - performance.now());
  end();
  for (const untilMs = performance.now() + OUT_MS; seat.timesOut === outs && performance.now() < untilMs; ) {
    await delay(LOOK_MS);
  }
  // Otherwise the fault was none, and the round has shown nothing.
  if (seat.timesOut === outs)
    throw new Error(`Hub ${seat.name} was away for ${Math.round(awayMs)} ms, and nobody expelled it`);
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
