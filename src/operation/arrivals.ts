import { type HealthSource, INGRESS_PATHS, type IngressPath } from '../model/health.ts';
import type { ProviderType } from '../model/location.ts';
import { formatTime } from '../model/time.ts';
import type { Zone } from '../model/zone.ts';

/**
 * Maximum number of tracked sources. Every provider may have a source of its own, so the number of sources is not
 * limited otherwise.
 */
const SOURCES_MAX = 100_000;
/** Maximum total length of source names: a tenth of SOURCES_MAX names of maximum length. */
const CHARACTERS_MAX = 10_000_000;

interface Source {
  updates: number;
  lastMs: number;
  lastVia: IngressPath;
  providerType: ProviderType;
  /** Whether it has sent locations since the last eviction scan. */
  fresh: boolean;
}

/** Members of a location that are counted. */
interface Arrived {
  readonly source: string;
  readonly provider_id: string;
  readonly provider_type: ProviderType;
}

/** Origin of consecutive locations. */
interface Came {
  readonly source: string;
  /** Provider type of the last location. */
  readonly providerType: ProviderType;
  readonly receivedMs: number;
  readonly via: IngressPath;
}

/** A connection to a positioning system, opened by the hub. */
export interface SourceConnection {
  readonly zoneId: string;
  readonly reconnects: number;
  /** Time at which the connection was established; undefined while disconnected. */
  readonly establishedMs: number | undefined;
}

/**
 * Counts locations by source, with one lookup per location. The number of sources is bounded. Beyond the bound, a
 * silent source is evicted; a source that has sent locations since the last scan is skipped once (second chance). Zones
 * are never evicted.
 */
export class Arrivals {
  readonly #zone: (name: string) => Zone | undefined;
  readonly #sourcesMax: number;
  readonly #sources = new Map<string, Source>();
  readonly #active = new Set<string>();
  readonly #accepted = Object.fromEntries(INGRESS_PATHS.map((way) => [way, 0])) as Record<IngressPath, number>;
  #characters = 0;
  #began = 0;

  /** `zone` finds a zone by id or foreign id. */
  constructor(zone: (name: string) => Zone | undefined, sourcesMax = SOURCES_MAX) {
    this.#zone = zone;
    this.#sourcesMax = sourcesMax;
  }

  /** Counts an accepted location. hot */
  arrived(location: Arrived, receivedMs: number, via: IngressPath): void {
    this.markActive(location.provider_id);
    const { source, provider_type: providerType } = location;
    this.came(1, { source, providerType, receivedMs, via });
  }

  /** Marks a provider as active. Repeat it when `began` changes. */
  markActive(provider: string): void {
    this.#active.add(provider);
  }

  /** Counts accepted locations of a source whose providers are marked as active. hot */
  came(count: number, from: Came): void {
    const { source, providerType, receivedMs, via } = from;
    this.#accepted[via] += count;
    const known = this.#sources.get(source);
    if (known === undefined) {
      this.#meet(count, from);
      return;
    }
    known.updates += count;
    known.lastMs = receivedMs;
    known.lastVia = via;
    known.providerType = providerType;
    known.fresh = true;
  }

  /** Locations and proximities accepted since start, by ingress path. */
  get accepted(): Readonly<Record<IngressPath, number>> {
    return this.#accepted;
  }

  /** Number of times that active providers were reset. */
  get began(): number {
    return this.#began;
  }

  /** Providers marked as active since the last `beginMonth`. */
  get active(): ReadonlySet<string> {
    return this.#active;
  }

  /** Marks providers that were active this month before the hub started. */
  wereActive(providers: Iterable<string>): void {
    for (const id of providers) this.#active.add(id);
  }

  beginMonth(): void {
    this.#active.clear();
    this.#began++;
  }

  /** Removes deleted providers. */
  retain(exists: (provider: string) => boolean): void {
    for (const id of this.#active) if (!exists(id)) this.#active.delete(id);
    this.#began++;
  }

  /** Returns all sources, zones or not, in order of their first location. */
  sources(): HealthSource[] {
    return [...this.#sources].map(([id, source]) => healthOf(id, this.#typeOf(id, source), source));
  }

  /** Returns a source; undefined if it has sent nothing. */
  source(id: string): HealthSource | undefined {
    const source = this.#sources.get(id);
    return source && healthOf(id, this.#typeOf(id, source), source);
  }

  /** Returns the health of a zone, whose senders may use its id or foreign id as the source. */
  ofZone(zone: Zone, link?: { readonly connection: SourceConnection; readonly nowMs: number }): HealthSource {
    const names = [zone.id, zone.foreign_id].filter((name) => name != null && this.#zone(name)?.id === zone.id);
    const sources = [...new Set(names)].map((name) => this.#sources.get(name as string));
    const found = sources.filter((source) => source !== undefined).sort((a, b) => b.lastMs - a.lastMs);
    const updates = found.reduce((sum, source) => sum + source.updates, 0);
    const health = healthOf(zone.id, zone.type, found[0] && { ...found[0], updates });
    return link === undefined ? health : { ...health, ...linkHealth(link.connection, link.nowMs) };
  }

  #typeOf(id: string, source: Source): HealthSource['type'] {
    return this.#zone(id)?.type ?? source.providerType;
  }

  #meet(updates: number, { source: id, providerType, receivedMs: lastMs, via: lastVia }: Came): void {
    while (this.#sources.size >= this.#sourcesMax || this.#characters + id.length > CHARACTERS_MAX) {
      if (!this.#forgetOne()) break;
    }
    this.#characters += id.length;
    this.#sources.set(id, { updates, lastMs, lastVia, providerType, fresh: updates > 1 });
  }

  /**
   * Evicts one source. Skipped sources move to the end, so within two rounds each has used its second chance. Returns
   * false if all sources are zones.
   */
  #forgetOne(): boolean {
    let left = 2 * this.#sources.size;
    for (const [id, source] of this.#sources) {
      if (left-- === 0) return false;
      this.#sources.delete(id);
      if (!source.fresh && this.#zone(id) === undefined) {
        this.#characters -= id.length;
        return true;
      }
      source.fresh = false;
      this.#sources.set(id, source);
    }
    return false;
  }
}

function healthOf(id: string, type: HealthSource['type'], source: Source | undefined): HealthSource {
  if (source === undefined) return { id, type, number_of_updates: 0 };
  return {
    id,
    type,
    number_of_updates: source.updates,
    last_update_received: formatTime(source.lastMs),
    last_update_type: source.lastVia,
  };
}

function linkHealth({ reconnects, establishedMs }: SourceConnection, nowMs: number): Partial<HealthSource> {
  if (establishedMs === undefined) return { reconnects };
  const uptime = Math.floor((nowMs - establishedMs) / 1000);
  return { reconnects, connection_established: formatTime(establishedMs), uptime };
}

/** A connection as reported by its owner. */
interface Reported {
  /** Zone id or foreign id. */
  readonly source: string;
  readonly reconnects: number;
  /** RFC 3339 time; undefined while disconnected. */
  readonly connection_established: string | undefined;
}

/** Returns connections by zone, without those of zones that do not exist. */
export function connectionsOf(
  reported: readonly Reported[],
  zones: { zoneBy(name: string): Zone | undefined },
): SourceConnection[] {
  return reported.flatMap(({ source, reconnects, connection_established: established }) => {
    const zoneId = zones.zoneBy(source)?.id;
    if (zoneId === undefined) return [];
    return [{ zoneId, reconnects, establishedMs: established === undefined ? undefined : Date.parse(established) }];
  });
}
