import { isObject } from '../model/json_tree.ts';
import { hubsOf, isLoop, ORIGIN_PROPERTY } from '../model/link.ts';
import { type ForeignIds, uuidHere } from './ids_here.ts';

/** A fence event of another hub, as this hub publishes it. */
export interface LinkedEvent {
  readonly id: string;
  readonly fenceId: string;
  /** The event, as a third party would post it. */
  readonly body: object;
}

export interface EventPassageSettings extends ForeignIds {
  /** Id of this hub. */
  readonly hubId: string;
}

/** Maximum number of remembered ids of events. */
const IDS_MAX = 100_000;

/** Ids of the last events that came by a link. All links of a hub share them: an event may come by several ways. */
export class KnownEvents {
  readonly #ids = new Set<string>();

  /** Returns false for a known id. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size <= IDS_MAX) return true;
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest);
      break;
    }
    return true;
  }

  /** Forgets an event that is not published after all. */
  delete(id: string): void {
    this.#ids.delete(id);
  }
}

/**
 * Decides which fence events of another hub this hub publishes, and converts them:
 *
 *     passed this hub or the other hub before, by hub.origin      looped
 *     an event with its id has come by any link                   duplicate
 *     otherwise                                                   passes
 */
export class EventPassage {
  readonly counts = { received: 0, duplicates: 0, looped: 0, malformed: 0 };
  readonly #settings: EventPassageSettings;
  readonly #known: KnownEvents;

  constructor(settings: EventPassageSettings, known: KnownEvents) {
    this.#settings = settings;
    this.#known = known;
  }

  /** Returns those of the events that pass. */
  take(events: readonly unknown[]): readonly LinkedEvent[] {
    return events.flatMap((event) => this.#one(event) ?? []);
  }

  #one(sent: unknown): LinkedEvent | undefined {
    const { id, fence_id: fenceId } = isObject(sent) ? sent : {};
    if (!isObject(sent) || typeof id !== 'string' || id === '' || typeof fenceId !== 'string') {
      this.counts.malformed++;
      return undefined;
    }
    this.counts.received++;
    const { hubId, peerId, idPrefix } = this.#settings;
    const hubs = hubsOf(sent);
    if (isLoop(hubs, [hubId, peerId])) {
      this.counts.looped++;
      return undefined;
    }
    const idHere = uuidHere(id, this.#settings);
    if (!this.#known.add(idHere)) {
      this.counts.duplicates++;
      return undefined;
    }
    return { id: idHere, fenceId: idPrefix + fenceId, body: this.#converted(sent, hubs) };
  }

  #converted(sent: Readonly<Record<string, unknown>>, hubs: readonly string[]): object {
    const { peerId, idPrefix } = this.#settings;
    const { id: _id, fence_id: _fence, ...rest } = sent;
    const { provider_id: provider, trackable_id: trackable, trackables, foreign_id: foreignId, properties } = sent;
    const own = isObject(properties) ? properties : {};
    return {
      ...rest,
      ...(typeof provider === 'string' && { provider_id: idPrefix + provider }),
      ...(typeof trackable === 'string' && { trackable_id: uuidHere(trackable, this.#settings) }),
      ...(Array.isArray(trackables) && { trackables: trackables.map((each) => uuidHere(`${each}`, this.#settings)) }),
      ...(typeof foreignId === 'string' && foreignId !== '' && { foreign_id: idPrefix + foreignId }),
      properties: { ...own, [ORIGIN_PROPERTY]: [...hubs, peerId] },
    };
  }
}
