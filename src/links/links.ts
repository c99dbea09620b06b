import { hubsOf, LINK_EVENT_TOPIC, type Link, type LinkState, ORIGIN_PROPERTY } from '../model/link.ts';
import { LinkRunner, type LinkRunnerDeps } from './link_runner.ts';
import { KnownEvents } from './event_passage.ts';
import { NewestItems } from './newest_items.ts';
import { keyOf, timeOf } from './passage.ts';

export interface LinksDeps extends Omit<LinkRunnerDeps, 'newest' | 'knownEvents' | 'prepare'> {
  /** The last locations of this hub, as JSON. Rejects with HUB_UNAVAILABLE. */
  ownLocations(): Promise<readonly string[]>;
  /** Yields recent fence events of this hub, as JSON. */
  ownEvents(): AsyncIterable<string>;
  /** Stored links. */
  links(): readonly Link[];
  /** Whether this hub runs the link: in a cluster, one hub does. */
  isElected(id: string): boolean;
}

/** Locations that are parsed between yields. */
const PREPARED_AT_ONCE = 200;

interface Running {
  readonly link: Link;
  readonly runner: LinkRunner;
}

/**
 * The links that this hub runs: those that are enabled and, in a cluster, for which it is elected. A changed link is
 * stopped and started again. The next elected hub reads the last location of every object, so it continues where the
 * former one has stopped.
 */
export class Links {
  readonly #deps: LinksDeps;
  readonly #running = new Map<string, Running>();
  readonly #newest = new NewestItems();
  readonly #knownEvents = new KnownEvents();
  /** Stopped runners whose last batch is in flight. */
  readonly #stopping = new Set<Promise<void>>();
  #isClosed = false;

  constructor(deps: LinksDeps) {
    this.#deps = deps;
  }

  /** Starts and stops runners until they match the stored links and the election. */
  refresh(): void {
    if (this.#isClosed) return;
    const { links, isElected } = this.#deps;
    const wanted = new Map(
      links().flatMap((link) => (link.enabled !== false && isElected(link.id) ? [[link.id, link] as const] : [])),
    );
    for (const [id, { link, runner }] of this.#running) {
      if (wanted.get(id) === link) continue;
      this.#running.delete(id);
      this.#stop(runner);
    }
    for (const [id, link] of wanted) {
      if (this.#running.has(id)) continue;
      const runner = new LinkRunner(link, {
        ...this.#deps,
        ...{ newest: this.#newest, knownEvents: this.#knownEvents },
        prepare: () => this.#prepare(link),
      });
      this.#running.set(id, { link, runner });
      runner.start();
    }
  }

  /** The state of a link; undefined unless this hub runs it. */
  state(id: string): LinkState | undefined {
    return this.#running.get(id)?.runner.state();
  }

  /** Disconnects. Resolves when all batches in flight are committed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { runner } of this.#running.values()) this.#stop(runner);
    this.#running.clear();
    await Promise.all(this.#stopping);
  }

  /** Notes last locations and events of this hub: a link may have received them before a restart, or on another hub. */
  async #prepare({ topics }: Link): Promise<void> {
    const { ownLocations, hubId, turns } = this.#deps;
    // The progress of a changed link is stored by its former runner.
    await Promise.all(this.#stopping);
    for (const [index, json] of (await ownLocations()).entries()) {
      if (index % PREPARED_AT_ONCE === 0) await turns.next();
      const location = JSON.parse(json) as Readonly<Record<string, unknown>>;
      const key = keyOf('location_updates', String(location['provider_id']));
      this.#newest.offer(key, { timeMs: timeOf(location), origin: hubsOf(location)[0] ?? hubId });
    }
    if (topics?.includes(LINK_EVENT_TOPIC) !== true) return;
    for await (const json of this.#deps.ownEvents()) {
      if (json.includes(ORIGIN_PROPERTY)) this.#knownEvents.add((JSON.parse(json) as { readonly id: string }).id);
    }
  }

  #stop(runner: LinkRunner): void {
    const stopping = runner.stop().finally(() => this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }
}
