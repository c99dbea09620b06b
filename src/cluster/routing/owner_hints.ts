import type { ClusterConfig } from '../config/cluster_config.ts';

/** Hub to which a client should send its locations. */
export interface OwnerHint {
  /** Name of the hub, as in `GET /v2/cluster/owners`. */
  readonly hub: string;
  /** URL at which clients reach it, if its settings have one. */
  readonly url?: string;
}

const URL_SETTING = 'client_url of hub ';

/** Names of the hubs, and the URLs at which clients reach them. Each hub announces its URL in the settings of the cluster. */
export class OwnerHints {
  readonly #config: ClusterConfig;
  /** By member id, as of `#settings`. */
  readonly #hints = new Map<string, OwnerHint>();
  #settings: ReadonlyMap<string, string> | undefined;

  constructor(config: ClusterConfig) {
    this.#config = config;
  }

  /** Announces the URL of a hub, if it has changed; undefined for none. */
  async announce(hubName: string, url: string | undefined): Promise<void> {
    const setting = URL_SETTING + hubName;
    const text = url === undefined ? null : JSON.stringify(url);
    if ((this.#config.settings.get(setting) ?? null) !== text) await this.#config.keepSettings([[setting, text]]);
  }

  /** Hint to a member; undefined once it has left. */
  to(incarnation: string): OwnerHint | undefined {
    const { settings } = this.#config;
    if (this.#settings !== settings) {
      this.#settings = settings;
      this.#hints.clear();
    }
    const found = this.#hints.get(incarnation);
    if (found !== undefined) return found;
    const hub = this.#config.state().members.get(incarnation)?.name;
    if (hub === undefined) return undefined;
    const url = this.#urlOf(hub);
    const hint = { hub, ...(url !== undefined && { url }) };
    this.#hints.set(incarnation, hint);
    return hint;
  }

  /** URLs of the hubs with these names that have announced one. */
  urlsOf(hubs: Iterable<string | null>): Readonly<Record<string, string>> {
    const urls: Record<string, string> = {};
    for (const hub of new Set(hubs)) {
      const url = hub === null ? undefined : this.#urlOf(hub);
      if (hub !== null && url !== undefined) urls[hub] = url;
    }
    return urls;
  }

  #urlOf(hub: string): string | undefined {
    const text = this.#config.settings.get(URL_SETTING + hub);
    return text === undefined ? undefined : (JSON.parse(text) as string);
  }
}
