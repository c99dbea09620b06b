import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { fenceOf, type HubProcess, locationOf } from './hub_process.ts';

const KINDS = ['zones', 'fences', 'trackables'] as const;

interface Sent {
  readonly count: number;
  readonly atMs: number;
  isAcknowledged: boolean;
}

/** What a hub was sent, and what of that it has acknowledged: whatever happens then, it must have that. */
export class Ledger {
  /** Entities by path; undefined: deleted. */
  readonly #entities = new Map<string, object | undefined>();
  /** Paths of changes that were not answered: nobody knows. */
  readonly #unsure = new Set<string>();
  /** Numbered locations of each provider, since the last check. */
  readonly #locations = new Map<string, Sent[]>();

  get size(): number {
    return this.#entities.size;
  }

  /** One request of some kind. Returns false when the hub is gone, or going: then it refuses. */
  async ask(hub: HubProcess, own: string, random: () => number): Promise<boolean> {
    const dice = random();
    if (dice < 0.5) return this.#locate(hub, `${own} ${Math.floor(random() * 30)}`);
    if (dice < 0.8) return this.#create(hub, KINDS[Math.floor(random() * 3)] ?? 'zones');
    const paths = [...this.#entities.keys()].filter((path) => !this.#unsure.has(path));
    const path = paths[Math.floor(random() * paths.length)];
    if (path === undefined || this.#entities.get(path) === undefined) return true;
    return dice < 0.9 ? this.#replace(hub, path) : this.#remove(hub, path);
  }

  /** Checks that the hub has what it has acknowledged; of last locations what it has when `lostMs` before are lost. */
  async check(hub: HubProcess, { crashedAtMs, lostMs }: { crashedAtMs: number; lostMs: number }): Promise<void> {
    for (const [path, entity] of this.#entities) {
      const found = await hub.get(path);
      if (this.#unsure.has(path)) this.#entities.set(path, found?.status === 200 ? found.body : undefined);
      else if (entity === undefined) assert.equal(found?.status, 404, `${path} was deleted`);
      else assert.deepEqual(found?.body, entity, `${path} was acknowledged`);
    }
    this.#unsure.clear();
    for (const [provider, sent] of this.#locations) {
      const found = await hub.get(`/providers/${encodeURIComponent(provider)}/location`);
      const safe = sent.filter(({ atMs, isAcknowledged }) => isAcknowledged && atMs < crashedAtMs - lostMs);
      const least = safe.at(-1)?.count ?? 0;
      const count = found?.status === 200 ? found.body.accuracy : 0;
      const last = sent.at(-1)?.count ?? 0;
      assert.ok(count >= least && count <= last, `${provider} has location ${count}, not one of ${least} to ${last}`);
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
      // Refused, so it must not turn up.
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
      fences: fenceOf(id, { name: 'Zaun "ä"' }),
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
    // Two changes of one entity at once would leave open which is the last.
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
