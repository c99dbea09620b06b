import { setTimeout as delay } from 'node:timers/promises';
import { type Contender, startHubContender } from '../process/contender.ts';
import { Duel, type Round } from '../process/duel.ts';
import { residentMb } from '../process/proc.ts';
import { startTile38, tile38Given, tile38Needs, tile38Program } from '../process/tile38.ts';
import type { Result } from '../report/result.ts';
import { crowdScene } from './batch.ts';
import { commandOf } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';
import { heavyScene, stormScene } from './scenes.ts';
import type { FencedScene } from './site.ts';

const SECONDS = 10;
const WARMUP_SECONDS = 3;
/** Duration for which a server counts as cold: its first seconds of updates. */
const COLD_SECONDS = 3;
/** Time until the garbage of earlier work is collected. */
const SETTLE_MS = 10_000;

interface Bout {
  readonly name: string;
  /** Updates per second at which latencies are measured; undefined if they are not. */
  readonly rate?: number;
  scene(asked: Asked): FencedScene;
}

const BOUTS: readonly Bout[] = [
  {
    name: 'crowd',
    rate: 20_000,
    scene: (asked) => crowdScene({ way: 'put-many', connections: 10, perMessage: 100 }, asked),
  },
  { name: 'storm', rate: 10_000, scene: stormScene },
  { name: 'heavy', scene: heavyScene },
];

export const PEERS: Profile = {
  name: 'peers',
  summary: 'comparison with Tile38 on the same work: crowd, storm and heavy, cold and warm; skipped without Go',
  needs: tile38Needs,
  async run(asked: Asked): Promise<Result> {
    asked.progress('finding or building Tile38, which takes some minutes the first time');
    const program = await tile38Program();
    const duel = new Duel();
    const seconds = asked.seconds ?? SECONDS;
    const match = { duel, program, asked, seconds, settleMs: SETTLE_MS * Math.min(1, asked.scale) };
    try {
      const more = await emptyMemory(match);
      for (const bout of BOUTS) Object.assign(more, await fought(match, bout));
      return { profile: 'peers', command: `${tile38Given()}${commandOf('peers', asked)}`, more };
    } finally {
      await duel.close();
    }
  },
};

interface Match {
  readonly duel: Duel;
  /** Measurements of the peer. */
  readonly program: string;
  readonly asked: Asked;
  readonly seconds: number;
  readonly settleMs: number;
}

/** A measurement of the hub, and the same of the peer. */
interface Pair<T> {
  readonly ours: T;
  readonly theirs: T;
}

type Numbers = Record<string, number>;

/** Resident memory of servers without requests. */
async function emptyMemory(match: Match): Promise<Numbers> {
  const { ours, theirs } = await both(match, 'empty', async ({ pid }) => {
    await delay(match.settleMs);
    return residentMb(pid);
  });
  return { empty_rss_mb: ours, empty_peer_rss_mb: theirs };
}

async function fought(match: Match, { name, scene: sceneFor, rate: ownRate }: Bout): Promise<Numbers> {
  const scene = sceneFor(match.asked);
  const rate = ownRate === undefined ? undefined : (match.asked.rate ?? ownRate);
  // The warm rounds come first: they warm generator and subscriber up as well.
  const warm = await fenced(match, `${name}, warm`, scene, (contender) =>
    warmRounds(match, contender, { scene, rate }),
  );
  const numbers = { ...warmNumbers(name, warm), ...(name === 'crowd' ? objectsMemory(warm) : {}) };
  const cold = await fenced(match, `${name}, cold`, scene, (contender) => coldRound(match, contender));
  Object.assign(numbers, throughput(`${name}_cold`, cold));
  if (rate === undefined) return numbers;
  const perSecond = rate / scene.plan.perMessage;
  const coldCalm = await fenced(match, `${name}, cold, at ${rate}/s`, scene, (contender) => {
    return coldRound(match, contender, perSecond);
  });
  return Object.assign(numbers, latencies(`${name}_cold`, coldCalm));
}

/** Measurements of a server that has warmed up. */
interface Warm {
  /** At maximum throughput. */
  readonly full: Round;
  /** At the rate of the bout, if it has one. */
  readonly calm?: Round;
  /** After one update of every object. */
  readonly objectsMb: number;
}

async function warmRounds(
  { duel, seconds, settleMs }: Match,
  contender: Contender,
  { scene, rate }: { readonly scene: FencedScene; readonly rate: number | undefined },
): Promise<Warm> {
  const interval = { warmupSeconds: Math.min(WARMUP_SECONDS, seconds), seconds };
  await duel.prime(contender);
  await delay(settleMs);
  const objectsMb = residentMb(contender.pid);
  const full = await duel.round(contender, { ...interval, perSecond: undefined });
  if (rate === undefined) return { full, objectsMb };
  const calm = await duel.round(contender, { ...interval, perSecond: rate / scene.plan.perMessage });
  return { full, calm, objectsMb };
}

/** The first seconds of updates of a server that has its fences and no object; at maximum throughput without a rate. */
function coldRound({ duel, seconds }: Match, contender: Contender, perSecond?: number): Promise<Round> {
  return duel.round(contender, { perSecond, warmupSeconds: 0, seconds: Math.min(COLD_SECONDS, seconds) });
}

/** Measures the hub and the peer one after the other, both freshly started. */
async function both<T>(
  { program, asked }: Match,
  what: string,
  measure: (contender: Contender) => Promise<T>,
): Promise<Pair<T>> {
  const turn = async (who: string, start: () => Promise<Contender>): Promise<T> => {
    asked.progress(`${what}: ${who}`);
    const contender = await start();
    try {
      return await measure(contender);
    } finally {
      await contender.stop();
    }
  };
  return { ours: await turn('the hub', startHubContender), theirs: await turn('Tile38', () => startTile38(program)) };
}

/** The same with the fences of a scene, and with generator and subscriber connected. */
function fenced<T>(
  match: Match,
  what: string,
  scene: FencedScene,
  measure: (contender: Contender) => Promise<T>,
): Promise<Pair<T>> {
  return both(match, what, async (contender) => {
    await contender.createFences(scene.fences());
    await match.duel.enter(contender, scene.plan);
    const measured = await measure(contender);
    await match.duel.leave(contender);
    return measured;
  });
}

function warmNumbers(name: string, { ours, theirs }: Pair<Warm>): Numbers {
  const full = { ours: ours.full, theirs: theirs.full };
  const calm = ours.calm && theirs.calm && { ours: ours.calm, theirs: theirs.calm };
  return {
    ...throughput(`${name}_warm`, full),
    // Close to each other if both find the same objects in the same fences.
    [`${name}_events_per_update`]: full.ours.events / full.ours.updates,
    [`${name}_peer_events_per_update`]: full.theirs.events / full.theirs.updates,
    ...(calm === undefined ? {} : latencies(name, calm)),
    [`${name}_rss_mb`]: (ours.calm ?? ours.full).residentMb,
    [`${name}_peer_rss_mb`]: (theirs.calm ?? theirs.full).residentMb,
  };
}

function objectsMemory({ ours, theirs }: Pair<Warm>): Numbers {
  return { objects_rss_mb: ours.objectsMb, objects_peer_rss_mb: theirs.objectsMb };
}

/** Of rounds at maximum throughput. Ratios are hub to peer. */
function throughput(prefix: string, rounds: Pair<Round>): Numbers {
  return {
    ...compared(`${prefix}_updates`, '_per_s', rounds, ({ updatesPerSecond }) => updatesPerSecond),
    ...compared(`${prefix}_update_cpu`, '_us', rounds, ({ microsPerUpdate }) => microsPerUpdate),
  };
}

/** Of rounds at a rate. */
function latencies(prefix: string, rounds: Pair<Round>): Numbers {
  return {
    ...compared(`${prefix}_event_p50`, '_ms', rounds, ({ latency }) => latency.p50),
    ...compared(`${prefix}_event_p99`, '_ms', rounds, ({ latency }) => latency.p99),
    ...compared(`${prefix}_cpu`, '_us', rounds, ({ microsPerUpdate }) => microsPerUpdate),
  };
}

function compared(name: string, unit: string, rounds: Pair<Round>, read: (round: Round) => number): Numbers {
  const [ours, theirs] = [read(rounds.ours), read(rounds.theirs)];
  return { [`${name}${unit}`]: ours, [`${name}_peer${unit}`]: theirs, [`${name}_ratio`]: ours / theirs };
}
