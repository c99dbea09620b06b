import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Findings } from './findings.ts';
import { fenceOf, type HubProcess, locationOf } from './hub_process.ts';

const KINDS = ['zones', 'fences', 'trackables'] as const;

/** End of a hub, and the age of last locations that it may have lost. */
export interface Crash {
  readonly crashedAtMs: number;
  readonly lostMs: number;
}

interface Sent {
  readonly count: number;
  readonly atMs: number;
  isAcknowledged: boolean;
}

/** Requests to a hub and its acknowledgments. The hub must never lose an acknowledged change. */
export class Ledger {
  /** Entities by path; undefined if deleted. */
  readonly #entities = new Map<string, object | undefined>();
  /** Paths of changes without a response, whose outcome is unknown. */
  readonly #unsure = new Set<string>();
  /** Numbered locations of each provider, since the previous check. */
  readonly #locations = new Map<string, Sent[]>();

  /** Sends a random request. Returns false if the hub has exited, or is shutting down and rejects it. */
  async ask(hub: HubProcess, own: string, random: () => number): Promise<boolean> {
    const dice = random();
    if (dice < 0.5) return this.#locate(hub, `${own} ${Math.floor(random() * 30)}`);
    if (dice < 0.8) return this.#create(hub, KINDS[Math.floor(random() * 3)] ?? 'zones');
    const paths = [...this.#entities.keys()].filter((path) => !this.#unsure.has(path));
    const path = paths[Math.floor(random() * paths.length)];
    if (path === undefined || this.#entities.get(path) === undefined) return true;
    return dice < 0.9 ? this.#replace(hub, path) : this.#remove(hub, path);
  }

  /** Compares the data of the hub with its acknowledgments. The last `lostMs` before the crash may be lost. */
  async check(hub: HubProcess, findings: Findings, { crashedAtMs, lostMs }: Crash): Promise<void> {
    const found = await entitiesOf(hub);
    for (const [path, entity] of this.#entities) {
      if (this.#unsure.has(path)) {
        this.#entities.set(path, found.get(path));
        continue;
      }
      findings.count(entity === undefined ? 'deletions acknowledged' : 'entities acknowledged');
      if (isDeepStrictEqual(found.get(path), entity)) findings.count('of these found as acknowledged');
      else findings.wrong(`${path} is ${JSON.stringify(found.get(path))}, acknowledged was ${JSON.stringify(entity)}`);
      // A confirmed deletion is not checked again.
      if (entity === undefined) this.#entities.delete(path);
    }
    this.#unsure.clear();
    await this.#checkLocations(hub, findings, crashedAtMs - lostMs);
  }

  async #checkLocations(hub: HubProcess, findings: Findings, safeMs: number): Promise<void> {
    const listed = await hub.get('/providers/locations');
    const counts = new Map<string, number>();
    for (const { provider_id: id, accuracy } of listed?.body ?? []) counts.set(id, accuracy);
    for (const [provider, sent] of this.#locations) {
      const least = sent.filter(({ atMs, isAcknowledged }) => isAcknowledged && atMs < safeMs).at(-1)?.count ?? 0;
      const count = counts.get(provider) ?? 0;
      const last = sent.at(-1)?.count ?? 0;
      if (least > 0) findings.count('last locations that must be there');
      if (count < least || count > last)
        findings.wrong(`${provider} has location ${count}, not one of ${least} to ${last}`);
      else if (least > 0) findings.count('of these found, or a later one');
      this.#locations.set(provider, [{ count, atMs: 0, isAcknowledged: true }]);
    }
  }

  async #locate(hub: HubProcess, provider: string): Promise<boolean> {
    const sent = this.#locations.get(provider) ?? [];
    this.#locations.set(provider, sent);
    const entry = { count: (sent.at(-1)?.count ?? 0) + 1, atMs: 0, isAcknowledged: false };
    sent.push(entry);
    const location = locationOf(provider, entry.count % 50, { accuracy: entry.count });
    const answered = await hub.put(`/providers/${encodeURIComponent(provider)}/location`, location);
    if (answered === undefined) return false;
    if (answered.status === 503) {
      // It was rejected, so it must not be stored.
      sent.pop();
      return false;
    }
    assert.equal(answered.status, 204, JSON.stringify(answered.body));
    entry.isAcknowledged = true;
    entry.atMs = performance.now();
    return true;
  }

  async #create(hub: HubProcess, kind: (typeof KINDS)[number]): Promise<boolean> {
    const id = randomUUID();
    const path = `/${kind}/${id}`;
    const bodies = {
      zones: { id, type: 'rfid', position: { type: 'Point', coordinates: [9, 50] }, radius: 5, name: 'Zone ✓' },
      // Far from all walkers.
      fences: fenceOf(id, { name: 'Zaun "ä"', region: { type: 'Point', coordinates: [12, 50] } }),
      trackables: { id, type: 'omlox', location_providers: ['a 0'], properties: { text: '\u0000 😀' } },
    };
    return this.#change(path, () => hub.post(`/${kind}`, bodies[kind]), 201);
  }

  #replace(hub: HubProcess, path: string): Promise<boolean> {
    const changed = { ...this.#entities.get(path), name: `changed ${performance.now()}` };
    return this.#change(
      path,
      async () => {
        const answered = await hub.put(path, changed);
        return answered && { status: answered.status < 300 ? 200 : answered.status, body: changed };
      },
      200,
    );
  }

  #remove(hub: HubProcess, path: string): Promise<boolean> {
    return this.#change(path, () => hub.request('DELETE', path), 204);
  }

  async #change(
    path: string,
    change: () => Promise<{ status: number; body: object | undefined } | undefined>,
    status: number,
  ): Promise<boolean> {
    // The order of two concurrent changes of one entity would be unknown.
    this.#unsure.add(path);
    this.#entities.set(path, this.#entities.get(path));
    const answered = await change();
    if (answered === undefined) return false;
    if (answered.status === 503) {
      this.#unsure.delete(path);
      return false;
    }
    assert.equal(answered.status, status, `${path}: ${JSON.stringify(answered.body)}`);
    this.#entities.set(path, answered.body);
    this.#unsure.delete(path);
    return true;
  }
}

/** All entities of the hub that a ledger changes, by path. */
async function entitiesOf(hub: HubProcess): Promise<ReadonlyMap<string, object>> {
  const found = new Map<string, object>();
  for (const kind of KINDS) {
    const listed = await hub.get(`/${kind}/summary`);
    for (const entity of listed?.body ?? []) found.set(`/${kind}/${entity.id}`, entity);
  }
  return found;
}
