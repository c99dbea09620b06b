import { Command } from 'commander';
import { describePlaced } from '../entities.ts';
import { countEvents, EventCounts } from '../event_counts.ts';
import type { EventStream } from '../event_stream.ts';
import { type HubClient, hubClient } from '../hub_client.ts';
import { brokerAddress, hubOption, interruption, number } from '../options.ts';
import { StatusLine } from '../status_line.ts';
import { demoCrew, type CrewMember } from './crew.ts';
import { type Feed, restFeed } from './feed.ts';
import { feedPast, requireHistory } from './past.ts';
import { feedCrew, placeSite, type SentCounts } from './run.ts';

/** `demo`: feeds a simulated warehouse into a hub. */
export function demoCommand(): Command {
  return new Command('demo')
    .description('feed a simulated warehouse into a running hub until stopped: 2 floors, 40 tags, 13 fences')
    .option(
      '--seed <number>',
      'seed of all movements, for repeatable runs',
      number({ min: 0, max: 1_000_000, whole: true }),
      1,
    )
    .option('--seconds <count>', 'stop after this time', number({ above: 0 }))
    .option(
      '--mqtt [address]',
      'publish to the MQTT broker of the hub; the address overrides its host or user: mqtt://user:password@host',
      brokerAddress,
    )
    .option(
      '--history [hours]',
      'first feed this many past hours (default 24) as fast as the hub accepts them; the hub must record history',
      number({ above: 0, max: 168 }),
    )
    .addOption(hubOption())
    .action(demo);
}

interface Options {
  readonly hub: string;
  readonly seed: number;
  readonly seconds?: number;
  /** true: the broker of the hub. */
  readonly mqtt?: string | true;
  /** Hours; true: a day. */
  readonly history?: number | true;
}

const DAY_HOURS = 24;

/** Creates the warehouse in the hub and moves its crew at 10 Hz, until interrupted or after `seconds`. */
async function demo({ hub, seed, mqtt, history, seconds = Number.POSITIVE_INFINITY }: Options): Promise<void> {
  const signal = interruption();
  const client = hubClient(hub, { signal });
  const status = new StatusLine(process.stderr);
  const events = new EventCounts();
  const sent: SentCounts = { ticks: 0, locations: 0, proximities: 0 };
  const startMs = performance.now();
  let stream: EventStream | undefined;
  let feed: Feed | undefined;
  let crew: readonly CrewMember[] = demoCrew(seed);
  try {
    const hours = history === true ? DAY_HOURS : history;
    const untilMs = Date.now();
    if (hours !== undefined) await requireHistory(client, { status, hours, untilMs });
    feed = mqtt === undefined ? restFeed(client, hub) : await throughBroker(client, { hub, mqtt, signal });
    await placeSite(client, { crew, placed: (placed) => status.print(describePlaced(placed)) });
    if (hours !== undefined) crew = await feedPast(client, { crew, feed, status, signal, hours, untilMs });
    stream = await countEvents(events, { hub, status, signal });
    status.print(`Feeding ${crew.length} tags into ${feed.to}. Stop with Ctrl-C`);
    await feedCrew(feed, {
      ...{ crew, sent, signal, seconds },
      ticked: (nowMs) => status.show(nowMs, () => describe({ sent, events, seconds: (nowMs - startMs) / 1000 })),
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    stream?.close();
    await feed?.close();
  }
  status.print(`Stopped. ${describe({ sent, events, seconds: (performance.now() - startMs) / 1000 })}`);
}

/** Loads the MQTT client on demand. */
async function throughBroker(
  client: HubClient,
  { hub, mqtt, signal }: { readonly hub: string; readonly mqtt: string | true; readonly signal: AbortSignal },
): Promise<Feed> {
  const { brokerFeed } = await import('./broker_feed.ts');
  return await brokerFeed(client, { hub, address: mqtt === true ? undefined : mqtt, signal });
}

function describe({ sent, events, seconds }: { sent: SentCounts; events: EventCounts; seconds: number }): string {
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
