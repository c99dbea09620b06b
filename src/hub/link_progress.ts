import type { DefinedWrite, DocumentsDeps } from '../entities/documents.ts';
import { LINKS } from '../entities/links.ts';
import type { LinkedEvent } from '../links/event_passage.ts';
import type { LinkProgress } from '../model/link.ts';
import { LINK_PROGRESS_PREFIX } from '../model/link.ts';
import { definedWrites } from '../store/entity_json.ts';
import type { ThirdPartyEvents } from './third_party_events.ts';

interface LinkProgressDeps extends Pick<ThirdPartyEvents, 'accept'> {
  readonly commit: DocumentsDeps['commit'];
  /** Whether a link exists: the last events of a deleted one are stored without progress. */
  exists(linkId: string): boolean;
  /** Whether other hubs receive the progress. */
  readonly isShared: boolean;
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Interval at which a cluster stores progress: each time is a record of its configuration log. */
const SHARED_MS = 1000;

/**
 * How far each link has read the event log of its hub, under the setting `link_progress <id>`. A single hub stores it in the
 * commit of the events. In a cluster it follows their log, so that the next hub which runs the link may read the last events
 * again; it knows their ids from the log.
 */
export class LinkProgressStore {
  readonly #deps: LinkProgressDeps;
  readonly #stored = new Map<string, LinkProgress>();
  readonly #waiting = new Map<string, LinkProgress>();
  #isScheduled = false;

  constructor(deps: LinkProgressDeps) {
    this.#deps = deps;
  }

  of(linkId: string): LinkProgress | undefined {
    return this.#stored.get(linkId);
  }

  /** Applies a stored setting; null if it was deleted. Returns false if the setting is not about the progress of links. */
  apply(name: string, json: string | null): boolean {
    if (!name.startsWith(LINK_PROGRESS_PREFIX)) return false;
    const id = name.slice(LINK_PROGRESS_PREFIX.length);
    if (json === null) this.#stored.delete(id);
    else this.#stored.set(id, JSON.parse(json) as LinkProgress);
    return true;
  }

  /** Stores links, and deletes the progress of deleted ones. */
  async commitLinks(
    documents: readonly DefinedWrite[],
    logged: Parameters<DocumentsDeps['commit']>[1],
  ): Promise<'applied' | undefined> {
    const ids = documents.flatMap(([name, link]) => (link === undefined ? [name.slice(LINKS.prefix.length)] : []));
    const obsolete = ids.filter((id) => this.#stored.has(id)).map((id) => LINK_PROGRESS_PREFIX + id);
    const applied = await this.#deps.commit(
      [...documents, ...obsolete.map((name) => [name, undefined] as const)],
      logged,
    );
    if (applied === undefined) for (const name of obsolete) this.apply(name, null);
    return applied;
  }

  /** Stores events and progress. See ThirdPartyEvents. */
  async accept(
    linkId: string,
    events: readonly LinkedEvent[],
    progress: LinkProgress | undefined,
  ): Promise<readonly string[]> {
    const { accept, exists, isShared } = this.#deps;
    const write =
      progress === undefined || !exists(linkId) ? [] : definedWrites([[LINK_PROGRESS_PREFIX + linkId, progress]]);
    const rejected = await accept(events, isShared ? [] : write);
    if (progress === undefined || !exists(linkId)) return rejected;
    if (isShared) await this.#storeLater(linkId, progress);
    else this.#stored.set(linkId, progress);
    return rejected;
  }

  /** Stores the progress that waits. Never rejects: the events after the stored one are read again. */
  async flush(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const writes = [...this.#waiting].map(([id, each]): DefinedWrite => [LINK_PROGRESS_PREFIX + id, each]);
    this.#waiting.clear();
    await this.#deps.commit(writes).catch(() => undefined);
  }

  /** The first progress is stored at once, because the next hub would begin with the newest event without it. */
  async #storeLater(linkId: string, progress: LinkProgress): Promise<void> {
    this.#waiting.set(linkId, progress);
    if (!this.#stored.has(linkId)) return this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#deps.schedule(SHARED_MS, () => {
      this.#isScheduled = false;
      void this.flush();
    });
  }
}
