import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { CommandError } from '../command_error.ts';
import { describePlaced, type EntityKind, placeEntities } from '../entities.ts';
import { countEvents, EventCounts } from '../event_counts.ts';
import type { EventStream } from '../event_stream.ts';
import { type HubClient, hubClient } from '../hub_client.ts';
import { brokerAddress, hubOption, interruption, number } from '../options.ts';
import { StatusLine } from '../status_line.ts';
import { demoCrew, type Member } from './crew.ts';
import { type Feed, restFeed } from './feed.ts';
import { demoFences } from './fences.ts';
import { move } from './motion.ts';
import { locationOf, proximityOf } from './observe.ts';
import { feedPast, requireHistory } from './past.ts';
import { demoZones } from './zones.ts';

/** `demo`: feeds a simulated warehouse into a hub. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('feed a simulated warehouse into a running hub until stopped: 2 floors, 40 tags, 12 fences')
    .option('--seed <number>', 'fixes where everything moves', number({ min: 0, max: 1_000_000, whole: true }), 1)
    .option('--seconds <count>', 'stop after this time', number({ above: 0 }))
    .option(
      '--mqtt [address]',
      'feed through the MQTT broker of the hub; the address names it in another way, or a user: mqtt://user:password@host',
      brokerAddress,
    )
    .option(
      '--history [hours]',
      'first feed the time up to now, 24 hours when left out, as fast as the hub takes it; it is to record history',
      number({ above: 0, max: 168 }),
    )
    .addOption(hubOption())
    .action(demo);
}

interface Options {
  readonly hub: string;
  readonly seed: number;
  readonly seconds?: number;
  /** true: the broker that the hub has. */
  readonly mqtt?: string | true;
  /** Hours; true: a day. */
  readonly history?: number | true;
}

const TICK_MS = 100;
const DAY_HOURS = 24;
/** The gate reads once a second. */
const TICKS_PER_READING = 10;

interface Sent {
  ticks: number;
  locations: number;
  proximities: number;
}

/** Places the warehouse in the hub and moves its crew at 10 Hz, until interrupted or the time is over. */
async function demo({ hub, seed, mqtt, history, seconds = Number.POSITIVE_INFINITY }: Options): Promise<void> {
  const signal = interruption();
  const client = hubClient(hub, { signal });
  const status = new StatusLine(process.stderr);
  const events = new EventCounts();
  const sent: Sent = { ticks: 0, locations: 0, proximities: 0 };
  const startMs = performance.now();
  let stream: EventStream | undefined;
  let feed: Feed | undefined;
  let crew: readonly Member[] = demoCrew(seed);
  try {
    if (history !== undefined) await requireHistory(client);
    feed = mqtt === undefined ? restFeed(client, hub) : await throughBroker(client, { hub, mqtt, signal });
    await placeSite(client, { crew, status });
    if (history !== undefined) {
      const hours = history === true ? DAY_HOURS : history;
      crew = await feedPast(client, { crew, feed, status, signal, hours, untilMs: Date.now() });
    }
    stream = await countEvents(events, { hub, status, signal });
    status.print(`Feeding ${crew.length} tags into ${feed.to}. Stop with Ctrl-C`);
    const feedMs = performance.now();
    // Counted from the first tick, in whole ticks as long as nothing is late: sums of clock readings would be rounded,
    // and a last tick at 499.999999 ms would be one too many.
    let nextMs = 0;
    while (nextMs < seconds * 1000) {
      crew = crew.map((member) => ({ ...member, mover: move(member.mover, TICK_MS / 1000) }));
      await send(feed, { crew, sent });
      sent.ticks += 1;
      const nowMs = performance.now();
      status.show(nowMs, () => describe({ sent, events, seconds: (nowMs - startMs) / 1000 }));
      // Due times do not add up delays. After a slow reply the next tick is late, and no others hurry after it.
      nextMs = Math.max(nextMs + TICK_MS, nowMs - feedMs);
      await delay(feedMs + nextMs - nowMs, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    stream?.close();
    await feed?.close();
  }
  status.print(`Stopped. ${describe({ sent, events, seconds: (performance.now() - startMs) / 1000 })}`);
}

async function placeSite(
  client: HubClient,
  { crew, status }: { crew: readonly Member[]; status: StatusLine },
): Promise<void> {
  const trackables = crew.map((member) => member.trackable);
  const site = [
    ['zones', demoZones()],
    ['fences', demoFences()],
    ['trackables', trackables],
  ] as const;
  for (const [kind, entities] of site satisfies readonly (readonly [EntityKind, unknown])[]) {
    const placed = await placeEntities(client, kind, entities);
    status.print(describePlaced(placed));
    if (placed.rejected > 0) throw new CommandError(`The hub does not accept the ${kind} of the demo`);
  }
}

/** Loads the client of brokers where one is wanted. */
async function throughBroker(
  client: HubClient,
  { hub, mqtt, signal }: { readonly hub: string; readonly mqtt: string | true; readonly signal: AbortSignal },
): Promise<Feed> {
  const { brokerFeed } = await import('./broker_feed.ts');
  return await brokerFeed(client, { hub, address: mqtt === true ? undefined : mqtt, signal });
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

function describe({ sent, events, seconds }: { sent: Sent; events: EventCounts; seconds: number }): string {
  return [
    `${seconds.toFixed(0)} s`,
    `${sent.locations} locations`,
    `${sent.proximities} gate readings`,
    `entries ${events.count('region_entry')}`,
    `exits ${events.count('region_exit')}`,
    `collisions ${events.count('collision_start')}`,
    `motions ${events.count('trackable_motions')}`,
  ].join('  ');
}
