import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { fenceOf, locationOf } from '../hub_process.ts';
import type { ClusterFindings } from './cluster_findings.ts';
import type { HubSeat } from './hub_seat.ts';

const KINDS = ['zones', 'fences', 'trackables'] as const;
type Kind = (typeof KINDS)[number];

const PROVIDERS = 30;

/** Acknowledged changes of a cluster, compared with the data that its other hubs return. */
export class Acknowledged {
  readonly #findings: ClusterFindings;
  /** Entities by path, as they were returned; undefined if deleted. */
  readonly #entities = new Map<string, object | undefined>();
  /** Paths of changes in flight. */
  readonly #changing = new Set<string>();
  /**
   * Paths of changes without a response, or rejected late: their outcome is unknown, but all hubs must have the same.
   */
  readonly #unsure = new Set<string>();
  /** Numbered locations by provider. */
  readonly #locations = new Map<string, Numbered>();

  constructor(findings: ClusterFindings) {
    this.#findings = findings;
  }

  /** Sends a random request to one hub, and often a read to another. Returns false if it was not acknowledged. */
  async ask(at: HubSeat, { other, own, random }: Asking): Promise<boolean> {
    const dice = random();
    if (dice < 0.6) return this.#locate(at, { other, provider: `${own} ${Math.floor(random() * PROVIDERS)}`, random });
    if (dice < 0.8) return this.#create(at, other, KINDS[Math.floor(random() * KINDS.length)] ?? 'zones');
    const paths = [...this.#entities].filter(([path, entity]) => entity !== undefined && this.#isFree(path));
    const [path, entity] = paths[Math.floor(random() * paths.length)] ?? [];
    if (path === undefined) return true;
    if (dice > 0.92) return this.#change(path, { at, other, method: 'DELETE', becomes: undefined });
    const becomes = { ...entity, name: `changed ${performance.now()}` };
    return this.#change(path, { at, other, method: 'PUT', body: becomes, becomes });
  }

  /** Compares the data of every hub with all acknowledgments, while no change is in flight. */
  async check(seats: readonly HubSeat[]): Promise<void> {
    const found = await Promise.all(seats.map((seat) => this.#entitiesOf(seat)));
    const [first] = found;
    for (const [path, entity] of this.#entities) {
      const wanted = this.#unsure.has(path) ? first?.get(path) : entity;
      this.#findings.count('entities compared at every hub');
      for (const [index, seat] of seats.entries()) {
        const shown = found[index]?.get(path);
        if (isDeepStrictEqual(shown, wanted)) continue;
        this.#findings.note('lost', `${path} is ${show(shown)} at hub ${seat.name}, not ${show(wanted)}`);
      }
      if (entity === undefined && !this.#unsure.has(path)) this.#entities.delete(path);
    }
    await Promise.all(seats.map((seat) => this.#checkLocations(seat)));
  }

  /** All entities that clients change, by path. */
  async #entitiesOf(seat: HubSeat): Promise<ReadonlyMap<string, object>> {
    const found = new Map<string, object>();
    for (const kind of KINDS) {
      const listed = await seat.request('GET', `/${kind}/summary`);
      if (listed?.status !== 200) this.#findings.note('wrong', `hub ${seat.name} lists no ${kind}: ${show(listed)}`);
      else for (const entity of listed.body) found.set(`/${kind}/${entity.id}`, entity);
    }
    return found;
  }

  async #checkLocations(seat: HubSeat): Promise<void> {
    const listed = await seat.request('GET', '/providers/locations');
    if (listed?.status !== 200) this.#findings.note('lost', `hub ${seat.name} lists no locations: ${show(listed)}`);
    const numbers = new Map<string, number>();
    for (const { provider_id: id, accuracy } of listed?.body ?? []) numbers.set(id, accuracy);
    for (const [provider, { sent, acknowledged }] of this.#locations) {
      const number = numbers.get(provider) ?? 0;
      if (number >= acknowledged && number <= sent) {
        this.#findings.count('of these read at every hub, or a later one');
        continue;
      }
      const range = `${acknowledged} to ${sent}`;
      this.#findings.note('lost', `${provider} has location ${number} at hub ${seat.name}, not one of ${range}`);
    }
  }

  async #locate(at: HubSeat, { other, provider, random }: Locating): Promise<boolean> {
    const numbered = this.#locations.get(provider) ?? { sent: 0, acknowledged: 0, lastMs: 0 };
    this.#locations.set(provider, numbered);
    // If two locations arrive out of order, the later one counts.
    while (Date.now() <= numbered.lastMs) await new Promise((resolve) => setTimeout(resolve, 1));
    numbered.lastMs = Date.now();
    const number = ++numbered.sent;
    const generated = new Date(numbered.lastMs).toISOString();
    const location = locationOf(provider, number % 50, { accuracy: number, timestamp_generated: generated });
    const path = `/providers/${encodeURIComponent(provider)}/location`;
    const answered = await at.request('PUT', path, location);
    if (answered?.status !== 204) return this.#refused(answered, path);
    numbered.acknowledged = number;
    this.#findings.count('locations acknowledged');
    if (random() < 0.3) await this.#readBack({ at, other }, path, number);
    return true;
  }

  async #readBack({ at, other }: Pair, path: string, number: number): Promise<void> {
    const { shown, isAway } = await readAt(other, at, path);
    if (shown === undefined || shown.status === 503) return;
    const isThere = shown.status === 200 && shown.body.accuracy >= number;
    if (isAway) return this.#countAway(isThere);
    this.#findings.count('reads right after a 204, at another hub');
    if (isThere) return;
    const found = shown.status === 200 ? shown.body.accuracy : shown.status;
    this.#findings.note(
      'lost',
      `GET ${path} at hub ${other.name} is ${found} after location ${number} was acknowledged`,
    );
  }

  /** An expelled hub serves reads of entities until it detects its expulsion. */
  #countAway(isThere: boolean): void {
    this.#findings.count('reads at a hub that was away');
    if (!isThere) this.#findings.count('of these behind');
  }

  #create(at: HubSeat, other: HubSeat, kind: Kind): Promise<boolean> {
    const id = randomUUID();
    const bodies = {
      zones: { id, type: 'rfid', position: { type: 'Point', coordinates: [9, 50] }, radius: 5, name: 'Zone ✓' },
      // Far from all walkers.
      fences: fenceOf(id, { name: 'Zaun "ä"', region: { type: 'Point', coordinates: [12, 50] } }),
      trackables: { id, type: 'omlox', location_providers: [`tag of ${id}`], properties: { text: '\u0000 😀' } },
    };
    const [body, method] = [bodies[kind], 'POST'];
    return this.#change(`/${kind}/${id}`, { at, other, method, to: `/${kind}`, body, becomes: body });
  }

  async #change(path: string, { at, other, method, to = path, body, becomes }: Change): Promise<boolean> {
    this.#changing.add(path);
    const answered = await at.request(method, to, body);
    const isDone = answered !== undefined && answered.status < 300;
    if (isDone) {
      this.#findings.count('changes of entities answered');
      this.#entities.set(path, becomes);
      await this.#compare({ at, other }, path, becomes);
    } else {
      this.#unsure.add(path);
      if (!this.#entities.has(path)) this.#entities.set(path, undefined);
    }
    this.#changing.delete(path);
    return isDone || this.#refused(answered, path);
  }

  async #compare({ at, other }: Pair, path: string, becomes: object | undefined): Promise<void> {
    const { shown, isAway } = await readAt(other, at, path);
    if (shown === undefined || shown.status === 503) return;
    const isThere = becomes === undefined ? shown.status === 404 : isDeepStrictEqual(shown.body, becomes);
    if (isAway) return this.#countAway(isThere);
    this.#findings.count('of these read at once at another hub');
    if (isThere) return;
    this.#findings.note('lost', `${path} is ${show(shown)} at hub ${other.name} after ${show(becomes)} was answered`);
  }

  #refused(answered: { readonly status: number } | undefined, path: string): false {
    if (answered !== undefined && answered.status !== 503) this.#findings.note('wrong', `${path}: ${show(answered)}`);
    return false;
  }

  #isFree(path: string): boolean {
    return !this.#changing.has(path) && !this.#unsure.has(path);
  }
}

interface Numbered {
  sent: number;
  acknowledged: number;
  lastMs: number;
}

/** The hub that has acknowledged a change, and another one. */
interface Pair {
  readonly at: HubSeat;
  readonly other: HubSeat;
}

interface Asking {
  /** Hub that is read afterwards. */
  readonly other: HubSeat;
  /** Name of the client, which is part of the names of its own providers. */
  readonly own: string;
  readonly random: () => number;
}

interface Locating extends Pick<Asking, 'other' | 'random'> {
  readonly provider: string;
}

interface Change {
  readonly at: HubSeat;
  readonly other: HubSeat;
  readonly method: string;
  readonly to?: string;
  readonly body?: unknown;
  readonly becomes: object | undefined;
}

/**
 * A read, and whether the hub was unavailable before or after it, or expelled by the hub with which its result is
 * compared.
 */
async function readAt(seat: HubSeat, by: HubSeat, path: string) {
  const wasAway = seat.isAway;
  const shown = await seat.request('GET', path);
  return { shown, isAway: wasAway || seat.isAway || seat.isExpelledBy([by]) };
}

function show(found: unknown): string {
  return JSON.stringify(found)?.slice(0, 300) ?? 'missing';
}
