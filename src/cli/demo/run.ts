import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../command_error.ts';
import { type PlacedKind, type PlacedEntities, placeEntities } from '../entities.ts';
import type { HubClient } from '../hub_client.ts';
import type { CrewMember } from './crew.ts';
import type { Feed } from './feed.ts';
import { demoFences } from './fences.ts';
import { move } from './motion.ts';
import { locationOf, proximityOf } from './observe.ts';
import { demoZones } from './zones.ts';

const TICK_MS = 100;
/** The gate reads once a second. */
const TICKS_PER_READING = 10;

/** Counters of sent messages. */
export interface SentCounts {
  ticks: number;
  locations: number;
  proximities: number;
}

export interface Run {
  readonly crew: readonly CrewMember[];
  /** Updated while running. */
  readonly sent: SentCounts;
  /** Stops the run: it rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Stop after this time; default: never. */
  readonly seconds?: number;
  /** Called after each tick. */
  ticked?(nowMs: number): void;
}

/** Moves the crew at 10 Hz and feeds its locations, until stopped or after `seconds`. */
export async function feedCrew(feed: Feed, { seconds = Number.POSITIVE_INFINITY, ...run }: Run): Promise<void> {
  const { sent, signal } = run;
  let { crew } = run;
  const feedMs = performance.now();
  // While no tick is late, times are multiples of the tick since the first one. Sums of clock readings would be
  // rounded, and a last tick at 499.999999 ms would be one too many.
  let nextMs = 0;
  while (nextMs < seconds * 1000) {
    crew = crew.map((member) => ({ ...member, mover: move(member.mover, TICK_MS / 1000) }));
    await send(feed, { crew, sent });
    sent.ticks += 1;
    const nowMs = performance.now();
    run.ticked?.(nowMs);
    // Delays do not accumulate. After a slow reply the next tick is late, without a burst of ticks.
    nextMs = Math.max(nextMs + TICK_MS, nowMs - feedMs);
    await delay(feedMs + nextMs - nowMs, undefined, { signal });
  }
}

/** Creates the warehouse and its crew in the hub. Throws a CliError if the hub rejects them. */
export async function placeSite(
  client: HubClient,
  { crew, placed: tell }: { readonly crew: readonly CrewMember[]; placed?(placed: PlacedEntities): void },
): Promise<void> {
  const trackables = crew.map((member) => member.trackable);
  const site = [
    ['zones', demoZones()],
    ['fences', demoFences()],
    ['trackables', trackables],
  ] as const;
  for (const [kind, entities] of site satisfies readonly (readonly [PlacedKind, unknown])[]) {
    const placed = await placeEntities(client, kind, entities);
    tell?.(placed);
    if (placed.rejected > 0) throw new CliError(`The hub rejects the ${kind} of the demo`);
  }
}

/** Removes all existing entities of the demo from the hub. */
export async function removeSite(client: HubClient, crew: readonly CrewMember[]): Promise<void> {
  const providers = crew.flatMap(({ tag, rfid }) => (rfid === undefined ? [tag] : [tag, rfid]));
  const paths = [
    ...crew.map(({ trackable }) => `/trackables/${trackable.id}`),
    ...demoFences().map(({ id }) => `/fences/${id}`),
    ...providers.map((id) => `/providers/${id}`),
    ...demoZones().map(({ id }) => `/zones/${id}`),
  ];
  const replies = await Promise.all(paths.map((path) => client.send('DELETE', path)));
  const refused = replies.find(({ ok, status }) => !ok && status !== 404);
  if (refused !== undefined) throw new CliError(`Cannot remove the demo: ${refused.status} ${refused.message}`);
}

async function send(feed: Feed, { crew, sent }: { crew: readonly CrewMember[]; sent: SentCounts }): Promise<void> {
  const nowMs = Date.now();
  const locations = crew.map((member) => locationOf(member, nowMs)).filter((location) => location !== undefined);
  if (locations.length > 0) await feed.locations(locations);
  sent.locations += locations.length;
  if (sent.ticks % TICKS_PER_READING !== 0) return;
  const read = crew.map((member) => proximityOf(member, nowMs)).filter((proximity) => proximity !== undefined);
  if (read.length > 0) await feed.proximities(read);
  sent.proximities += read.length;
}
