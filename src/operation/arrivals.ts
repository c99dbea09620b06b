import { type HealthSource, INGRESS_PATHS, type IngressPath } from '../model/health.ts';
import type { ProviderType } from '../model/location.ts';
import { formatTime } from '../model/time.ts';
import type { Zone } from '../model/zone.ts';

/** Sources of locations that are remembered. A source may be as small as a provider, so there may be any number. */
const SOURCES_MAX = 100_000;
/** Characters of their names, which may be long: a tenth of what as many of the longest names would have. */
const CHARACTERS_MAX = 10_000_000;

interface Source {
  updates: number;
  lastMs: number;
  lastVia: IngressPath;
  providerType: ProviderType;
  /** Heard of since the search for one to forget came by. */
  fresh: boolean;
}

/** What is looked at of a location. */
interface Arrived {
  readonly source: string;
  readonly provider_id: string;
  readonly provider_type: ProviderType;
}

/** Where locations came from, one after the other. */
interface Came {
  readonly source: string;
  /** Of the last of them. */
  readonly providerType: ProviderType;
  readonly receivedMs: number;
  readonly via: IngressPath;
}

/** The connection to a positioning system that the hub has opened itself. */
export interface Connection {
  readonly zoneId: string;
  readonly reconnects: number;
  /** Undefined while it is down. */
  readonly establishedMs: number | undefined;
}

/**
 * Notes where locations come from: one look-up and a few numbers for each location. Sources are remembered up to a
 * limit; then one that has been silent gives way (second chance: a source that was heard of since the last search is
 * passed over once), and zones never do.
 */
export class Arrivals {
  readonly #zone: (name: string) => Zone | undefined;
  readonly #sourcesMax: number;
  readonly #sources = new Map<string, Source>();
  readonly #active = new Set<string>();
  readonly #accepted = Object.fromEntries(INGRESS_PATHS.map((way) => [way, 0])) as Record<IngressPath, number>;
  #characters = 0;
  #began = 0;

  /** `zone` finds one by id or foreign id. */
  constructor(zone: (name: string) => Zone | undefined, sourcesMax = SOURCES_MAX) {
    this.#zone = zone;
    this.#sourcesMax = sourcesMax;
  }

  /** A location was taken. hot */
  arrived(location: Arrived, receivedMs: number, via: IngressPath): void {
    this.heardOf(location.provider_id);
    const { source, provider_type: providerType } = location;
    this.came(1, { source, providerType, receivedMs, via });
  }

  /** A provider was heard of. What `began` says tells when this must be said again. */
  heardOf(provider: string): void {
    this.#active.add(provider);
  }

  /** Locations were taken from a source, of providers that were heard of. hot */
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

  /** Locations and proximities that were taken since the start, by the way on which they came in. */
  get accepted(): Readonly<Record<IngressPath, number>> {
    return this.#accepted;
  }

  /** How often providers were forgotten that had been heard of. */
  get began(): number {
    return this.#began;
  }

  /** Providers that were heard of since the last `beginMonth`, or were said to be. */
  get active(): ReadonlySet<string> {
    return this.#active;
  }

  /** Providers that were heard of this month before the hub was started. */
  wereActive(providers: Iterable<string>): void {
    for (const id of providers) this.#active.add(id);
  }

  beginMonth(): void {
    this.#active.clear();
    this.#began++;
  }

  /** Lets go of active providers that do not exist any more. */
  retain(exists: (provider: string) => boolean): void {
    for (const id of this.#active) if (!exists(id)) this.#active.delete(id);
    this.#began++;
  }

  /** All sources, whether they are zones or not, in the order in which they were met. */
  sources(): HealthSource[] {
    return [...this.#sources].map(([id, source]) => healthOf(id, this.#typeOf(id, source), source));
  }

  /** One source; undefined when nothing has come from it. */
  source(id: string): HealthSource | undefined {
    const source = this.#sources.get(id);
    return source && healthOf(id, this.#typeOf(id, source), source);
  }

  /** The health of a zone, which senders may call by its id and by its foreign id. */
  ofZone(zone: Zone, link?: { readonly connection: Connection; readonly nowMs: number }): HealthSource {
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
   * Sources that are passed over go to the end of the line; twice around, fresh ones have had their second chance. Returns
   * whether one gave way: there may be zones only.
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

function linkHealth({ reconnects, establishedMs }: Connection, nowMs: number): Partial<HealthSource> {
  if (establishedMs === undefined) return { reconnects };
  const uptime = Math.floor((nowMs - establishedMs) / 1000);
  return { reconnects, connection_established: formatTime(establishedMs), uptime };
}

/** A connection as whoever made it reports it. */
interface Reported {
  /** Zone id or foreign id. */
  readonly source: string;
  readonly reconnects: number;
  /** RFC 3339; undefined while it is down. */
  readonly connection_established: string | undefined;
}

/** Connections by the zones that they belong to; those to zones that do not exist are left out. */
export function connectionsOf(
  reported: readonly Reported[],
  zones: { zoneBy(name: string): Zone | undefined },
): Connection[] {
  return reported.flatMap(({ source, reconnects, connection_established: established }) => {
    const zoneId = zones.zoneBy(source)?.id;
    if (zoneId === undefined) return [];
    return [{ zoneId, reconnects, establishedMs: established === undefined ? undefined : Date.parse(established) }];
  });
}
