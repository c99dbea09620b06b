import type { HealthSource } from '../model/health.ts';
import { parseLossless } from '../model/lossless_numbers.ts';
import { formatTime } from '../model/time.ts';
import type { Consumption } from '../model/usage.ts';
import type { Zone } from '../model/zone.ts';
import { type AllHubs, askHubs, type UsageShare } from './hub_queries.ts';
import type { Health } from './health.ts';
import { type HubMonth, joinedMonths, joinedSockets, joinedSources } from './merge_answers.ts';
import { monthOf } from './month.ts';
import { CURRENT, isEndedMonth, type KeptMonth, MONTHS_MAX, statisticsOf, withAllCounters } from './usage.ts';

/** Returns the health of a cluster: the merged answers of all hubs. Other parts are those of this hub. */
export function clusterWideHealth(own: Health, hubs: Pick<AllHubs, 'ask'>) {
  const sources = async (ask: 'zones' | 'sources', about?: string): Promise<readonly HealthSource[]> =>
    joinedSources((await askHubs(hubs, ask, about)).map(({ value }) => value));
  return {
    get problem() {
      return own.problem;
    },
    system: () => own.system(),
    mqtt: () => own.mqtt(),
    history: () => own.history(),
    owners: () => own.owners(),
    ownerOf: (providerId: string) => own.ownerOf(providerId),
    socket: async () => joinedSockets((await askHubs(hubs, 'socket')).map(({ value }) => value)),
    async zones(zones: readonly Zone[]): Promise<readonly HealthSource[]> {
      const only = zones.length === 1 ? zones[0]?.id : undefined;
      const found = new Map((await sources('zones', only)).map((source) => [source.id, source]));
      return zones.map((zone) => ofZone(zone, found.get(zone.id)));
    },
    sources: (id?: string) => sources('sources', id),
  };
}

function ofZone({ id, type }: Zone, source: HealthSource | undefined): HealthSource {
  return source === undefined ? { id, type, number_of_updates: 0 } : { ...source, type };
}

export interface ClusterWideUsageOptions {
  readonly hubs: Pick<AllHubs, 'ask'>;
  readonly hubId: string;
  /** Returns the stored usage of all hubs, including departed ones: JSON by setting name, by hub name. */
  stored(): ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Returns the current configuration, given the providers active in the current month. */
  config(active: ReadonlySet<string>): Consumption['config'];
  /** Wall-clock time. */
  now(): number;
}

/**
 * Usage of all hubs of a cluster, by month. A hub that answers is counted up to now; any other hub up to its last save,
 * at most a minute before it left.
 */
export class ClusterWideUsage {
  readonly #options: ClusterWideUsageOptions;
  /** Parsed months, by their JSON. */
  #read = new Map<string, HubMonth>();

  constructor(options: ClusterWideUsageOptions) {
    this.#options = options;
  }

  /** All months, earliest first. */
  async all(): Promise<readonly Consumption[]> {
    const { hubs, config, now, stored } = this.#options;
    const answered = await askHubs(hubs, 'usage');
    // If two members have the same name, the later one counts, since the earlier one is about to be expelled.
    const shares = new Map(answered.map(({ hub, value }) => [hub, value]));
    const texts = stored();
    const names = [...new Set([...texts.keys(), ...shares.keys()])].toSorted();
    const read = new Map<string, HubMonth>();
    const months = names.flatMap((hub) => this.#monthsOf(texts.get(hub) ?? new Map(), shares.get(hub), read));
    this.#read = read;
    const active = new Set([...shares.values()].flatMap((share) => share.active));
    const joined = joinedMonths(months, { timestamp_generated: formatTime(now()), config: config(active) });
    return joined.slice(-MONTHS_MAX - 1);
  }

  /** Returns the months of a hub, from its answer or else from its stored usage. */
  #monthsOf(
    texts: ReadonlyMap<string, string>,
    share: UsageShare | undefined,
    read: Map<string, HubMonth>,
  ): readonly HubMonth[] {
    const byName = new Map<string, HubMonth>();
    for (const [name, text] of [...texts, ...(share?.ended ?? [])]) {
      if (!isEndedMonth(name) && name !== CURRENT) continue;
      const month = this.#read.get(text) ?? this.#monthIn(name, text);
      read.set(text, month);
      byName.set(name, month);
    }
    if (share !== undefined) byName.set(CURRENT, this.#goingOn(share.month));
    return [...byName.values()];
  }

  #monthIn(name: string, text: string): HubMonth {
    const value = parseLossless(text);
    return name === CURRENT ? this.#goingOn(withAllCounters(value as KeptMonth)) : (value as Consumption);
  }

  #goingOn(month: KeptMonth): HubMonth {
    return { id: month.id, ...monthOf(month.fromMs), statistics: statisticsOf(month, this.#options.hubId) };
  }
}
