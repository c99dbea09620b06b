import { type HealthSource, SocketHealth } from '../model/health.ts';
import { type Consumption, USAGE_COUNTERS, type UsageCounts, type UsageStatistics } from '../model/usage.ts';

/**
 * Merges the answers of several hubs into one:
 *
 *   answer          numbers  times         values of a single hub
 *   --------------  -------  ------------  --------------------------------------------------------------------
 *   WebSocket       sum      latest        listed per hub, in `hubs`
 *   sources, zones  sum      latest        path of the last location: of the hub with the latest one
 *                                          connection: of the hub that has it, an established one first
 *   months          sum      whole range   ids: of the first hub; configuration: of the latest report
 *
 * The result is the same at every hub, since all hubs merge in the same order.
 */

/** Merges the WebSocket health of all hubs. */
export function joinedSockets(answers: readonly SocketHealth[]): SocketHealth {
  const names = Object.keys(SocketHealth.properties) as (keyof SocketHealth)[];
  const merged = names.map((name) => {
    const values = answers.flatMap<unknown>((answer) => answer[name] ?? []);
    if (name.startsWith('number_of_')) return [name, (values as number[]).reduce((sum, count) => sum + count, 0)];
    return [name, name === 'hubs' ? values : inTime(values as string[]).at(-1)];
  });
  return Object.fromEntries(merged.filter(([, value]) => value !== undefined)) as SocketHealth;
}

/** Returns RFC 3339 times, earliest first. */
function inTime(times: readonly string[]): string[] {
  return times.toSorted((a, b) => Date.parse(a) - Date.parse(b));
}

/** Merges the sources of all hubs, in order of first appearance. */
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
  const last = lastReceivedMs(b) > lastReceivedMs(a) ? b : a;
  return {
    id: a.id,
    type: last.type,
    number_of_updates: a.number_of_updates + b.number_of_updates,
    ...pick(last, ['last_update_received', 'last_update_type']),
    ...pick(connected(a, b), ['reconnects', 'connection_established', 'uptime', 'hub']),
  };
}

/** Returns the named members that the source has. */
function pick(source: HealthSource, names: readonly (keyof HealthSource)[]): Partial<HealthSource> {
  return Object.fromEntries(names.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]]])));
}

function lastReceivedMs({ last_update_received: received }: HealthSource): number {
  return received === undefined ? Number.NEGATIVE_INFINITY : Date.parse(received);
}

/** Returns the source whose hub has the connection. While the connection moves between hubs, both may have it. */
function connected(a: HealthSource, b: HealthSource): HealthSource {
  if (a.connection_established !== undefined) return a;
  if (b.connection_established !== undefined) return b;
  return a.reconnects === undefined ? b : a;
}

/** A month of one hub. It has no configuration if the month is current, or if the hub left before its end. */
export type HubMonth = Pick<Consumption, 'id' | 'year' | 'month' | 'statistics'> &
  Partial<Pick<Consumption, 'timestamp_generated' | 'config'>>;

/** Merges the months of all hubs, earliest first. `now` is used for a month whose end no hub has recorded. */
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

/** Merges configurations by maxima, since each hub counts its own active objects, and their overlap is unknown. */
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
  const from = inTime(all.map(({ range }) => range.from)).at(0) as string;
  const to = inTime(all.map(({ range }) => range.to)).at(-1) as string;
  return {
    ...first,
    // The overlap of their uptimes is unknown.
    uptime: Math.max(...all.map(({ uptime }) => uptime)),
    range: { from, to },
    ...(Object.fromEntries(counts) as UsageCounts),
  };
}
