import type { HealthSource, SocketHealth } from '../model/health.ts';
import { type Consumption, USAGE_COUNTERS, type UsageCounts, type UsageStatistics } from '../model/usage.ts';

/**
 * What several hubs tell, as if one had told it:
 *
 *   what            numbers     times           what only one can say
 *   --------------  ----------  --------------  ---------------------------------------------------------------
 *   WebSocket       added up    the latest      of each hub, in `hubs`
 *   sources, zones  added up    the latest      how the last location came: whoever has the latest
 *                                               the connection: whoever has it, best where it stands
 *   months          added up    the whole time  ids: the first hub; what was configured: whoever has said it last
 *
 * All of it is the same whichever hub joins it, as long as the hubs are in the same order.
 */

/** The WebSockets of all hubs. */
export function joinedSockets(answers: readonly SocketHealth[]): SocketHealth {
  const sum = (name: SocketCount): number => answers.reduce((all, answer) => all + answer[name], 0);
  return {
    number_of_clients: sum('number_of_clients'),
    number_of_subscribers: sum('number_of_subscribers'),
    number_of_subscribers_locations: sum('number_of_subscribers_locations'),
    number_of_subscribers_trackable_motions: sum('number_of_subscribers_trackable_motions'),
    number_of_subscribers_fence_events: sum('number_of_subscribers_fence_events'),
    number_of_subscribers_collision_events: sum('number_of_subscribers_collision_events'),
    ...latestOf(answers, 'last_location_update_sent'),
    ...latestOf(answers, 'last_trackable_motion_update_sent'),
    ...latestOf(answers, 'last_fence_event_sent'),
    ...latestOf(answers, 'last_collision_event_sent'),
    hubs: answers.flatMap(({ hubs = [] }) => hubs),
  };
}

type SocketCount = Extract<keyof SocketHealth, `number_of_${string}`>;
type SocketTime = Extract<keyof SocketHealth, `last_${string}`>;

function latestOf(answers: readonly SocketHealth[], name: SocketTime): Partial<SocketHealth> {
  const times = answers.flatMap((answer) => answer[name] ?? []).toSorted((a, b) => Date.parse(a) - Date.parse(b));
  const latest = times.at(-1);
  return latest === undefined ? {} : { [name]: latest };
}

/** The sources of all hubs, each once, in the order in which they were met. */
export function joinedSources(lists: readonly (readonly HealthSource[])[]): HealthSource[] {
  const [first = [], ...others] = lists;
  const joined = new Map(first.map((source) => [source.id, source]));
  for (const source of others.flat()) {
    const known = joined.get(source.id);
    joined.set(source.id, known === undefined ? source : joinedSource(known, source));
  }
  return [...joined.values()];
}

function joinedSource(a: HealthSource, b: HealthSource): HealthSource {
  const latest = heardMs(b) > heardMs(a) ? b : a;
  const { reconnects, connection_established, uptime, hub } = connected(a, b);
  return {
    id: a.id,
    type: latest.type,
    number_of_updates: a.number_of_updates + b.number_of_updates,
    ...(latest.last_update_received !== undefined && { last_update_received: latest.last_update_received }),
    ...(latest.last_update_type !== undefined && { last_update_type: latest.last_update_type }),
    ...(reconnects !== undefined && { reconnects }),
    ...(connection_established !== undefined && { connection_established }),
    ...(uptime !== undefined && { uptime }),
    ...(hub !== undefined && { hub }),
  };
}

function heardMs({ last_update_received: heard }: HealthSource): number {
  return heard === undefined ? Number.NEGATIVE_INFINITY : Date.parse(heard);
}

/** Whoever has the connection of the two. While it moves from one to the other both may. */
function connected(a: HealthSource, b: HealthSource): HealthSource {
  if (a.connection_established !== undefined) return a;
  if (b.connection_established !== undefined) return b;
  return a.reconnects === undefined ? b : a;
}

/** A month of one hub. Without a configuration it is one that goes on, or whose end the hub has not seen. */
export type HubMonth = Pick<Consumption, 'id' | 'year' | 'month' | 'statistics'> &
  Partial<Pick<Consumption, 'timestamp_generated' | 'config'>>;

/** The months of all hubs, the earliest first. `now`: what is told of a month whose end nobody has seen. */
export function joinedMonths(
  months: readonly HubMonth[],
  now: Pick<Consumption, 'timestamp_generated' | 'config'>,
): Consumption[] {
  const byMonth = Map.groupBy(months, ({ year, month }) => 12 * year + month);
  return [...byMonth].toSorted(([a], [b]) => a - b).map(([, parts]) => joinedMonth(parts, now));
}

function joinedMonth(
  parts: readonly HubMonth[],
  now: Pick<Consumption, 'timestamp_generated' | 'config'>,
): Consumption {
  const [{ id, year, month }] = parts as [HubMonth];
  const statistics = joinedStatistics(parts.map((part) => part.statistics));
  const ended = parts.filter(
    (part): part is Consumption => part.config !== undefined && part.timestamp_generated !== undefined,
  );
  const [last, ...before] = ended.toSorted(
    (a, b) => Date.parse(b.timestamp_generated) - Date.parse(a.timestamp_generated),
  );
  const { timestamp_generated, config } = last ?? now;
  const known = before.reduce((all, each) => withMostActive(all, each.config), config);
  return { id, timestamp_generated, year, month, config: known, statistics };
}

/** Each hub has noted what was active at its own door, and it is not known which were the same. */
function withMostActive(config: Consumption['config'], other: Consumption['config']): Consumption['config'] {
  const types = config.locationproviders_by_type_no_active;
  const others = other.locationproviders_by_type_no_active;
  const names = Object.keys(types) as (keyof typeof types)[];
  return {
    ...config,
    trackables_no_active: Math.max(config.trackables_no_active, other.trackables_no_active),
    locationproviders_no_active: Math.max(config.locationproviders_no_active, other.locationproviders_no_active),
    locationproviders_by_type_no_active: Object.fromEntries(
      names.map((name) => [name, Math.max(types[name], others[name] ?? 0)]),
    ) as typeof types,
  };
}

function joinedStatistics(all: readonly UsageStatistics[]): UsageStatistics {
  const [first] = all as [UsageStatistics];
  const counts = USAGE_COUNTERS.map((name) => [name, all.reduce((sum, each) => sum + (each[name] ?? 0), 0)]);
  const [from] = all.map(({ range }) => range.from).toSorted((a, b) => Date.parse(a) - Date.parse(b));
  const to = all
    .map(({ range }) => range.to)
    .toSorted((a, b) => Date.parse(a) - Date.parse(b))
    .at(-1);
  return {
    ...first,
    // How long they have run at the same time is not known.
    uptime: Math.max(...all.map(({ uptime }) => uptime)),
    range: { from: from as string, to: to as string },
    ...(Object.fromEntries(counts) as UsageCounts),
  };
}
