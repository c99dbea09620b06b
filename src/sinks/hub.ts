import { messageOf as errorText } from '../errors.ts';
import { parseJson } from '../model/json.ts';
import { isObject } from '../model/json_tree.ts';
import { hubsOf, isLoop, ORIGIN_PROPERTY } from '../model/link.ts';
import type { Sink } from '../model/sink.ts';
import { failureOf, reasonOfFailure } from '../model/target_failure.ts';
import { problemOf } from '../problem.ts';
import { discard, type Peer, RemoteApi } from '../remote/remote_api.ts';
import type { Outcome, QueuedEvent } from './delivery_queue.ts';
import { outcomeOf } from './http_outcome.ts';
import { messageLimits, type OpenedSender, type SenderDeps, tooSlow } from './sender.ts';

const TIMEOUT_MS = 15_000;
const BATCH_MAX = 1000;
/** The positions must be up to date soon after an outage, so the delays are short, and the last one repeats. */
const RETRIES = { delaysMs: [0, 500, 1000, 2000, 3000], repeatsLast: true } as const;
/** Statuses for an item that the other hub will never accept. */
const INVALID = new Set([400, 422]);

/**
 * Opens a sink that sends locations to another hub, as its providers would. Only one batch is in flight. In the meantime the
 * queue retains the newest location of each object, which adapts the sink to the pace of the other hub.
 */
export function openHub(sink: Sink, deps: SenderDeps): OpenedSender {
  const limits = {
    ...messageLimits(sink),
    batchMax: sink.batch_max ?? BATCH_MAX,
    concurrency: 1,
    retries: RETRIES,
  };
  const sender = new HubSender(sink, deps);
  return { limits, sender: { send: (...sent) => sender.send(...sent), close: async () => undefined } };
}

class HubSender {
  readonly #remote: RemoteApi;
  readonly #deps: SenderDeps;
  readonly #timeoutMs: number;
  #peer: Peer | undefined;

  constructor({ url, secret, oidc, timeout }: Sink, deps: SenderDeps) {
    const { fetch, whyNotHost, now } = deps;
    this.#deps = deps;
    this.#timeoutMs = timeout ?? TIMEOUT_MS;
    const access = { ...(secret != null && { token: secret }), ...(oidc != null && { oidc }) };
    this.#remote = new RemoteApi(url, access, {
      now,
      async request(address, request) {
        const why = whyNotHost(new URL(address).hostname);
        if (why !== undefined) throw Object.assign(new Error(why), { code: 'TARGET_REFUSED' });
        return fetch(address, { ...request, redirect: 'manual' });
      },
    });
  }

  async send(events: readonly QueuedEvent[], traceparent?: string): Promise<Outcome> {
    const foreign = events.find(({ topic }) => topic !== 'location_updates' && topic !== 'test');
    if (foreign !== undefined) return { what: 'rejected', why: `another hub accepts no ${foreign.topic}` };
    const aborter = new AbortController();
    const cancel = this.#deps.schedule(this.#timeoutMs, () => aborter.abort());
    try {
      return await this.#put(events, aborter.signal, traceparent);
    } catch (error) {
      this.#peer = undefined;
      if (aborter.signal.aborted) return { what: 'failed', ...tooSlow(this.#timeoutMs) };
      return { what: 'failed', why: errorText(error), problem: reasonOfFailure(error) };
    } finally {
      cancel();
    }
  }

  /** Sends the locations that have not passed the other hub. The others count as delivered. */
  async #put(events: readonly QueuedEvent[], signal: AbortSignal, traceparent?: string): Promise<Outcome> {
    const { hubId, now } = this.#deps;
    this.#peer ??= await this.#remote.identify(signal);
    const peer = this.#peer;
    if (peer.hubId === hubId) return { what: 'failed', ...failureOf(problemOf('target_is_self')) };
    const isTest = events.every(({ topic }) => topic === 'test');
    const locations = isTest ? [] : events.flatMap(({ json }) => this.#sent(json, peer.hubId));
    if (locations.length === 0 && !isTest) return { what: 'delivered' };
    const url = `${this.#remote.url}/providers/locations`;
    const response = await this.#remote.request(url, signal, {
      method: 'PUT',
      body: JSON.stringify(locations),
      ...(traceparent !== undefined && { headers: { traceparent } }),
    });
    await discard(response);
    const { status } = response;
    if (status === 401 || status === 403) this.#remote.forgetToken();
    if (INVALID.has(status)) {
      return {
        what: 'rejected',
        why: `the other hub answered ${status}`,
        problem: problemOf('target_answered', { status }),
      };
    }
    return outcomeOf(status, response.headers.get('retry-after'), now());
  }

  /** The location as the other hub accepts it; none if it would go in a circle. */
  #sent(json: string, peerId: string): readonly object[] {
    const location = parseJson(json);
    if (!isObject(location)) return [];
    const hubs = hubsOf(location);
    if (isLoop(hubs, [peerId])) return [];
    // This hub sets these for its own trackables and clock.
    const { trackables: _trackables, timestamp_sent: _sent, properties, ...rest } = location;
    const own = isObject(properties) ? properties : {};
    return [{ ...rest, properties: { ...own, [ORIGIN_PROPERTY]: [...hubs, this.#deps.hubId] } }];
  }
}
