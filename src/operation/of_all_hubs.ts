import type { HealthSource, MqttHealth, SocketHealth, SystemHealth } from '../model/health.ts';
import type { HistoryHealth } from '../model/history.ts';
import { parseLossless } from '../model/lossless_numbers.ts';
import { formatTime } from '../model/time.ts';
import type { Consumption } from '../model/usage.ts';
import type { Zone } from '../model/zone.ts';
import type { AllHubs, Question, UsageShare } from './gathered.ts';
import type { Health } from './health.ts';
import { type HubMonth, joinedMonths, joinedSockets, joinedSources } from './joined.ts';
import { monthOf } from './month.ts';
import { CURRENT, isEndedMonth, type KeptMonth, MONTHS_MAX, statisticsOf, withAllCounters } from './usage.ts';

/** How a cluster is doing: what its hubs tell of themselves, together. Only what is told of the system and of
 * MQTT is of this one. */
export class HealthOfAll {
  readonly #own: Health;
  readonly #hubs: Pick<AllHubs, 'ask'>;

  constructor(own: Health, hubs: Pick<AllHubs, 'ask'>) {
    this.#own = own;
    this.#hubs = hubs;
  }

  /** Why this hub should not be sent requests; undefined where it should. */
  get problem(): string | undefined {
    return this.#own.problem;
  }

  system(): SystemHealth {
    return this.#own.system();
  }

  mqtt(): MqttHealth {
    return this.#own.mqtt();
  }

  history(): HistoryHealth {
    return this.#own.history();
  }

  async socket(): Promise<SocketHealth> {
    const answered = await this.#hubs.ask({ ask: 'socket', about: '' });
    return joinedSockets(answered.map(({ value }) => value as SocketHealth));
  }

  async zones(zones: readonly Zone[]): Promise<readonly HealthSource[]> {
    const heard = new Map((await this.#sources('zones')).map((source) => [source.id, source]));
    return zones.map((zone) => ofZone(zone, heard.get(zone.id)));
  }

  async zone(zone: Zone): Promise<HealthSource> {
    const [heard] = await this.#sources('zone', zone.id);
    return ofZone(zone, heard);
  }

  sources(): Promise<readonly HealthSource[]> {
    return this.#sources('sources');
  }

  /** Undefined when nothing has come from it. */
  async source(id: string): Promise<HealthSource | undefined> {
    const [source] = await this.#sources('source', id);
    return source;
  }

  async #sources(ask: Question['ask'], about = ''): Promise<readonly HealthSource[]> {
    const answered = await this.#hubs.ask({ ask, about });
    return joinedSources(answered.map(({ value }) => value as readonly HealthSource[]));
  }
}

function ofZone({ id, type }: Zone, heard: HealthSource | undefined): HealthSource {
  return heard === undefined ? { id, type, number_of_updates: 0 } : { ...heard, type };
}

export interface UsageOfAllOptions {
  readonly hubs: Pick<AllHubs, 'ask'>;
  readonly hubId: string;
  /** What each hub has kept, those that are gone included: JSON texts by name, by the name of the hub. */
  kept(): ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** What is configured now, with the providers that were active since the month has begun. */
  config(active: ReadonlySet<string>): Consumption['config'];
  /** The time of day. */
  now(): number;
}

/**
 * What all hubs of a cluster have used, by month. Of a hub that answers it counts up to now, of any other what it has kept
 * last, no more than a minute before it went.
 */
export class UsageOfAll {
  readonly #options: UsageOfAllOptions;
  /** What was read of what is kept, by the text. */
  #read = new Map<string, HubMonth>();

  constructor(options: UsageOfAllOptions) {
    this.#options = options;
  }

  /** All months, the earliest first. */
  async all(): Promise<readonly Consumption[]> {
    const { hubs, config, now, kept } = this.#options;
    const answered = await hubs.ask({ ask: 'usage', about: '' });
    // Of two of the same name the one before is about to be expelled.
    const shares = new Map(answered.map(({ hub, value }) => [hub, value as UsageShare]));
    const texts = kept();
    const names = [...new Set([...texts.keys(), ...shares.keys()])].toSorted();
    const read = new Map<string, HubMonth>();
    const months = names.flatMap((hub) => this.#monthsOf(texts.get(hub) ?? new Map(), shares.get(hub), read));
    this.#read = read;
    const active = new Set([...shares.values()].flatMap((share) => share.active));
    const joined = joinedMonths(months, { timestamp_generated: formatTime(now()), config: config(active) });
    return joined.slice(-MONTHS_MAX - 1);
  }

  /** The month that goes on, up to now. */
  async current(): Promise<Consumption> {
    return (await this.all()).at(-1) as Consumption;
  }

  /** One month; undefined when nothing is known of it. */
  async month(year: number, month: number): Promise<Consumption | undefined> {
    return (await this.all()).find((each) => each.year === year && each.month === month);
  }

  /** The months of a hub: as it has told them, where it has, and as it has kept them. */
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
