import { setTimeout as delay } from 'node:timers/promises';
import { CommandError } from '../command_error.ts';
import { type EntityKind, type Placed, placeEntities } from '../entities.ts';
import type { HubClient } from '../hub_client.ts';
import type { Member } from './crew.ts';
import type { Feed } from './feed.ts';
import { demoFences } from './fences.ts';
import { move } from './motion.ts';
import { locationOf, proximityOf } from './observe.ts';
import { demoZones } from './zones.ts';

const TICK_MS = 100;
/** The gate reads once a second. */
const TICKS_PER_READING = 10;

/** What was sent so far. */
export interface Sent {
  ticks: number;
  locations: number;
  proximities: number;
}

export interface Run {
  readonly crew: readonly Member[];
  /** Counts along. */
  readonly sent: Sent;
  /** Ends it: rejects with its reason. */
  readonly signal: AbortSignal;
  /** Stop after so many seconds; never when left out. */
  readonly seconds?: number;
  /** Told after each tick. */
  ticked?(nowMs: number): void;
}

/** Moves the crew at 10 Hz and feeds where it is, until it is ended or the time is over. */
export async function feedCrew(feed: Feed, { seconds = Number.POSITIVE_INFINITY, ...run }: Run): Promise<void> {
  const { sent, signal } = run;
  let { crew } = run;
  const feedMs = performance.now();
  // Counted from the first tick, in whole ticks as long as nothing is late: sums of clock readings would be rounded,
  // and a last tick at 499.999999 ms would be one too many.
  let nextMs = 0;
  while (nextMs < seconds * 1000) {
    crew = crew.map((member) => ({ ...member, mover: move(member.mover, TICK_MS / 1000) }));
    await send(feed, { crew, sent });
    sent.ticks += 1;
    const nowMs = performance.now();
    run.ticked?.(nowMs);
    // Due times do not add up delays. After a slow reply the next tick is late, and no others hurry after it.
    nextMs = Math.max(nextMs + TICK_MS, nowMs - feedMs);
    await delay(feedMs + nextMs - nowMs, undefined, { signal });
  }
}

/** Places the warehouse and its crew in the hub. Throws a CommandError where it does not take them. */
export async function placeSite(
  client: HubClient,
  { crew, placed: tell }: { readonly crew: readonly Member[]; placed?(placed: Placed): void },
): Promise<void> {
  const trackables = crew.map((member) => member.trackable);
  const site = [
    ['zones', demoZones()],
    ['fences', demoFences()],
    ['trackables', trackables],
  ] as const;
  for (const [kind, entities] of site satisfies readonly (readonly [EntityKind, unknown])[]) {
    const placed = await placeEntities(client, kind, entities);
    tell?.(placed);
    if (placed.rejected > 0) throw new CommandError(`The hub does not accept the ${kind} of the demo`);
  }
}

/** Takes everything of the demo out of the hub again, as far as it is there. */
export async function removeSite(client: HubClient, crew: readonly Member[]): Promise<void> {
  const providers = crew.flatMap(({ tag, rfid }) => (rfid === undefined ? [tag] : [tag, rfid]));
  const paths = [
    ...crew.map(({ trackable }) => `/trackables/${trackable.id}`),
    ...demoFences().map(({ id }) => `/fences/${id}`),
    ...providers.map((id) => `/providers/${id}`),
    ...demoZones().map(({ id }) => `/zones/${id}`),
  ];
  const replies = await Promise.all(paths.map((path) => client.send('DELETE', path)));
  const refused = replies.find(({ ok, status }) => !ok && status !== 404);
  if (refused !== undefined) throw new CommandError(`Cannot remove the demo: ${refused.status} ${refused.message}`);
}

async function send(feed: Feed, { crew, sent }: { crew: readonly Member[]; sent: Sent }): Promise<void> {
  const nowMs = Date.now();
  const locations = crew.map((member) => locationOf(member, nowMs)).filter((location) => location !== undefined);
  if (locations.length > 0) await feed.locations(locations);
  sent.locations += locations.length;
  if (sent.ticks % TICKS_PER_READING !== 0) return;
  const read = crew.map((member) => proximityOf(member, nowMs)).filter((proximity) => proximity !== undefined);
  if (read.length > 0) await feed.proximities(read);
  sent.proximities += read.length;
}
