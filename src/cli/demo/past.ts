import type { Fence } from '../../model/fence.ts';
import type { Location } from '../../model/location.ts';
import { CliError } from '../command_error.ts';
import { placeEntities } from '../entities.ts';
import { historyOf, NOT_RECORDED } from '../history_of.ts';
import type { HubClient } from '../hub_client.ts';
import type { StatusLine } from '../status_line.ts';
import type { CrewMember } from './crew.ts';
import type { Feed } from './feed.ts';
import { demoFences } from './fences.ts';
import { move } from './motion.ts';
import { locationOf, proximityOf } from './observe.ts';

const HOUR_MS = 3_600_000;
/** Step of the simulation, as in a live feed. A location is sent once in several steps. */
const [STEP_MS, STEPS_PER_LOCATION] = [500, 12] as const;
/** Locations per request. */
const AT_ONCE = 2000;

interface Past {
  readonly crew: readonly CrewMember[];
  readonly feed: Feed;
  readonly status: StatusLine;
  readonly signal: AbortSignal;
  readonly hours: number;
  /** Wall-clock time. */
  readonly untilMs: number;
}

/** Throws a CliError if the hub records no history. Warns if the simulated past exceeds its retention. */
export async function requireHistory(
  client: HubClient,
  past: Pick<Past, 'status' | 'hours' | 'untilMs'>,
): Promise<void> {
  const { state, recordedSinceMs } = await historyOf(client);
  const { status, hours, untilMs } = past;
  const lost = Math.min(hours, (recordedSinceMs - (untilMs - hours * HOUR_MS)) / HOUR_MS);
  if (lost > 0) status.print(`Warning: the first ${lost.toFixed(1)} of ${hours} hours ${NOT_RECORDED}`);
  if (state === 'ok') return;
  const found =
    state === 'failing'
      ? 'its history fails; GET /health/history has the reason'
      : 'it records no history. Start it with HUB_HISTORY=true';
  throw new CliError(`Cannot feed past hours into the hub: ${found}`);
}

/**
 * Feeds simulated hours of the crew into a hub, as fast as the hub accepts them, and resolves with the crew's final
 * state. Deletes the last locations of the tags first, since the hub ignores older ones. Sets the timers of the fences
 * at the end, since they run by the hub's own clock, which hardly advances.
 */
export async function feedPast(client: HubClient, past: Past): Promise<readonly CrewMember[]> {
  const { feed, status, signal, untilMs, hours } = past;
  const fromMs = untilMs - hours * HOUR_MS;
  for (const { tag, rfid } of past.crew) {
    for (const id of rfid === undefined ? [tag] : [tag, rfid]) {
      await client.send('DELETE', `/providers/${encodeURIComponent(id)}/location`);
    }
  }
  const fences = demoFences();
  await placeEntities(client, 'fences', fences.map(untimed));
  let { crew } = past;
  let waiting: Location[] = [];
  let fed = 0;
  const flush = async (): Promise<void> => {
    if (waiting.length > 0) await feed.locations(waiting);
    fed += waiting.length;
    waiting = [];
  };
  const begunMs = performance.now();
  for (let step = 0, atMs = fromMs; atMs < untilMs; step++, atMs += STEP_MS) {
    crew = crew.map((member) => ({ ...member, mover: move(member.mover, STEP_MS / 1000) }));
    if (step % STEPS_PER_LOCATION > 0) continue;
    signal.throwIfAborted();
    waiting.push(...crew.flatMap((member) => locationOf(member, atMs) ?? []));
    const read = crew.flatMap((member) => proximityOf(member, atMs) ?? []);
    if (waiting.length >= AT_ONCE || read.length > 0) await flush();
    if (read.length > 0) await feed.proximities(read);
    status.show(performance.now(), () => `${((atMs - fromMs) / HOUR_MS).toFixed(1)} of ${hours} hours`);
  }
  await flush();
  await placeEntities(client, 'fences', fences);
  const seconds = (performance.now() - begunMs) / 1000;
  status.print(`Fed ${hours} hours of the past: ${fed} locations in ${seconds.toFixed(0)} s`);
  return crew;
}

function untimed({ timeout: _, entry_delay: __, exit_delay: ___, tolerance_timeout: ____, ...fence }: Fence): Fence {
  return fence;
}
