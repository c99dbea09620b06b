import createClient, { type Client } from 'openapi-fetch';
import type { components, paths } from './generated.ts';
import { Publisher, type PublisherOptions } from './publisher.ts';
import { type SubscribeOptions, Subscription } from './subscription.ts';
import { fixedToken, type TokenSource } from './tokens.ts';
import type { Topic } from './topics.ts';

export type { components, paths } from './generated.ts';
export { Picture } from './picture.ts';
export { PublishError, Publisher, type PublisherOptions } from './publisher.ts';
export { type Item, type Status, type SubscribeOptions, Subscription, SubscriptionError } from './subscription.ts';
export { type ClientCredentials, clientCredentials, fixedToken, type TokenSource } from './tokens.ts';
export type { ChangeEvent, Membership, SubscriptionParams, Topic, Topics } from './topics.ts';

/** The entities of the hub's API, by their names in its OpenAPI document. */
export type Schemas = components['schemas'];

export interface HubOptions {
  /** An access token, or a source of tokens, for hubs that require one. */
  readonly token?: string | TokenSource;
  readonly fetch?: typeof fetch;
  readonly WebSocket?: typeof WebSocket;
  /** Numbers from 0 to 1; `Math.random` by default. */
  readonly random?: () => number;
  /** Current time in milliseconds; `Date.now` by default. */
  readonly now?: () => number;
}

/** What a hub has in addition to the omlox Hub API. */
export interface Features {
  /** Whether subscriptions continue after a cursor. */
  readonly eventLog: boolean;
  /** Whether the hub has a history of positions. */
  readonly history: boolean;
  /** Name and version of the hub, as it states them; undefined if it does not. */
  readonly version: string | undefined;
}

/** A location hub: typed requests, subscriptions that stay complete, and publishing. */
export class LocationHub {
  /** The REST API: `hub.rest.GET('/zones/summary')`. */
  readonly rest: Client<paths>;
  readonly #url: string;
  readonly #tokens: TokenSource;
  readonly #fetch: typeof fetch;
  readonly #options: HubOptions;

  /** `url` is that of the API with its version, such as `http://127.0.0.1:8081/hub/v2`. */
  constructor(url: string, options: HubOptions = {}) {
    this.#url = url.replace(/\/$/, '');
    const { token } = options;
    this.#tokens = typeof token === 'object' ? token : fixedToken(token);
    this.#options = options;
    this.#fetch = authorized(options.fetch ?? fetch, this.#tokens);
    this.rest = createClient<paths>({ baseUrl: this.#url, fetch: this.#fetch });
  }

  /** Subscribes to a topic. Iterate over the result; leaving the loop ends the subscription. */
  subscribe<T extends Topic>(topic: T, options: SubscribeOptions = {}): Subscription<T> {
    const connection = {
      socketUrl: `${this.#url.replace(/^http/, 'ws')}/ws/socket`,
      tokens: this.#tokens,
      read: this.#read,
      hasEventLog: () => this.#has('/events?after=newest&limit=1'),
      WebSocket: this.#options.WebSocket ?? WebSocket,
      random: this.#options.random ?? Math.random,
    };
    return new Subscription(topic, connection, options);
  }

  /** Returns a queue that sends locations in batches. */
  publisher(options: PublisherOptions = {}): Publisher {
    const { random = Math.random, now = Date.now } = this.#options;
    return new Publisher({ url: this.#url, fetch: this.#fetch, read: this.#read, random, now }, options);
  }

  /** Asks the hub what it has. Rejects if it cannot be reached. */
  async features(): Promise<Features> {
    const [eventLog, history, version] = await Promise.all([
      this.#has('/events?after=newest&limit=1'),
      this.#has('/health/history', (body) => (body as { readonly enabled?: boolean }).enabled === true),
      this.#read('/version').then(
        (body) => (body as { readonly hub_version?: string }).hub_version,
        () => undefined,
      ),
    ]);
    return { eventLog, history, version };
  }

  readonly #read = async (path: string): Promise<unknown> => {
    const response = await this.#fetch(this.#url + path);
    if (!response.ok) throw new Error(`GET ${path}: status ${response.status}`);
    return response.json();
  };

  /** Whether a path answers 200, with a body that fits. Rejects if the hub cannot answer at the moment. */
  async #has(path: string, fits: (body: unknown) => boolean = () => true): Promise<boolean> {
    const response = await this.#fetch(this.#url + path);
    if (response.status >= 500) throw new Error(`GET ${path}: status ${response.status}`);
    const text = await response.text();
    if (response.status !== 200) return false;
    try {
      return fits(JSON.parse(text));
    } catch {
      // Foreign servers may answer any path with a page.
      return false;
    }
  }
}

/** Returns a fetch that adds the token, and repeats a request once with another token if the hub answers 401. */
function authorized(send: typeof fetch, tokens: TokenSource): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const token = await tokens.token();
    if (token === undefined) return send(request);
    const repeated = request.clone();
    request.headers.set('Authorization', `Bearer ${token}`);
    const response = await send(request);
    if (response.status !== 401) return response;
    tokens.refused(token);
    const next = await tokens.token();
    if (next === undefined || next === token) return response;
    repeated.headers.set('Authorization', `Bearer ${next}`);
    return send(repeated);
  };
}
